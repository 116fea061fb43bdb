package ratelimit

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails where tests leave goroutines behind. This module depends on nothing, so it counts by itself.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leaked(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leaked are the stacks of goroutines of ours that do not end.
func leaked() string {
	var ours []string
	for range 100 {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		ours = nil
		for _, stack := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(stack, "labkit-ratelimit/go") && !strings.Contains(stack, "TestMain") {
				ours = append(ours, stack)
			}
		}
		if len(ours) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return strings.Join(ours, "\n\n")
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
