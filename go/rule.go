package ratelimit

import (
	"time"
)

// Action is what a rule does to a request that it matches.
type Action string

const (
	// ActionLimit refuses once over. It is the default.
	ActionLimit Action = "limit"
	// ActionWarn allows, and marks the result once over.
	ActionWarn Action = "warn"
	// ActionLog allows, and only counts.
	ActionLog Action = "log"
	// ActionSkip ends the chain: allowed, nothing counted.
	ActionSkip Action = "skip"
)

// Algorithm is how a rule counts.
type Algorithm string

const (
	// FixedWindow counts in windows of a period each. It is the default.
	FixedWindow Algorithm = "fixed_window"
	// GCRA counts evenly, with bursts.
	GCRA Algorithm = "gcra"
)

// NumberFunc gives a number of a rule anew in each check that the rule matches, before anything is counted. It gets
// the value of [Context], nil where a check has none, and returns an integer or a float of any kind, or for a period
// or a ban a [time.Duration] (a bare number is seconds). A fraction is cut off; a limit of 0 or less refuses everything.
// Anything else, an error or a panic is a failure of the rule: the check then has no verdict.
type NumberFunc func(value any) (any, error)

// Rule is one rule of a limiter. [New] checks it.
type Rule struct {
	// Name is the rule's identity: part of its keys, a label of its metrics. It matches ^[a-z0-9_]{1,64}$.
	Name string
	// Action is [ActionLimit] where it is empty.
	Action Action
	// Match holds a matcher for each property that must match, all of them: a value (equal to it), what [Eq], [Regex]
	// and so on return, or a [*regexp.Regexp], which Go runs. Empty matches everything.
	Match map[string]any
	// Characteristics are the properties that the counter is keyed by, in order. None is one counter for all.
	Characteristics []string
	// Limit is the threshold, 1 or more; or LimitFunc gives it.
	Limit     uint64
	LimitFunc NumberFunc
	// Period is the window: 1 s to 366 days, whole seconds; or PeriodFunc gives it.
	Period     time.Duration
	PeriodFunc NumberFunc
	// BanFor keeps refusing for so long once the limit is crossed: whole seconds; or BanForFunc gives it.
	BanFor     time.Duration
	BanForFunc NumberFunc
	// CountDistinct counts distinct values of this property instead of calls.
	CountDistinct string
	// Algorithm is [FixedWindow] where it is empty.
	Algorithm Algorithm
	// Burst is the bucket of a GCRA rule; 0 follows the limit.
	Burst uint64
	// Final stops the chain where the rule matched and did not block.
	Final bool
	// Overrides hold other numbers for some requests: the first that matches replaces those that it has.
	Overrides []Override
	// Description is prose.
	Description string

	raw []byte
}

// Override is other numbers of a [Rule] for some requests. What is 0 stays the rule's.
type Override struct {
	// Match is as that of a [Rule].
	Match map[string]any
	// Limit replaces the rule's.
	Limit uint64
	// Period replaces the rule's.
	Period time.Duration
	// BanFor replaces the rule's.
	BanFor time.Duration
	// Burst replaces the rule's.
	Burst uint64
}

// RuleFromJSON is a rule that is written as in documents, with the fields of docs/operators.md, but counts as code: its
// action may be left out, and numbers of a skip rule are ignored. [New] finds what is wrong with it.
func RuleFromJSON(text []byte) Rule {
	return Rule{raw: append([]byte{}, text...)}
}
