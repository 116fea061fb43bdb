// Package goredis lets limiters count on the Redis of a go-redis client: one server, Sentinel, a Cluster or a Ring.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
//	limiter, err := ratelimit.New(ratelimit.Config{Name: "sign_in", Rules: rules, Redis: goredis.New(client)})
//
// The client stays the host's, with its pool, its hooks and its TLS. Its retries are off for the calls of limiters: one
// of unknown fate may have been counted.
package goredis

import (
	"context"

	"github.com/redis/go-redis/v9"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// Client is a [ratelimit.Scripter].
type Client struct {
	redis redis.UniversalClient
}

var (
	_ ratelimit.Scripter  = (*Client)(nil)
	_ ratelimit.Clustered = (*Client)(nil)
)

// New wraps a client of the host, which is still the host's to close.
func New(client redis.UniversalClient) *Client {
	return &Client{client}
}

// Clustered tells whether keys of different slots may be of different nodes.
func (c *Client) Clustered() bool {
	switch c.redis.(type) {
	case *redis.ClusterClient, *redis.Ring:
		return true
	default:
		return false
	}
}

// EvalSha runs the script of a digest, once.
func (c *Client) EvalSha(ctx context.Context, sha string, keys, args []string) (string, error) {
	return c.run(ctx, "evalsha", sha, keys, args)
}

// Eval runs a script, once.
func (c *Client) Eval(ctx context.Context, source string, keys, args []string) (string, error) {
	return c.run(ctx, "eval", source, keys, args)
}

func (c *Client) run(ctx context.Context, command, script string, keys, args []string) (string, error) {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, command, script, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	for _, arg := range args {
		words = append(words, arg)
	}
	cmd := once{redis.NewCmd(ctx, words...)}
	if err := c.redis.Process(ctx, cmd); err != nil {
		return "", err
	}
	return cmd.Text()
}

// once is a command that is not tried again.
type once struct {
	*redis.Cmd
}

// NoRetry is asked by go-redis 9.19 and later.
func (once) NoRetry() bool {
	return true
}
