package grpclimit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// verdict is the error of a call that is not handed on, whose fields are then sent.
func (i *Interceptor) verdict(ctx context.Context, call Call, result ratelimit.Result, send func(metadata.MD)) error {
	switch {
	case result.Blocked():
		if i.onBlock != nil {
			i.guarded(ctx, "OnBlock", func() { i.onBlock(ctx, call, result) })
		}
		i.tell(result, send)
		return i.refusal(result).Err()
	case result.Failed() && ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	default:
		return nil
	}
}

// refusal is the status of a block. A limiter that fails closed knows no time to come again.
func (i *Interceptor) refusal(result ratelimit.Result) *status.Status {
	if result.Failed() {
		return status.New(codes.Unavailable, i.text)
	}
	refused := status.New(codes.ResourceExhausted, i.text)
	info, _ := result.Info()
	wait, waits := info.RetryAfter()
	if !waits {
		return refused
	}
	detailed, err := refused.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	if err != nil {
		return refused
	}
	return detailed
}

// tell sends the fields of a result, if it has any.
func (i *Interceptor) tell(result ratelimit.Result, send func(metadata.MD)) {
	fields := metadata.MD{}
	for _, field := range result.Headers(i.format) {
		fields.Set(field.Name, field.Value)
	}
	if len(fields) > 0 {
		send(fields)
	}
}

// optionsOf are options that may be appended to.
func (i *Interceptor) optionsOf(ctx context.Context, call Call) []ratelimit.Option {
	if i.options == nil {
		return nil
	}
	return slices.Clip(i.options(ctx, call))
}

// guarded runs a function of the host's, where a panic must not change an answer.
func (i *Interceptor) guarded(ctx context.Context, what string, run func()) {
	defer func() {
		if value := recover(); value != nil {
			logger := i.logger
			if logger == nil {
				logger = slog.Default()
			}
			logger.WarnContext(ctx, "grpclimit: "+what+" panicked", "name", i.limiter.Name(), "error", fmt.Sprint(value))
		}
	}()
	run()
}
