package httplimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/httplimit"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/leaks"
)

func TestMain(m *testing.M) {
	leaks.Main(m)
}

func newLimiter(t *testing.T, rule ratelimit.Rule, change ...func(*ratelimit.Config)) *ratelimit.Limiter {
	t.Helper()
	rule.Period = time.Minute
	if rule.Name == "" {
		rule.Name, rule.Characteristics = "per_ip", []string{"ip"}
	}
	config := ratelimit.Config{
		Name: "lim", MaxKeys: 100, Rules: []ratelimit.Rule{rule}, Logger: slog.New(slog.DiscardHandler),
		Clock: ratelimit.NewManualClock(time.Unix(1_700_000_000, 0)),
	}
	for _, change := range change {
		change(&config)
	}
	limiter, err := ratelimit.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = limiter.Close() })
	return limiter
}

// refusing is a rule that lets nobody through, whom no wait helps.
var refusing = ratelimit.Rule{LimitFunc: func(any) (any, error) { return 0, nil }}

func byIP(r *http.Request) ratelimit.Identifier {
	return ratelimit.Identifier{"ip": (ratelimit.ClientAddress{}).Of(r.RemoteAddr)}
}

var served = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") })

// ask is one request, whose header is pairs of names and values.
func ask(handler http.Handler, method string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	for at := 0; at < len(header); at += 2 {
		r.Header.Add(header[at], header[at+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func get(handler http.Handler, header ...string) *httptest.ResponseRecorder {
	return ask(handler, http.MethodGet, header...)
}

func expect(t *testing.T, w *httptest.ResponseRecorder, status int, body string, fields ...string) {
	t.Helper()
	if w.Code != status || w.Body.String() != body {
		t.Errorf("%d %q, not %d %q", w.Code, w.Body, status, body)
	}
	for at := 0; at < len(fields); at += 2 {
		if got := w.Header().Get(fields[at]); got != fields[at+1] {
			t.Errorf("%s is %q, not %q", fields[at], got, fields[at+1])
		}
	}
}

func TestItServesWithFieldsThenRefuses(t *testing.T) {
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byIP)(served)
	expect(t, get(handler), 200, "served", "RateLimit-Name", "per_ip", "RateLimit-Remaining", "0", "Retry-After", "")
	expect(t, get(handler), 429, "Retry later\n", "Content-Type", "text/plain; charset=utf-8", "Content-Length", "12",
		"RateLimit-Observed", "2", "Retry-After", "60", "RateLimit-ResetTime", "Tue, 14 Nov 2023 22:14:20 GMT")
	expect(t, ask(handler, http.MethodHead), 429, "", "Content-Length", "12", "Retry-After", "60")
	other := httptest.NewRequest(http.MethodGet, "/", nil)
	other.RemoteAddr = "192.0.2.99:1"
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, other)
	expect(t, w, 200, "served")
}

func TestTheOtherFormatAndText(t *testing.T) {
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byIP,
		httplimit.WithFormat(ratelimit.IETFDraft11), httplimit.WithText("Slow down"))(served)
	expect(t, get(handler), 200, "served", "RateLimit-Policy", `"per_ip";q=1;w=60`, "RateLimit-Limit", "")
	expect(t, get(handler), 429, "Slow down\n", "RateLimit", `"per_ip";r=0;t=60`, "Retry-After", "60")
}

func TestItAnswersInJSONToWhoAsksForIt(t *testing.T) {
	handler := httplimit.New(newLimiter(t, refusing), byIP)(served)
	for accept, json := range map[string]bool{
		"application/json": true, "text/html, application/json;q=0.9": false, "application/json, */*": true, "*/*": false,
		"application/json;q=0": false, "application/problem+json": true, "APPLICATION/JSON;charset=utf-8": true,
		";;,,q=": false, "text/*;q=0.1, application/*": true, "image/png": false, "\xff, application/json": true,
		"application/json;q=nan, text/plain;q=0.5": true, "text/plain, application/json;q=1": false,
	} {
		kind := "text/plain; charset=utf-8"
		if json {
			kind = "application/json"
		}
		if got := get(handler, "Accept", accept).Header().Get("Content-Type"); got != kind {
			t.Errorf("%q gets %s", accept, got)
		}
	}
	// Several fields are one list.
	if got := get(handler, "Accept", "text/plain;q=0.1", "Accept", "application/json").Header().Get("Content-Type"); got != "application/json" {
		t.Error(got)
	}
}

func TestTheAnswerInJSON(t *testing.T) {
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byIP)(served)
	_ = get(handler)
	w := get(handler, "Accept", "application/json")
	expect(t, w, 429, `{"error":"Retry later","rule":"per_ip","retry_after":60}`+"\n")
	if !json.Valid(w.Body.Bytes()) {
		t.Error(w.Body)
	}
	// No wait helps.
	never := httplimit.New(newLimiter(t, refusing), byIP)(served)
	expect(t, get(never, "Accept", "application/json"), 429, `{"error":"Retry later","rule":"per_ip"}`+"\n", "Retry-After", "")
}

