// Package grpclimit is server interceptors for gRPC: they ask a limiter on each call, and answer RESOURCE_EXHAUSTED to a
// block, with a google.rpc.RetryInfo where a wait helps. The fields that HTTP has are metadata, in lower case.
//
//	limit := grpclimit.New(limiter, func(ctx context.Context, call grpclimit.Call) ratelimit.Identifier {
//		return ratelimit.Identifier{"ip": grpclimit.Address(ctx, address), "method": call.Method}
//	})
//	server := grpc.NewServer(grpc.ChainUnaryInterceptor(limit.Unary), grpc.ChainStreamInterceptor(limit.Stream))
package grpclimit

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// DefaultText is the message of the status of a call that is refused.
const DefaultText = "Retry later"

// Call is what a limiter is asked for.
type Call struct {
	// Method in full, such as /package.Service/Method.
	Method string
	// Message is the request of a unary call, or what a stream received; nil where a stream begins.
	Message any
}

// Identify says what a call counts for. Nil: it is not limited. What it panics with goes on.
type Identify func(ctx context.Context, call Call) ratelimit.Identifier

// Interceptor has the two methods that a server takes.
type Interceptor struct {
	limiter  *ratelimit.Limiter
	identify Identify
	messages Identify
	options  func(context.Context, Call) []ratelimit.Option
	cost     func(context.Context, Call, error) float64
	onBlock  func(context.Context, Call, ratelimit.Result)
	format   ratelimit.HeaderFormat
	text     string
	logger   *slog.Logger
}

// Option changes what an [Interceptor] does.
type Option func(*Interceptor)

// WithFormat says which fields are sent; by default [ratelimit.GitLabHeaders].
func WithFormat(format ratelimit.HeaderFormat) Option {
	return func(i *Interceptor) { i.format = format }
}

// WithText is the message of a refusal, in place of [DefaultText].
func WithText(text string) Option {
	return func(i *Interceptor) { i.text = text }
}

// WithOnBlock has a function told of each refusal, before it is sent. One that panics changes nothing, and is logged.
func WithOnBlock(told func(ctx context.Context, call Call, result ratelimit.Result)) Option {
	return func(i *Interceptor) { i.onBlock = told }
}

// WithMessages limits what a stream receives, too: each message counts for what identify says of it. One that is refused
// ends the stream's receiving, with the status for the handler to return; its fields are in the trailer.
func WithMessages(identify Identify) Option {
	return func(i *Interceptor) { i.messages = identify }
}

// WithCostAfter charges a call when its handler is done, by what cost says of the error; a cost of 0 charges nothing.
// Until then it is only looked at. A handler that panics is charged nothing; whether the client is still there makes no
// difference. A cost that panics charges nothing, and is logged. Messages of streams are charged as they come.
func WithCostAfter(cost func(ctx context.Context, call Call, err error) float64) Option {
	return func(i *Interceptor) { i.cost = cost }
}

// WithOptions brings options of each check and peek, such as [ratelimit.Context] for the functions of rules.
func WithOptions(options func(ctx context.Context, call Call) []ratelimit.Option) Option {
	return func(i *Interceptor) { i.options = options }
}

// WithLogger takes what functions of the host panic with; by default [slog.Default].
func WithLogger(logger *slog.Logger) Option {
	return func(i *Interceptor) { i.logger = logger }
}

// New makes interceptors. It panics where there is no limiter, nothing that identifies, or no such format: a program calls
// it at its start.
//
// A limiter that fails closed answers UNAVAILABLE. A call whose context ends before there is a verdict is not handed on:
// nobody waits for its answer, and work that nothing counts would be had for cancelling.
func New(limiter *ratelimit.Limiter, identify Identify, options ...Option) *Interceptor {
	if limiter == nil || identify == nil {
		panic("grpclimit: a limiter and a function that builds the identifier are needed")
	}
	interceptor := &Interceptor{limiter: limiter, identify: identify, text: DefaultText}
	for _, option := range options {
		option(interceptor)
	}
	if !interceptor.format.Valid() {
		panic(fmt.Sprintf("grpclimit: %d is no format of header fields", interceptor.format))
	}
	return interceptor
}

// Address is the client of a call, as [ratelimit.ClientAddress.Of] tells it by the connection's peer and the metadata
// x-forwarded-for.
func Address(ctx context.Context, address ratelimit.ClientAddress) string {
	connected := ""
	if from, ok := peer.FromContext(ctx); ok && from.Addr != nil {
		connected = from.Addr.String()
	}
	return address.Of(connected, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for")...)
}

type resultKey struct{}

// ResultOf is what the limiter answered to a call, by the context that its handler has; false where it was not limited.
// Of several limiters it is the innermost one's.
func ResultOf(ctx context.Context) (ratelimit.Result, bool) {
	result, ok := ctx.Value(resultKey{}).(ratelimit.Result)
	return result, ok
}
