package ratelimit

import (
	"encoding/json"
	"runtime"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Sample is one series of a limiter's metrics, and its value.
type Sample struct {
	// Name of the metric, in full.
	Name string `json:"name"`
	// Gauge tells a gauge from a counter. Across processes a gauge's largest value counts.
	Gauge bool `json:"-"`
	// Labels are its labels.
	Labels map[string]string `json:"labels"`
	// Value is what it stands at.
	Value uint64 `json:"value"`
}

// Metrics are the limiter's counters and gauges as they stand. The core counts them; reading costs the checks nothing.
// Those of a limiter that was closed are as they stood then.
func (l *Limiter) Metrics() []Sample {
	text, status := native.Metrics(l.handle)
	runtime.KeepAlive(l)
	if last := l.last.Load(); status != native.Done && last != nil {
		return *last
	}
	if status != native.Done {
		return nil
	}
	var read []struct {
		Sample
		Kind string `json:"kind"`
	}
	if json.Unmarshal(text, &read) != nil {
		return nil
	}
	samples := make([]Sample, len(read))
	for at := range read {
		samples[at] = read[at].Sample
		samples[at].Gauge = read[at].Kind == "gauge"
	}
	return samples
}

// LibraryVersion is the version of the native core.
func LibraryVersion() string {
	return native.Version()
}
