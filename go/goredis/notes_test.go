package goredis_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/goredis"
)

func TestAClientWhoseOwnTimeOutsRuleIsToldOfOnce(t *testing.T) {
	addresses := []string{"127.0.0.1:1"}
	for name, c := range map[string]struct {
		client redis.UniversalClient
		lines  int
	}{
		"one server":  {redis.NewClient(&redis.Options{Addr: addresses[0]}), 1},
		"a cluster":   {redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses}), 1},
		"one in time": {redis.NewClient(&redis.Options{Addr: addresses[0], ContextTimeoutEnabled: true}), 0},
		"all in time": {redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses, ContextTimeoutEnabled: true}), 0},
	} {
		var log bytes.Buffer
		for range 3 {
			limiter, err := ratelimit.New(ratelimit.Config{
				Name: "lim", Redis: goredis.New(c.client), Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = limiter.Close()
		}
		if lines := strings.Count(log.String(), "msg=rate_limit_redis_client"); lines != c.lines {
			t.Errorf("%s: %d lines: %s", name, lines, &log)
		}
		_ = c.client.Close()
	}
}

func TestNoClientIsAMistakeInTheOptions(t *testing.T) {
	for name, client := range map[string]*goredis.Client{
		"nil": nil, "of nil": goredis.New(nil), "of a nil client": goredis.New((*redis.Client)(nil)),
		"of a nil cluster": goredis.New((*redis.ClusterClient)(nil)), "of a nil ring": goredis.New((*redis.Ring)(nil)),
	} {
		_, err := ratelimit.New(ratelimit.Config{Name: "lim", Redis: client})
		var found *ratelimit.ConfigError
		if !errors.As(err, &found) || len(found.Findings) != 1 || found.Findings[0].Path != "redis" ||
			!strings.Contains(found.Findings[0].Message, "make the client first") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
