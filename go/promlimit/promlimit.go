// Package promlimit gives Prometheus the metrics of limiters. The core counts; the counters are read when Prometheus
// asks, so a check costs the same with it and without.
//
//	collector := promlimit.New(signIn, imports)
//	prometheus.MustRegister(collector)
package promlimit

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// family is one metric. Names and labels are the same in every language.
type family struct {
	description *prometheus.Desc
	labels      []string
}

const prefix = "gitlab_labkit_rate_limiter_"

var families = func() map[string]family {
	all := make(map[string]family)
	for _, one := range []struct{ name, help, labels string }{
		{"checks_total", "Checks of rate limiters", "rate_limiter action matched error"},
		{"rule_evaluations_total", "Evaluations of rules of rate limiters", "rate_limiter rule action result"},
		{"peeks_total", "Peeks of rate limiters", "rate_limiter error"},
		{"limit", "Limit of a rule when it was last evaluated", "rate_limiter rule"},
		{"period_seconds", "Period of a rule when it was last evaluated, in seconds", "rate_limiter rule"},
	} {
		labels := strings.Fields(one.labels)
		all[prefix+one.name] = family{prometheus.NewDesc(prefix+one.name, one.help, labels, nil), labels}
	}
	return all
}()

// Collector is a [prometheus.Collector] of any number of limiters. A registry takes one.
type Collector struct {
	mu       sync.Mutex
	limiters []*ratelimit.Limiter
	// Counters of limiters that were closed, by the names of limiters: those of another one of that name go on from them.
	past map[string]map[string]*series
}

var _ prometheus.Collector = (*Collector)(nil)

// New makes a collector of these limiters, and those that are added.
func New(limiters ...*ratelimit.Limiter) *Collector {
	collector := &Collector{past: make(map[string]map[string]*series)}
	collector.Add(limiters...)
	return collector
}

// Add has limiters collected from now on. One that is there already is not collected twice, nor one that is closed at all.
func (c *Collector) Add(limiters ...*ratelimit.Limiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, limiter := range limiters {
		if limiter != nil && !limiter.Closed() && c.at(limiter) < 0 {
			c.limiters = append(c.limiters, limiter)
		}
	}
}

// Remove has a limiter collected no longer. One that is closed is forgotten by itself.
func (c *Collector) Remove(limiter *ratelimit.Limiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetClosed()
	if at := c.at(limiter); at >= 0 {
		c.limiters = append(c.limiters[:at:at], c.limiters[at+1:]...)
	}
}

// forgetClosed keeps the counters alone of limiters that were closed.
func (c *Collector) forgetClosed() {
	var open []*ratelimit.Limiter
	for _, limiter := range c.limiters {
		if !limiter.Closed() {
			open = append(open, limiter)
			continue
		}
		if c.past[limiter.Name()] == nil {
			c.past[limiter.Name()] = make(map[string]*series)
		}
		for _, sample := range limiter.Metrics() {
			if !sample.Gauge {
				add(c.past[limiter.Name()], sample)
			}
		}
	}
	c.limiters = open
}

// at is the place of a limiter; -1 where it is not there.
func (c *Collector) at(limiter *ratelimit.Limiter) int {
	for at, other := range c.limiters {
		if other == limiter {
			return at
		}
	}
	return -1
}

// Describe sends the five families.
func (c *Collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, family := range families {
		descriptions <- family.description
	}
}

// Collect reads the counters as they stand. A limiter that was closed shows nothing by itself; but where another one has its
// name, no counter goes down.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	for _, series := range c.together() {
		kind := prometheus.CounterValue
		if series.gauge {
			kind = prometheus.GaugeValue
		}
		metrics <- prometheus.MustNewConstMetric(series.family.description, kind, float64(series.value), series.labels...)
	}
}

type series struct {
	family family
	labels []string
	gauge  bool
	value  uint64
}

// together reads limiters. Those of one name share their series, as those of several processes do: counters are added,
// and of gauges the largest counts.
func (c *Collector) together() map[string]*series {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetClosed()
	all := make(map[string]*series)
	for _, limiter := range c.limiters {
		for _, sample := range limiter.Metrics() {
			add(all, sample)
		}
	}
	shown := make(map[string]bool)
	for _, limiter := range c.limiters {
		if shown[limiter.Name()] {
			continue
		}
		shown[limiter.Name()] = true
		for key, past := range c.past[limiter.Name()] {
			if one, ok := all[key]; ok {
				one.value += past.value
			} else {
				copied := *past
				all[key] = &copied
			}
		}
	}
	return all
}

// add adds a sample to its series.
func add(all map[string]*series, sample ratelimit.Sample) {
	family, ok := families[sample.Name]
	if !ok {
		return
	}
	labels := make([]string, len(family.labels))
	for at, name := range family.labels {
		labels[at] = sample.Labels[name]
	}
	key := sample.Name + "\x00" + strings.Join(labels, "\x00")
	one, ok := all[key]
	switch {
	case !ok:
		all[key] = &series{family, labels, sample.Gauge, sample.Value}
	case sample.Gauge:
		one.value = max(one.value, sample.Value)
	default:
		one.value += sample.Value
	}
}