func TestNoIdentifierIsNotLimited(t *testing.T) {
	limiter := newLimiter(t, refusing)
	handler := httplimit.New(limiter, func(*http.Request) ratelimit.Identifier { return nil })(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, ok := httplimit.ResultOf(r.Context()); ok {
				t.Error("a result of nothing")
			}
		}))
	expect(t, get(handler), 200, "", "RateLimit-Limit", "")
	if samples := limiter.Metrics(); len(samples) != 0 {
		t.Error(samples)
	}
}

func TestAHookIsToldOfEachBlock(t *testing.T) {
	var told []string
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byIP,
		httplimit.WithOnBlock(func(r *http.Request, result ratelimit.Result) {
			told = append(told, r.RemoteAddr+" "+result.Rule())
		}))(served)
	for range 3 {
		_ = get(handler)
	}
	if strings.Join(told, ", ") != "192.0.2.1:1234 per_ip, 192.0.2.1:1234 per_ip" {
		t.Error(told)
	}
}

func TestAHookThatPanicsChangesNothing(t *testing.T) {
	var log strings.Builder
	with := func(value any) http.Handler {
		return httplimit.New(newLimiter(t, refusing), byIP,
			httplimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			httplimit.WithOnBlock(func(*http.Request, ratelimit.Result) { panic(value) }))(served)
	}
	expect(t, get(with("hook")), 429, "Retry later\n")
	if !strings.Contains(log.String(), "OnBlock panicked") || !strings.Contains(log.String(), "error=hook") {
		t.Error(log.String())
	}
	defer func() {
		if value := recover(); value != http.ErrAbortHandler {
			t.Error(value)
		}
	}()
	_ = get(with(http.ErrAbortHandler))
}

func TestItChargesAfterTheResponse(t *testing.T) {
	statuses := []int{401, 200, 401, 401}
	logins := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := statuses[0]
		statuses = statuses[1:]
		w.WriteHeader(status)
	})
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 3}), byIP,
		httplimit.WithCostAfter(func(_ *http.Request, status int, _ http.Header) float64 {
			if status == http.StatusUnauthorized {
				return 2
			}
			return 0
		}))(logins)
	for _, want := range []struct {
		status   int
		observed string
	}{{401, "2"}, {200, "2"}, {401, "4"}, {429, "4"}} {
		w := get(handler)
		if w.Code != want.status || w.Header().Get("RateLimit-Observed") != want.observed {
			t.Errorf("%d %v, not %v", w.Code, w.Header(), want)
		}
	}
}

func counted(t *testing.T, limiter *ratelimit.Limiter, ip string) float64 {
	t.Helper()
	result, err := limiter.Peek(t.Context(), ratelimit.Identifier{"ip": ip})
	info, _ := result.Info()
	if err != nil {
		t.Error(err)
	}
	return info.Count
}

func TestAHandlerThatPanicsIsChargedNothing(t *testing.T) {
	limiter := newLimiter(t, ratelimit.Rule{Limit: 1})
	handler := httplimit.New(limiter, byIP,
		httplimit.WithCostAfter(func(*http.Request, int, http.Header) float64 { return 1 }),
	)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("handler") }))
	func() {
		defer func() {
			if value := recover(); value != "handler" {
				t.Error(value)
			}
		}()
		_ = get(handler)
	}()
	if count := counted(t, limiter, "192.0.2.1"); count != 0 {
		t.Error(count)
	}
}

func TestWhatIdentifiesMayPanic(t *testing.T) {
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), func(*http.Request) ratelimit.Identifier { panic("who") })(served)
	defer func() {
		if value := recover(); value != "who" {
			t.Error(value)
		}
	}()
	_ = get(handler)
	t.Error("it was served")
}

func TestACostThatCannotBeToldIsServed(t *testing.T) {
	var log strings.Builder
	limiter := newLimiter(t, ratelimit.Rule{Limit: 1})
	handler := httplimit.New(limiter, byIP, httplimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		httplimit.WithCostAfter(func(*http.Request, int, http.Header) float64 { panic("cost") }))(served)
	expect(t, get(handler), 200, "served", "RateLimit-Remaining", "1")
	if !strings.Contains(log.String(), "the cost panicked") || counted(t, limiter, "192.0.2.1") != 0 {
		t.Error(log.String())
	}
}

