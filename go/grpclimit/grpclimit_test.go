package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/grpclimit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func newLimiter(t *testing.T, rule ratelimit.Rule, change ...func(*ratelimit.Config)) *ratelimit.Limiter {
	t.Helper()
	rule.Name, rule.Characteristics, rule.Period = "per_user", []string{"user"}, time.Minute
	config := ratelimit.Config{
		Name: "lim", MaxKeys: 100, Rules: []ratelimit.Rule{rule}, Logger: slog.New(slog.DiscardHandler),
		Clock: ratelimit.NewManualClock(time.Unix(1_700_000_000, 0)),
	}
	for _, change := range change {
		change(&config)
	}
	limiter, err := ratelimit.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = limiter.Close() })
	return limiter
}

// service answers as its functions say.
type service struct {
	pb.UnimplementedTestServiceServer
	unary  func(ctx context.Context) error
	stream func(stream grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error
}

func (s service) UnaryCall(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if s.unary != nil {
		if err := s.unary(ctx); err != nil {
			return nil, err
		}
	}
	return &pb.SimpleResponse{Username: "served"}, nil
}

func (s service) FullDuplexCall(
	stream grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse],
) error {
	if s.stream != nil {
		return s.stream(stream)
	}
	return echo(stream)
}

// echo answers each message.
func echo(stream grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.Send(&pb.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
}

// dial runs a server with an interceptor, and gives a client of it.
func dial(t *testing.T, limit *grpclimit.Interceptor, service service) pb.TestServiceClient {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.UnaryInterceptor(limit.Unary), grpc.StreamInterceptor(limit.Stream))
	pb.RegisterTestServiceServer(server, service)
	go func() { _ = server.Serve(listener) }()
	connection, err := grpc.NewClient("passthrough:///bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = connection.Close()
		server.Stop()
	})
	return pb.NewTestServiceClient(connection)
}

func byUser(ctx context.Context, _ grpclimit.Call) ratelimit.Identifier {
	user := metadata.ValueFromIncomingContext(ctx, "user")
	if len(user) == 0 {
		return ratelimit.Identifier{"user": "u"}
	}
	return ratelimit.Identifier{"user": user[0]}
}

func first(md metadata.MD, name string) string {
	return strings.Join(md.Get(name), "|")
}

// retryAfter is what the details of an error say; false where they say nothing.
func retryAfter(err error) (time.Duration, bool) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration(), true
		}
	}
	return 0, false
}

func call(t *testing.T, client pb.TestServiceClient) (header metadata.MD, err error) {
	t.Helper()
	reply, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{}, grpc.Header(&header))
	if err == nil && reply.GetUsername() != "served" {
		t.Error(reply)
	}
	return header, err
}

func TestAUnaryCallIsServedThenRefused(t *testing.T) {
	client := dial(t, grpclimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byUser), service{})
	header, err := call(t, client)
	if err != nil || first(header, "ratelimit-remaining") != "0" || first(header, "retry-after") != "" {
		t.Error(header, err)
	}
	header, err = call(t, client)
	if wait, ok := retryAfter(err); status.Code(err) != codes.ResourceExhausted || !ok || wait != time.Minute {
		t.Error(err, wait, ok)
	}
	if status.Convert(err).Message() != "Retry later" || first(header, "retry-after") != "60" || first(header, "ratelimit-name") != "per_user" {
		t.Error(header, err)
	}
	if _, err := client.UnaryCall(metadata.AppendToOutgoingContext(t.Context(), "user", "v"), &pb.SimpleRequest{}); err != nil {
		t.Error(err)
	}
}

func TestWhereNoWaitHelpsThereIsNoRetryInfo(t *testing.T) {
	limiter := newLimiter(t, ratelimit.Rule{LimitFunc: func(any) (any, error) { return 0, nil }})
	_, err := call(t, dial(t, grpclimit.New(limiter, byUser, grpclimit.WithText("no")), service{}))
	if _, ok := retryAfter(err); status.Code(err) != codes.ResourceExhausted || ok || status.Convert(err).Message() != "no" {
		t.Error(err)
	}
}

