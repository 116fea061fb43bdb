package ratelimit

import "gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"

// HeaderFormat says which HTTP fields are sent.
type HeaderFormat uint32

const (
	// GitLabHeaders are RateLimit-Limit and its neighbours, as GitLab's API documents them.
	GitLabHeaders HeaderFormat = iota
	// IETFDraft11 are those of draft-ietf-httpapi-ratelimit-headers-11.
	IETFDraft11
)

// Valid tells whether there is such a format. Where there is none, no field is sent.
func (f HeaderFormat) Valid() bool {
	return f <= IETFDraft11
}

// Header is one HTTP field.
type Header struct {
	Name, Value string
}

// headersOf has the core write them, so that every language sends the same.
func headersOf(format HeaderFormat, rule string, numbers *native.Evaluation, nowUS uint64) []Header {
	buffer := make([]byte, 512)
	length, status := native.Headers(uint32(format), rule, numbers, nowUS, buffer)
	if status == native.TooSmall {
		buffer = make([]byte, length)
		length, status = native.Headers(uint32(format), rule, numbers, nowUS, buffer)
	}
	if status != native.Done {
		return nil
	}
	words := native.Words(buffer[:length])
	headers := make([]Header, 0, 7)
	for {
		name, ok := words.Next()
		if !ok {
			return headers
		}
		value, _ := words.Next()
		headers = append(headers, Header{name, value})
	}
}
