package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// logged is a logger, and what it was told.
func logged() (*slog.Logger, *bytes.Buffer) {
	var log bytes.Buffer
	return slog.New(slog.NewTextHandler(&log, nil)), &log
}

// nilError is an error whose text a nil of it cannot give.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

func (e *nilError) Is(error) bool { return e.text == "" }

func TestAnErrorWhoseMethodsPanicIsAnErrorLikeAnyOther(t *testing.T) {
	limit := func(any) (any, error) { return 5, (*nilError)(nil) }
	limiter := newLimiter(t, Config{Rules: []Rule{{Name: "r", LimitFunc: limit, Period: time.Minute}}})
	var failure *Error
	if _, err := limiter.Check(t.Context(), nil); !errors.As(err, &failure) || failure.kind != ErrFunction || failure.Class != "*ratelimit.nilError" {
		t.Error(failure)
	}
	redis := fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) { return "", (*nilError)(nil) }}
	limiter = onRedis(t, redis, Config{})
	if _, err := limiter.Check(t.Context(), user); !errors.As(err, &failure) || failure.kind != ErrStore {
		t.Error(err)
	}
}

func TestWhatHoldsItselfIsShownByItsType(t *testing.T) {
	loop := map[string]any{}
	loop["loop"] = loop
	if text := (&NotANumberError{Value: loop}).Error(); text != "a map is no number, but map[string]interface {}" {
		t.Error(text)
	}
	if text := (&PanicError{Value: loop}).Error(); text != "panic: a map" {
		t.Error(text)
	}
	if text := (&PanicError{Value: errNo}).Error(); text != "panic: no" {
		t.Error(text)
	}
}

func TestWhatPointsToItselfIsNoValue(t *testing.T) {
	var loop any
	loop = &loop
	limiter := newLimiter(t, Config{Rules: perUser(1)})
	if _, err := limiter.Check(t.Context(), Identifier{"user": loop}); !errors.Is(err, ErrIdentifier) {
		t.Error(err)
	}
	list := []any{nil, nil}
	list[0], list[1] = list, list
	pairs := map[string]any{}
	pairs["not"] = pairs
	for name, matcher := range map[string]any{"pointer": loop, "list": list, "map": pairs, "not": Not(loop)} {
		_, err := New(Config{Name: "l", Rules: []Rule{{Name: "r", Limit: 1, Period: time.Minute, Match: map[string]any{"user": matcher}}}})
		if found := (*ConfigError)(nil); !errors.As(err, &found) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One that ends does, and what it points to counts.
	text := any("u")
	inner := any(&text)
	if _, err := limiter.Check(t.Context(), Identifier{"user": &inner}); err != nil {
		t.Error(err)
	}
	if result, _ := limiter.Check(t.Context(), Identifier{"user": "u"}); !result.Blocked() {
		t.Error("it was counted as another user")
	}
}

// Callers that leave before the deadline never see that calls hang; the circuit does.
func TestCallersWhoLeaveEarlyStillOpenTheCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		redis := fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) {
			calls.Add(1)
			time.Sleep(3 * time.Second)
			return "0 60000 0 ", nil
		}}
		limiter := onRedis(t, redis, Config{})
		opened := -1
		for n := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			_, err := limiter.Check(ctx, user)
			cancel()
			if errors.Is(err, ErrCircuitOpen) {
				opened = n
				break
			}
		}
		// The fifth deadline is 100 ms behind the fifth check, which began at 80 ms.
		if opened < 5 || opened > 11 || calls.Load() > 11 {
			t.Errorf("after %d calls it opened at check %d", calls.Load(), opened)
		}
		time.Sleep(10 * time.Second)
	})
}

func TestAReplyBehindTheDeadlineThatNobodyWaitsForIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) {
			time.Sleep(DefaultDeadline + 50*time.Millisecond)
			return "0 60000 0 ", nil
		}}
		limiter := onRedis(t, redis, Config{})
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _ = limiter.Check(ctx, user)
			cancel()
		}
		time.Sleep(2 * DefaultDeadline)
		if _, err := limiter.Check(t.Context(), user); !errors.Is(err, ErrCircuitOpen) {
			t.Errorf("5 calls were late: %v", err)
		}
		time.Sleep(time.Second)
	})
}

