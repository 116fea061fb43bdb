// Package native is the core behind its C ABI (bindings/c). It moves numbers and bytes, and knows nothing else.
//
// No call of it waits, and none calls back into Go; nothing that is handed to it is kept. So arguments need not escape,
// and a call costs some tens of nanoseconds.
package native

/*
#if !__has_include("labkit_ratelimit.h")
#error "the native library is not staged: run ci/go-library in the repository"
#endif
#include "labkit_ratelimit.h"

#cgo noescape labkit_ratelimit_abandon
#cgo nocallback labkit_ratelimit_abandon
#cgo noescape labkit_ratelimit_call
#cgo nocallback labkit_ratelimit_call
#cgo noescape labkit_ratelimit_clear
#cgo nocallback labkit_ratelimit_clear
#cgo noescape labkit_ratelimit_decide
#cgo nocallback labkit_ratelimit_decide
#cgo noescape labkit_ratelimit_headers
#cgo nocallback labkit_ratelimit_headers
#cgo noescape labkit_ratelimit_settle
#cgo nocallback labkit_ratelimit_settle
*/
import "C"

import "unsafe"

// Decide checks or peeks.
func Decide(
	limiter, rules uint64, mode Mode, cost float64, identifier, answers []byte,
	answer *Answer, evaluations []Evaluation, buffer []byte,
) Status {
	return Status(C.labkit_ratelimit_decide(
		C.uint64_t(limiter), C.uint64_t(rules), C.uint32_t(mode), C.double(cost),
		bytesOf(identifier), C.size_t(len(identifier)), bytesOf(answers), C.size_t(len(answers)),
		answerOf(answer), evaluationsOf(evaluations), C.size_t(len(evaluations)), bytesOf(buffer), C.size_t(len(buffer)),
	))
}

// Clear deletes the counters of an identifier.
func Clear(limiter, rules uint64, identifier []byte, answer *Answer, buffer []byte) Status {
	return Status(C.labkit_ratelimit_clear(
		C.uint64_t(limiter), C.uint64_t(rules), bytesOf(identifier), C.size_t(len(identifier)),
		answerOf(answer), bytesOf(buffer), C.size_t(len(buffer)),
	))
}

// Call writes the call of pending once more.
func Call(pending uint64, answer *Answer, buffer []byte) Status {
	return Status(C.labkit_ratelimit_call(C.uint64_t(pending), answerOf(answer), bytesOf(buffer), C.size_t(len(buffer))))
}

// Settle takes what came of a call: a reply, or a fault of a class.
func Settle(
	limiter, pending uint64, kind Outcome, class, text string, answer *Answer, evaluations []Evaluation, buffer []byte,
) Status {
	return Status(C.labkit_ratelimit_settle(
		C.uint64_t(limiter), C.uint64_t(pending), C.uint32_t(kind),
		textOf(class), C.size_t(len(class)), textOf(text), C.size_t(len(text)),
		answerOf(answer), evaluationsOf(evaluations), C.size_t(len(evaluations)), bytesOf(buffer), C.size_t(len(buffer)),
	))
}

// Abandon decides without the reply of a call.
func Abandon(limiter, pending uint64, class, reason string, answer *Answer, evaluations []Evaluation) Status {
	return Status(C.labkit_ratelimit_abandon(
		C.uint64_t(limiter), C.uint64_t(pending),
		textOf(class), C.size_t(len(class)), textOf(reason), C.size_t(len(reason)),
		answerOf(answer), evaluationsOf(evaluations), C.size_t(len(evaluations)),
	))
}

// Headers writes the HTTP fields of an evaluation into buffer, and gives their length.
func Headers(format uint32, rule string, evaluation *Evaluation, nowUS uint64, buffer []byte) (int, Status) {
	var length C.size_t
	status := Status(C.labkit_ratelimit_headers(
		C.uint32_t(format), textOf(rule), C.size_t(len(rule)),
		(*C.LabkitRatelimitEvaluation)(unsafe.Pointer(evaluation)), C.uint64_t(nowUS),
		bytesOf(buffer), C.size_t(len(buffer)), &length,
	))
	return int(length), status
}

func bytesOf(bytes []byte) *C.uint8_t {
	return (*C.uint8_t)(unsafe.SliceData(bytes))
}

func textOf(text string) *C.uint8_t {
	return (*C.uint8_t)(unsafe.StringData(text))
}

func answerOf(answer *Answer) *C.LabkitRatelimitAnswer {
	return (*C.LabkitRatelimitAnswer)(unsafe.Pointer(answer))
}

func evaluationsOf(evaluations []Evaluation) *C.LabkitRatelimitEvaluation {
	return (*C.LabkitRatelimitEvaluation)(unsafe.Pointer(unsafe.SliceData(evaluations)))
}
