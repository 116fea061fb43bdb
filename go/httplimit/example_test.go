package httplimit_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/httplimit"
)

func Example() {
	limiter := ratelimit.MustNew(ratelimit.Config{
		Name: "api", MaxKeys: 10_000,
		Rules: []ratelimit.Rule{{Name: "per_ip", Characteristics: []string{"ip"}, Limit: 1, Period: time.Minute}},
	})
	defer func() { _ = limiter.Close() }()
	address := ratelimit.ClientAddress{TrustedHops: 1}
	limited := httplimit.New(limiter, func(r *http.Request) ratelimit.Identifier {
		return ratelimit.Identifier{"ip": address.Of(r.RemoteAddr, r.Header.Values("X-Forwarded-For")...)}
	})
	server := httptest.NewServer(limited(http.NotFoundHandler()))
	defer server.Close()
	for range 2 {
		response, err := http.Get(server.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		fmt.Printf("%d %q %q\n", response.StatusCode, response.Header.Get("RateLimit-Remaining"), response.Header.Get("Retry-After"))
	}
	// Output:
	// 404 "0" ""
	// 429 "0" "60"
}
