package ratelimit

import (
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Outcome is what came of one rule.
type Outcome string

// What an [Evaluation] may say.
const (
	// OutcomeAllow: it is not over.
	OutcomeAllow Outcome = "allow"
	// OutcomeBlock: a limit rule is over.
	OutcomeBlock Outcome = "block"
	// OutcomeWarn: a warn rule is over.
	OutcomeWarn Outcome = "warn"
	// OutcomeLog: a log rule is over.
	OutcomeLog Outcome = "log"
	// OutcomeBanned: its ban is in force.
	OutcomeBanned Outcome = "banned"
)

// outcomes, by the core's numbers.
var outcomes = [...]Outcome{OutcomeAllow, OutcomeBlock, OutcomeWarn, OutcomeLog, OutcomeBanned}

// Evaluation is what came of one counting rule.
type Evaluation struct {
	numbers native.Evaluation
	nowUS   uint64
	rules   *ruleSet
}

// Rule is the rule's name.
func (e Evaluation) Rule() string {
	return e.rules.name(e.numbers.Rule)
}

// Outcome is what came of it.
func (e Evaluation) Outcome() Outcome {
	return outcomes[e.numbers.Outcome]
}

// Exceeded tells whether it is over, or its ban in force.
func (e Evaluation) Exceeded() bool {
	return e.numbers.Exceeded != 0
}

// Info holds its numbers.
func (e Evaluation) Info() Info {
	return infoOf(e.numbers, e.nowUS)
}

// Headers are the HTTP fields of this rule, a log rule's too.
func (e Evaluation) Headers(format HeaderFormat) []Header {
	return headersOf(format, e.Rule(), &e.numbers, e.nowUS)
}

// Info is the numbers of a rule in one check.
type Info struct {
	// Limit in force.
	Limit uint64
	// Period in force.
	Period time.Duration
	// Count is what was counted, this call included.
	Count float64
	// Remaining is what is left, within 0 and the limit (GCRA: the burst).
	Remaining float64
	// ResetAt is when the counter is fresh again, or the ban ends, by the limiter's clock.
	ResetAt time.Time
	// ResetAfter is the time until then.
	ResetAfter time.Duration
	// Banned tells whether a ban is in force.
	Banned bool

	waits        bool
	retryAfterUS uint64
}

// RetryAfter is how long to wait before the same call passes; only of a limit rule that is over, and false where no wait
// helps.
func (i Info) RetryAfter() (time.Duration, bool) {
	if !i.waits {
		return 0, false
	}
	return micros(i.retryAfterUS), true
}

func infoOf(numbers native.Evaluation, nowUS uint64) Info {
	resetAfter := micros(numbers.ResetAfterUS)
	return Info{
		Limit:        numbers.Limit,
		Period:       time.Duration(numbers.PeriodS) * time.Second,
		Count:        numbers.Count,
		Remaining:    numbers.Remaining,
		ResetAt:      time.UnixMicro(int64(nowUS)).UTC().Add(resetAfter),
		ResetAfter:   resetAfter,
		Banned:       numbers.Banned != 0,
		waits:        numbers.RetryAfterUS != native.Never,
		retryAfterUS: numbers.RetryAfterUS,
	}
}

// micros is a duration of µs; the longest one where they are more: a key that somebody else gave a longer life.
func micros(us uint64) time.Duration {
	const most = uint64(1<<63-1) / uint64(time.Microsecond)
	return time.Duration(min(us, most)) * time.Microsecond
}
