package ratelimit

import (
	"context"
	"runtime"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Clear deletes counter and ban of every rule but the skips for an identifier, whether they match or not, and gives how
// many keys it deleted. It deletes what it can; an error, an [*Error], tells of the last thing that failed.
func (l *Limiter) Clear(ctx context.Context, id Identifier) (deleted uint64, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	w := newWork()
	defer w.done()
	defer runtime.KeepAlive(l)
	status := native.Stale
	for status == native.Stale {
		rules := l.inForce()
		w.fit(len(rules.Rules))
		w.identify(id, rules.Properties)
		w.wrote = true
		status = native.Clear(l.handle, rules.Serial, w.identifier, &w.answer, w.buffer)
		if status == native.Stale {
			if err := l.refresh(); err != nil {
				_, failure := l.undecided(ctx, err, id)
				return 0, failure
			}
		}
	}
	var cause error
	for {
		deleted = w.answer.Deleted
		if failure := l.clearFailure(ctx, w, id, cause); failure != nil && (err == nil || cause != nil) {
			err = failure
		}
		switch status {
		case native.Done:
			return deleted, err
		case native.Pending:
		case native.TooSmall:
			w.grow()
			status = native.Call(w.answer.Pending, &w.answer, w.buffer)
			w.answer.Deleted = deleted
			continue
		default:
			_, failure := l.undecided(ctx, statusError(status), id)
			return deleted, failure
		}
		var left bool
		if status, cause, left = l.run(ctx, w); left {
			class, message := classOf(context.Cause(ctx))
			l.warn(ctx, "rate_limit_error", class, message, id)
			return deleted, &Error{Limiter: l.name, Class: class, Message: message, kind: ErrAbandoned, cause: cause}
		}
	}
}

// clearFailure logs what the core says of a clear under way. cause is the error of its last call.
func (l *Limiter) clearFailure(ctx context.Context, w *work, id Identifier, cause error) error {
	if w.answer.Text == 0 {
		return nil
	}
	failure := l.heard(ctx, &w.answer, id)
	w.answer.Text = 0
	if failure.kind == nil {
		return nil
	}
	failure.cause = cause
	return failure
}
