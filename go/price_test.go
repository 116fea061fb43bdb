package ratelimit

import (
	"bytes"
	"context"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// cgoCalls is how many calls of the library one run of a function makes. What else calls it meanwhile (limiters that are
// freed) can only add some.
func cgoCalls(run func()) float64 {
	const runs, rounds = 100, 5
	run()
	runtime.GC()
	fewest := int64(1 << 62)
	for range rounds {
		before := runtime.NumCgoCall()
		for range runs {
			run()
		}
		fewest = min(fewest, runtime.NumCgoCall()-before)
	}
	return float64(fewest) / runs
}

// One call of the library decides in memory, two on Redis; a round of questions is one more.
func TestACheckCrossesAsOftenAsItMust(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	three := []Rule{
		{Name: "a", Characteristics: []string{"user"}, Limit: 1 << 40, Period: time.Hour},
		{Name: "b", Characteristics: []string{"ip"}, Limit: 1 << 40, Period: time.Hour},
		{Name: "c", Limit: 1 << 40, Period: time.Hour},
	}
	// Two rounds: the pattern, and then the number.
	asking := []Rule{{
		Name: "r", LimitFunc: func(any) (any, error) { return 1 << 40, nil }, Period: time.Hour,
		Match: map[string]any{"user": regexp.MustCompile("^u")},
	}}
	const one = "1 3600000 0 "
	answers := fakeRedis{evalSha: func(_ context.Context, keys, _ []string) (string, error) {
		return strings.Repeat(one, len(keys)), nil
	}}
	id := Identifier{"user": "u", "ip": "198.18.0.1"}
	for name, c := range map[string]struct {
		ctx    context.Context
		config Config
		calls  float64
	}{
		"in memory":                 {ctx, Config{Rules: three}, 1},
		"in memory, with questions": {ctx, Config{Rules: asking}, 3},
		"on Redis":                  {ctx, Config{Rules: three, Redis: answers, Deadline: time.Minute}, 2},
		"on Redis, with questions":  {ctx, Config{Rules: asking, Redis: answers, Deadline: time.Minute}, 4},
		"on Redis, who waits":       {context.Background(), Config{Rules: three, Redis: prompt{reply: one + one + one}, Deadline: time.Minute}, 2},
	} {
		limiter := newLimiter(t, c.config)
		calls := cgoCalls(func() {
			if result, err := limiter.Check(c.ctx, id); err != nil || result.Blocked() {
				t.Fatal(result, err)
			}
		})
		if calls != c.calls {
			t.Errorf("%s: %v calls a check, not %v", name, calls, c.calls)
		}
	}
}

// The rooms of calls are used again; what values were in them is gone.
func TestNoValueOutlivesItsCall(t *testing.T) {
	if raced {
		t.Skip("pools forget at random under -race")
	}
	const secret = "a secret that nobody else may see"
	answers := fakeRedis{evalSha: func(_ context.Context, keys, _ []string) (string, error) { return "1 60000 0 ", nil }}
	asking := []Rule{{Name: "r", Limit: 5, Period: time.Minute, Match: map[string]any{"user": regexp.MustCompile("secret")}}}
	for name, limiter := range map[string]*Limiter{
		"in memory": newLimiter(t, Config{Rules: perUser(2)}), "on Redis": onRedis(t, answers, Config{Deadline: time.Minute}),
		"asked": newLimiter(t, Config{Rules: asking}),
	} {
		for what, call := range map[string]func(){
			"check": func() { _, _ = limiter.Check(t.Context(), Identifier{"user": secret}) },
			"clear": func() { _, _ = limiter.Clear(t.Context(), Identifier{"user": secret}) },
		} {
			call()
			used := 0
			for range 20 {
				w := newWork()
				if cap(w.identifier) >= len(secret) {
					used++
				}
				for _, room := range [][]byte{w.identifier, w.answers, w.buffer} {
					if bytes.Contains(room[:cap(room)], []byte("secret that")) {
						t.Errorf("%s, %s: it is there still", name, what)
					}
				}
			}
			if used == 0 {
				t.Errorf("%s, %s: no room was used", name, what)
			}
		}
	}
}
