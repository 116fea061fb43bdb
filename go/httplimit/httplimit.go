// Package httplimit is net/http middleware: it asks a limiter on each request, and answers 429 to a block. A response
// that is served carries the fields too; its body is not touched.
//
//	limited := httplimit.New(limiter, func(r *http.Request) ratelimit.Identifier {
//		return ratelimit.Identifier{"ip": address.Of(r.RemoteAddr, r.Header.Values("X-Forwarded-For")...)}
//	})
//	http.ListenAndServe(":8080", limited(mux))
package httplimit

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// DefaultText is what a client that is refused reads.
const DefaultText = "Retry later"

// Identify says what a request counts for. Nil: it is not limited. What it panics with goes on to the server: nobody is
// let through unlimited by a request that breaks it.
type Identify func(r *http.Request) ratelimit.Identifier

// Option changes what the middleware does.
type Option func(*middleware)

// WithFormat says which fields are sent; by default [ratelimit.GitLabHeaders]. With a number that is no format [New] panics.
func WithFormat(format ratelimit.HeaderFormat) Option {
	return func(m *middleware) { m.format = format }
}

// WithText is what a client that is refused reads, in place of [DefaultText]. A line feed is added.
func WithText(text string) Option {
	return func(m *middleware) { m.text = text }
}

// WithOnBlock has a function told of each request that is refused, before the answer. One that panics changes nothing
// and is logged; only [http.ErrAbortHandler] goes on to the server, which ends the connection.
func WithOnBlock(told func(r *http.Request, result ratelimit.Result)) Option {
	return func(m *middleware) { m.onBlock = told }
}

// WithCostAfter charges a request when the status and the header of its response are known, just before they are sent,
// by what cost says then; a cost of 0 charges nothing. Until then the request is only looked at. A handler that panics
// before it answers is charged nothing. A hijacked connection has the status 101. Whether the client is still there makes
// no difference. A cost that panics charges nothing, and is logged.
func WithCostAfter(cost func(r *http.Request, status int, header http.Header) float64) Option {
	return func(m *middleware) { m.cost = cost }
}

// WithOptions brings options of each check and peek, such as [ratelimit.Context] for the functions of rules.
func WithOptions(options func(r *http.Request) []ratelimit.Option) Option {
	return func(m *middleware) { m.options = options }
}

// WithLogger takes what functions of the host panic with; by default [slog.Default].
func WithLogger(logger *slog.Logger) Option {
	return func(m *middleware) { m.logger = logger }
}

// New makes middleware. It panics where there is no limiter, nothing that identifies, or no such format: a program calls it at its start.
//
// A request whose context ends before there is a verdict is not handed on: nobody waits for its answer, and work that
// nothing counts would be had for cancelling.
func New(limiter *ratelimit.Limiter, identify Identify, options ...Option) func(http.Handler) http.Handler {
	if limiter == nil || identify == nil {
		panic("httplimit: a limiter and a function that builds the identifier are needed")
	}
	shared := middleware{limiter: limiter, identify: identify, text: DefaultText}
	for _, option := range options {
		option(&shared)
	}
	if !shared.format.Valid() {
		panic(fmt.Sprintf("httplimit: %d is no format of header fields", shared.format))
	}
	return func(next http.Handler) http.Handler {
		m := shared
		m.next = next
		return &m
	}
}

type resultKey struct{}

// ResultOf is what the limiter answered to a request, by the context that its handler has; false where it was not
// limited. Of several limiters it is the innermost one's.
func ResultOf(ctx context.Context) (ratelimit.Result, bool) {
	result, ok := ctx.Value(resultKey{}).(ratelimit.Result)
	return result, ok
}
