//go:build !race

package promlimit_test

// raced: these tests run with the race detector.
const raced = false
