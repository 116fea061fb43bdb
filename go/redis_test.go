package ratelimit

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeRedis answers as its functions say; without them, as a server that was never reached.
type fakeRedis struct {
	evalSha func(ctx context.Context, keys, args []string) (string, error)
	eval    func(ctx context.Context, source string) (string, error)
}

var errUnreachable = errors.New("connection refused")

func (r fakeRedis) EvalSha(ctx context.Context, _ string, keys, args []string) (string, error) {
	if r.evalSha == nil {
		return "", errUnreachable
	}
	return r.evalSha(ctx, keys, args)
}

func (r fakeRedis) Eval(ctx context.Context, source string, _, _ []string) (string, error) {
	return r.eval(ctx, source)
}

func onRedis(t *testing.T, redis fakeRedis, config Config) *Limiter {
	t.Helper()
	config.Redis, config.Rules = redis, perUser(2)
	return newLimiter(t, config)
}

var user = Identifier{"user": "u"}

func TestAStoreThatFailsIsAnErrorAndOpensTheCircuit(t *testing.T) {
	var calls atomic.Int64
	limiter := onRedis(t, fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) {
		calls.Add(1)
		return "", errUnreachable
	}}, Config{})
	for range 5 {
		result, err := limiter.Check(t.Context(), user)
		if !errors.Is(err, ErrStore) || !errors.Is(err, errUnreachable) || result.Blocked() || !result.Failed() {
			t.Fatal(result, err)
		}
	}
	_, err := limiter.Check(t.Context(), user)
	if !errors.Is(err, ErrCircuitOpen) || !errors.Is(err, ErrStore) || calls.Load() != 5 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	limiter.CloseCircuit()
	if _, err := limiter.Check(t.Context(), user); errors.Is(err, ErrCircuitOpen) || calls.Load() != 6 {
		t.Error(err)
	}
}

func TestAScriptThatIsUnknownIsSentOnce(t *testing.T) {
	var sources []string
	limiter := onRedis(t, fakeRedis{
		evalSha: func(context.Context, []string, []string) (string, error) {
			return "", errors.New("NOSCRIPT No matching script")
		},
		eval: func(_ context.Context, source string) (string, error) {
			sources = append(sources, source)
			return "", errors.New("NOSCRIPT still")
		},
	}, Config{})
	if _, err := limiter.Check(t.Context(), user); !errors.Is(err, ErrStore) || len(sources) != 1 || len(sources[0]) < 1000 {
		t.Error(err, len(sources))
	}
}

func TestAClientThatPanicsIsAFault(t *testing.T) {
	limiter := onRedis(t, fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) { panic("oh") }}, Config{})
	var panicked *PanicError
	if _, err := limiter.Check(t.Context(), user); !errors.As(err, &panicked) || !errors.Is(err, ErrStore) {
		t.Error(err)
	}
}

func TestAReplyThatNoScriptGivesIsAFault(t *testing.T) {
	limiter := onRedis(t, fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) { return "\xff", nil }}, Config{})
	if result, err := limiter.Check(t.Context(), user); err == nil || !result.Failed() {
		t.Error(result, err)
	}
}

func TestLocallyItCountsWhileTheStoreFails(t *testing.T) {
	limiter := onRedis(t, fakeRedis{}, Config{OnError: LocalOnError})
	for n := range 3 {
		result, err := limiter.Check(t.Context(), user)
		if err != nil || !result.Degraded() || result.Blocked() != (n == 2) {
			t.Errorf("check %d: %+v, %v", n, result, err)
		}
	}
}

// slow never answers before its context ends, and then only when it is let go.
func slow(letGo <-chan struct{}) fakeRedis {
	return fakeRedis{evalSha: func(ctx context.Context, _, _ []string) (string, error) {
		<-letGo
		return "", errUnreachable
	}}
}

func TestTheDeadlineEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		letGo := make(chan struct{})
		limiter := onRedis(t, slow(letGo), Config{Deadline: 250 * time.Millisecond})
		start := time.Now()
		_, err := limiter.Check(t.Context(), user)
		if took := time.Since(start); took != 250*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		if !errors.Is(err, ErrStore) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		close(letGo)
		synctest.Wait()
	})
}

func TestTheContextEndsTheWaitAtOnce(t *testing.T) {
	gone := errors.New("the client is gone")
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(10*time.Millisecond, func() { cancel(gone) })
			return ctx, func() { cancel(nil) }
		},
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, 10*time.Millisecond, gone)
		},
		"before": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(gone)
			return ctx, func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				letGo := make(chan struct{})
				limiter := onRedis(t, slow(letGo), Config{})
				start := time.Now()
				ctx, cancel := end(t.Context())
				defer cancel()
				result, err := limiter.Check(ctx, user)
				if took := time.Since(start); took > 10*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if !errors.Is(err, ErrAbandoned) || errors.Is(err, ErrStore) || !errors.Is(err, gone) || result.Blocked() {
					t.Error(result, err)
				}
				_, err = limiter.Clear(ctx, user)
				if !errors.Is(err, ErrAbandoned) {
					t.Error(err)
				}
				close(letGo)
				synctest.Wait()
				checks := uint64(0)
				for _, sample := range limiter.Metrics() {
					checks += sample.Value
				}
				if checks != 1 {
					t.Errorf("%d checks were counted", checks)
				}
			})
		})
	}
}

