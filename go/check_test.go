package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func perUser(limit uint64) []Rule {
	return []Rule{{Name: "per_user", Characteristics: []string{"user"}, Limit: limit, Period: time.Minute}}
}

func TestACheckChargesAndDecides(t *testing.T) {
	clock := NewManualClock(time.Unix(1_700_000_000, 0))
	limiter := newLimiter(t, Config{Clock: clock, Rules: perUser(2)})
	id := Identifier{"user": "u"}
	for n := range 3 {
		result, err := limiter.Check(t.Context(), id)
		if err != nil || result.Allowed() != (n < 2) || result.Rule() != "per_user" || !result.Matched() {
			t.Fatalf("check %d: %+v, %v", n, result, err)
		}
	}
	result, err := limiter.Peek(t.Context(), id)
	info, ok := result.Info()
	wait, waits := info.RetryAfter()
	if err != nil || !ok || info.Limit != 2 || info.Count != 3 || info.Period != time.Minute || !waits || wait != time.Minute {
		t.Errorf("%+v, %v", info, err)
	}
	if want := time.Unix(1_700_000_060, 0).UTC(); !info.ResetAt.Equal(want) {
		t.Errorf("reset at %s, not %s", info.ResetAt, want)
	}
	clock.Advance(time.Minute)
	if result, _ := limiter.Check(t.Context(), id, Cost(1.5)); result.Blocked() {
		t.Error("a new window")
	}
	if deleted, err := limiter.Clear(t.Context(), id); deleted != 1 || err != nil {
		t.Errorf("deleted %d, %v", deleted, err)
	}
}

func TestHeadersAreTheCoresOwn(t *testing.T) {
	clock := NewManualClock(time.Unix(1_700_000_000, 0))
	limiter := newLimiter(t, Config{Clock: clock, Rules: perUser(1)})
	_, _ = limiter.Check(t.Context(), Identifier{"user": "u"})
	result, _ := limiter.Check(t.Context(), Identifier{"user": "u"})
	want := "[{RateLimit-Name per_user} {RateLimit-Limit 1} {RateLimit-Observed 2} {RateLimit-Remaining 0} " +
		"{RateLimit-Reset 1700000060} {Retry-After 60} {RateLimit-ResetTime Tue, 14 Nov 2023 22:14:20 GMT}]"
	if got := fmt.Sprint(result.Headers(GitLabHeaders)); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := result.Evaluations()[0].Headers(IETFDraft11); len(got) != 3 || got[0].Value != `"per_user";q=1;w=60` {
		t.Errorf("%v", got)
	}
}

func TestAClockStandsInItsRange(t *testing.T) {
	for _, at := range []time.Time{time.Unix(0, 0), time.Unix(math.MaxUint32, 0)} {
		if now := NewManualClock(at).Now(); !now.Equal(at) {
			t.Errorf("%s is %s", at, now)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(-5, 0), time.Unix(math.MaxUint32+1, 0), time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s passed", at)
				}
			}()
			NewManualClock(at)
		}()
	}
	clock := NewManualClock(time.Unix(5, 0))
	if clock.Advance(-time.Minute); clock.Now().Unix() != 0 {
		t.Error(clock.Now())
	}
}

func TestTheZeroResultAllows(t *testing.T) {
	var result Result
	if result.Blocked() || result.Rule() != "" || result.Headers(GitLabHeaders) != nil || result.Evaluations() != nil {
		t.Errorf("%+v", result)
	}
	if _, ok := result.Info(); ok {
		t.Error("it has no numbers")
	}
}

func TestEnforceFailsOnlyWhereItRefuses(t *testing.T) {
	limiter := newLimiter(t, Config{Rules: perUser(1)})
	id := Identifier{"user": "u"}
	if _, err := limiter.Enforce(t.Context(), id); err != nil {
		t.Error(err)
	}
	_, err := limiter.Enforce(t.Context(), id)
	var exceeded *ExceededError
	if !errors.Is(err, ErrExceeded) || !errors.As(err, &exceeded) || exceeded.Result.Rule() != "per_user" {
		t.Error(err)
	}
	if result, err := limiter.Enforce(t.Context(), Identifier{"user": []int{1}}); err != nil || !result.Failed() {
		t.Errorf("it fails open: %+v, %v", result, err)
	}
	closed := newLimiter(t, Config{Rules: perUser(1), OnError: BlockOnError})
	_, err = closed.Enforce(t.Context(), id, Cost(math.Inf(1)))
	if !errors.Is(err, ErrExceeded) || !errors.Is(err, ErrCost) {
		t.Errorf("it fails closed, and says why: %v", err)
	}
}

func TestAFailureIsAnErrorAndOneLine(t *testing.T) {
	var log bytes.Buffer
	limiter := newLimiter(t, Config{Name: "sign_in", Rules: perUser(1), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	result, err := limiter.Check(t.Context(), Identifier{"user": math.NaN(), "secret": "x"})
	var failure *Error
	if !result.Failed() || result.Blocked() || !errors.As(err, &failure) || !errors.Is(err, ErrIdentifier) {
		t.Fatal(result, err)
	}
	if failure.Limiter != "sign_in" || failure.Class != "BadIdentifier" || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("%+v", failure)
	}
	line := log.String()
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, "level=WARN msg=rate_limit_error name=sign_in") ||
		!strings.Contains(line, `identifier_keys="[secret user]"`) {
		t.Error(line)
	}
}

type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool { panic("no") }

func TestALoggerThatPanicsChangesNothing(t *testing.T) {
	limiter := newLimiter(t, Config{Rules: perUser(1), Logger: slog.New(panicking{})})
	if result, err := limiter.Check(t.Context(), Identifier{"user": 1}, Cost(-1)); !errors.Is(err, ErrCost) || result.Blocked() {
		t.Error(result, err)
	}
}