func TestAClientThatLeavesIsChargedForWhatWasDone(t *testing.T) {
	limiter := newLimiter(t, ratelimit.Rule{Limit: 5})
	ctx, cancel := context.WithCancel(t.Context())
	handler := httplimit.New(limiter, byIP,
		httplimit.WithCostAfter(func(*http.Request, int, http.Header) float64 { return 2.5 }),
	)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if count := counted(t, limiter, "192.0.2.1"); count != 2.5 {
		t.Error(count)
	}
}

// redis does not answer before it is let go.
type redis struct{ entered, letGo chan struct{} }

func (r redis) EvalSha(_ context.Context, _ string, _, _ []string) (string, error) {
	close(r.entered)
	<-r.letGo
	return "", errors.New("too late")
}

func (r redis) Eval(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("it is not asked")
}

func TestWhoLeavesBeforeTheVerdictIsNotServed(t *testing.T) {
	store := redis{make(chan struct{}), make(chan struct{})}
	defer close(store.letGo)
	limiter := newLimiter(t, ratelimit.Rule{Limit: 5}, func(config *ratelimit.Config) {
		config.Redis, config.Clock, config.Deadline = store, nil, time.Second
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-store.entered
		cancel()
	}()
	handler := httplimit.New(limiter, byIP)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was served") }))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	expect(t, w, 503, "")
}

type failing struct{}

func (failing) EvalSha(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("connection refused")
}

func (failing) Eval(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("connection refused")
}

func TestAStoreThatFailsIsOpenOrClosed(t *testing.T) {
	with := func(onError ratelimit.OnError) http.Handler {
		return httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 5}, func(config *ratelimit.Config) {
			config.Redis, config.Clock, config.OnError = failing{}, nil, onError
		}), byIP)(served)
	}
	expect(t, get(with(ratelimit.AllowOnError)), 200, "served", "RateLimit-Limit", "")
	expect(t, get(with(ratelimit.BlockOnError)), 503, "Retry later\n", "Retry-After", "", "RateLimit-Limit", "")
	expect(t, get(with(ratelimit.BlockOnError), "Accept", "application/json"), 503, `{"error":"Retry later"}`+"\n")
}

func TestAWarnRuleThatIsOverIsShown(t *testing.T) {
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{
		Name: "soft", Characteristics: []string{"ip"}, Limit: 1, Action: ratelimit.ActionWarn,
	}), byIP)(served)
	_ = get(handler)
	expect(t, get(handler), 200, "served", "RateLimit-Name", "soft", "RateLimit-Observed", "2")
}

func TestWhatTheHandlerSaysItselfStands(t *testing.T) {
	asWritten := "RateLimit-Remaining"
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 5}), byIP)(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("RateLimit-Limit", "own")
			w.Header()[asWritten] = []string{"7"}
			w.Header()["Ratelimit-Reset"] = nil
			w.WriteHeader(http.StatusCreated)
			w.Header().Set("RateLimit-Name", "too late")
		}))
	w := get(handler).Result()
	got := w.Header
	if w.StatusCode != 201 || got.Get("RateLimit-Limit") != "own" || got.Get("RateLimit-Remaining") != "" ||
		got[asWritten][0] != "7" || got.Get("RateLimit-Reset") != "" || got.Get("RateLimit-Name") != "per_ip" {
		t.Error(w.StatusCode, got)
	}
}

func TestHandlersSeeTheResultAndRulesTheContext(t *testing.T) {
	type plan struct{ limit int }
	limiter := newLimiter(t, ratelimit.Rule{
		Name: "r", Characteristics: []string{"ip"},
		LimitFunc: func(value any) (any, error) { return value.(plan).limit, nil },
	})
	handler := httplimit.New(limiter, byIP, httplimit.WithOptions(func(*http.Request) []ratelimit.Option {
		return []ratelimit.Option{ratelimit.Context(plan{limit: 7}), ratelimit.Cost(3)}
	}))(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		result, ok := httplimit.ResultOf(r.Context())
		if info, _ := result.Info(); !ok || info.Limit != 7 || info.Count != 3 {
			t.Errorf("%+v", info)
		}
	}))
	expect(t, get(handler), 200, "", "RateLimit-Limit", "7")
}

func TestMiddlewareNeedsALimiterAndAnIdentifierAndAFormat(t *testing.T) {
	byNobody := httplimit.Identify(nil)
	for name, build := range map[string]func(){
		"no limiter":    func() { _ = httplimit.New(nil, byIP) },
		"no identifier": func() { _ = httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byNobody) },
		"no format":     func() { _ = httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byIP, httplimit.WithFormat(99)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error(name)
				}
			}()
			build()
		}()
	}
}
