package native

// #include "labkit_ratelimit.h"
import "C"

import "unsafe"

// None is an index of nothing.
const None = ^uint32(0)

// Never is a time that does not come.
const Never = ^uint64(0)

// Answer is LabkitRatelimitAnswer; the header says what each field is.
type Answer struct {
	Rules        uint64
	Pending      uint64
	DeadlineUS   uint64
	RetryAfterUS uint64
	Deleted      uint64
	NowUS        uint64
	Text         uint64
	Len          uint64
	Evaluations  uint32
	Reported     uint32
	Shown        uint32
	Rule         uint32
	Script       uint32
	Keys         uint32
	Args         uint32
	Verdict      uint8
	Flags        uint8
	Failure      uint8
	_            uint8
}

// Evaluation is LabkitRatelimitEvaluation.
type Evaluation struct {
	Count        float64
	Remaining    float64
	Limit        uint64
	ResetAfterUS uint64
	RetryAfterUS uint64
	PeriodS      uint32
	Rule         uint32
	Outcome      uint8
	Exceeded     uint8
	Blocks       uint8
	Banned       uint8
	_            uint32
}

// Flags of an Answer.
const (
	Matched uint8 = 1 << iota
	Exceeded
	Skipped
	Warned
	Failed
	Degraded
)

// Mode is what Decide does.
type Mode uint32

const (
	// Check charges and decides.
	Check Mode = iota
	// Peek decides and changes nothing.
	Peek
)

// Outcome is what came of a call.
type Outcome uint32

const (
	// Reply is the script's.
	Reply Outcome = iota
	// Fault is an error in its place.
	Fault
	// Deadline passed.
	Deadline
	// Unsent is a call that nobody ran.
	Unsent
)

// Status is how a call went.
type Status uint32

// The statuses of the header.
const (
	Done          Status = C.LABKIT_RATELIMIT_STATUS_DONE
	Pending       Status = C.LABKIT_RATELIMIT_STATUS_CALL
	Ask           Status = C.LABKIT_RATELIMIT_STATUS_ASK
	Stale         Status = C.LABKIT_RATELIMIT_STATUS_STALE
	TooSmall      Status = C.LABKIT_RATELIMIT_STATUS_TOO_SMALL
	Rejected      Status = C.LABKIT_RATELIMIT_STATUS_REJECTED
	BadArgument   Status = C.LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT
	UnknownHandle Status = C.LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE
	Panic         Status = C.LABKIT_RATELIMIT_STATUS_PANIC
)

func (s Status) String() string {
	switch s {
	case Done:
		return "done"
	case Pending:
		return "a call is pending"
	case Ask:
		return "questions are open"
	case Stale:
		return "the rules were replaced"
	case TooSmall:
		return "the buffer is too small"
	case Rejected:
		return "rejected"
	case BadArgument:
		return "a bad argument"
	case UnknownHandle:
		return "an unknown handle"
	default:
		return "the library panicked"
	}
}

// The two languages lay the structs out alike, or this does not compile: a difference overflows an unsigned constant.
const (
	_ = uint(unsafe.Sizeof(Answer{}) - C.sizeof_LabkitRatelimitAnswer)
	_ = uint(C.sizeof_LabkitRatelimitAnswer - unsafe.Sizeof(Answer{}))
	_ = uint(unsafe.Sizeof(Evaluation{}) - C.sizeof_LabkitRatelimitEvaluation)
	_ = uint(C.sizeof_LabkitRatelimitEvaluation - unsafe.Sizeof(Evaluation{}))
)

var (
	_ = [1]struct{}{}[unsafe.Offsetof(Answer{}.Len)-unsafe.Offsetof(C.LabkitRatelimitAnswer{}.len)]
	_ = [1]struct{}{}[unsafe.Offsetof(Answer{}.Evaluations)-unsafe.Offsetof(C.LabkitRatelimitAnswer{}.evaluations)]
	_ = [1]struct{}{}[unsafe.Offsetof(Answer{}.Failure)-unsafe.Offsetof(C.LabkitRatelimitAnswer{}.failure)]
	_ = [1]struct{}{}[unsafe.Offsetof(Evaluation{}.RetryAfterUS)-unsafe.Offsetof(C.LabkitRatelimitEvaluation{}.retry_after_us)]
	_ = [1]struct{}{}[unsafe.Offsetof(Evaluation{}.Rule)-unsafe.Offsetof(C.LabkitRatelimitEvaluation{}.rule)]
	_ = [1]struct{}{}[unsafe.Offsetof(Evaluation{}.Banned)-unsafe.Offsetof(C.LabkitRatelimitEvaluation{}.banned)]
)
