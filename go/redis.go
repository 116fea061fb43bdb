package ratelimit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Scripter runs scripts on the host's Redis. The module's package goredis makes one of a go-redis client.
//
// A call must be sent once: one of unknown fate may have been counted. ctx carries the deadline, and the values of the
// context of the check; the limiter waits no longer than that, whatever a client does. keys and args are the limiter's
// again when the call has ended.
type Scripter interface {
	// EvalSha runs the script of this digest, and gives its reply, a string. Where the server does not know it, the text
	// of the error starts with NOSCRIPT.
	EvalSha(ctx context.Context, sha string, keys, args []string) (string, error)
	// Eval runs the script with this source.
	Eval(ctx context.Context, source string, keys, args []string) (string, error)
}

// Clustered is a [Scripter] that knows whether it talks to a Redis Cluster.
type Clustered interface {
	// Clustered tells whether keys of different slots are of different nodes.
	Clustered() bool
}

// Punctual is a [Scripter] whose calls end by themselves when the deadline of their context passes, whatever happens. A
// check that nobody can cancel then needs no goroutine to wait for it. It is a promise: one that is broken makes checks
// late. A client that runs what its host gave it (a dialer, a hook, something that fetches a password) cannot make it.
type Punctual interface {
	// Punctual tells whether no call lasts longer than its deadline.
	Punctual() bool
}

// Pooled is a [Scripter] that knows how many calls it runs at once. Of more checks, the others wait until one of them has
// ended before they send theirs, so that what else the host asks of Redis need not wait behind all of them.
type Pooled interface {
	// PoolSize is how many; 0 where nobody knows.
	PoolSize() int
}

// Usable is a [Scripter] that knows of reasons why no limiter can count on it.
type Usable interface {
	// Usable is such a reason, which is a mistake in the options; nil where there is none.
	Usable() error
}

// Noted is a [Scripter] with something to say of itself when a limiter is built on it, a line of the log each. What was
// said of a client need not be said again.
type Noted interface {
	// Notes are what there is to say.
	Notes() []string
}

// runScript sends a call, with the source where the server does not know the digest. An error behind the deadline is of
// [context.DeadlineExceeded], whatever the client calls it.
func runScript(ctx context.Context, redis Scripter, call *scriptCall) (reply string, err error) {
	defer recovered(&err)
	reply, err = redis.EvalSha(ctx, call.script.SHA, call.keys, call.args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		reply, err = redis.Eval(ctx, call.script.Source, call.keys, call.args)
	}
	if deadline, ok := ctx.Deadline(); err != nil && ok && !time.Now().Before(deadline) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return reply, err
}

// scriptCall is a call that the core wants to be run.
type scriptCall struct {
	pending    uint64
	deadlineUS uint64
	script     native.Script
	words      []string
	keys, args []string
}

// read takes it from where the core wrote it. All words are parts of one string.
func (c *scriptCall) read(w *work) {
	answer := &w.answer
	words := native.Words(w.buffer[:answer.Len])
	c.words = c.words[:0]
	for range answer.Keys + answer.Args {
		word, _ := words.Next()
		c.words = append(c.words, word)
	}
	c.pending, c.deadlineUS, c.script = answer.Pending, answer.DeadlineUS, native.Scripts()[answer.Script]
	c.keys, c.args = c.words[:answer.Keys:answer.Keys], c.words[answer.Keys:]
}
