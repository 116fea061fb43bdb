package ratelimit

import (
	"fmt"
	"strings"
)

// Finding is one mistake in rules, options or documents.
type Finding struct {
	// Code is stable, and the same in every language; docs/findings.md explains each.
	Code string `json:"code"`
	// Path of the field, such as rules[0].limit.
	Path string `json:"path"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Mend says how to mend it.
	Mend string `json:"mend"`
	// Severity is error or warning.
	Severity string `json:"severity"`
	// File, Line and Column are where it stands in a document, from 1; "" and 0 in code.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String is the finding on one line.
func (f Finding) String() string {
	var line strings.Builder
	if f.File != "" {
		fmt.Fprintf(&line, "%s:%d:%d: ", f.File, f.Line, f.Column)
	}
	if f.Path != "" {
		fmt.Fprintf(&line, "%s: ", f.Path)
	}
	fmt.Fprintf(&line, "%s [%s]. %s", f.Message, f.Code, f.Mend)
	return line.String()
}

// ConfigError is everything that is wrong with the name, the rules and the options of a limiter.
type ConfigError struct {
	// Findings are the mistakes, all of them.
	Findings []Finding

	message string
}

func (e *ConfigError) Error() string {
	return "ratelimit: " + e.message
}

// DocumentError tells why documents were not loaded: everything that is wrong in them (and in the rules and options
// beside them), or a file that cannot be read.
type DocumentError struct {
	// Findings are the mistakes, all of them; none where a file cannot be read.
	Findings []Finding

	message string
	cause   error
}

func (e *DocumentError) Error() string {
	return "ratelimit: " + e.message
}

// Unwrap is the error of a file that cannot be read.
func (e *DocumentError) Unwrap() error {
	return e.cause
}