func TestEveryMistakeIsFoundAtOnce(t *testing.T) {
	_, err := New(Config{Name: "Lim", OnError: "raise", Deadline: -1, Redis: fakeRedis{}, Rules: []Rule{
		{Name: "r", Period: 500 * time.Millisecond, Limit: 1},
		{Name: "s", Limit: 1, Period: time.Second, Match: map[string]any{"a": Regex("("), "b": map[string]any{"$call": 1}}},
		RuleFromJSON([]byte(`{"name": "t", "limt": 1}`)),
		RuleFromJSON([]byte(`{"name"`)),
	}})
	var config *ConfigError
	if !errors.As(err, &config) {
		t.Fatal(err)
	}
	if len(config.Findings) != 10 {
		t.Errorf("%d findings: %v", len(config.Findings), err)
	}
	found := map[string]string{}
	for _, finding := range config.Findings {
		found[finding.Path] = finding.Code
		if finding.Message == "" || finding.Mend == "" || !strings.Contains(err.Error(), finding.String()) {
			t.Errorf("%+v is not in %s", finding, err)
		}
	}
	for path, code := range map[string]string{
		"name": "name_invalid", "on_error": "option_invalid", "deadline": "option_invalid",
		"rules[0].period_s": "wrong_type", "rules[1].match.a.regex": "matcher_bad_regex",
		"rules[1].match.b": "matcher_bad_value", "rules[2].limt": "unknown_field", "rules[3]": "wrong_type",
	} {
		if found[path] != code {
			t.Errorf("%s is %q, not %s: %v", path, found[path], code, err)
		}
	}
}

func TestMustNewPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	MustNew(Config{Name: "?"})
}

func TestAClosedLimiterSaysSo(t *testing.T) {
	for _, onError := range []OnError{AllowOnError, BlockOnError} {
		limiter := newLimiter(t, Config{Rules: perUser(1), OnError: onError})
		for range 3 {
			if err := limiter.Close(); err != nil {
				t.Error(err)
			}
		}
		result, err := limiter.Check(t.Context(), Identifier{"user": 1})
		if !errors.Is(err, ErrClosed) || !result.Failed() || result.Blocked() != (onError == BlockOnError) {
			t.Error(result, err)
		}
		if _, err := limiter.Clear(t.Context(), Identifier{}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := limiter.Reload(Documents{}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if len(limiter.Metrics()) != 0 {
			t.Error("it counted nothing")
		}
	}
}

func TestClosingWhileOthersCheck(t *testing.T) {
	for range 50 {
		limiter := newLimiter(t, Config{Rules: perUser(1)})
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					if _, err := limiter.Check(context.Background(), Identifier{"user": 1}); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		runtime.Gosched()
		_ = limiter.Close()
		group.Wait()
	}
}

// 64 goroutines, each with names of its own: each gets the answer to its own question.
func TestEachGoroutineGetsItsOwnAnswer(t *testing.T) {
	limiter := newLimiter(t, Config{MaxKeys: 100_000, Rules: []Rule{{
		Name: "r", Characteristics: []string{"user"}, LimitFunc: func(value any) (any, error) { return value, nil },
		Period: time.Hour, Match: map[string]any{"user": regexp.MustCompile("^user")},
	}}})
	var group sync.WaitGroup
	for worker := range 64 {
		group.Go(func() {
			for n := range 200 {
				user, limit := fmt.Sprintf("user %d of %d", n, worker), worker*1000+n+1
				cost := float64(n%7) + 0.5
				result, err := limiter.Check(context.Background(), Identifier{"user": user}, Cost(cost), Context(limit))
				info, _ := result.Info()
				if err != nil || info.Limit != uint64(limit) || info.Count != cost {
					t.Errorf("%s: %+v, %v", user, info, err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestACheckAllocatesItsResultAlone(t *testing.T) {
	if raced {
		t.Skip("pools forget at random under -race")
	}
	limiter, id := threeProperties(t)
	ctx := context.Background()
	if allocated := testing.AllocsPerRun(1000, func() { _, _ = limiter.Check(ctx, id) }); allocated > 2 {
		t.Errorf("%v allocations", allocated)
	}
}

// resident is this process's memory, Rust's included, in kB.
func resident(tb testing.TB) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("there is no /proc to read memory from")
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kB, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		tb.Fatal(err)
	}
	return kB
}

func TestAMillionChecksTakeNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	limiter, id := threeProperties(t)
	failing := Identifier{"user": []int{}, "method": "GET", "path": "/api/"}
	quiet := newLimiter(t, Config{Name: "quiet", Rules: perUser(1), Logger: slog.New(slog.DiscardHandler)})
	run := func(checks int) {
		for n := range checks {
			if _, err := limiter.Check(context.Background(), id); err != nil {
				t.Fatal(err)
			}
			if n%100 == 0 {
				_, _ = quiet.Check(context.Background(), failing)
			}
		}
		runtime.GC()
	}
	run(100_000)
	before := resident(t)
	run(1_000_000)
	if grown := resident(t) - before; grown > 4096 {
		t.Errorf("%d kB more", grown)
	}
}

func TestAForgottenLimiterIsFreed(t *testing.T) {
	run := func(limiters int) {
		for n := range limiters {
			limiter := MustNew(Config{Name: "lim", MaxKeys: 10_000, Rules: perUser(1)})
			_, _ = limiter.Check(context.Background(), Identifier{"user": n})
			if n%50 == 0 {
				runtime.GC()
			}
		}
		runtime.GC()
	}
	run(2_000)
	before := resident(t)
	run(10_000)
	if grown := resident(t) - before; grown > 16_384 {
		t.Errorf("%d kB more", grown)
	}
}
