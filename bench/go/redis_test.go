// Package bench holds the Go module beside its peers, in one run: bench/go/run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/goredis"
)

// much is never reached, so that every check runs the whole chain.
const much = 1_000_000_000

var errRefused = errors.New("refused, or not counted where it should be")

// connections of each client: as many as redis-benchmark has where bench/run tells its rate.
const connections = 50

func client(b *testing.B, punctual bool) *redis.Client {
	address := os.Getenv("LABKIT_BENCH_REDIS")
	if address == "" {
		b.Skip("bench/go/run starts a Redis, and says where in LABKIT_BENCH_REDIS")
	}
	client := redis.NewClient(&redis.Options{Addr: address, PoolSize: connections, PoolTimeout: time.Minute, ContextTimeoutEnabled: punctual})
	b.Cleanup(func() { _ = client.Close() })
	return client
}

// spread runs check b.N times, from so many goroutines at once.
func spread(b *testing.B, goroutines int, check func(n int64) error) {
	var next atomic.Int64
	var group sync.WaitGroup
	b.ReportAllocs()
	before := processor(b)
	b.ResetTimer()
	for range goroutines {
		group.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := check(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
}

// processor is what this process has spent: the machine may have other things to do.
func processor(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkRedis(b *testing.B) {
	for _, goroutines := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("peer=redis_rate_1/goroutines=%d", goroutines), func(b *testing.B) { redisRate(b, goroutines, 1) })
		b.Run(fmt.Sprintf("peer=redis_rate_3/goroutines=%d", goroutines), func(b *testing.B) { redisRate(b, goroutines, 3) })
		b.Run(fmt.Sprintf("peer=labkit_3/goroutines=%d", goroutines), func(b *testing.B) { labkit(b, goroutines, false) })
		b.Run(fmt.Sprintf("peer=labkit_3_punctual/goroutines=%d", goroutines), func(b *testing.B) { labkit(b, goroutines, true) })
	}
}

func redisRate(b *testing.B, goroutines, rules int) {
	limiter := redis_rate.NewLimiter(client(b, false))
	limit := redis_rate.Limit{Rate: much, Burst: much, Period: time.Hour}
	spread(b, goroutines, func(n int64) error {
		for rule := range rules {
			result, err := limiter.Allow(context.Background(), fmt.Sprintf("rule%d:user:%d", rule, n%1000), limit)
			if err != nil {
				return err
			}
			if result.Allowed != 1 {
				return errRefused
			}
		}
		return nil
	})
}

func labkit(b *testing.B, goroutines int, punctual bool) {
	rule := func(name string, characteristics ...string) ratelimit.Rule {
		return ratelimit.Rule{Name: name, Characteristics: characteristics, Limit: much, Period: time.Hour}
	}
	limiter := ratelimit.MustNew(ratelimit.Config{
		Name: "bench", Redis: goredis.New(client(b, punctual)), Deadline: time.Minute,
		// Benchstat reads what is printed.
		Logger: slog.New(slog.DiscardHandler),
		Rules:  []ratelimit.Rule{rule("per_user", "user"), rule("per_ip", "ip"), rule("per_both", "user", "ip")},
	})
	b.Cleanup(func() { _ = limiter.Close() })
	identifier := func(n int64) ratelimit.Identifier { return ratelimit.Identifier{"user": n % 1000, "ip": "198.18.0.1"} }
	if _, err := limiter.Clear(b.Context(), identifier(0)); err != nil {
		b.Fatal(err)
	}
	spread(b, goroutines, func(n int64) error {
		result, err := limiter.Check(context.Background(), identifier(n))
		if err == nil && (!result.Allowed() || !result.Matched() || result.Degraded()) {
			return errRefused
		}
		return err
	})
	counted(b, limiter, identifier(0))
}

// counted fails unless b.N checks were counted, for this identifier those of each thousandth: what fails open is fast.
func counted(b *testing.B, limiter *ratelimit.Limiter, id ratelimit.Identifier) {
	result, err := limiter.Check(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	user, all := float64(b.N/1000+1), float64(b.N+1)
	want := map[string]float64{"per_user": user, "per_ip": all, "per_both": user}
	got := map[string]float64{}
	for _, evaluation := range result.Evaluations() {
		got[evaluation.Rule()] = evaluation.Info().Count
	}
	if !maps.Equal(got, want) {
		b.Fatalf("counted are %v, not %v", got, want)
	}
}
