package ratelimit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Limiter decides for one kind of request. It is used by any number of goroutines.
type Limiter struct {
	name      string
	handle    uint64
	redis     Scripter
	logger    *slog.Logger
	functions []NumberFunc
	patterns  []*regexp.Regexp
	rules     atomic.Pointer[ruleSet]
	closed    atomic.Bool
	// What a check answers that does not even reach the core.
	blocksOnError bool
	cleanup       runtime.Cleanup
	// Of redis: whether a call of it ends by its deadline.
	punctual bool
	turns    turns
	// Calls that landed, to be used again.
	flights sync.Pool
	// What the metrics stood at when it was closed; nil before.
	last atomic.Pointer[[]Sample]
}

// New checks everything that config holds, and builds a limiter. An error is a [*ConfigError] with every mistake, or
// says that the native library is not the one of this package.
func New(config Config) (*Limiter, error) {
	limiter, failure, err := build(config, nil)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, &ConfigError{Findings: failure.Findings, message: failure.Message}
	}
	return limiter, nil
}

// MustNew is [New] for limiters that are part of a program: it panics where that returns an error.
func MustNew(config Config) *Limiter {
	limiter, err := New(config)
	if err != nil {
		panic(err)
	}
	return limiter
}

// rejection is what the core says of a limiter that it did not build, or documents that it did not load.
type rejection struct {
	Message  string    `json:"message"`
	Findings []Finding `json:"findings"`
}

// said is the answer of the core to building and loading.
type said struct {
	Rules *ruleSet   `json:"rules"`
	Error *rejection `json:"error"`
	Logs  []logLine  `json:"logs"`
}

// build asks the core. What is wrong with what was given is a rejection; an error is a defect.
func build(config Config, documents *Documents) (*Limiter, *rejection, error) {
	if err := native.Verify(); err != nil {
		return nil, nil, fmt.Errorf("ratelimit: %w", err)
	}
	var writer ruleWriter
	text, err := json.Marshal(settings(config, documents, &writer))
	if err != nil {
		return nil, nil, fmt.Errorf("ratelimit: %w", err)
	}
	handle, answer, status := native.New(text)
	runtime.KeepAlive(config.Clock)
	if status != native.Done && status != native.Rejected {
		return nil, nil, fmt.Errorf("%w: building limiter %s: %s", ErrInternal, config.Name, status)
	}
	limiter := &Limiter{
		name: config.Name, handle: handle, redis: config.Redis, logger: config.Logger,
		functions: writer.functions, patterns: writer.patterns, punctual: writer.punctual,
		turns:         writer.turns,
		blocksOnError: config.OnError == BlockOnError,
	}
	var said said
	if err := json.Unmarshal(answer, &said); err != nil {
		native.Free(handle)
		return nil, nil, fmt.Errorf("%w: %w", ErrInternal, err)
	}
	limiter.write(context.Background(), said.Logs, nil)
	if status == native.Rejected {
		return nil, said.Error, nil
	}
	limiter.rules.Store(said.Rules)
	limiter.note(config.Redis)
	limiter.cleanup = runtime.AddCleanup(limiter, func(handle uint64) { native.Free(handle) }, handle)
	return limiter, nil, nil
}

// settings are the configuration as the core reads it.
func settings(config Config, documents *Documents, writer *ruleWriter) object {
	rules := writer.rules(config.Rules)
	topology := writer.options(&config)
	settings := object{
		"name": config.Name, "rules": rules, "findings": writer.findings, "strict": !config.LenientDocuments,
		"properties": config.Properties, "allowed_skip_rules": config.AllowedSkipRules,
	}
	settings.put("evaluation", config.Evaluation, config.Evaluation != "")
	settings.put("on_error", config.OnError, config.OnError != "")
	if config.Clock != nil && config.Clock.handle != 0 {
		settings["clock"] = config.Clock.handle
	}
	if documents != nil {
		settings["documents"] = documents.written()
	}
	switch {
	case config.Redis != nil:
		settings["store"] = object{"redis": object{
			"topology": topology, "deadline_us": config.Deadline.Microseconds(),
		}}
	case config.MaxKeys > 0:
		settings["store"] = object{"memory": object{"max_keys": config.MaxKeys}}
	}
	return settings
}

// Name is the limiter's.
func (l *Limiter) Name() string {
	return l.name
}

// Close frees what the limiter has outside of Go. A check after it answers without a verdict, with [ErrClosed]. It may
// be called more than once, and while others check. A limiter that is forgotten is freed too.
func (l *Limiter) Close() error {
	if l.closed.CompareAndSwap(false, true) {
		l.cleanup.Stop()
		last := l.Metrics()
		l.last.Store(&last)
		native.Free(l.handle)
	}
	return nil
}

// Closed tells whether it was closed.
func (l *Limiter) Closed() bool {
	return l.last.Load() != nil
}

// CloseCircuit makes the next check ask Redis again, as an operator may after mending it.
func (l *Limiter) CloseCircuit() {
	native.CloseCircuit(l.handle)
	runtime.KeepAlive(l)
}

// inForce are the rules in force: none of a limiter that [New] did not make, which has no handle either.
func (l *Limiter) inForce() *ruleSet {
	if rules := l.rules.Load(); rules != nil {
		return rules
	}
	return &ruleSet{}
}

// refresh looks up which rules are in force, after others were loaded.
func (l *Limiter) refresh() error {
	text, status := native.Rules(l.handle)
	if status != native.Done {
		return statusError(status)
	}
	var rules ruleSet
	if err := json.Unmarshal(text, &rules); err != nil {
		return err
	}
	l.rules.Store(&rules)
	return nil
}

// statusError is an error for a status that no call should come to.
func statusError(status native.Status) error {
	if status == native.UnknownHandle {
		return ErrClosed
	}
	return fmt.Errorf("%w: %s", ErrInternal, status)
}