// A caller that leaves says nothing of the store; what comes of its call all the same does.
func TestTheCircuitLearnsFromCallsThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		letGo := make(chan struct{})
		limiter := onRedis(t, slow(letGo), Config{})
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := limiter.Check(ctx, user); !errors.Is(err, ErrAbandoned) {
				t.Error(err)
			}
			cancel()
		}
		close(letGo)
		synctest.Wait()
		if _, err := limiter.Check(t.Context(), user); !errors.Is(err, ErrCircuitOpen) {
			t.Errorf("5 calls failed: %v", err)
		}
	})
}

func TestTheClientSeesTheDeadlineAndTheValuesOfTheContext(t *testing.T) {
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "v"), time.Hour)
	defer cancel()
	limiter := onRedis(t, fakeRedis{evalSha: func(ctx context.Context, _, _ []string) (string, error) {
		deadline, ok := ctx.Deadline()
		if !ok || time.Until(deadline) > DefaultDeadline || ctx.Value(key{}) != "v" {
			t.Error(deadline, ctx.Value(key{}))
		}
		return "", errUnreachable
	}}, Config{})
	_, _ = limiter.Check(ctx, user)
}

// prompt answers at once, and minds deadlines.
type prompt struct{ reply string }

func (p prompt) EvalSha(ctx context.Context, _ string, _, _ []string) (string, error) {
	if p.reply == "" {
		<-ctx.Done()
		return "", errors.New("i/o timeout")
	}
	return p.reply, nil
}

func (p prompt) Eval(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("it is not asked")
}

func (prompt) Punctual() bool { return true }

func TestAPunctualClientEndsTheWaitByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, Config{Redis: prompt{}, Rules: perUser(2), Deadline: 250 * time.Millisecond})
		start := time.Now()
		_, err := limiter.Check(context.Background(), user)
		if took := time.Since(start); took != 250*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		if !errors.Is(err, ErrStore) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		// Who can leave does.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start = time.Now()
		if _, err := limiter.Check(ctx, user); !errors.Is(err, ErrAbandoned) || time.Since(start) != 10*time.Millisecond {
			t.Error(err, time.Since(start))
		}
		time.Sleep(time.Second)
	})
}

// The context of a call ends with its deadline, and is over when the call is; the next call has another one.
func TestTheContextOfACallIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []context.Context
		limiter := onRedis(t, fakeRedis{evalSha: func(ctx context.Context, _, _ []string) (string, error) {
			deadline, ok := ctx.Deadline()
			if ctx.Err() != nil || !ok || !deadline.Equal(time.Now().Add(DefaultDeadline)) {
				t.Error(ctx.Err(), deadline)
			}
			if seen = append(seen, ctx); len(seen) == 2 {
				<-ctx.Done()
				if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
					t.Error(ctx.Err())
				}
			}
			return "", errUnreachable
		}}, Config{})
		for range 4 {
			_, _ = limiter.Check(t.Context(), user)
			synctest.Wait()
			if seen[len(seen)-1].Err() == nil {
				t.Errorf("call %d has ended, and its context has not", len(seen))
			}
		}
	})
}

// What is ours: the call's words, its context, the result; and a goroutine where somebody may leave. Nothing by the rule.
func TestACallOnRedisAllocatesLittle(t *testing.T) {
	if raced {
		t.Skip("pools forget at random under -race")
	}
	three := []Rule{
		{Name: "per_user", Characteristics: []string{"user"}, Limit: 1 << 40, Period: time.Hour},
		{Name: "per_ip", Characteristics: []string{"ip"}, Limit: 1 << 40, Period: time.Hour},
		{Name: "per_both", Characteristics: []string{"user", "ip"}, Limit: 1 << 40, Period: time.Hour},
	}
	limiter := newLimiter(t, Config{Redis: prompt{reply: "1 3600000 0 1 3600000 0 1 3600000 0 "}, Rules: three, Deadline: time.Minute})
	id := Identifier{"user": "u", "ip": "198.18.0.1"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for most, ctx := range map[float64]context.Context{3: context.Background(), 4: ctx} {
		if result, err := limiter.Check(ctx, id); err != nil || result.Failed() {
			t.Fatal(err)
		}
		if allocations := testing.AllocsPerRun(1000, func() { _, _ = limiter.Check(ctx, id) }); allocations > most {
			t.Errorf("%v allocations, not %v", allocations, most)
		}
	}
}
