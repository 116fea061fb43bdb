module gitlab.com/gitlab-org/labkit-ratelimit/go

go 1.25.0
