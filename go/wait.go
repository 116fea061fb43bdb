package ratelimit

import (
	"context"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// onRedis runs the calls of a check, one after the other. status is that of the core's last answer, which w holds.
func (l *Limiter) onRedis(
	ctx context.Context, w *work, rules *ruleSet, id Identifier, status native.Status, cause error,
) (Result, error) {
	for {
		switch status {
		case native.Done:
			return l.decided(w, rules, id, cause)
		case native.Pending:
		case native.TooSmall:
			w.grow()
			if status = native.Call(w.answer.Pending, &w.answer, w.buffer); status != native.Pending {
				return l.undecided(statusError(status))
			}
		default:
			return l.undecided(statusError(status))
		}
		status, cause = l.run(ctx, w)
	}
}

// run sends the call that w holds, waits, and tells the core what came of it. The error is what a failure has behind it.
func (l *Limiter) run(ctx context.Context, w *work) (native.Status, error) {
	if ctx.Err() != nil {
		pending, reason := w.answer.Pending, context.Cause(ctx)
		class, text := classOf(reason)
		status := native.Abandon(l.handle, pending, class, text, &w.answer, w.evaluations)
		l.forget(pending)
		return status, reason
	}
	flight := l.newFlight(ctx, w)
	pending := flight.call.pending
	if l.punctual && ctx.Done() == nil {
		flight.runHere()
	} else {
		go flight.run()
		if !flight.wait(ctx) {
			reason := context.Cause(ctx)
			if status, left := flight.leave(reason, w); left {
				return status, reason
			}
		}
	}
	kind, class, text, cause := flight.outcome()
	flight.done()
	return native.Settle(l.handle, pending, kind, class, text, &w.answer, w.evaluations, w.buffer), cause
}
