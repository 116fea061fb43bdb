// Package goredis lets limiters count on the Redis of a go-redis client: one server, Sentinel or a Cluster.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
//	limiter, err := ratelimit.New(ratelimit.Config{Name: "sign_in", Rules: rules, Redis: goredis.New(client)})
//
// The client stays the host's, with its pool, its hooks and its TLS. Its retries are off for the calls of limiters: one
// of unknown fate may have been counted.
package goredis

import (
	"context"
	"errors"
	"reflect"

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
	_ ratelimit.Pooled    = (*Client)(nil)
	_ ratelimit.Usable    = (*Client)(nil)
	_ ratelimit.Noted     = (*Client)(nil)
)

// New wraps a client of the host, which is still the host's to close. Of a nil it makes a nil, which [ratelimit.New] tells
// of.
func New(client redis.UniversalClient) *Client {
	if value := reflect.ValueOf(client); client == nil || value.Kind() == reflect.Pointer && value.IsNil() {
		return nil
	}
	return &Client{redis: client}
}

// Clustered tells whether keys of different slots may be of different nodes.
func (c *Client) Clustered() bool {
	_, isCluster := c.redis.(*redis.ClusterClient)
	return isCluster
}

// Usable tells that a Ring is not: it spreads keys by a hash of its own, and a script runs where its first key is, so that
// one counter would be in two places. Something that holds a Ring is none either.
func (c *Client) Usable() error {
	if _, isRing := c.redis.(interface{ SetAddrs(map[string]string) }); isRing {
		return errors.New("a Ring of go-redis spreads the keys of one check over several servers by a hash of its own: " +
			"have one server, Sentinel or a Cluster")
	}
	return nil
}

// PoolSize is how many connections the client has at most. It is 0 for a Cluster, where each node has a pool.
func (c *Client) PoolSize() int {
	client, isOneServer := c.redis.(*redis.Client)
	if !isOneServer {
		return 0
	}
	options := client.Options()
	if options.MaxActiveConns > 0 {
		return min(options.PoolSize, options.MaxActiveConns)
	}
	return options.PoolSize
}

// mindsDeadlines tells whether the option ContextTimeoutEnabled is on; false where nobody knows.
func (c *Client) mindsDeadlines() (minds, known bool) {
	switch client := c.redis.(type) {
	case *redis.Client:
		return client.Options().ContextTimeoutEnabled, true
	case *redis.ClusterClient:
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
