package ratelimit

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// options finds what is wrong with the options of a limiter, puts what is usable in their place, and gives the topology.
func (w *ruleWriter) options(config *Config) Topology {
	if config.MaxKeys < 0 {
		w.found("option_invalid", "max_keys", fmt.Sprintf(
			"max_keys is 1 or more, or 0 for the store that the process shares, not %d", config.MaxKeys))
		config.MaxKeys = 0
	}
	if config.Clock != nil && config.Clock.handle == 0 {
		w.found("option_invalid", "clock", "a clock is one that NewManualClock made, and this is none")
	}
	if config.Deadline < 0 || config.Deadline > 0 && config.Deadline < time.Microsecond {
		w.found("option_invalid", "deadline", fmt.Sprintf(
			"a deadline is 1 µs or more, or 0 for %s, not %s", DefaultDeadline, config.Deadline))
		config.Deadline = 0
	}
	if config.Deadline == 0 {
		config.Deadline = DefaultDeadline
	}
	topology := config.Topology
	switch topology {
	case Single, Cluster:
	case "":
		topology = Single
	default:
		w.found("option_invalid", "topology", fmt.Sprintf("topology is %s or %s, not `%s`", Single, Cluster, topology))
		topology = Single
	}
	if config.Redis == nil {
		return topology
	}
	if isNil(config.Redis) {
		w.found("option_invalid", "redis", fmt.Sprintf(
			"redis is a client, and this is a nil of %T: make the client first, or leave it out to count in memory", config.Redis))
		return topology
	}
	clustered, err := w.ask(config.Redis)
	if err != nil {
		w.found("option_invalid", "redis", fmt.Sprintf("redis is a client that works, and this is none: %s", err))
	}
	if config.Topology == "" && clustered {
		topology = Cluster
	}
	return topology
}

func isNil(redis Scripter) bool {
	switch value := reflect.ValueOf(redis); value.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return value.IsNil()
	default:
		return false
	}
}

// ask asks a client what it knows of itself, once, where a panic can still be told.
func (w *ruleWriter) ask(redis Scripter) (clustered bool, err error) {
	defer recovered(&err)
	if redis, ok := redis.(Usable); ok {
		if err := redis.Usable(); err != nil {
			return false, err
		}
	}
	if redis, ok := redis.(Punctual); ok {
		w.punctual = redis.Punctual()
	}
	if redis, ok := redis.(Pooled); ok {
		w.turns = turnsOf(redis.PoolSize())
	}
	if redis, ok := redis.(Clustered); ok {
		clustered = redis.Clustered()
	}
	return clustered, nil
}

// note logs what a client has to say of itself.
func (l *Limiter) note(redis Scripter) {
	noted, ok := redis.(Noted)
	if !ok {
		return
	}
	defer func() { _ = recover() }()
	for _, note := range noted.Notes() {
		l.write(context.Background(), []logLine{{Message: "rate_limit_redis_client", Name: l.name, ErrorMessage: &note}}, nil)
	}
}
