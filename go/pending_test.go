package ratelimit

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// place is where the core keeps the next call that it waits for: behind all that it still waits for.
func place(t *testing.T, limiter *Limiter) uint32 {
	t.Helper()
	w := newWork()
	defer w.done()
	rules := limiter.inForce()
	w.fit(len(rules.Rules))
	identifier := user.appendTo(nil, rules.Properties)
	status := native.Decide(limiter.handle, rules.Serial, native.Check, 1, identifier, nil, &w.answer, w.evaluations, w.buffer)
	if status != native.Pending {
		t.Fatal(status)
	}
	limiter.forget(w.answer.Pending)
	return uint32(w.answer.Pending)
}

// leaving ends the goroutine that calls it, and says that its calls end in time.
type leaving struct{ fakeRedis }

func (leaving) Punctual() bool { return true }

func (leaving) EvalSha(context.Context, string, []string, []string) (string, error) {
	runtime.Goexit()
	return "", nil
}

// panics is a context of somebody else's.
type panics struct{ context.Context }

func (panics) Err() error { panic("no context") }

// However a check ends, its call does too: the core would keep it for ever.
func TestNoCallStaysWithTheCore(t *testing.T) {
	const checks = 100
	limiter := newLimiter(t, Config{Redis: leaving{}, Rules: perUser(2)})
	before := place(t, limiter)
	for range checks {
		var group sync.WaitGroup
		group.Go(func() {
			_, _ = limiter.Check(context.Background(), user)
			t.Error("the client did not end the goroutine")
		})
		group.Go(func() { _, _ = limiter.Clear(context.Background(), user) })
		group.Go(func() {
			defer func() { _ = recover() }()
			_, _ = limiter.Check(panics{context.Background()}, user)
			t.Error("the context did not panic")
		})
		group.Wait()
	}
	if after := place(t, limiter); after > before+checks/2 {
		t.Errorf("%d calls are with the core still", after-before)
	}
}

func TestNoContextIsOneThatNeverEnds(t *testing.T) {
	for name, limiter := range map[string]*Limiter{
		"in memory": newLimiter(t, Config{Rules: perUser(2)}),
		"on Redis": onRedis(t, fakeRedis{evalSha: func(ctx context.Context, _, _ []string) (string, error) {
			if ctx.Value("key") != nil {
				t.Error("it has values")
			}
			return "", errUnreachable
		}}, Config{}),
		"punctual": newLimiter(t, Config{Redis: prompt{reply: "1 60000 0 "}, Rules: perUser(2)}),
	} {
		var none context.Context
		_, checked := limiter.Check(none, user)
		_, peeked := limiter.Peek(none, user)
		_, enforced := limiter.Enforce(none, user)
		_, cleared := limiter.Clear(none, user)
		for _, err := range []error{checked, peeked, enforced, cleared} {
			if err != nil && (name == "in memory" || !errors.Is(err, ErrStore)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