func TestAClearTellsWhatFailed(t *testing.T) {
	odd := Identifier{"user": math.NaN()}
	if _, err := newLimiter(t, Config{Rules: perUser(1)}).Clear(t.Context(), odd); !errors.Is(err, ErrIdentifier) {
		t.Errorf("in memory: %v", err)
	}
	limiter := onRedis(t, fakeRedis{}, Config{})
	if _, err := limiter.Clear(t.Context(), odd); !errors.Is(err, ErrIdentifier) {
		t.Errorf("on Redis: %v", err)
	}
	for range 5 {
		if _, err := limiter.Clear(t.Context(), user); !errors.Is(err, ErrStore) || !errors.Is(err, errUnreachable) || errors.Is(err, ErrCircuitOpen) {
			t.Error(err)
		}
	}
	if _, err := limiter.Clear(t.Context(), user); !errors.Is(err, ErrCircuitOpen) {
		t.Errorf("the circuit is open: %v", err)
	}
	garbage := fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) { return "?", nil }}
	if _, err := onRedis(t, garbage, Config{}).Clear(t.Context(), user); !errors.Is(err, ErrStore) {
		t.Errorf("garbage: %v", err)
	}
}

func TestTheErrorOfAFunctionIsFoundOnRedisToo(t *testing.T) {
	redis := fakeRedis{evalSha: func(context.Context, []string, []string) (string, error) { return "1 60000 0 ", nil }}
	limiter := newLimiter(t, Config{Redis: redis, Rules: []Rule{
		{Name: "first", Limit: 5, Period: time.Minute},
		{Name: "second", LimitFunc: func(any) (any, error) { return nil, errNo }, Period: time.Minute},
	}})
	if _, err := limiter.Check(t.Context(), nil); !errors.Is(err, ErrFunction) || !errors.Is(err, errNo) {
		t.Error(err)
	}
}

func TestTheEndOfAContextIsFoundBesideItsCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNo)
	limiter := onRedis(t, fakeRedis{}, Config{})
	_, checked := limiter.Check(ctx, user)
	_, cleared := limiter.Clear(ctx, user)
	for _, err := range []error{checked, cleared} {
		if !errors.Is(err, ErrAbandoned) || !errors.Is(err, context.Canceled) || !errors.Is(err, errNo) {
			t.Error(err)
		}
	}
}

func TestAFileThatCannotBeReadIsALineAndTheDefaults(t *testing.T) {
	dir := t.TempDir()
	absent := filepath.Join(dir, "absent.yaml")
	present := filepath.Join(dir, "available_limiters.yaml")
	if err := os.WriteFile(present, []byte(contract), 0o600); err != nil {
		t.Fatal(err)
	}
	for rule, files := range map[string]Files{
		"per_user": {AvailableLimiters: absent}, "per_ip": {AvailableLimiters: present, RateLimits: []string{absent}},
	} {
		logger, log := logged()
		config := Config{Name: "sign_in", MaxKeys: 10, Logger: logger}
		if rule == "per_user" {
			config.Rules = perUser(3)
		}
		if _, err := FromFiles(config, files); !errors.Is(err, fs.ErrNotExist) || log.Len() != 0 {
			t.Errorf("strict: %v, %s", err, log)
		}
		config.LenientDocuments = true
		limiter, err := FromFiles(config, files)
		if err != nil {
			t.Fatal(err)
		}
		line := log.String()
		if strings.Count(line, "\n") != 1 || !strings.Contains(line, "msg=rate_limit_invalid_documents") ||
			!strings.Contains(line, "class_name=UnreadableDocument") || !strings.Contains(line, "absent.yaml") {
			t.Error(line)
		}
		if result, err := limiter.Check(t.Context(), Identifier{"user": 1, "ip": "::1"}); err != nil || result.Rule() != rule {
			t.Errorf("%s: %+v, %v", rule, result, err)
		}
		log.Reset()
		if err := limiter.ReloadFiles(files); !errors.Is(err, fs.ErrNotExist) || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%v, %s", err, log)
		}
		_ = limiter.Close()
	}
	if _, err := FromFiles(Config{Name: "sign_in", LenientDocuments: true}, Files{RateLimits: []string{absent}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there are no defaults: %v", err)
	}
}

