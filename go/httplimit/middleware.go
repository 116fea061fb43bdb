package httplimit

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

type middleware struct {
	next     http.Handler
	limiter  *ratelimit.Limiter
	identify Identify
	options  func(*http.Request) []ratelimit.Option
	cost     func(*http.Request, int, http.Header) float64
	onBlock  func(*http.Request, ratelimit.Result)
	format   ratelimit.HeaderFormat
	text     string
	logger   *slog.Logger
}

func (m *middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := m.identify(r)
	if id == nil {
		m.next.ServeHTTP(w, r)
		return
	}
	ask := m.limiter.Check
	if m.cost != nil {
		ask = m.limiter.Peek
	}
	// Why there is no verdict, the limiter logs itself.
	result, _ := ask(r.Context(), id, m.optionsOf(r)...)
	switch {
	case result.Blocked():
		m.refuse(w, r, result)
	case result.Failed() && r.Context().Err() != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		m.serve(w, r, id, result)
	}
}

func (m *middleware) optionsOf(r *http.Request) []ratelimit.Option {
	if m.options == nil {
		return nil
	}
	return m.options(r)
}

func (m *middleware) serve(w http.ResponseWriter, r *http.Request, id ratelimit.Identifier, result ratelimit.Result) {
	r = r.WithContext(context.WithValue(r.Context(), resultKey{}, result))
	response := &response{ResponseWriter: w, request: r, middleware: m, id: id, result: result}
	m.next.ServeHTTP(response.withAbilities(), r)
	// A handler that says nothing says 200.
	response.begin(http.StatusOK)
}

// charge is what a response costs, once it is known: false where that is nothing, or cannot be told.
func (m *middleware) charge(r *http.Request, id ratelimit.Identifier, status int, header http.Header) (ratelimit.Result, bool) {
	cost := 0.0
	m.guarded(r, "the cost", func() { cost = m.cost(r, status, header) })
	if cost == 0 {
		return ratelimit.Result{}, false
	}
	// What was done is charged, also to who did not wait for it.
	options := append(slices.Clip(m.optionsOf(r)), ratelimit.Cost(cost))
	result, _ := m.limiter.Check(context.WithoutCancel(r.Context()), id, options...)
	return result, true
}

// guarded runs a function of the host's, where a panic must not make a 500 of an answer.
func (m *middleware) guarded(r *http.Request, what string, run func()) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if value == http.ErrAbortHandler {
			panic(value)
		}
		logger := m.logger
		if logger == nil {
			logger = slog.Default()
		}
		logger.WarnContext(r.Context(), "httplimit: "+what+" panicked", "name", m.limiter.Name(), "error", fmt.Sprint(value))
	}()
	run()
}
