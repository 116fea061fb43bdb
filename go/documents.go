package ratelimit

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"unicode/utf8"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Source is a document, YAML or JSON, under the name that findings give it.
type Source struct {
	Name string
	Text []byte
}

// Documents are what a limiter takes its rules from (docs/operators.md). Rules of rate limits run before the defaults,
// and on equal names stand in their place.
type Documents struct {
	// AvailableLimiters is the application's contract: limiters, their properties, their defaults. It may be nil.
	AvailableLimiters *Source
	// RateLimits are the operators' rules, in order.
	RateLimits []Source
}

// Files are [Documents] by the paths of their files. An empty path is no file.
type Files struct {
	AvailableLimiters string
	RateLimits        []string
}

// FromBytes builds a limiter of documents; [Config.Rules] are its defaults where the contract brings none. An error is a
// [*DocumentError] with every mistake, of config too.
func FromBytes(config Config, documents Documents) (*Limiter, error) {
	limiter, failure, err := build(config, &documents)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, &DocumentError{Findings: failure.Findings, message: failure.Message}
	}
	return limiter, nil
}

// FromFiles is [FromBytes] of files as they are now. One that cannot be read is a mistake like any other: an error, or
// with [Config.LenientDocuments] a line in the log, where there are defaults.
func FromFiles(config Config, files Files) (*Limiter, error) {
	documents, unread := files.read()
	if unread == nil {
		return FromBytes(config, documents)
	}
	if !config.LenientDocuments {
		return nil, unread
	}
	limiter, err := withDefaults(config, files.AvailableLimiters)
	if err != nil {
		return nil, err
	}
	if limiter == nil {
		return nil, unread
	}
	limiter.unread(unread)
	return limiter, nil
}

// withDefaults is a limiter of the contract alone, if it can be had; else of the rules in code, if there are any; else nil.
func withDefaults(config Config, contract string) (*Limiter, error) {
	config.LenientDocuments = false
	if documents, err := (Files{AvailableLimiters: contract}).read(); err == nil && contract != "" {
		if limiter, failure, err := build(config, &documents); err != nil || failure == nil {
			return limiter, err
		}
	}
	if len(config.Rules) == 0 {
		return nil, nil
	}
	limiter, failure, err := build(config, nil)
	if failure != nil {
		return nil, &DocumentError{Findings: failure.Findings, message: failure.Message}
	}
	return limiter, err
}

// unread logs that a file cannot be read.
func (l *Limiter) unread(err error) {
	l.warn(context.Background(), "rate_limit_invalid_documents", "UnreadableDocument", err.Error(), nil)
}

// Reload puts documents in place of those in force. Checks under way end by the rules that they began with, and counters
// go on by the names of their rules. Documents with a mistake change nothing: that is logged, and a [*DocumentError].
// Without a contract among them the one in force stays.
func (l *Limiter) Reload(documents Documents) error {
	text, err := json.Marshal(documents.written())
	if err != nil {
		return fmt.Errorf("ratelimit: %w", err)
	}
	answer, status := native.Reload(l.handle, text)
	defer runtime.KeepAlive(l)
	if status != native.Done && status != native.Rejected {
		return statusError(status)
	}
	var said said
	if err := json.Unmarshal(answer, &said); err != nil {
		return fmt.Errorf("%w: %w", ErrInternal, err)
	}
	l.write(context.Background(), said.Logs, nil)
	if said.Error != nil {
		return &DocumentError{Findings: said.Error.Findings, message: said.Error.Message}
	}
	// Of two loads at once either may come here last; a check that goes by the older rules is told, and looks again.
	l.rules.Store(said.Rules)
	return nil
}

// ReloadFiles is [Limiter.Reload] of files as they are now. One that cannot be read changes nothing: that is logged, and a
// [*DocumentError].
func (l *Limiter) ReloadFiles(files Files) error {
	documents, err := files.read()
	if err != nil {
		l.unread(err)
		return err
	}
	return l.Reload(documents)
}

func (f Files) read() (documents Documents, err error) {
	read := func(path string) (Source, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return Source{}, &DocumentError{message: err.Error(), cause: err}
		}
		return Source{Name: path, Text: text}, nil
	}
	if f.AvailableLimiters != "" {
		source, err := read(f.AvailableLimiters)
		if err != nil {
			return Documents{}, err
		}
		documents.AvailableLimiters = &source
	}
	for _, path := range f.RateLimits {
		source, err := read(path)
		if err != nil {
			return Documents{}, err
		}
		documents.RateLimits = append(documents.RateLimits, source)
	}
	return documents, nil
}

// written are documents as the core reads them.
func (d Documents) written() object {
	written := object{}
	if d.AvailableLimiters != nil {
		written["available_limiters"] = d.AvailableLimiters.written()
	}
	files := make([]object, len(d.RateLimits))
	for at := range d.RateLimits {
		files[at] = d.RateLimits[at].written()
	}
	written["rate_limits"] = files
	return written
}

func (s *Source) written() object {
	// The core judges bytes that are no text; JSON cannot hold them.
	if utf8.Valid(s.Text) {
		return object{"name": s.Name, "text": string(s.Text)}
	}
	return object{"name": s.Name, "bytes": hex.EncodeToString(s.Text)}
}
