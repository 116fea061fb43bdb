package grpclimit

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// Unary is a [grpc.UnaryServerInterceptor].
func (i *Interceptor) Unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	call := Call{Method: info.FullMethod, Message: request}
	id := i.identify(ctx, call)
	if id == nil {
		return handler(ctx, request)
	}
	send := func(fields metadata.MD) {
		// A handler that has sent the header itself has none to add to.
		_ = grpc.SetHeader(ctx, fields)
	}
	result, err := i.opening(ctx, call, id, send)
	if err != nil {
		return nil, err
	}
	reply, err := handler(context.WithValue(ctx, resultKey{}, result), request)
	i.closing(ctx, call, id, result, err, send)
	return reply, err
}

// Stream is a [grpc.StreamServerInterceptor].
func (i *Interceptor) Stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, call := stream.Context(), Call{Method: info.FullMethod}
	limited := &limitedStream{ServerStream: stream, ctx: ctx, interceptor: i, method: info.FullMethod}
	id := i.identify(ctx, call)
	if id == nil {
		if i.messages == nil {
			return handler(service, stream)
		}
		return handler(service, limited)
	}
	result, err := i.opening(ctx, call, id, func(fields metadata.MD) { _ = stream.SetHeader(fields) })
	if err != nil {
		return err
	}
	limited.ctx = context.WithValue(ctx, resultKey{}, result)
	err = handler(service, limited)
	i.closing(ctx, call, id, result, err, stream.SetTrailer)
	return err
}

// opening decides whether a call is handed on.
func (i *Interceptor) opening(
	ctx context.Context, call Call, id ratelimit.Identifier, send func(metadata.MD),
) (ratelimit.Result, error) {
	if i.cost != nil {
		// Its fields follow, when it was charged.
		result, _ := i.limiter.Peek(ctx, id, i.optionsOf(ctx, call)...)
		return result, i.verdict(ctx, call, result, send)
	}
	result, _ := i.limiter.Check(ctx, id, i.optionsOf(ctx, call)...)
	err := i.verdict(ctx, call, result, send)
	if err == nil {
		i.tell(result, send)
	}
	return result, err
}

// closing charges a call that is charged afterwards.
func (i *Interceptor) closing(
	ctx context.Context, call Call, id ratelimit.Identifier, result ratelimit.Result, err error, send func(metadata.MD),
) {
	if i.cost == nil {
		return
	}
	cost := 0.0
	i.guarded(ctx, "the cost", func() { cost = i.cost(ctx, call, err) })
	if cost != 0 {
		// What was done is charged, also to who did not wait for it.
		options := append(i.optionsOf(ctx, call), ratelimit.Cost(cost))
		result, _ = i.limiter.Check(context.WithoutCancel(ctx), id, options...)
	}
	i.tell(result, send)
}

// limitedStream is a stream whose handler sees the result, and whose messages are limited if that is asked.
type limitedStream struct {
	grpc.ServerStream
	ctx         context.Context
	interceptor *Interceptor
	method      string
	refused     error
}

func (s *limitedStream) Context() context.Context {
	return s.ctx
}

// RecvMsg receives a message. Like that of every stream, it is called by one goroutine at a time.
func (s *limitedStream) RecvMsg(message any) error {
	if s.refused != nil {
		return s.refused
	}
	if err := s.ServerStream.RecvMsg(message); err != nil || s.interceptor.messages == nil {
		return err
	}
	i, call := s.interceptor, Call{Method: s.method, Message: message}
	id := i.messages(s.ctx, call)
	if id == nil {
		return nil
	}
	result, _ := i.limiter.Check(s.ctx, id, i.optionsOf(s.ctx, call)...)
	s.refused = i.verdict(s.ctx, call, result, s.SetTrailer)
	return s.refused
}
