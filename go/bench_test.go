package ratelimit

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// processor reports processor time beside the wall's: the machine may have other things to do.
func processor(b *testing.B) func() {
	spent := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := spent()
	return func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "cpu-ns/op") }
}

// threeProperties is one rule on three properties, in memory: what the numbers in README.md are of.
func threeProperties(tb testing.TB) (*Limiter, Identifier) {
	limiter := newLimiter(tb, Config{MaxKeys: 100_000, Rules: []Rule{{
		Name: "per_user", Characteristics: []string{"user"}, Limit: 1 << 40, Period: time.Minute,
		Match: map[string]any{"method": OneOf("GET", "HEAD"), "path": Prefix("/api/")},
	}}})
	return limiter, Identifier{"user": "user:42", "method": "GET", "path": "/api/v4/projects"}
}

func BenchmarkCheckInMemory(b *testing.B) {
	limiter, id := threeProperties(b)
	ctx := context.Background()
	b.ReportAllocs()
	report := processor(b)
	for b.Loop() {
		if result, err := limiter.Check(ctx, id); err != nil || result.Blocked() {
			b.Fatal(result, err)
		}
	}
	report()
}

func BenchmarkCheckInMemoryParallel(b *testing.B) {
	limiter, id := threeProperties(b)
	report := processor(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = limiter.Check(context.Background(), id)
		}
	})
	report()
}

func BenchmarkIdentifier(b *testing.B) {
	_, id := threeProperties(b)
	properties := []string{"method", "path", "user"}
	var wire []byte
	report := processor(b)
	for b.Loop() {
		wire = id.appendTo(wire[:0], properties)
	}
	report()
}
