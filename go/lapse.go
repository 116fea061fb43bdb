package ratelimit

import (
	"context"
	"sync/atomic"
	"time"
)

// lapse is the context of one call: the values of the check's, and the call's deadline.
type lapse struct {
	context.Context // for its values
	deadline        time.Time
	rung            <-chan struct{}
	// Where the call has ended, whatever the alarm does next.
	over atomic.Bool
}

// Deadline is the call's.
func (l *lapse) Deadline() (time.Time, bool) {
	return l.deadline, true
}

// Done is closed when the deadline passes, or some time after the call ended.
func (l *lapse) Done() <-chan struct{} {
	return l.rung
}

func (l *lapse) Err() error {
	select {
	case <-l.rung:
		return context.DeadlineExceeded
	default:
	}
	if l.over.Load() {
		return context.Canceled
	}
	return nil
}

// alarm closes a channel when a time has passed. One that did not ring is set again: a timer and a channel are what a
// context costs most.
type alarm struct {
	timer *time.Timer
	rung  chan struct{}
	then  func()
}

// newAlarm calls then when it has rung.
func newAlarm(then func()) *alarm {
	return &alarm{rung: make(chan struct{}), then: then}
}

func (a *alarm) ring() {
	close(a.rung)
	a.then()
}

// set says when it rings.
func (a *alarm) set(after time.Duration) time.Time {
	if a.timer == nil {
		a.timer = time.AfterFunc(after, a.ring)
	} else {
		a.timer.Reset(after)
	}
	return time.Now().Add(after)
}

// stop gives false where it rang.
func (a *alarm) stop() bool {
	return a.timer.Stop()
}
