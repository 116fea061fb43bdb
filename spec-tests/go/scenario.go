package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

var (
	fields = []string{"name", "why", "limiter", "rules", "available_limiters", "rate_limits", "options", "stores", "steps",
		"expect_build_error"}
	ops    = []string{"check", "peek", "clear", "headers", "advance", "redis", "store", "logs", "metrics"}
	beside = []string{"cost", "context", "expect"}
	start  = time.Unix(1_700_000_000, 0)
)

// scenario is one scenario: its limiter and its steps.
type scenario struct {
	Name              string                     `json:"name"`
	Limiter           string                     `json:"limiter"`
	Rules             []json.RawMessage          `json:"rules"`
	AvailableLimiters json.RawMessage            `json:"available_limiters"`
	RateLimits        []json.RawMessage          `json:"rate_limits"`
	Options           map[string]json.RawMessage `json:"options"`
	Stores            []string                   `json:"stores"`
	Steps             []map[string]any           `json:"steps"`

	backend *backend
	clock   *ratelimit.ManualClock
	logs    recorder
	limiter *ratelimit.Limiter
	last    ratelimit.Result
	// The clock's whole second at the last result.
	second int64
}

func newScenario(data map[string]json.RawMessage, backend *backend) (*scenario, error) {
	if err := refuseUnknown(data, "scenario", fields...); err != nil {
		return nil, err
	}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	s := &scenario{backend: backend}
	if err := decode(text, s); err != nil {
		return nil, err
	}
	return s, refuseUnknown(s.Options, "scenario's options", "evaluation", "on_error")
}

func (s *scenario) runsOn(store string) bool {
	if s.Stores != nil && !slices.Contains(s.Stores, store) {
		return false
	}
	for _, step := range s.Steps {
		_, redis := step["redis"]
		_, down := step["store"]
		by, _ := step["advance"].(json.Number)
		if store == "memory" && (redis || down) || store != "memory" && strings.HasPrefix(by.String(), "-") {
			return false
		}
	}
	return true
}

func (s *scenario) run(print func(step int, op string, actual any) error) error {
	ctx := context.Background()
	if s.backend != nil {
		if err := s.backend.flush(ctx); err != nil {
			return err
		}
	}
	findings, err := s.build()
	if err != nil {
		return err
	}
	if findings != nil {
		return print(-1, "build", map[string]any{"findings": findings})
	}
	defer func() { _ = s.limiter.Close() }()
	if err := print(-1, "build", nil); err != nil {
		return err
	}
	for at, step := range s.Steps {
		op, actual, err := s.play(ctx, step)
		if err != nil {
			return fmt.Errorf("step %d: %w", at, err)
		}
		if err := print(at, op, actual); err != nil {
			return err
		}
	}
	return nil
}

// build gives what the library finds, where it refuses.
func (s *scenario) build() (findings []map[string]string, err error) {
	s.clock = ratelimit.NewManualClock(start)
	config := ratelimit.Config{Name: s.Limiter, Logger: slog.New(&s.logs)}
	if s.backend != nil {
		// A busy machine must not fail a scenario.
		config.Redis, config.Deadline = s.backend, 5*time.Second
	} else {
		config.MaxKeys, config.Clock = 100_000, s.clock
	}
	for name, option := range map[string]*string{
		"evaluation": (*string)(&config.Evaluation), "on_error": (*string)(&config.OnError),
	} {
		if given, ok := s.Options[name]; ok {
			if err := json.Unmarshal(given, option); err != nil {
				return nil, err
			}
		}
	}
	for _, text := range s.Rules {
		rule, err := rule(text)
		if err != nil {
			return nil, err
		}
		config.Rules = append(config.Rules, rule)
	}
	if s.AvailableLimiters == nil && s.RateLimits == nil {
		s.limiter, err = ratelimit.New(config)
	} else {
		s.limiter, err = ratelimit.FromBytes(config, s.documents())
	}
	return found(err)
}

func found(err error) ([]map[string]string, error) {
	var (
		config    *ratelimit.ConfigError
		documents *ratelimit.DocumentError
		all       []ratelimit.Finding
	)
	switch {
	case errors.As(err, &config):
		all = config.Findings
	case errors.As(err, &documents):
		all = documents.Findings
	default:
		return nil, err
	}
	findings := make([]map[string]string, len(all))
	for at, finding := range all {
		findings[at] = map[string]string{"code": finding.Code, "path": finding.Path, "message": finding.Message}
	}
	return findings, nil
}

