package ratelimit

import (
	"context"
	"sync"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// flight is one call under way on Redis. A goroutine of its own runs it, so that whoever waits can leave at once,
// whatever the client does with its socket. One that landed while somebody waited is used again.
type flight struct {
	limiter *Limiter
	call    scriptCall
	lapse   *lapse
	alarm   *alarm
	landed  chan struct{}

	mu        sync.Mutex
	isLanded  bool
	abandoned bool
	told      bool // of an abandoned one, the core
	reply     string
	err       error
}

// newFlight takes the call that w holds. The client gets the deadline, and the values of ctx; the end of ctx is not its
// business: a connection with a reply on its way is of no use to anybody.
func (l *Limiter) newFlight(ctx context.Context, w *work) *flight {
	f, ok := l.flights.Get().(*flight)
	if !ok {
		f = &flight{limiter: l, landed: make(chan struct{}, 1)}
		f.alarm = newAlarm(f.late)
	}
	f.call.read(w)
	f.isLanded, f.reply, f.err = false, "", nil
	f.lapse = &lapse{Context: ctx, deadline: f.alarm.set(micros(f.call.deadlineUS)), rung: f.alarm.rung}
	return f
}

// done gives it back. One that has not landed is somebody else's still, and one whose alarm rang is of no more use.
func (f *flight) done() {
	f.mu.Lock()
	isLanded := f.isLanded
	f.mu.Unlock()
	if isLanded && f.alarm.stop() {
		f.lapse.over.Store(true)
		select {
		case <-f.landed:
		default:
		}
		clear(f.call.words)
		f.lapse, f.reply, f.err = nil, "", nil
		f.limiter.flights.Put(f)
	}
}

// send sends it, and then passes on its turn.
func (f *flight) send() (string, error) {
	defer f.limiter.turns.pass()
	return runScript(f.lapse, f.limiter.redis, &f.call)
}

// run runs it in a goroutine of its own.
func (f *flight) run() {
	lapse := f.lapse
	reply, err := f.send()
	f.land(reply, err)
	lapse.over.Store(true)
}

// runHere runs it where it is waited for, by a client that ends it in time.
func (f *flight) runHere() {
	reply, err := f.send()
	f.land(reply, err)
}

// land takes what came of the call.
func (f *flight) land(reply string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isLanded, f.reply, f.err = true, reply, err
	f.wake()
	if f.abandoned {
		// Nobody waits for it, but it shows whether Redis works.
		kind, class, text := native.Reply, "", reply
		if err != nil {
			kind = native.Fault
			class, text = classOf(err)
		}
		f.tell(kind, class, text)
		f.alarm.stop()
	}
}

// late is called when the deadline passes. Where its caller left before, the core is told now: calls that hang must open
// the circuit, however early their callers leave.
func (f *flight) late() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned && !f.isLanded {
		f.tell(native.Deadline, "", "")
	}
	f.wake()
}

// wake wakes whoever waits, if nobody did yet.
func (f *flight) wake() {
	select {
	case f.landed <- struct{}{}:
	default:
	}
}

// tell tells the core what became of a call that nobody waits for, once: a reply after the deadline is dropped.
func (f *flight) tell(kind native.Outcome, class, text string) {
	if !f.told {
		f.told = true
		f.limiter.settleAbandoned(f.lapse.Context, f.call.pending, kind, class, text)
	}
}

// wait gives what came of it, or that the deadline passed; false where ctx ended first.
func (f *flight) wait(ctx context.Context) bool {
	select {
	case <-f.landed:
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
	case f.err != nil && isOf(f.err, context.DeadlineExceeded):
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
	status := native.Abandon(f.limiter.handle, f.call.pending, class, text, &w.answer, w.evaluations)
	select {
	case <-f.alarm.rung:
		f.tell(native.Deadline, "", "")
	default:
	}
	return status, true
}

// settleAbandoned tells the core how a call ended that nobody waited for.
func (l *Limiter) settleAbandoned(ctx context.Context, pending uint64, kind native.Outcome, class, text string) {
	w := newWork()
	w.wrote = true
	defer w.done()
	if native.Settle(l.handle, pending, kind, class, text, &w.answer, w.evaluations, w.buffer) == native.Done {
		l.heard(ctx, &w.answer, nil)
	}
}

// forget ends a call that was never sent.
func (l *Limiter) forget(pending uint64) {
	w := newWork()
	defer w.done()
	native.Settle(l.handle, pending, native.Unsent, "", "", &w.answer, nil, nil)
}
