package ratelimit

import (
	"context"
	"log/slog"
)

// logLine is a warning of the core's.
type logLine struct {
	Message       string   `json:"message"`
	ErrorType     *string  `json:"error_type"`
	Name          string   `json:"name"`
	Rule          *string  `json:"rule"`
	CountDistinct *string  `json:"count_distinct"`
	ClassName     *string  `json:"class_name"`
	ErrorMessage  *string  `json:"error_message"`
	OfIdentifier  bool     `json:"of_identifier"`
	Keys          []string `json:"identifier_keys"`
}

// write hands lines to the host's logger, which may do what it likes: no decision hangs on it. The logger gets the values
// of the check's context, a trace say; that the check was given up is none of its business.
func (l *Limiter) write(ctx context.Context, lines []logLine, id Identifier) {
	if len(lines) == 0 {
		return
	}
	defer func() { _ = recover() }()
	logger := l.logger
	if logger == nil {
		logger = slog.Default()
	}
	ctx = context.WithoutCancel(ctx)
	for _, line := range lines {
		if line.OfIdentifier {
			line.Keys = id.names()
		}
		logger.LogAttrs(ctx, slog.LevelWarn, line.Message, line.attrs()...)
	}
}

// warn writes a line of what only Go knows of.
func (l *Limiter) warn(ctx context.Context, message, class, text string, id Identifier) {
	kind := "rate_limit_error"
	l.write(ctx, []logLine{{
		Message: message, ErrorType: &kind, Name: l.name, ClassName: &class, ErrorMessage: &text, OfIdentifier: id != nil,
	}}, id)
}

func (line *logLine) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("name", line.Name)}
	optional := []struct {
		key   string
		value *string
	}{
		{"error_type", line.ErrorType},
		{"rule", line.Rule},
		{"count_distinct", line.CountDistinct},
		{"class_name", line.ClassName},
		{"error_message", line.ErrorMessage},
	}
	for _, field := range optional {
		if field.value != nil {
			attrs = append(attrs, slog.String(field.key, *field.value))
		}
	}
	if len(line.Keys) > 0 {
		attrs = append(attrs, slog.Any("identifier_keys", line.Keys))
	}
	return attrs
}