func (s *scenario) documents() (documents ratelimit.Documents) {
	if s.AvailableLimiters != nil {
		documents.AvailableLimiters = &ratelimit.Source{Name: "available_limiters.json", Text: s.AvailableLimiters}
	}
	for at, text := range s.RateLimits {
		source := ratelimit.Source{Name: fmt.Sprintf("rate_limits.%d.json", at), Text: text}
		documents.RateLimits = append(documents.RateLimits, source)
	}
	return documents
}

// play makes the call of a step, and gives what came of it.
func (s *scenario) play(ctx context.Context, step map[string]any) (op string, actual any, err error) {
	if err := refuseUnknown(step, "step", slices.Concat(ops, beside)...); err != nil {
		return "", nil, err
	}
	at := slices.IndexFunc(ops, func(op string) bool { _, ok := step[op]; return ok })
	if at < 0 {
		return "", nil, fmt.Errorf("no step this runner knows: %v", step)
	}
	op = ops[at]
	given, err := value(step[op])
	if err != nil {
		return op, nil, err
	}
	switch op {
	case "check", "peek":
		actual, err = s.decide(ctx, op, given, step)
	case "clear":
		deleted, failure := s.limiter.Clear(ctx, identifier(given))
		actual, err = map[string]any{"deleted": deleted}, wanted(failure)
	case "headers":
		actual = s.headers(given)
	case "advance":
		err = s.advance(ctx, step[op].(json.Number))
	case "redis":
		actual, err = s.redis(ctx, given)
	case "store":
		s.backend.down.Store(given == "down")
		if given == "up" {
			s.limiter.CloseCircuit()
		}
	case "logs":
		actual = s.logs.take()
	case "metrics":
		actual = metrics(s.limiter)
	}
	return op, actual, err
}

func identifier(given any) ratelimit.Identifier {
	values, _ := given.(map[string]any)
	return values
}

// wanted is nil for an error that a library may return.
func wanted(err error) error {
	var failure *ratelimit.Error
	if errors.As(err, &failure) && !errors.Is(err, ratelimit.ErrInternal) {
		return nil
	}
	return err
}

func (s *scenario) decide(ctx context.Context, op string, given any, step map[string]any) (any, error) {
	var options []ratelimit.Option
	if written, ok := step["cost"]; ok {
		cost, err := value(written)
		if err != nil {
			return nil, err
		}
		options = append(options, ratelimit.Cost(asFloat(cost)))
	}
	if written, ok := step["context"]; ok {
		context, err := value(written)
		if err != nil {
			return nil, err
		}
		options = append(options, ratelimit.Context(context))
	}
	call := s.limiter.Check
	if op == "peek" {
		call = s.limiter.Peek
	}
	result, err := call(ctx, identifier(given), options...)
	s.last, s.second = result, s.clock.Now().Unix()
	if s.backend != nil {
		s.second = time.Now().Unix()
	}
	if (err != nil) != result.Failed() {
		return nil, fmt.Errorf("failed: %t, and the error is %w", result.Failed(), err)
	}
	return resultOf(result), wanted(err)
}

func asFloat(number any) float64 {
	switch number := number.(type) {
	case int64:
		return float64(number)
	case uint64:
		return float64(number)
	case float64:
		return number
	default:
		return math.NaN()
	}
}

func (s *scenario) advance(ctx context.Context, written json.Number) error {
	seconds, err := written.Float64()
	if err != nil {
		return err
	}
	by := time.Duration(math.Round(seconds*1e6)) * time.Microsecond
	if s.backend == nil {
		s.clock.Advance(by)
		return nil
	}
	_, here, _, _ := runtime.Caller(0)
	script, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "age.lua"))
	if err != nil {
		return err
	}
	return s.backend.age(ctx, string(script), s.Limiter, by)
}

func (s *scenario) redis(ctx context.Context, given any) (any, error) {
	fields, _ := given.(map[string]any)
	command, _ := fields["command"].([]any)
	words := make([]string, len(command))
	for at, word := range command {
		words[at], _ = word.(string)
	}
	reply, err := s.backend.raw(ctx, words)
	return map[string]any{"reply": reply}, err
}

func metrics(limiter *ratelimit.Limiter) map[string]uint64 {
	series := map[string]uint64{}
	for _, sample := range limiter.Metrics() {
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(sample.Labels)) {
			labels = append(labels, fmt.Sprintf("%s=%q", name, sample.Labels[name]))
		}
		series[sample.Name+"{"+strings.Join(labels, ",")+"}"] = sample.Value
	}
	return series
}
