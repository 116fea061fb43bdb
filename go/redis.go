package ratelimit

import (
	"context"
	"strings"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Scripter runs scripts on the host's Redis. The module's package goredis makes one of a go-redis client.
//
// A call must be sent once: one of unknown fate may have been counted. ctx carries the deadline, and the values of the
// context of the check; the limiter waits no longer than that, whatever a client does.
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

// runScript sends a call, with the source where the server does not know the digest.
func runScript(ctx context.Context, redis Scripter, call *scriptCall) (reply string, err error) {
	defer recovered(&err)
	reply, err = redis.EvalSha(ctx, call.script.SHA, call.keys, call.args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		reply, err = redis.Eval(ctx, call.script.Source, call.keys, call.args)
	}
	return reply, err
}

// scriptCall is a call that the core wants to be run.
type scriptCall struct {
	pending    uint64
	deadlineUS uint64
	script     native.Script
	keys, args []string
}

// scriptCallOf reads it from where the core wrote it. All words are parts of one string.
func scriptCallOf(w *work) *scriptCall {
	answer := &w.answer
	words := native.Words(w.buffer[:answer.Len])
	all := make([]string, answer.Keys+answer.Args)
	for at := range all {
		all[at], _ = words.Next()
	}
	return &scriptCall{
		pending:    answer.Pending,
		deadlineUS: answer.DeadlineUS,
		script:     native.Scripts()[answer.Script],
		keys:       all[:answer.Keys:answer.Keys],
		args:       all[answer.Keys:],
	}
}
