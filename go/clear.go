package ratelimit

import (
	"context"
	"runtime"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Clear deletes counter and ban of every rule but the skips for an identifier, whether they match or not, and gives how
// many keys it deleted. It deletes what it can; an error, an [*Error], tells of the last thing that failed.
func (l *Limiter) Clear(ctx context.Context, id Identifier) (deleted uint64, err error) {
	w := newWork()
	defer w.done()
	defer runtime.KeepAlive(l)
	status := native.Stale
	for status == native.Stale {
		rules := l.rules.Load()
		w.fit(len(rules.Rules))
		w.identifier = id.appendTo(w.identifier[:0], rules.Properties)
		status = native.Clear(l.handle, rules.Serial, w.identifier, &w.answer, w.buffer)
		if status == native.Stale {
			if err := l.refresh(); err != nil {
				_, failure := l.undecided(err)
				return 0, failure
			}
		}
	}
	for {
		deleted = w.answer.Deleted
		if failure := l.clearFailure(w, id); failure != nil {
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
			_, failure := l.undecided(statusError(status))
			return deleted, failure
		}
		var cause error
		if status, cause = l.run(ctx, w); cause != nil {
			err = &Error{Limiter: l.name, kind: ErrStore, Message: cause.Error(), cause: cause}
			if ctx.Err() != nil {
				return deleted, &Error{Limiter: l.name, kind: ErrAbandoned, Message: cause.Error(), cause: cause}
			}
		}
	}
}

// clearFailure logs what the core says of a clear under way.
func (l *Limiter) clearFailure(w *work, id Identifier) error {
	if w.answer.Text == 0 {
		return nil
	}
	failure := l.heard(&w.answer, id)
	w.answer.Text = 0
	if failure.kind == nil {
		return nil
	}
	return failure
}
