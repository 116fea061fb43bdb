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
	_ ratelimit.Punctual  = (*Client)(nil)
	_ ratelimit.Noted     = (*Client)(nil)
)

// New wraps a client of the host, which is still the host's to close.
func New(client redis.UniversalClient) *Client {
	return &Client{redis: client}
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

// Punctual tells whether the client minds deadlines of contexts, while it reads and writes too. A client of a Cluster or
// a Ring may ask several nodes first. It panics where there is no client, which [ratelimit.New] tells of.
func (c *Client) Punctual() bool {
	if c.redis == nil {
		panic("goredis.New was given no client")
	}
	mindsDeadlines, _ := c.mindsDeadlines()
	_, isOneServer := c.redis.(*redis.Client)
	return mindsDeadlines && isOneServer
}

// mindsDeadlines tells whether the option ContextTimeoutEnabled is on; false where nobody knows.
func (c *Client) mindsDeadlines() (minds, known bool) {
	switch client := c.redis.(type) {
	case *redis.Client:
		return client.Options().ContextTimeoutEnabled, true
	case *redis.ClusterClient:
		return client.Options().ContextTimeoutEnabled, true
	case *redis.Ring:
		return client.Options().ContextTimeoutEnabled, true
	default:
		return false, false
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
	call := new(call)
	words := append(call.words[:0], command, script, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	for _, arg := range args {
		words = append(words, arg)
	}
	call.Cmd = *redis.NewCmd(ctx, words...)
	if err := c.redis.Process(ctx, call); err != nil {
		return "", err
	}
	return call.Text()
}

// call is a command that is not tried again, and room for its words.
type call struct {
	redis.Cmd
	words [12]any
}

// NoRetry is asked by go-redis 9.19 and later.
func (*call) NoRetry() bool {
	return true
}
