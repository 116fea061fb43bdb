// Package leaks tells of goroutines that tests leave behind. The module depends on nothing, so it counts by itself.
package leaks

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main runs the tests of a package, and fails where goroutines of this module are left behind.
func Main(m *testing.M) {
	code := m.Run()
	if left := left(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// left are the stacks of goroutines of ours that do not end within seconds.
func left() string {
	var ours []string
	for range 100 {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		ours = nil
		for _, stack := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(stack, "labkit-ratelimit/go") && !strings.Contains(stack, "leaks.Main") {
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
