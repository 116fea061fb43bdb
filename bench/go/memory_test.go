package bench

import (
	"context"
	"testing"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// A check in memory of one rule, an identifier of three properties.
func BenchmarkMemory(b *testing.B) {
	limiter := ratelimit.MustNew(ratelimit.Config{Name: "bench", MaxKeys: 100_000, Rules: []ratelimit.Rule{{
		Name: "per_user", Characteristics: []string{"user"}, Limit: much, Period: time.Hour,
		Match: map[string]any{"method": ratelimit.OneOf("GET", "HEAD"), "path": ratelimit.Prefix("/api/")},
	}}})
	b.Cleanup(func() { _ = limiter.Close() })
	id := ratelimit.Identifier{"user": "user:42", "method": "GET", "path": "/api/v4/projects"}
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		if result, err := limiter.Check(context.Background(), id); err != nil || result.Blocked() {
			b.Fatal(result, err)
		}
	}
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
}
