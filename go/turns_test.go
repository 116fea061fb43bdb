package ratelimit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pooled has a pool of two.
type pooled struct{ fakeRedis }

func (pooled) PoolSize() int { return 2 }

func TestNoMoreCallsAreUnderWayThanAPoolHasRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var now, most, all int
		limiter := newLimiter(t, Config{Rules: perUser(9), Deadline: time.Minute, Redis: pooled{fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) {
			mu.Lock()
			now, all = now+1, all+1
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			first := all <= 2
			mu.Unlock()
			if first {
				panic("it passes on its turn all the same")
			}
			return "1 60000 0 ", nil
		}}}})
		start := time.Now()
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { _, _ = limiter.Check(t.Context(), user) })
		}
		group.Wait()
		if took := time.Since(start); most != 2 || all != 10 || took != 5*time.Second {
			t.Errorf("%d of %d at once, in %s", most, all, took)
		}
	})
}

func TestWhoWaitsForATurnWaitsNoLongerThanForAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		limiter := newLimiter(t, Config{Rules: perUser(9), Deadline: 250 * time.Millisecond, Redis: pooled{fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) {
			sent.Add(1)
			time.Sleep(time.Second)
			return "1 60000 0 ", nil
		}}}})
		for range 2 {
			go func() { _, _ = limiter.Check(t.Context(), user) }()
		}
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		result, err := limiter.Check(ctx, user)
		if took := time.Since(start); took != 10*time.Millisecond || !errors.Is(err, ErrAbandoned) || !errors.Is(err, context.DeadlineExceeded) || !result.Failed() {
			t.Errorf("after %s: %v", took, err)
		}
		start = time.Now()
		result, err = limiter.Check(t.Context(), user)
		if took := time.Since(start); took != 250*time.Millisecond || !errors.Is(err, ErrStore) || !errors.Is(err, context.DeadlineExceeded) || !result.Failed() {
			t.Errorf("after %s: %v", took, err)
		}
		// What is not sent has no end: nothing is left of it, and the next one is.
		time.Sleep(time.Second)
		if _, err := limiter.Check(t.Context(), user); sent.Load() != 3 || !errors.Is(err, ErrStore) {
			t.Errorf("%d were sent: %v", sent.Load(), err)
		}
		time.Sleep(time.Second)
	})
}
