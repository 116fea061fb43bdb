package ratelimit

import (
	"errors"
	"math"
	"regexp"
	"testing"
	"time"
)

func TestFunctionsGiveNumbersOfAnyKind(t *testing.T) {
	type plan struct{ limit any }
	limiter := newLimiter(t, Config{Rules: []Rule{{
		Name: "r", LimitFunc: func(value any) (any, error) { return value.(plan).limit, nil },
		PeriodFunc: func(any) (any, error) { return 90 * time.Second, nil },
	}}})
	for _, c := range []struct {
		given any
		limit uint64
	}{
		{5, 5}, {int8(5), 5}, {uint64(math.MaxUint64), math.MaxUint64}, {2.9, 2}, {float32(3), 3}, {-1, 0},
	} {
		result, err := limiter.Peek(t.Context(), nil, Context(plan{c.given}))
		if info, _ := result.Info(); err != nil || info.Limit != c.limit || info.Period != 90*time.Second {
			t.Errorf("%v gives %d, not %d: %v", c.given, info.Limit, c.limit, err)
		}
	}
	for _, odd := range []any{nil, "5", math.NaN(), []int{}, 1e300} {
		result, err := limiter.Check(t.Context(), nil, Context(plan{odd}))
		var failure *Error
		if !errors.Is(err, ErrFunction) || !errors.As(err, &failure) || failure.Rule != "r" || !result.Failed() {
			t.Errorf("%v: %v", odd, err)
		}
	}
}

var errNo = errors.New("no")

func TestAFunctionsErrorIsTheChecks(t *testing.T) {
	var called []string
	function := func(name string, number any, err error) NumberFunc {
		return func(any) (any, error) {
			called = append(called, name)
			if err == nil && number == nil {
				panic("oh")
			}
			return number, err
		}
	}
	rules := []Rule{
		{Name: "first", LimitFunc: function("a", 1, nil), Period: time.Minute},
		{Name: "second", LimitFunc: function("b", nil, errNo), PeriodFunc: function("c", 60, nil)},
		{Name: "third", LimitFunc: function("d", 1, nil), Period: time.Minute},
	}
	limiter := newLimiter(t, Config{Rules: rules})
	_, err := limiter.Check(t.Context(), nil)
	if !errors.Is(err, errNo) || !errors.Is(err, ErrFunction) {
		t.Error(err)
	}
	if len(called) != 2 {
		t.Errorf("%v were called: none behind the one that failed", called)
	}
	rules[1].LimitFunc = function("b", nil, nil)
	limiter = newLimiter(t, Config{Rules: rules})
	_, err = limiter.Check(t.Context(), nil)
	var panicked *PanicError
	if !errors.As(err, &panicked) || panicked.Value != "oh" {
		t.Error(err)
	}
}

func TestPatternsAreAskedOnlyWhereAllElseHolds(t *testing.T) {
	asked := 0
	limiter := newLimiter(t, Config{Rules: []Rule{
		{Name: "staff", Action: ActionSkip, Match: map[string]any{
			"path": All(Not(regexp.MustCompile("^/admin")), regexp.MustCompile("^/")), "staff": true,
		}},
		{Name: "rest", LimitFunc: func(any) (any, error) { asked++; return 1, nil }, Period: time.Minute},
	}})
	result, err := limiter.Check(t.Context(), Identifier{"path": "/x", "staff": true})
	if err != nil || !result.Skipped() || result.Rule() != "staff" || asked != 0 {
		t.Errorf("%+v, %v, asked %d times", result, err, asked)
	}
	if _, ok := result.Info(); ok || result.Headers(GitLabHeaders) != nil {
		t.Error("a skip has no numbers")
	}
	for _, path := range []any{"/admin", nil, 5} {
		if result, err := limiter.Peek(t.Context(), Identifier{"path": path, "staff": true}); err != nil || result.Rule() != "rest" {
			t.Errorf("%v: %+v, %v", path, result, err)
		}
	}
}

func TestMatchersMeanWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		matcher, value any
		holds          bool
	}{
		{"a", "a", true}, {1, 1.0, true}, {1, "1", false}, {nil, nil, true}, {nil, "", false}, {Eq(uint64(1 << 63)), uint64(1 << 63), true},
		{NotEq("a"), nil, true}, {Regex("^a"), "ab", true}, {NotRegex("^a"), "b", true}, {OneOf(1, "a"), "a", true},
		{OneOf(), "a", false}, {NoneOf(1, 2), 3, true}, {Not(Prefix("a")), "b", true}, {Prefix("a"), "ab", true},
		{CIDR("10.0.0.0/8"), "10.1.1.1", true}, {CIDR("10.0.0.0/8", "::1"), "::1", true}, {CIDR(), "::1", false},
		{All(Regex("."), NotEq("x")), "y", true}, {All(Regex("."), NotEq("x")), "x", false},
		{[]byte{0xff}, []byte{0xff}, true}, {role("a"), "a", true}, {blob("ab"), "ab", true}, {OneOf(blob{0xff}), []byte{0xff}, true}, {float32(0.1), 0.1, true}, {map[string]any{"ne": "a"}, "b", true},
		{Eq(1e19), 1e19, true}, {1e19, 1e19, true}, {OneOf(1e19), 1e19, true}, {NotEq(1e19), 1e19, false}, {-1e19, -1e19, true},
		{Eq(float64(1 << 63)), float64(1 << 63), true}, {Eq(1e19), uint64(1e19), false}, {Eq(uint64(1e19)), 1e19, false},
		{regexp.MustCompile("b$"), "ab", true}, {[]any{Regex("a")}, "a", true}, {map[string]string{"prefix": "a"}, "ab", true},
	} {
		limiter := newLimiter(t, Config{Rules: []Rule{{Name: "r", Limit: 1, Period: time.Minute, Match: map[string]any{"p": c.matcher}}}})
		result, err := limiter.Peek(t.Context(), Identifier{"p": c.value})
		if err != nil || result.Matched() != c.holds {
			t.Errorf("%v of %v: %t, %v", c.matcher, c.value, result.Matched(), err)
		}
	}
}
