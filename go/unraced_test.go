//go:build !race

package ratelimit

// raced: these tests run with the race detector.
const raced = false
