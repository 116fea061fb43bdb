package ratelimit

import (
	"runtime"
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// ManualClock stands still until it is told otherwise, for tests.
type ManualClock struct {
	handle uint64
}

// NewManualClock is a clock that stands at a time, to the second.
func NewManualClock(at time.Time) *ManualClock {
	clock := &ManualClock{native.NewClock(uint32(at.Unix()))}
	runtime.AddCleanup(clock, func(handle uint64) { native.FreeClock(handle) }, clock.handle)
	return clock
}

// Advance moves it, to the microsecond; back where by is negative.
func (c *ManualClock) Advance(by time.Duration) {
	native.AdvanceClock(c.handle, by.Microseconds())
	runtime.KeepAlive(c)
}

// Now reads it.
func (c *ManualClock) Now() time.Time {
	us, _ := native.ReadClock(c.handle)
	runtime.KeepAlive(c)
	return time.UnixMicro(int64(us)).UTC()
}
