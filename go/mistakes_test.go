package ratelimit

import (
	"errors"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"
)

// findingsOf are codes by path.
func findingsOf(t *testing.T, config Config) map[string]string {
	t.Helper()
	config.Name, config.Logger = "lim", slog.New(slog.DiscardHandler)
	limiter, err := New(config)
	if limiter != nil {
		_ = limiter.Close()
	}
	var found *ConfigError
	if err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	}
	codes := map[string]string{}
	if found != nil {
		for _, finding := range found.Findings {
			codes[finding.Path] = finding.Code
		}
	}
	return codes
}

func TestTextOfRulesHasNoWordsOfOurOwn(t *testing.T) {
	for text, want := range map[string][2]string{
		`{"name": "r", "limit": {"$call": 0}, "period_s": 1}`:                                       {"rules[0].limit.$call", "unknown_field"},
		`{"name": "r", "limit": 1, "period_s": 1, "match": {"a": {"$pattern": 0}}}`:                 {"rules[0].match.a.$pattern", "unknown_field"},
		`{"name": "r", "limit": 1, "period_s": 1, "match": {"a": {"not": {"$bytes": "61"}}}}`:       {"rules[0].match.a.not.$bytes", "unknown_field"},
		"{\"name\": \"r\", \"limit\": 1, \"period_s\": 1, \"description\": \"\xff\"}":               {"rules[0]", "not_utf8"},
		`{"name": "r", "limit": 1, "period_s": 1, "description": "\ud800"}`:                         {"rules[0]", "wrong_type"},
		`{"name": "r", "limit": 1, "limit": 2, "period_s": 1}`:                                      {"rules[0].limit", "duplicate_key"},
		`{"name": "r", "limit": 1, "period_s": 1, "match": {"a": "x", "a": "y"}}`:                   {"rules[0].match.a", "duplicate_key"},
		`{"name": "r", "limit": 1, "period_s": 1, "overrides": [{"limit": 1}, {"bust": 1}]}`:        {"rules[0].overrides[1].bust", "unknown_field"},
		`{"name": "r", "limit": 1e400, "period_s": 1}`:                                              {"rules[0]", "wrong_type"},
		strings.Repeat("[", 100_000):                                                                {"rules[0]", "wrong_type"},
		``:                                                                                          {"rules[0]", "wrong_type"},
		`{"$json": "{\"name\": \"r\", \"limit\": 1, \"period_s\": 1}"}`:                             {"rules[0].$json", "unknown_field"},
		`{"name": "r", "limit": 1, "period_s": 1, "match": {"a": {"one_of": [{"$float": "nan"}]}}}`: {"rules[0].match.a.one_of[0].$float", "unknown_field"},
	} {
		if codes := findingsOf(t, Config{Rules: []Rule{RuleFromJSON([]byte(text))}}); codes[want[0]] != want[1] {
			t.Errorf("%.80s: %v", text, codes)
		}
	}
	if codes := findingsOf(t, Config{Rules: []Rule{RuleFromJSON([]byte(`{"name": "r", "limit": 1, "period_s": 1}`))}}); len(codes) != 0 {
		t.Error(codes)
	}
}

// JSON readers make a float of an integer beyond 64 bits; in rules it is its text.
func TestIntegersBeyond64BitsInTextOfRulesAreTexts(t *testing.T) {
	limiter := newLimiter(t, Config{Rules: []Rule{RuleFromJSON([]byte(
		`{"name": "r", "limit": 1, "period_s": 1, "match": {"a": {"one_of": [ 36893488147419103232, -9223372036854775809 ,1e20]}}}`))}})
	for _, c := range []struct {
		value any
		holds bool
	}{
		{"36893488147419103232", true}, {"-9223372036854775809", true}, {1e20, true},
		{36893488147419103232.0, false}, {-9223372036854775808.0, false}, {"100000000000000000000", false},
	} {
		if result, err := limiter.Peek(t.Context(), Identifier{"a": c.value}); err != nil || result.Matched() != c.holds {
			t.Errorf("%v: %t, %v", c.value, result.Matched(), err)
		}
	}
	rule := RuleFromJSON([]byte(`{"name": "r", "limit": 36893488147419103232, "period_s": 1}`))
	if codes := findingsOf(t, Config{Rules: []Rule{rule}}); codes["rules[0].limit"] == "" {
		t.Error(codes)
	}
}

type odd struct{ fakeRedis }

func (*odd) Punctual() bool { panic("no client") }

func TestOptionsThatMeanNothingAreFound(t *testing.T) {
	for path, config := range map[string]Config{
		"max_keys": {MaxKeys: -5},
		"topology": {Topology: "bogus"},
		"deadline": {Deadline: -1},
		"redis":    {Redis: (*fakeRedis)(nil)},
		"clock":    {Clock: &ManualClock{}},
	} {
		if codes := findingsOf(t, config); len(codes) != 1 || codes[path] != "option_invalid" {
			t.Errorf("%s: %v", path, codes)
		}
	}
	if codes := findingsOf(t, Config{Redis: &odd{}}); len(codes) != 1 || codes["redis"] != "option_invalid" {
		t.Error(codes)
	}
	all := Config{Name: "lim", Topology: "bogus", Deadline: 500, Redis: fakeRedis{}, MaxKeys: -1}
	if codes := findingsOf(t, all); len(codes) != 3 {
		t.Error(codes)
	}
	if _, err := New(all); !strings.Contains(err.Error(), "a deadline is 1 µs or more, or 0 for 100ms, not 500ns") {
		t.Error(err)
	}
}

func TestNamesThatAreNoneAreFound(t *testing.T) {
	codes := findingsOf(t, Config{Properties: []string{"ip", "", "\xff", "a b"}, AllowedSkipRules: []string{"office", "Office"}})
	want := map[string]string{
		"properties[1]": "property_invalid", "properties[2]": "property_invalid", "properties[3]": "property_invalid",
		"allowed_skip_rules[1]": "name_invalid",
	}
	if !maps.Equal(codes, want) {
		t.Error(codes)
	}
}

func TestANumberIsGivenOnce(t *testing.T) {
	number := func(any) (any, error) { return 1, nil }
	codes := findingsOf(t, Config{Rules: []Rule{
		{Name: "a", Limit: 1, LimitFunc: number, Period: time.Second, PeriodFunc: number, BanFor: time.Second, BanForFunc: number},
		{Name: "b", LimitFunc: number, PeriodFunc: number, BanForFunc: number},
	}})
	want := map[string]string{
		"rules[0].limit": "duplicate_key", "rules[0].period_s": "duplicate_key", "rules[0].ban_for_s": "duplicate_key",
	}
	if !maps.Equal(codes, want) {
		t.Error(codes)
	}
}

// Lists that hold one another are few in memory, and have no end when they are written.
func TestListsThatHoldOneAnotherAreAMistakeAtOnce(t *testing.T) {
	for _, times := range []int{2, 20} {
		shared := []any{Regex("a")}
		for range 22 {
			next := make([]any, times)
			for at := range next {
				next[at] = shared
			}
			shared = next
		}
		start := time.Now()
		codes := findingsOf(t, Config{Rules: []Rule{{Name: "r", Limit: 1, Period: time.Second, Match: map[string]any{"a": shared}}}})
		if took := time.Since(start); took > 5*time.Second || len(codes) == 0 {
			t.Errorf("%d times: %v after %s", times, len(codes), took)
		}
	}
}
