package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/grpclimit"
)

type duplex = grpc.BidiStreamingClient[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]

func open(t *testing.T, client pb.TestServiceClient) duplex {
	t.Helper()
	stream, err := client.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func send(t *testing.T, stream duplex) {
	t.Helper()
	if err := stream.Send(&pb.StreamingOutputCallRequest{}); err != nil {
		t.Error(err)
	}
}

func TestAStreamCountsOnceByItself(t *testing.T) {
	client := dial(t, grpclimit.New(newLimiter(t, ratelimit.Rule{Limit: 1}), byUser), service{
		stream: func(stream grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
			if result, ok := grpclimit.ResultOf(stream.Context()); !ok || result.Rule() != "per_user" {
				t.Error("the handler does not see the result")
			}
			return echo(stream)
		},
	})
	stream := open(t, client)
	for range 3 {
		send(t, stream)
		if _, err := stream.Recv(); err != nil {
			t.Error(err)
		}
	}
	_ = stream.CloseSend()
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if header, err := stream.Header(); err != nil || first(header, "ratelimit-observed") != "1" {
		t.Error(header, err)
	}
	refused := open(t, client)
	_, err := refused.Recv()
	if wait, ok := retryAfter(err); status.Code(err) != codes.ResourceExhausted || !ok || wait != time.Minute {
		t.Error(err)
	}
	if header, err := refused.Header(); err != nil || first(header, "retry-after") != "60" {
		t.Error(header, err)
	}
}

func TestMessagesOfAStreamCountWhereThatIsAsked(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		limiter := newLimiter(t, ratelimit.Rule{Limit: 2})
		limit := grpclimit.New(limiter, func(context.Context, grpclimit.Call) ratelimit.Identifier { return nil },
			grpclimit.WithMessages(func(ctx context.Context, call grpclimit.Call) ratelimit.Identifier {
				message, ok := call.Message.(*pb.StreamingOutputCallRequest)
				if !ok || call.Method != "/grpc.testing.TestService/FullDuplexCall" {
					t.Errorf("%+v", call)
				}
				if message.GetPayload() != nil {
					return nil
				}
				return byUser(ctx, call)
			}))
		received := 0
		client := dial(t, limit, service{
			stream: func(stream grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
				for {
					_, err := stream.Recv()
					if errors.Is(err, io.EOF) {
						return nil
					}
					if err != nil {
						if stubborn {
							// It does not get past it.
							_, err = stream.Recv()
						}
						return err
					}
					received++
				}
			},
		})
		stream := open(t, client)
		if err := stream.Send(&pb.StreamingOutputCallRequest{Payload: &pb.Payload{}}); err != nil {
			t.Error(err)
		}
		for range 4 {
			// The third may have ended it before the fourth.
			_ = stream.Send(&pb.StreamingOutputCallRequest{})
		}
		_, err := stream.Recv()
		wait, ok := retryAfter(err)
		if status.Code(err) != codes.ResourceExhausted || !ok || wait != time.Minute || received != 3 {
			t.Error(err, received)
		}
		if trailer := stream.Trailer(); first(trailer, "ratelimit-observed") != "3" || first(trailer, "retry-after") != "60" {
			t.Error(trailer)
		}
	}
}

func TestAStreamIsChargedAtItsEnd(t *testing.T) {
	limiter := newLimiter(t, ratelimit.Rule{Limit: 5})
	limit := grpclimit.New(limiter, byUser,
		grpclimit.WithCostAfter(func(context.Context, grpclimit.Call, error) float64 { return 6 }))
	client := dial(t, limit, service{})
	stream := open(t, client)
	_ = stream.CloseSend()
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) || first(stream.Trailer(), "ratelimit-observed") != "6" {
		t.Error(err, stream.Trailer())
	}
	// It is over.
	if _, err := open(t, client).Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
}

func TestAClientThatLeavesIsChargedForWhatWasDone(t *testing.T) {
	limiter := newLimiter(t, ratelimit.Rule{Limit: 5})
	limit := grpclimit.New(limiter, byUser,
		grpclimit.WithCostAfter(func(context.Context, grpclimit.Call, error) float64 { return 2.5 }))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := limit.Unary(ctx, nil, &grpc.UnaryServerInfo{}, func(context.Context, any) (any, error) {
		cancel()
		return nil, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	result, err := limiter.Peek(t.Context(), ratelimit.Identifier{"user": "u"})
	if info, _ := result.Info(); err != nil || info.Count != 2.5 {
		t.Error(info, err)
	}
}
