package bench

import (
	"context"
	"testing"
	"time"

	"github.com/sethvargo/go-limiter/memorystore"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// In memory, one caller: a check of one rule on an identifier of three properties, and a token of go-limiter's.
func BenchmarkMemory(b *testing.B) {
	b.Run("peer=go-limiter", goLimiter)
	b.Run("peer=labkit", checkInMemory)
}

func checkInMemory(b *testing.B) {
	limiter := ratelimit.MustNew(ratelimit.Config{Name: "bench", MaxKeys: 100_000, Rules: []ratelimit.Rule{{
		Name: "per_user", Characteristics: []string{"user"}, Limit: much, Period: time.Hour,
		Match: map[string]any{"method": ratelimit.OneOf("GET", "HEAD"), "path": ratelimit.Prefix("/api/")},
	}}})
	b.Cleanup(func() { _ = limiter.Close() })
	id := ratelimit.Identifier{"user": "user:42", "method": "GET", "path": "/api/v4/projects"}
	loop(b, func() bool {
		result, err := limiter.Check(context.Background(), id)
		return err == nil && !result.Blocked()
	})
}

// Its key is made already, and it has no rules to match.
func goLimiter(b *testing.B) {
	store, err := memorystore.New(&memorystore.Config{Tokens: much, Interval: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close(context.Background()) })
	loop(b, func() bool {
		_, _, _, passed, err := store.Take(context.Background(), "per_user:user:42")
		return err == nil && passed
	})
}

// loop runs check b.N times, which passes each time.
func loop(b *testing.B, check func() bool) {
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		if !check() {
			b.Fatal("refused, or failed")
		}
	}
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
}
