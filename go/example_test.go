package ratelimit_test

import (
	"context"
	"fmt"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

func Example() {
	limiter := ratelimit.MustNew(ratelimit.Config{
		Name:    "sign_in",
		MaxKeys: 10_000, // in memory; with Redis: goredis.New(client), nothing else changes
		Rules: []ratelimit.Rule{
			{Name: "staff", Action: ratelimit.ActionSkip, Match: map[string]any{"user": ratelimit.Prefix("staff:")}},
			{Name: "per_ip", Characteristics: []string{"ip"}, Limit: 2, Period: time.Minute},
		},
	})
	defer func() { _ = limiter.Close() }()
	for range 3 {
		result, err := limiter.Check(context.Background(), ratelimit.Identifier{"ip": "198.18.0.1", "user": "alice"})
		info, _ := result.Info()
		fmt.Println(result.Allowed(), result.Rule(), info.Remaining, err)
	}
	// Output:
	// true per_ip 1 <nil>
	// true per_ip 0 <nil>
	// false per_ip 0 <nil>
}

// The limit is a function of what the check brings.
func ExampleNumberFunc() {
	type plan struct{ perHour int }
	limiter := ratelimit.MustNew(ratelimit.Config{
		Name:    "imports",
		MaxKeys: 10_000,
		Rules: []ratelimit.Rule{{
			Name: "per_user", Characteristics: []string{"user"}, Period: time.Hour,
			LimitFunc: func(value any) (any, error) { return value.(plan).perHour, nil },
		}},
	})
	defer func() { _ = limiter.Close() }()
	result, _ := limiter.Check(context.Background(), ratelimit.Identifier{"user": 42}, ratelimit.Context(plan{perHour: 30}))
	info, _ := result.Info()
	fmt.Println(info.Limit, info.Remaining)
	// Output: 30 29
}
