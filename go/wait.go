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
	call := scriptCallOf(w)
	if ctx.Err() != nil {
		reason := context.Cause(ctx)
		class, text := classOf(reason)
		status := native.Abandon(l.handle, call.pending, class, text, &w.answer, w.evaluations)
		l.forget(call.pending)
		return status, reason
	}
	flight, deadline := l.fly(ctx, call)
	if !flight.wait(ctx, deadline) {
		reason := context.Cause(ctx)
		if status, left := flight.leave(reason, w); left {
			return status, reason
		}
	}
	kind, class, text, cause := flight.outcome()
	status := native.Settle(l.handle, call.pending, kind, class, text, &w.answer, w.evaluations, w.buffer)
	return status, cause
}
