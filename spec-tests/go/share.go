package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/goredis"
)

// share is one limiter that others use at the same time: many callers, one identifier, one Redis.
type share struct {
	Limiter    string               `json:"limiter"`
	Rules      []json.RawMessage    `json:"rules"`
	Identifier ratelimit.Identifier `json:"identifier"`
	Callers    int                  `json:"callers"`
	Calls      int                  `json:"calls"`
}

// counts are what came of the calls of a round.
type counts struct {
	allowed, blocked, failed atomic.Int64
}

// playShare plays a round for each line of standard input. It gives that it may begin, and the counts of each round.
func playShare(file, address string, print func(any) error) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var shared share
	if err := json.Unmarshal(text, &shared); err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: address, PoolTimeout: 20 * time.Second, ReadTimeout: 20 * time.Second, ContextTimeoutEnabled: true})
	config := ratelimit.Config{Name: shared.Limiter, Redis: goredis.New(client), Deadline: 20 * time.Second}
	for _, text := range shared.Rules {
		rule, err := rule(text)
		if err != nil {
			return err
		}
		config.Rules = append(config.Rules, rule)
	}
	limiter, err := ratelimit.New(config)
	if err != nil {
		return err
	}
	defer func() { _ = limiter.Close() }()
	if err := print(map[string]bool{"ready": true}); err != nil {
		return err
	}
	rounds := bufio.NewScanner(os.Stdin)
	for rounds.Scan() {
		if err := print(shared.round(limiter)); err != nil {
			return err
		}
	}
	return rounds.Err()
}

func (s *share) round(limiter *ratelimit.Limiter) map[string]int64 {
	var (
		counted counts
		callers sync.WaitGroup
	)
	for range s.Callers {
		callers.Go(func() {
			for range s.Calls {
				result, _ := limiter.Check(context.Background(), s.Identifier)
				counted.add(result)
			}
		})
	}
	callers.Wait()
	return map[string]int64{
		"allowed": counted.allowed.Load(), "blocked": counted.blocked.Load(), "failed": counted.failed.Load(),
	}
}

func (c *counts) add(result ratelimit.Result) {
	switch {
	case result.Failed() || result.Degraded():
		c.failed.Add(1)
	case result.Blocked():
		c.blocked.Add(1)
	default:
		c.allowed.Add(1)
	}
}
