// Package ratelimit decides, per request, whether it may go on: the same answer as in every other language of
// labkit-ratelimit and on every store, in one Redis round trip, and never by breaking its host.
//
//	limiter, err := ratelimit.New(ratelimit.Config{
//		Name: "sign_in",
//		Rules: []ratelimit.Rule{
//			{Name: "per_ip", Characteristics: []string{"ip"}, Limit: 10, Period: time.Minute},
//		},
//		Redis: goredis.New(client), // leave it out, and it counts in memory
//	})
//	…
//	result, err := limiter.Check(ctx, ratelimit.Identifier{"ip": "198.18.0.1"})
//	if result.Blocked() {
//		…
//	}
//
// A [Result] can always be used. An error beside it only tells why there is no verdict; then the result says what
// [Config.OnError] does. Mistakes in rules are found by [New], all at once.
//
// The core is native code behind cgo. No call of it waits: Redis is the host's own client ([Scripter]), which waits in
// Go. A limiter is used by any number of goroutines.
package ratelimit
