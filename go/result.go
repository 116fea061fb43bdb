package ratelimit

import "gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"

// Result is what a check or a peek answers. It can always be used; the zero Result allows.
type Result struct {
	rules        *ruleSet
	evaluations  []native.Evaluation
	nowUS        uint64
	retryAfterUS uint64
	rule         uint32
	reported     uint32
	shown        uint32
	verdict      uint8
	flags        uint8
}

func resultOf(answer *native.Answer, evaluations []native.Evaluation, rules *ruleSet) Result {
	result := Result{
		rules: rules, nowUS: answer.NowUS, retryAfterUS: answer.RetryAfterUS, rule: answer.Rule,
		reported: answer.Reported, shown: answer.Shown, verdict: answer.Verdict, flags: answer.Flags,
	}
	if answer.Evaluations > 0 {
		result.evaluations = make([]native.Evaluation, answer.Evaluations)
		copy(result.evaluations, evaluations)
	}
	return result
}

// Allowed tells whether the request may go on.
func (r Result) Allowed() bool {
	return r.verdict == 0
}

// Blocked tells whether it may not.
func (r Result) Blocked() bool {
	return r.verdict != 0
}

// Matched tells whether some rule matched.
func (r Result) Matched() bool {
	return r.flags&native.Matched != 0
}

// Exceeded tells whether the reported rule is over.
func (r Result) Exceeded() bool {
	return r.flags&native.Exceeded != 0
}

// Skipped tells whether a skip rule ended the chain.
func (r Result) Skipped() bool {
	return r.flags&native.Skipped != 0
}

// Warned tells whether a warn rule is over.
func (r Result) Warned() bool {
	return r.flags&native.Warned != 0
}

// Failed tells that there is no verdict: whether the request may go on is what [Config.OnError] says.
func (r Result) Failed() bool {
	return r.flags&native.Failed != 0
}

// Degraded tells that there is a verdict, but not the whole one: a rule after a block failed, a distinct property was
// missing, or it was counted in memory ([LocalOnError]).
func (r Result) Degraded() bool {
	return r.flags&native.Degraded != 0
}

// Rule is the name of the reported rule: the first that blocks; else a skip rule that ended the chain; else the most
// constraining one. It is "" where no rule matched.
func (r Result) Rule() string {
	return r.rules.name(r.rule)
}

// Info holds the numbers of the reported rule; false where a skip is reported, no rule matched, or the check failed.
// Where several rules block, its RetryAfter is the longest of theirs.
func (r Result) Info() (Info, bool) {
	if r.reported == native.None || int(r.reported) >= len(r.evaluations) {
		return Info{}, false
	}
	return infoOf(r.told(r.reported), r.nowUS), true
}

// Evaluations are what came of each counting rule that was evaluated, in chain order.
func (r Result) Evaluations() []Evaluation {
	if len(r.evaluations) == 0 {
		return nil
	}
	evaluations := make([]Evaluation, len(r.evaluations))
	for at := range evaluations {
		evaluations[at] = Evaluation{numbers: r.evaluations[at], nowUS: r.nowUS, rules: r.rules}
	}
	return evaluations
}

// Headers are the HTTP fields that tell the client: of the most constraining rule that is no log rule. None where no
// rule matched, a skip is reported, or the check failed.
func (r Result) Headers(format HeaderFormat) []Header {
	if r.shown == native.None || int(r.shown) >= len(r.evaluations) {
		return nil
	}
	numbers := r.told(r.shown)
	return headersOf(format, r.rules.name(numbers.Rule), &numbers, r.nowUS)
}

// told is an evaluation as the result speaks of it: of several that block, the longest wait counts.
func (r Result) told(at uint32) native.Evaluation {
	numbers := r.evaluations[at]
	if numbers.Blocks != 0 {
		numbers.RetryAfterUS = r.retryAfterUS
	}
	return numbers
}
