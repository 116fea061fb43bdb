package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

const contract = `
sign_in:
  description: Attempts to sign in
  available_properties: [ip, user]
  default_rules:
    - {name: per_ip, action: limit, characteristics: [ip], limit: 10, period_s: 60}
`

func operators(rule string) Source {
	return Source{Name: "rate_limits.yaml", Text: []byte("sign_in:\n  - " + rule + "\n")}
}

func TestDocumentsStandInTheDefaultsPlace(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := Files{
		AvailableLimiters: write("available_limiters.yaml", contract),
		RateLimits:        []string{write("rate_limits.yaml", string(operators("{name: per_ip, action: limit, characteristics: [ip], limit: 5, period_s: 60}").Text))},
	}
	limiter, err := FromFiles(Config{Name: "sign_in", MaxKeys: 10, Logger: slog.New(slog.DiscardHandler)}, files)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = limiter.Close() }()
	limitIs := func(want uint64) {
		t.Helper()
		result, err := limiter.Peek(t.Context(), Identifier{"ip": "::1"})
		if info, _ := result.Info(); err != nil || info.Limit != want {
			t.Errorf("the limit is %d, not %d: %v", info.Limit, want, err)
		}
	}
	limitIs(5)
	write("rate_limits.yaml", "sign_in: []")
	if err := limiter.ReloadFiles(files); err != nil {
		t.Error(err)
	}
	limitIs(10)
	files.RateLimits = append(files.RateLimits, filepath.Join(dir, "absent.yaml"))
	var unread *DocumentError
	if err := limiter.ReloadFiles(files); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &unread) {
		t.Error(err)
	}
	limitIs(10)
}

func TestMistakesInDocumentsHaveTheirPlace(t *testing.T) {
	documents := Documents{RateLimits: []Source{operators("{name: r, action: limit, limit: 0, period_s: 60}")}}
	config := Config{Name: "sign_in", Rules: perUser(3), Logger: slog.New(slog.DiscardHandler), MaxKeys: 10}
	_, err := FromBytes(config, documents)
	var found *DocumentError
	if !errors.As(err, &found) || len(found.Findings) != 1 {
		t.Fatal(err)
	}
	finding := found.Findings[0]
	if finding.Code != "limit_below_one" || finding.File != "rate_limits.yaml" || finding.Line != 2 || finding.Column == 0 {
		t.Errorf("%+v", finding)
	}
	documents.RateLimits[0].Text = []byte{0xff}
	if _, err := FromBytes(config, documents); !errors.As(err, &found) || found.Findings[0].Code != "not_utf8" {
		t.Error(err)
	}
	config.LenientDocuments = true
	limiter, err := FromBytes(config, documents)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := limiter.Check(t.Context(), Identifier{"user": 1}); err != nil || result.Rule() != "per_user" {
		t.Errorf("the defaults stand: %+v, %v", result, err)
	}
	if err := limiter.Reload(documents); !errors.As(err, &found) {
		t.Error(err)
	}
}

// Every check is decided by one version of the rules, whole, while others are loaded.
func TestReloadingWhileOthersCheck(t *testing.T) {
	limiter := newLimiter(t, Config{Name: "sign_in", Rules: perUser(1000), Properties: []string{"ip"}})
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				result, err := limiter.Check(context.Background(), Identifier{"user": "u", "ip": "::1"}, Cost(0))
				info, ok := result.Info()
				if err != nil || !ok || result.Rule() == "per_ip" && info.Limit%2 != 0 || result.Rule() == "per_user" && info.Limit != 1000 {
					t.Errorf("%s %+v, %v", result.Rule(), info, err)
					return
				}
			}
		})
	}
	for n := range 200 {
		rule := fmt.Sprintf("{name: per_ip, action: limit, characteristics: [ip], limit: %d, period_s: 60, final: true}", 2*n+2)
		documents := Documents{RateLimits: []Source{operators(rule)}}
		if n%3 == 0 {
			documents = Documents{}
		}
		if err := limiter.Reload(documents); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
}

func TestCountsGoOnWhereRulesAreReplaced(t *testing.T) {
	limiter := newLimiter(t, Config{Name: "sign_in", Rules: perUser(2)})
	id := Identifier{"user": "u"}
	_, _ = limiter.Check(t.Context(), id)
	err := limiter.Reload(Documents{RateLimits: []Source{operators("{name: per_user, action: limit, characteristics: [user], limit: 1, period_s: 60}")}})
	if err != nil {
		t.Fatal(err)
	}
	if result, _ := limiter.Check(t.Context(), id); !result.Blocked() {
		t.Error("the second is over the limit of 1")
	}
	var checks uint64
	for _, sample := range limiter.Metrics() {
		if sample.Name == "gitlab_labkit_rate_limiter_checks_total" && !sample.Gauge && sample.Labels["rate_limiter"] == "sign_in" {
			checks += sample.Value
		}
	}
	if checks != 2 {
		t.Errorf("%d checks were counted", checks)
	}
}
