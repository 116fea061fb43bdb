package ratelimit

import (
	"log/slog"
	"testing"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/leaks"
)

func TestMain(m *testing.M) {
	leaks.Main(m)
}

// newLimiter is one that is closed with its test. Without a name, a store or a logger it gets its own.
func newLimiter(tb testing.TB, config Config) *Limiter {
	tb.Helper()
	if config.Name == "" {
		config.Name = "lim"
	}
	if config.Redis == nil && config.MaxKeys == 0 {
		config.MaxKeys = 1000
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	limiter, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = limiter.Close() })
	return limiter
}
