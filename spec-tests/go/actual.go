package main

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// resultOf is a result as the protocol prints it.
func resultOf(result ratelimit.Result) map[string]any {
	evaluations := []any{}
	for _, evaluation := range result.Evaluations() {
		evaluations = append(evaluations, map[string]any{
			"rule": evaluation.Rule(), "result": evaluation.Outcome(), "exceeded": evaluation.Exceeded(),
			"info": infoOf(evaluation.Info()),
		})
	}
	action := "allow"
	if result.Blocked() {
		action = "block"
	}
	var rule, info any
	if name := result.Rule(); name != "" {
		rule = name
	}
	if numbers, ok := result.Info(); ok {
		info = infoOf(numbers)
	}
	return map[string]any{
		"action": action, "matched": result.Matched(), "exceeded": result.Exceeded(), "skipped": result.Skipped(),
		"warned": result.Warned(), "error": result.Failed(), "degraded": result.Degraded(),
		"rule": rule, "info": info, "evaluations": evaluations,
	}
}

func infoOf(info ratelimit.Info) map[string]any {
	var retryAfter any
	if wait, ok := info.RetryAfter(); ok {
		retryAfter = wait.Seconds()
	}
	return map[string]any{
		"limit": info.Limit, "period_s": int64(info.Period.Seconds()), "count": float(info.Count),
		"remaining": float(info.Remaining), "reset_after": info.ResetAfter.Seconds(), "retry_after": retryAfter,
		"banned": info.Banned,
	}
}

// headers are those of the last result, the times among them as seconds after the clock's whole second.
func (s *scenario) headers(given any) map[string]string {
	format := ratelimit.GitLabHeaders
	if fields, _ := given.(map[string]any); fields["format"] == "ietf" {
		format = ratelimit.IETFDraft11
	}
	headers := map[string]string{}
	for _, header := range s.last.Headers(format) {
		text := header.Value
		switch header.Name {
		case "RateLimit-Reset":
			if unix, err := strconv.ParseInt(text, 10, 64); err == nil {
				text = strconv.FormatInt(unix-s.second, 10)
			}
		case "RateLimit-ResetTime":
			if at, err := http.ParseTime(text); err == nil {
				text = strconv.FormatInt(at.Unix()-s.second, 10)
			}
		}
		headers[header.Name] = text
	}
	return headers
}

// recorder keeps warnings until they are taken.
type recorder struct {
	mu    sync.Mutex
	lines []map[string]any
}

func (r *recorder) Enabled(context.Context, slog.Level) bool {
	return true
}

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	line := map[string]any{"message": record.Message, "identifier_keys": []string{}}
	for _, field := range []string{"error_type", "name", "rule", "count_distinct", "metric", "class_name", "error_message"} {
		line[field] = nil
	}
	record.Attrs(func(attr slog.Attr) bool {
		line[attr.Key] = attr.Value.Any()
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	return nil
}

func (r *recorder) WithAttrs([]slog.Attr) slog.Handler {
	return r
}

func (r *recorder) WithGroup(string) slog.Handler {
	return r
}

func (r *recorder) take() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := slices.Clone(r.lines)
	if lines == nil {
		lines = []map[string]any{}
	}
	r.lines = nil
	return lines
}
