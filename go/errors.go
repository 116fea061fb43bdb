package ratelimit

import (
	"errors"
	"strings"
)

// Why a check has no verdict, for [errors.Is].
var (
	// ErrIdentifier: a property that a rule mentions holds what no property can be.
	ErrIdentifier = errors.New("ratelimit: bad identifier")
	// ErrCost: the cost is negative, NaN or infinite.
	ErrCost = errors.New("ratelimit: bad cost")
	// ErrFunction: a [NumberFunc] failed, or gave what is no such number.
	ErrFunction = errors.New("ratelimit: a rule's function failed")
	// ErrPattern: a [*regexp.Regexp] of a rule failed.
	ErrPattern = errors.New("ratelimit: a rule's pattern failed")
	// ErrWrongType: a key of Redis holds a value of another type.
	ErrWrongType = errors.New("ratelimit: a value of the wrong type")
	// ErrStore: Redis did not answer in time, or answered with an error.
	ErrStore = errors.New("ratelimit: the store failed")
	// ErrCircuitOpen: Redis kept failing, and is left alone for a while. It is an ErrStore too.
	ErrCircuitOpen = errors.New("ratelimit: the circuit is open")
	// ErrAbandoned: the context of the check ended before Redis answered.
	ErrAbandoned = errors.New("ratelimit: the caller did not wait")
	// ErrInternal: a defect of this library.
	ErrInternal = errors.New("ratelimit: a defect")
	// ErrClosed: the limiter was closed, or is none that [New] made.
	ErrClosed = errors.New("ratelimit: the limiter is closed")
	// ErrExceeded: a request was refused. Only [Limiter.Enforce] returns it.
	ErrExceeded = errors.New("ratelimit: limit exceeded")
)

// kinds, by the core's numbers.
var kinds = [...]error{
	nil, ErrIdentifier, ErrCost, ErrFunction, ErrPattern, ErrWrongType, ErrStore, ErrCircuitOpen, ErrAbandoned, ErrInternal,
}

// Error tells why a check has no verdict. It is what the log says, too.
type Error struct {
	// Limiter and Rule are names; Rule is "" where none was in hand.
	Limiter, Rule string
	// Class is the type of the error behind it, and Message what that says.
	Class, Message string

	kind  error
	cause error
}

func (e *Error) Error() string {
	kind := e.kind
	if kind == nil {
		kind = ErrInternal
	}
	text := kind.Error() + ": limiter " + e.Limiter
	if e.Rule != "" {
		text += ", rule " + e.Rule
	}
	// What begins with the words of its kind has said them.
	if message := strings.TrimPrefix(strings.TrimPrefix(e.Message, kind.Error()), ": "); message != "" {
		text += ": " + message
	}
	return text
}

// Is tells the kind: one of the Err values of this package.
func (e *Error) Is(target error) bool {
	return target != nil && target == e.kind || e.kind == ErrCircuitOpen && target == ErrStore
}

// Unwrap is the error of the Redis client, of a rule's function, or of the context.
func (e *Error) Unwrap() error {
	return e.cause
}

// ExceededError is what [Limiter.Enforce] returns where a request is refused.
type ExceededError struct {
	// Limiter is its name.
	Limiter string
	// Result is the whole answer.
	Result Result

	cause error
}

func (e *ExceededError) Error() string {
	text := ErrExceeded.Error() + ": limiter " + e.Limiter
	if rule := e.Result.Rule(); rule != "" {
		text += ", rule " + rule
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Is holds for [ErrExceeded].
func (e *ExceededError) Is(target error) bool {
	return target == ErrExceeded
}

// Unwrap tells, where [BlockOnError] refused the request, why there was no verdict.
func (e *ExceededError) Unwrap() error {
	return e.cause
}
