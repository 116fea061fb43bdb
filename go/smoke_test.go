package ratelimit

import (
	"context"
	"testing"
	"time"
)

func BenchmarkMemory(b *testing.B) {
	l := MustNew(Config{Name: "l", MaxKeys: 100000, Rules: []Rule{{Name: "per_user", Characteristics: []string{"user"}, Match: map[string]any{"method": "GET", "path": Prefix("/api")}, Limit: 1 << 40, Period: time.Minute}}})
	id := Identifier{"user": "user:42", "method": "GET", "path": "/api/x"}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		r, err := l.Check(ctx, id)
		if err != nil || !r.Allowed() {
			b.Fatal(err)
		}
	}
}
