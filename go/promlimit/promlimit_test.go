package promlimit_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/promlimit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func newLimiter(t *testing.T, name string, limit uint64) *ratelimit.Limiter {
	t.Helper()
	limiter, err := ratelimit.New(ratelimit.Config{
		Name: name, MaxKeys: 100, Logger: slog.New(slog.DiscardHandler),
		Rules: []ratelimit.Rule{
			{Name: "staff", Action: ratelimit.ActionSkip, Match: map[string]any{"user": "root"}},
			{Name: "per_user", Characteristics: []string{"user"}, Limit: limit, Period: time.Minute},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = limiter.Close() })
	return limiter
}

const help = `
# HELP gitlab_labkit_rate_limiter_checks_total Checks of rate limiters
# TYPE gitlab_labkit_rate_limiter_checks_total counter
# HELP gitlab_labkit_rate_limiter_limit Limit of a rule when it was last evaluated
# TYPE gitlab_labkit_rate_limiter_limit gauge
# HELP gitlab_labkit_rate_limiter_peeks_total Peeks of rate limiters
# TYPE gitlab_labkit_rate_limiter_peeks_total counter
# HELP gitlab_labkit_rate_limiter_period_seconds Period of a rule when it was last evaluated, in seconds
# TYPE gitlab_labkit_rate_limiter_period_seconds gauge
# HELP gitlab_labkit_rate_limiter_rule_evaluations_total Evaluations of rules of rate limiters
# TYPE gitlab_labkit_rate_limiter_rule_evaluations_total counter
`

func expect(t *testing.T, collector prometheus.Collector, series string) {
	t.Helper()
	if err := testutil.CollectAndCompare(collector, strings.NewReader(help+series)); err != nil {
		t.Error(err)
	}
}

func TestTheFiveFamilies(t *testing.T) {
	limiter := newLimiter(t, "sign_in", 2)
	collector := promlimit.New(limiter, limiter)
	for range 3 {
		_, _ = limiter.Check(t.Context(), ratelimit.Identifier{"user": "u"})
	}
	_, _ = limiter.Check(t.Context(), ratelimit.Identifier{"user": "root"})
	_, _ = limiter.Peek(t.Context(), ratelimit.Identifier{"user": "u"})
	_, _ = limiter.Check(t.Context(), ratelimit.Identifier{"user": []int{}})
	expect(t, collector, `
gitlab_labkit_rate_limiter_checks_total{action="allow",error="false",matched="true",rate_limiter="sign_in"} 3
gitlab_labkit_rate_limiter_checks_total{action="allow",error="true",matched="false",rate_limiter="sign_in"} 1
gitlab_labkit_rate_limiter_checks_total{action="block",error="false",matched="true",rate_limiter="sign_in"} 1
gitlab_labkit_rate_limiter_limit{rate_limiter="sign_in",rule="per_user"} 2
gitlab_labkit_rate_limiter_peeks_total{error="false",rate_limiter="sign_in"} 1
gitlab_labkit_rate_limiter_period_seconds{rate_limiter="sign_in",rule="per_user"} 60
gitlab_labkit_rate_limiter_rule_evaluations_total{action="limit",rate_limiter="sign_in",result="allow",rule="per_user"} 2
gitlab_labkit_rate_limiter_rule_evaluations_total{action="limit",rate_limiter="sign_in",result="block",rule="per_user"} 1
gitlab_labkit_rate_limiter_rule_evaluations_total{action="skip",rate_limiter="sign_in",result="skip",rule="staff"} 1
`)
	if problems, err := testutil.CollectAndLint(collector); err != nil || len(problems) != 0 {
		t.Error(problems, err)
	}
}

func TestLimitersOfOneNameAreOneSeries(t *testing.T) {
	one, other := newLimiter(t, "api", 5), newLimiter(t, "api", 7)
	collector := promlimit.New(one)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)
	collector.Add(other)
	for _, limiter := range []*ratelimit.Limiter{one, other, other} {
		_, _ = limiter.Check(t.Context(), ratelimit.Identifier{"user": "u"})
	}
	const shared = `
gitlab_labkit_rate_limiter_checks_total{action="allow",error="false",matched="true",rate_limiter="api"} 3
gitlab_labkit_rate_limiter_limit{rate_limiter="api",rule="per_user"} 7
`
	names := []string{"gitlab_labkit_rate_limiter_checks_total", "gitlab_labkit_rate_limiter_limit"}
	for metric, text := range map[string]string{names[0]: "checks_total", names[1]: "limit"} {
		var wanted strings.Builder
		for line := range strings.Lines(help + shared) {
			if strings.Contains(line, "rate_limiter_"+text) {
				wanted.WriteString(line)
			}
		}
		if err := testutil.GatherAndCompare(registry, strings.NewReader(wanted.String()), metric); err != nil {
			t.Error(err)
		}
	}
	collector.Remove(one)
	collector.Remove(one)
	_ = other.Close()
	if count := testutil.CollectAndCount(collector); count != 0 {
		t.Errorf("%d series of limiters that are gone", count)
	}
}

func TestClosingALimiterLowersNoCounter(t *testing.T) {
	one, other := newLimiter(t, "api", 5), newLimiter(t, "api", 7)
	collector := promlimit.New(one, other)
	for _, limiter := range []*ratelimit.Limiter{one, one, other} {
		_, _ = limiter.Check(t.Context(), ratelimit.Identifier{"user": "u"})
	}
	checks := func(want int, limit int) {
		t.Helper()
		expect(t, collector, fmt.Sprintf(`
gitlab_labkit_rate_limiter_checks_total{action="allow",error="false",matched="true",rate_limiter="api"} %d
gitlab_labkit_rate_limiter_limit{rate_limiter="api",rule="per_user"} %d
gitlab_labkit_rate_limiter_period_seconds{rate_limiter="api",rule="per_user"} 60
gitlab_labkit_rate_limiter_rule_evaluations_total{action="limit",rate_limiter="api",result="allow",rule="per_user"} %d
`, want, limit, want))
	}
	checks(3, 7)
	// What it counted since Prometheus last asked counts too.
	_, _ = one.Check(t.Context(), ratelimit.Identifier{"user": "u"})
	_ = one.Close()
	for range 2 {
		checks(4, 7)
	}
	collector.Remove(one)
	checks(4, 7)
	collector.Add(one)
	checks(4, 7)
	// Nor is anything forgotten while there is none of the name.
	_ = other.Close()
	if count := testutil.CollectAndCount(collector); count != 0 {
		t.Errorf("%d series of limiters that are gone", count)
	}
	next := newLimiter(t, "api", 2)
	collector.Add(next)
	_, _ = next.Check(t.Context(), ratelimit.Identifier{"user": "u"})
	checks(5, 2)
}

// What a registry holds costs a check nothing: it is asked by nobody but Prometheus.
func TestACheckAllocatesTheSameWhileCollected(t *testing.T) {
	if raced {
		t.Skip("pools forget at random under -race")
	}
	limiter := newLimiter(t, "api", 1<<40)
	id := ratelimit.Identifier{"user": "u"}
	check := func() { _, _ = limiter.Check(context.Background(), id) }
	before := testing.AllocsPerRun(1000, check)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(promlimit.New(limiter))
	if _, err := registry.Gather(); err != nil {
		t.Fatal(err)
	}
	if after := testing.AllocsPerRun(1000, check); after != before || after > 1 {
		t.Errorf("%v allocations, and %v before", after, before)
	}
}
