package ratelimit

import (
	"context"
	"errors"
	"sync"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// flight is one call under way on Redis. A goroutine of its own runs it, so that whoever waits can leave at once,
// whatever the client does with its socket.
type flight struct {
	limiter *Limiter
	call    *scriptCall
	landed  chan struct{}

	mu        sync.Mutex
	isLanded  bool
	abandoned bool
	reply     string
	err       error
}

// fly starts it. The client gets the deadline, and the values of ctx; the end of ctx is not its business: a connection
// with a reply on its way is of no use to anybody.
func (l *Limiter) fly(ctx context.Context, call *scriptCall) (f *flight, deadline context.Context) {
	f = &flight{limiter: l, call: call, landed: make(chan struct{})}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), micros(call.deadlineUS))
	go func() {
		reply, err := runScript(deadline, l.redis, call)
		f.land(reply, err)
		cancel()
	}()
	return f, deadline
}

// land takes what came of the call.
func (f *flight) land(reply string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isLanded, f.reply, f.err = true, reply, err
	close(f.landed)
	if f.abandoned {
		// Nobody waits for it, but it shows whether Redis works.
		f.limiter.settleAbandoned(f)
	}
}

// wait gives what came of it, or that the deadline passed; false where ctx ended first.
func (f *flight) wait(ctx, deadline context.Context) bool {
	select {
	case <-f.landed:
		return true
	case <-deadline.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// outcome is what the core is told. A reply that is there is used, however late.
func (f *flight) outcome() (kind native.Outcome, class, text string, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.isLanded:
		return native.Deadline, "", "", context.DeadlineExceeded
	case f.err != nil && errors.Is(f.err, context.DeadlineExceeded):
		return native.Deadline, "", "", f.err
	case f.err != nil:
		class, text = classOf(f.err)
		return native.Fault, class, text, f.err
	default:
		return native.Reply, "", f.reply, nil
	}
}

// leave has the core decide without the call, whose end is then told to it by whoever sees it. It gives false where
// the call has just ended: then there is nothing to leave.
func (f *flight) leave(reason error, w *work) (native.Status, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isLanded {
		return 0, false
	}
	f.abandoned = true
	class, text := classOf(reason)
	return native.Abandon(f.limiter.handle, f.call.pending, class, text, &w.answer, w.evaluations), true
}

// settleAbandoned tells the core how a call ended that nobody waited for.
func (l *Limiter) settleAbandoned(f *flight) {
	w := newWork()
	defer w.done()
	kind, class, text := native.Reply, "", f.reply
	if f.err != nil {
		kind = native.Fault
		class, text = classOf(f.err)
	}
	if native.Settle(l.handle, f.call.pending, kind, class, text, &w.answer, w.evaluations, w.buffer) == native.Done {
		l.heard(&w.answer, nil)
	}
}

// forget ends a call that was never sent.
func (l *Limiter) forget(pending uint64) {
	w := newWork()
	defer w.done()
	native.Settle(l.handle, pending, native.Unsent, "", "", &w.answer, nil, nil)
}
