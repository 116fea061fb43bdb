package main

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/goredis"
)

// everywhere are the commands that go to every master.
var everywhere = []string{"KEYS", "DBSIZE", "SCRIPT", "FLUSHALL", "FLUSHDB"}

// backend is Redis as a host has it, and the runner's own connection to each master.
type backend struct {
	*goredis.Client
	down    atomic.Bool
	cluster *redis.ClusterClient
	masters []*redis.Client
}

var _ ratelimit.Scripter = (*backend)(nil)

func newBackend(addresses []string, clustered bool) *backend {
	b := &backend{}
	for _, address := range addresses {
		b.masters = append(b.masters, redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, Protocol: 2}))
	}
	b.Client = goredis.New(b.masters[0])
	if clustered {
		b.cluster = redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses, Protocol: 2})
		b.Client = goredis.New(b.cluster)
	}
	return b
}

// errDown is what a client says of a server that is not there.
var errDown = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func (b *backend) EvalSha(ctx context.Context, sha string, keys, args []string) (string, error) {
	if b.down.Load() {
		return "", errDown
	}
	return b.Client.EvalSha(ctx, sha, keys, args)
}

func (b *backend) flush(ctx context.Context) error {
	b.down.Store(false)
	for _, master := range b.masters {
		if err := master.FlushAll(ctx).Err(); err != nil {
			return err
		}
	}
	return nil
}

// age lets time pass for the keys of a limiter.
func (b *backend) age(ctx context.Context, script, limiter string, by time.Duration) error {
	for _, master := range b.masters {
		var keys []string
		scan := master.Scan(ctx, 0, "labkit:rl:{"+limiter+":*", 1000).Iterator()
		for scan.Next(ctx) {
			keys = append(keys, scan.Val())
		}
		if err := scan.Err(); err != nil {
			return err
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if err := master.Eval(ctx, script, []string{key}, by.Microseconds()).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// raw runs the words of a `redis` step.
func (b *backend) raw(ctx context.Context, words []string) (any, error) {
	args := make([]any, len(words))
	for at, word := range words {
		args[at] = word
	}
	if !slices.Contains(everywhere, strings.ToUpper(words[0])) {
		if b.cluster != nil {
			master, err := b.cluster.MasterForKey(ctx, words[1])
			if err != nil {
				return nil, err
			}
			return written(master.Do(ctx, args...).Result())
		}
		return written(b.masters[0].Do(ctx, args...).Result())
	}
	var joined any
	for _, master := range b.masters {
		reply, err := written(master.Do(ctx, args...).Result())
		if err != nil {
			return nil, err
		}
		joined = join(joined, reply)
	}
	return joined, nil
}

func join(left, right any) any {
	switch next := right.(type) {
	case []any:
		if first, ok := left.([]any); ok {
			return append(first, next...)
		}
	case int64:
		if first, ok := left.(int64); ok {
			return first + next
		}
	}
	if left != nil {
		return left
	}
	return right
}

// written is a reply as the protocol prints it.
func written(reply any, err error) (any, error) {
	var refused redis.Error
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case errors.As(err, &refused):
		return map[string]any{"error": refused.Error()}, nil
	case err != nil:
		return nil, err
	}
	switch reply := reply.(type) {
	case []any:
		list := make([]any, len(reply))
		for at := range reply {
			if list[at], err = written(reply[at], nil); err != nil {
				return nil, err
			}
		}
		return list, nil
	case string:
		if !utf8.ValidString(reply) {
			return map[string]any{"$bytes": hex.EncodeToString([]byte(reply))}, nil
		}
		return reply, nil
	default:
		return reply, nil
	}
}
