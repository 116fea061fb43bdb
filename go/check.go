package ratelimit

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Check charges the request's cost and decides. The result can always be used: an error, an [*Error], only tells why
// there is no verdict. A nil ctx never ends. Where ctx ends before Redis answers, the wait ends at once; the request may then have been
// charged all the same.
func (l *Limiter) Check(ctx context.Context, id Identifier, options ...Option) (Result, error) {
	return l.decide(ctx, native.Check, id, options)
}

// Peek decides on the state as it stands, for a request of cost 1, and changes nothing.
func (l *Limiter) Peek(ctx context.Context, id Identifier, options ...Option) (Result, error) {
	return l.decide(ctx, native.Peek, id, options)
}

// Enforce is [Limiter.Check], but a request that is refused is an error, an [*ExceededError]. A request that may go on
// without a verdict goes on, without an error; but for a limiter that is closed, where the error is of [ErrClosed].
func (l *Limiter) Enforce(ctx context.Context, id Identifier, options ...Option) (Result, error) {
	result, err := l.decide(ctx, native.Check, id, options)
	if result.Blocked() {
		return result, &ExceededError{Limiter: l.name, Result: result, cause: err}
	}
	if failure := (*Error)(nil); errors.As(err, &failure) && failure.kind == ErrClosed {
		return result, err
	}
	return result, nil
}

func (l *Limiter) decide(ctx context.Context, mode native.Mode, id Identifier, options []Option) (Result, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	request := requestOf(options)
	w := newWork()
	defer w.done()
	defer runtime.KeepAlive(l)
	// What a function of a rule returned as an error, for the error of the check.
	var cause error
	for {
		rules := l.inForce()
		w.fit(len(rules.Rules))
		w.identify(id, rules.Properties)
		status := native.Decide(l.handle, rules.Serial, mode, request.cost, w.identifier, w.answers,
			&w.answer, w.evaluations, w.buffer)
		if status == native.Done {
			return l.decided(ctx, w, rules, id, cause, nil)
		}
		w.wrote = true
		switch {
		case status == native.Ask:
			cause = l.reply(w, request.value)
		case status == native.Pending, status == native.TooSmall && w.answer.Pending != 0:
			return l.onRedis(ctx, w, rules, id, status, cause)
		case status == native.TooSmall:
			w.grow()
		case status == native.Stale:
			// Nothing was counted. Questions of other rules have other answers.
			w.answers = w.answers[:0]
			if err := l.refresh(); err != nil {
				return l.undecided(ctx, err, id)
			}
		default:
			return l.undecided(ctx, statusError(status), id)
		}
	}
}

// decided is the result of an answer, the error that it tells of, and its lines in the log. asked and cause are the errors
// of a rule's function, and of a call.
func (l *Limiter) decided(ctx context.Context, w *work, rules *ruleSet, id Identifier, asked, cause error) (Result, error) {
	result := resultOf(&w.answer, w.evaluations, rules)
	if w.answer.Failure == 0 && w.answer.Text == 0 {
		return result, nil
	}
	failure := l.heard(ctx, &w.answer, id)
	if !result.Failed() {
		return result, nil
	}
	failure.cause = cause
	if failure.kind == ErrFunction || failure.kind == ErrPattern {
		failure.cause = asked
	}
	return result, failure
}

// heard takes what the core says of a call: it is logged, and what failed is given back.
func (l *Limiter) heard(ctx context.Context, answer *native.Answer, id Identifier) *Error {
	failure := &Error{Limiter: l.name, kind: kinds[answer.Failure]}
	if answer.Text == 0 {
		return failure
	}
	var course struct {
		Failure *struct {
			Rule    string `json:"rule"`
			Class   string `json:"class_name"`
			Message string `json:"error_message"`
		} `json:"failure"`
		Logs []logLine `json:"logs"`
	}
	if err := json.Unmarshal(native.Take(answer.Text), &course); err != nil {
		return failure
	}
	if course.Failure != nil {
		failure.Rule, failure.Class, failure.Message = course.Failure.Rule, course.Failure.Class, course.Failure.Message
	}
	l.write(ctx, course.Logs, id)
	return failure
}

// undecided is the answer of a call that did not even reach the core, which so says nothing of it.
func (l *Limiter) undecided(ctx context.Context, err error, id Identifier) (Result, error) {
	result := Result{rule: native.None, reported: native.None, shown: native.None, flags: native.Failed}
	if l.blocksOnError {
		result.verdict = 1
	}
	kind := ErrInternal
	if errors.Is(err, ErrClosed) {
		kind = ErrClosed
	}
	class, message := classOf(err)
	l.warn(ctx, "rate_limit_error", class, message, id)
	return result, &Error{Limiter: l.name, Class: class, Message: message, kind: kind, cause: err}
}
