package native

// #include "labkit_ratelimit.h"
import "C"

// New makes a limiter from JSON. The text says what came of it, where the status is Done or Rejected.
func New(config []byte) (limiter uint64, text []byte, status Status) {
	var handle, answer C.uint64_t
	status = Status(C.labkit_ratelimit_limiter_new(bytesOf(config), C.size_t(len(config)), &handle, &answer))
	return uint64(handle), Take(uint64(answer)), status
}

// Reload puts documents, in JSON, in place of those in force.
func Reload(limiter uint64, documents []byte) (text []byte, status Status) {
	var answer C.uint64_t
	status = Status(C.labkit_ratelimit_limiter_reload(
		C.uint64_t(limiter), bytesOf(documents), C.size_t(len(documents)), &answer))
	return Take(uint64(answer)), status
}

// Rules gives the rules in force, as JSON.
func Rules(limiter uint64) (text []byte, status Status) {
	var answer C.uint64_t
	status = Status(C.labkit_ratelimit_limiter_rules(C.uint64_t(limiter), &answer))
	return Take(uint64(answer)), status
}

// Metrics gives counters and gauges, as JSON.
func Metrics(limiter uint64) (text []byte, status Status) {
	var answer C.uint64_t
	status = Status(C.labkit_ratelimit_limiter_metrics(C.uint64_t(limiter), &answer))
	return Take(uint64(answer)), status
}

// CloseCircuit closes the circuit of a limiter.
func CloseCircuit(limiter uint64) Status {
	return Status(C.labkit_ratelimit_limiter_close_circuit(C.uint64_t(limiter)))
}

// Free frees a limiter.
func Free(limiter uint64) Status {
	return Status(C.labkit_ratelimit_limiter_free(C.uint64_t(limiter)))
}

// Take takes a text; nil for the handle 0.
func Take(text uint64) []byte {
	if text == 0 {
		return nil
	}
	var length C.size_t
	C.labkit_ratelimit_text_take(C.uint64_t(text), nil, 0, &length)
	buffer := make([]byte, int(length))
	if Status(C.labkit_ratelimit_text_take(C.uint64_t(text), bytesOf(buffer), length, &length)) != Done {
		return nil
	}
	return buffer
}

// NewClock makes a clock that stands at a second since 1970.
func NewClock(unixSeconds uint32) uint64 {
	return uint64(C.labkit_ratelimit_clock_new(C.uint32_t(unixSeconds)))
}

// AdvanceClock moves a clock by µs.
func AdvanceClock(clock uint64, us int64) Status {
	return Status(C.labkit_ratelimit_clock_advance(C.uint64_t(clock), C.int64_t(us)))
}

// ReadClock reads a clock, in µs since 1970.
func ReadClock(clock uint64) (us uint64, status Status) {
	var now C.uint64_t
	status = Status(C.labkit_ratelimit_clock_now(C.uint64_t(clock), &now))
	return uint64(now), status
}

// FreeClock frees a clock.
func FreeClock(clock uint64) Status {
	return Status(C.labkit_ratelimit_clock_free(C.uint64_t(clock)))
}
