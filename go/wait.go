package ratelimit

import (
	"context"
	"errors"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// onRedis runs the calls of a check, one after the other. status is that of the core's last answer, which w holds; asked
// is what a function of a rule returned as an error.
func (l *Limiter) onRedis(
	ctx context.Context, w *work, rules *ruleSet, id Identifier, status native.Status, asked error,
) (Result, error) {
	var cause error
	for {
		switch status {
		case native.Done:
			return l.decided(ctx, w, rules, id, asked, cause)
		case native.Pending:
		case native.TooSmall:
			w.grow()
			if status = native.Call(w.answer.Pending, &w.answer, w.buffer); status != native.Pending {
				return l.undecided(ctx, statusError(status), id)
			}
		default:
			return l.undecided(ctx, statusError(status), id)
		}
		status, cause, _ = l.run(ctx, w)
	}
}

// run sends the call that w holds, waits, and tells the core what came of it. cause is what a failure has behind it; left
// tells that ctx ended first.
func (l *Limiter) run(ctx context.Context, w *work) (status native.Status, cause error, left bool) {
	pending, ended := w.answer.Pending, false
	// A context that panics, or a client that ends its goroutine, must not leave the call with the core for ever.
	defer func() {
		if !ended {
			l.forget(pending)
		}
	}()
	if ctx.Err() != nil {
		return l.stay(ctx, w), endOf(ctx), true
	}
	flight := l.newFlight(ctx, w)
	switch {
	case !l.turns.take(ctx, flight.alarm.rung):
		if ctx.Err() != nil {
			flight.alarm.stop()
			return l.stay(ctx, w), endOf(ctx), true
		}
	case l.punctual && ctx.Done() == nil:
		flight.runHere()
	default:
		go flight.run()
		if !flight.wait(ctx) {
			reason := context.Cause(ctx)
			if status, left := flight.leave(reason, w); left {
				ended = true
				return status, endOf(ctx), true
			}
		}
	}
	kind, class, text, cause := flight.outcome()
	flight.done()
	ended = true
	return native.Settle(l.handle, pending, kind, class, text, &w.answer, w.evaluations, w.buffer), cause, false
}

// stay has the core decide without the call that w holds, which is not sent; it is the caller's to forget.
func (l *Limiter) stay(ctx context.Context, w *work) native.Status {
	pending := w.answer.Pending
	class, text := classOf(context.Cause(ctx))
	return native.Abandon(l.handle, pending, class, text, &w.answer, w.evaluations)
}

// endOf is why a context ended: what it says itself, and the cause that somebody gave it.
func endOf(ctx context.Context) error {
	ended, cause := ctx.Err(), context.Cause(ctx)
	if isOf(cause, ended) {
		return cause
	}
	return errors.Join(ended, cause)
}
