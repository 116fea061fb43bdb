package ratelimit

import (
	"log/slog"
	"time"
)

// DefaultDeadline is how long a call of Redis may be waited for, unless [Config.Deadline] says otherwise.
const DefaultDeadline = 100 * time.Millisecond

// Config says what a [Limiter] is made of. Only Name is required.
type Config struct {
	// Name of the limiter: part of its keys, a label of its metrics. It matches ^[a-z0-9_]+$.
	Name string
	// Rules in chain order. With documents these are the defaults, where those bring none.
	Rules []Rule
	// Redis is where it counts. Nil: in this process's memory.
	Redis Scripter
	// Topology of Redis. By default what Redis says itself, if it is a [Clustered]; else one server.
	Topology Topology
	// MaxKeys above 0 gives a limiter without Redis a memory store of its own, for so many counters. By default all
	// limiters of the process share one.
	MaxKeys int
	// Deadline bounds the wait for each call of Redis, a pool's included; 0 is [DefaultDeadline]. The context of a check
	// may end it earlier.
	Deadline time.Duration
	// Evaluation says which results stop the chain; by default the first block.
	Evaluation EvaluationMode
	// OnError says what a check without a verdict answers; by default it allows.
	OnError OnError
	// Logger takes one warning per failure; by default [slog.Default]. No value of an identifier is ever logged.
	Logger *slog.Logger
	// Clock of a limiter in tests; by default the system's. On Redis its keys live by the server's all the same.
	Clock *ManualClock

	// Properties that documents may use, beside those that Rules mention.
	Properties []string
	// AllowedSkipRules are the names of skip rules that documents may have.
	AllowedSkipRules []string
	// LenientDocuments makes [FromBytes] and [FromFiles] log mistakes in documents, and files that cannot be read, and go
	// on with the defaults, if there are any. By default they are an error: a program in Go looks at it when it starts.
	LenientDocuments bool
}

// EvaluationMode says which results stop the chain.
type EvaluationMode string

const (
	// FirstBlock stops at the first rule that blocks.
	FirstBlock EvaluationMode = "first_block"
	// EvaluateAll goes on behind a block; only skip and final rules stop the chain.
	EvaluateAll EvaluationMode = "all"
)

// OnError says what a check without a verdict answers.
type OnError string

const (
	// AllowOnError allows: a limiter never breaks its host.
	AllowOnError OnError = "allow"
	// BlockOnError blocks, for every cause.
	BlockOnError OnError = "block"
	// LocalOnError counts in memory from zero while the store fails, and allows otherwise.
	LocalOnError OnError = "local"
)

// Topology says what the keys are spread over.
type Topology string

const (
	// Single is one server, also behind Sentinel: one call a check.
	Single Topology = "single"
	// Cluster is a Redis Cluster: one call for each change of slot along the chain.
	Cluster Topology = "cluster"
)
