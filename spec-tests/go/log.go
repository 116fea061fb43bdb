package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// accessLog is an access log under rules: every request is decided at its own time.
type accessLog struct {
	Limiter           string   `json:"limiter"`
	AvailableLimiters *string  `json:"available_limiters"`
	RateLimits        []string `json:"rate_limits"`
	Seconds           []second `json:"seconds"`
}

// second is a group of requests, at a Unix time of its own.
type second struct {
	at       int64
	requests []ratelimit.Identifier
}

func (s *second) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&s.at, &s.requests})
}

// decided is a line of what comes out.
type decided struct {
	Action   string   `json:"action"`
	Error    bool     `json:"error"`
	Rule     *string  `json:"rule"`
	Exceeded []string `json:"exceeded"`
}

// playLog gives each decision, and at last how many there were and how long they took.
func playLog(file string, backend *backend, print func(any) error) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var log accessLog
	if err := decode(text, &log); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(log.Seconds) == 0 {
		return errors.New("a log without requests")
	}
	now := log.Seconds[0].at
	clock := ratelimit.NewManualClock(time.Unix(now, 0))
	limiter, err := log.build(backend, clock)
	if err != nil {
		return err
	}
	defer func() { _ = limiter.Close() }()
	ctx := context.Background()
	if backend != nil {
		if err := backend.flush(ctx); err != nil {
			return err
		}
	}
	var (
		results []ratelimit.Result
		spent   time.Duration
	)
	for _, second := range log.Seconds {
		by := time.Duration(second.at-now) * time.Second
		now = second.at
		switch {
		case by == 0:
		case backend == nil:
			clock.Advance(by)
		default:
			if err := backend.age(ctx, log.Limiter, by); err != nil {
				return err
			}
		}
		begun := time.Now()
		for _, request := range second.requests {
			// What failed says so itself.
			result, _ := limiter.Check(ctx, request)
			results = append(results, result)
		}
		spent += time.Since(begun)
	}
	for _, result := range results {
		if err := print(decidedBy(result)); err != nil {
			return err
		}
	}
	return print(map[string]any{"done": len(results), "seconds": spent.Seconds()})
}

func (l *accessLog) build(backend *backend, clock *ratelimit.ManualClock) (*ratelimit.Limiter, error) {
	var documents ratelimit.Documents
	if l.AvailableLimiters != nil {
		documents.AvailableLimiters = &ratelimit.Source{Name: "available_limiters.yaml", Text: []byte(*l.AvailableLimiters)}
	}
	for at, text := range l.RateLimits {
		source := ratelimit.Source{Name: fmt.Sprintf("rate_limits.%d.yaml", at), Text: []byte(text)}
		documents.RateLimits = append(documents.RateLimits, source)
	}
	config := ratelimit.Config{Name: l.Limiter, MaxKeys: 1_000_000, Clock: clock}
	if backend != nil {
		config = ratelimit.Config{Name: l.Limiter, Redis: backend, Deadline: 5 * time.Second}
	}
	return ratelimit.FromBytes(config, documents)
}

func decidedBy(result ratelimit.Result) decided {
	line := decided{Action: "allow", Error: result.Failed(), Exceeded: []string{}}
	if result.Blocked() {
		line.Action = "block"
	}
	if name := result.Rule(); name != "" {
		line.Rule = &name
	}
	for _, evaluation := range result.Evaluations() {
		if evaluation.Exceeded() {
			line.Exceeded = append(line.Exceeded, evaluation.Rule())
		}
	}
	return line
}