func TestAClosedLimiterIsLoudInItsOwnWay(t *testing.T) {
	logger, log := logged()
	limiter := newLimiter(t, Config{Rules: perUser(1), Logger: logger})
	_, _ = limiter.Check(t.Context(), user)
	before := limiter.Metrics()
	_ = limiter.Close()
	if result, err := limiter.Enforce(t.Context(), user); !errors.Is(err, ErrClosed) || errors.Is(err, ErrExceeded) || result.Blocked() {
		t.Error(result, err)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN msg=rate_limit_error") || !strings.Contains(text, "identifier_keys=[user]") {
		t.Error(text)
	}
	if after := limiter.Metrics(); !limiter.Closed() || len(before) == 0 || len(after) != len(before) {
		t.Errorf("%v, and %v before", after, before)
	}
}

func TestWhatNewDidNotMakeDoesNotPanic(t *testing.T) {
	logger, _ := logged()
	limiter := &Limiter{logger: logger}
	result, err := limiter.Check(t.Context(), user)
	if !errors.Is(err, ErrClosed) || result.Blocked() || !result.Failed() {
		t.Error(result, err)
	}
	_, peeked := limiter.Peek(t.Context(), user)
	_, cleared := limiter.Clear(t.Context(), user)
	_, enforced := limiter.Enforce(t.Context(), user)
	for _, err := range []error{peeked, cleared, enforced, limiter.Reload(Documents{})} {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	limiter.CloseCircuit()
	if limiter.Metrics() != nil || limiter.Close() != nil || limiter.Closed() == false {
		t.Error("it closes like any other")
	}
	for _, err := range []error{&Error{}, &ExceededError{}, &ConfigError{}, &DocumentError{}, &NotANumberError{}, &PanicError{}} {
		if err.Error() == "" {
			t.Errorf("%T says nothing", err)
		}
	}
}

func TestNoErrorSaysItsKindTwice(t *testing.T) {
	limiter := newLimiter(t, Config{Rules: perUser(1)})
	_ = limiter.Close()
	_, closed := limiter.Check(t.Context(), user)
	_, defect := limiter.undecided(t.Context(), statusError(native.Panic), user)
	for err, want := range map[error]string{
		closed: "ratelimit: the limiter is closed: limiter lim",
		defect: "ratelimit: a defect: limiter lim: the library panicked",
	} {
		if err.Error() != want {
			t.Errorf("%q, not %q", err, want)
		}
	}
}

type traced struct{ slog.Handler }

func (h traced) Handle(ctx context.Context, record slog.Record) error {
	record.Add("trace", ctx.Value(traced{}), "over", ctx.Err() != nil)
	return h.Handler.Handle(ctx, record)
}

// A line of the log belongs to its request: a handler finds the trace in the context, which is not over.
func TestALineHasTheContextOfItsRequest(t *testing.T) {
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), traced{}, "4711"))
	config := Config{Rules: perUser(1), Logger: slog.New(traced{slog.NewTextHandler(&log, nil)})}
	onRedis := config
	onRedis.Redis = fakeRedis{}
	for name, call := range map[string]func(*Limiter){
		"check": func(limiter *Limiter) { _, _ = limiter.Check(ctx, Identifier{"user": math.NaN()}) },
		"clear": func(limiter *Limiter) { _, _ = limiter.Clear(ctx, Identifier{"user": math.NaN()}) },
		"redis": func(limiter *Limiter) { _, _ = limiter.Check(ctx, user) },
		"ended": func(limiter *Limiter) { cancel(); _, _ = limiter.Check(ctx, user) },
		"closed": func(limiter *Limiter) {
			_ = limiter.Close()
			_, _ = limiter.Check(ctx, user)
		},
	} {
		for _, config := range []Config{config, onRedis} {
			log.Reset()
			limiter := newLimiter(t, config)
			call(limiter)
			if lines := log.String(); lines != "" && strings.Count(lines, "\n") != strings.Count(lines, "trace=4711 over=false") ||
				lines == "" && config.Redis != nil {
				t.Errorf("%s: %s", name, lines)
			}
		}
	}
}

// noted has something to say of itself.
type noted struct{ fakeRedis }

func (noted) Notes() []string { return []string{"mind the time"} }

// mute cannot even say that.
type mute struct{ fakeRedis }

func (mute) Notes() []string { panic("no") }

func TestAClientMaySaySomethingAtTheStart(t *testing.T) {
	logger, log := logged()
	newLimiter(t, Config{Redis: mute{}, Logger: logger})
	newLimiter(t, Config{Redis: noted{}, Logger: logger})
	if want := `msg=rate_limit_redis_client name=lim error_message="mind the time"`; !strings.Contains(log.String(), want) {
		t.Error(log)
	}
}
