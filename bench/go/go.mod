module gitlab.com/gitlab-org/labkit-ratelimit/bench/go

go 1.25.0

require (
	github.com/go-redis/redis_rate/v10 v10.0.1
	github.com/redis/go-redis/v9 v9.19.0
	github.com/sethvargo/go-limiter v0.7.1
	gitlab.com/gitlab-org/labkit-ratelimit/go v0.1.0
	gitlab.com/gitlab-org/labkit-ratelimit/go/goredis v0.1.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
)

replace (
	gitlab.com/gitlab-org/labkit-ratelimit/go => ../../go
	gitlab.com/gitlab-org/labkit-ratelimit/go/goredis => ../../go/goredis
)