func TestNoIdentifierIsNotLimited(t *testing.T) {
	limiter := newLimiter(t, ratelimit.Rule{Limit: 1})
	client := dial(t, grpclimit.New(limiter, func(context.Context, grpclimit.Call) ratelimit.Identifier { return nil }),
		service{unary: func(ctx context.Context) error {
			if _, ok := grpclimit.ResultOf(ctx); ok {
				t.Error("a result of nothing")
			}
			return nil
		}})
	for range 3 {
		if header, err := call(t, client); err != nil || first(header, "ratelimit-limit") != "" {
			t.Error(header, err)
		}
		stream := open(t, client)
		send(t, stream)
		if _, err := stream.Recv(); err != nil {
			t.Error(err)
		}
		_ = stream.CloseSend()
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
	if samples := limiter.Metrics(); len(samples) != 0 {
		t.Error(samples)
	}
}

func TestTheHookTheOptionsAndTheResult(t *testing.T) {
	var told []string
	var log strings.Builder
	limiter := newLimiter(t, ratelimit.Rule{LimitFunc: func(value any) (any, error) { return value, nil }})
	limit := grpclimit.New(limiter, byUser,
		grpclimit.WithFormat(ratelimit.IETFDraft11),
		grpclimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		grpclimit.WithOptions(func(_ context.Context, call grpclimit.Call) []ratelimit.Option {
			if _, ok := call.Message.(*pb.SimpleRequest); !ok {
				t.Errorf("%T", call.Message)
			}
			return []ratelimit.Option{ratelimit.Context(3), ratelimit.Cost(2)}
		}),
		grpclimit.WithOnBlock(func(_ context.Context, call grpclimit.Call, result ratelimit.Result) {
			told = append(told, call.Method+" "+result.Rule())
			panic("hook")
		}))
	client := dial(t, limit, service{unary: func(ctx context.Context) error {
		result, ok := grpclimit.ResultOf(ctx)
		if info, _ := result.Info(); !ok || info.Limit != 3 || info.Count != 2 {
			t.Errorf("%+v", info)
		}
		return nil
	}})
	if header, err := call(t, client); err != nil || first(header, "ratelimit") != `"per_user";r=1;t=60` {
		t.Error(header, err)
	}
	if _, err := call(t, client); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	if !slices.Equal(told, []string{"/grpc.testing.TestService/UnaryCall per_user"}) || !strings.Contains(log.String(), "OnBlock panicked") {
		t.Error(told, log.String())
	}
}

func TestItChargesAfterTheCall(t *testing.T) {
	denied := status.Error(codes.Unauthenticated, "who")
	answers := []error{denied, nil, denied, nil}
	var log strings.Builder
	limit := grpclimit.New(newLimiter(t, ratelimit.Rule{Limit: 3}), byUser,
		grpclimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		grpclimit.WithCostAfter(func(_ context.Context, _ grpclimit.Call, err error) float64 {
			if len(answers) == 2 {
				panic("cost")
			}
			if status.Code(err) == codes.Unauthenticated {
				return 4
			}
			return 0
		}))
	client := dial(t, limit, service{unary: func(context.Context) error {
		err := answers[0]
		answers = answers[1:]
		return err
	}})
	answers = append([]error{nil}, answers...)
	for _, want := range []struct {
		code     codes.Code
		observed string
	}{{codes.OK, "0"}, {codes.Unauthenticated, "4"}, {codes.ResourceExhausted, "4"}} {
		header, err := call(t, client)
		if status.Code(err) != want.code || first(header, "ratelimit-observed") != want.observed {
			t.Errorf("%v %v, not %v", err, header, want)
		}
	}
	answers = []error{denied, nil, nil}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "user", "other")
	if _, err := client.UnaryCall(ctx, &pb.SimpleRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "the cost panicked") {
		t.Error(log.String())
	}
}

// redis does not answer before it is let go.
type redis struct{ entered, letGo chan struct{} }

func (r redis) EvalSha(_ context.Context, _ string, _, _ []string) (string, error) {
	close(r.entered)
	<-r.letGo
	return "", errors.New("too late")
}

func (r redis) Eval(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("it is not asked")
}

func TestWhoLeavesBeforeTheVerdictIsNotServed(t *testing.T) {
	store := redis{make(chan struct{}), make(chan struct{})}
	defer close(store.letGo)
	limiter := newLimiter(t, ratelimit.Rule{Limit: 5}, func(config *ratelimit.Config) {
		config.Redis, config.Clock, config.Deadline = store, nil, time.Second
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-store.entered
		cancel()
	}()
	handler := func(context.Context, any) (any, error) {
		t.Error("it was served")
		return nil, nil
	}
	_, err := grpclimit.New(limiter, byUser).Unary(ctx, nil, &grpc.UnaryServerInfo{}, handler)
	if status.Code(err) != codes.Canceled {
		t.Error(err)
	}
}

type failing struct{}

func (failing) EvalSha(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("connection refused")
}

func (failing) Eval(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("connection refused")
}

func TestAStoreThatFailsIsOpenOrClosed(t *testing.T) {
	for onError, code := range map[ratelimit.OnError]codes.Code{
		ratelimit.AllowOnError: codes.OK, ratelimit.BlockOnError: codes.Unavailable,
	} {
		limiter := newLimiter(t, ratelimit.Rule{Limit: 5}, func(config *ratelimit.Config) {
			config.Redis, config.Clock, config.OnError = failing{}, nil, onError
		})
		header, err := call(t, dial(t, grpclimit.New(limiter, byUser), service{}))
		if _, waits := retryAfter(err); status.Code(err) != code || waits || first(header, "ratelimit-limit") != "" {
			t.Error(onError, err, header)
		}
	}
}

func TestTheAddressIsThatOfTheProxysClient(t *testing.T) {
	var seen string
	limit := grpclimit.New(newLimiter(t, ratelimit.Rule{Limit: 5}), func(ctx context.Context, _ grpclimit.Call) ratelimit.Identifier {
		seen = grpclimit.Address(ctx, ratelimit.ClientAddress{TrustedHops: 1})
		return nil
	})
	client := dial(t, limit, service{})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", "6.6.6.6, 198.51.100.7")
	if _, err := client.UnaryCall(ctx, &pb.SimpleRequest{}); err != nil || seen != "198.51.100.7" {
		t.Error(seen, err)
	}
	// A connection in memory has no address.
	if _, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{}); err != nil || seen != "" {
		t.Error(seen, err)
	}
}

func TestInterceptorsNeedALimiterAndAnIdentifierAndAFormat(t *testing.T) {
	byNobody := grpclimit.Identify(nil)
	for name, build := range map[string]func(){
		"no limiter":    func() { _ = grpclimit.New(nil, byUser) },
		"no identifier": func() { _ = grpclimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byNobody) },
		"no format":     func() { _ = grpclimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byUser, grpclimit.WithFormat(99)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error(name)
				}
			}()
			build()
		}()
	}
}
