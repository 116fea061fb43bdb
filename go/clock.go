package ratelimit

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// ManualClock stands still until it is told otherwise, for tests. [NewManualClock] makes it.
type ManualClock struct {
	handle uint64
}

// NewManualClock is a clock that stands at a time, to the second. It panics where that is not within 1970 and 2106, as the
// zero time is: a test that meant another one would go by it.
func NewManualClock(at time.Time) *ManualClock {
	if seconds := at.Unix(); seconds < 0 || seconds > math.MaxUint32 {
		panic(fmt.Sprintf("ratelimit: a clock stands between 1970 and 2106, not at %s", at))
	}
	clock := &ManualClock{native.NewClock(uint32(at.Unix()))}
	runtime.AddCleanup(clock, func(handle uint64) { native.FreeClock(handle) }, clock.handle)
	return clock
}

// Advance moves it, to the microsecond; back where by is negative, as far as 1970.
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
