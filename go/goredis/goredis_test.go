package goredis_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/goredis"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// server starts a Redis of the test's own, and gives its address.
func server(tb testing.TB) string {
	tb.Helper()
	for range 5 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		address := free.Addr().String()
		_ = free.Close()
		_, port, _ := net.SplitHostPort(address)
		command := exec.Command("redis-server", "--port", port, "--save", "", "--appendonly", "no", "--dir", tb.TempDir())
		if err := command.Start(); err != nil {
			tb.Fatalf("redis-server is needed: %v", err)
		}
		stop := func() { _ = command.Process.Kill(); _ = command.Wait() }
		client := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1})
		for range 500 {
			if client.Ping(context.Background()).Err() == nil {
				_ = client.Close()
				tb.Cleanup(stop)
				return address
			}
			time.Sleep(10 * time.Millisecond)
		}
		// Somebody else took the port.
		_ = client.Close()
		stop()
	}
	tb.Fatal("redis-server does not answer")
	return ""
}

func newClient(tb testing.TB, options *redis.Options) *redis.Client {
	client := redis.NewClient(options)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func newLimiter(tb testing.TB, client redis.UniversalClient, config ratelimit.Config) *ratelimit.Limiter {
	tb.Helper()
	config.Name, config.Redis, config.Logger = "lim", goredis.New(client), slog.New(slog.DiscardHandler)
	if config.Rules == nil {
		config.Rules = []ratelimit.Rule{{Name: "per_user", Characteristics: []string{"user"}, Limit: 2, Period: time.Hour}}
	}
	limiter, err := ratelimit.New(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = limiter.Close() })
	return limiter
}

func TestItCountsOnTheHostsRedis(t *testing.T) {
	address := server(t)
	client := newClient(t, &redis.Options{Addr: address})
	limiter := newLimiter(t, client, ratelimit.Config{Deadline: 5 * time.Second})
	id := ratelimit.Identifier{"user": "u"}
	for n := range 3 {
		result, err := limiter.Check(t.Context(), id)
		if err != nil || result.Blocked() != (n == 2) {
			t.Fatalf("check %d: %+v, %v", n, result, err)
		}
	}
	if value := client.Get(t.Context(), "labkit:rl:{lim:per_user:user:u}").Val(); value != "3" {
		t.Errorf("the counter is %q", value)
	}
	// A server that forgot the script is told it again.
	if err := client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if result, err := limiter.Peek(t.Context(), id); err != nil || !result.Blocked() {
		t.Error(result, err)
	}
	if deleted, err := limiter.Clear(t.Context(), id); err != nil || deleted != 1 {
		t.Error(deleted, err)
	}
	client.LPush(t.Context(), "labkit:rl:{lim:per_user:user:u}", "odd")
	if result, err := limiter.Check(t.Context(), id); !errors.Is(err, ratelimit.ErrWrongType) || errors.Is(err, ratelimit.ErrStore) {
		t.Error(result, err)
	}
}

func TestEachGoroutineGetsItsOwnAnswer(t *testing.T) {
	client := newClient(t, &redis.Options{Addr: server(t), PoolSize: 32})
	limiter := newLimiter(t, client, ratelimit.Config{Deadline: 30 * time.Second, Rules: []ratelimit.Rule{{
		Name: "r", Characteristics: []string{"user"}, Period: time.Hour,
		LimitFunc: func(value any) (any, error) { return value, nil },
	}}})
	var group sync.WaitGroup
	for worker := range 64 {
		group.Go(func() {
			for n := range 50 {
				user, limit, cost := fmt.Sprintf("user %d of %d", n, worker), worker*1000+n+1, float64(n%7)+0.5
				result, err := limiter.Check(context.Background(), ratelimit.Identifier{"user": user},
					ratelimit.Cost(cost), ratelimit.Context(limit))
				info, _ := result.Info()
				if err != nil || info.Limit != uint64(limit) || info.Count != cost {
					t.Errorf("%s: %+v, %v", user, info, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// threads is how many the operating system has of this process.
func threads(tb testing.TB) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("there is no /proc to count threads in")
	}
	_, after, _ := strings.Cut(string(status), "Threads:")
	count := 0
	if _, err := fmt.Sscan(after, &count); err != nil {
		tb.Fatal(err)
	}
	return count
}

func TestTenThousandGoroutinesWaitOnFewThreads(t *testing.T) {
	const goroutines = 10_000
	client := newClient(t, &redis.Options{Addr: server(t), PoolSize: 100, PoolTimeout: time.Minute, ReadTimeout: time.Minute})
	limiter := newLimiter(t, client, ratelimit.Config{Deadline: time.Minute})
	if err := client.Do(t.Context(), "CLIENT", "PAUSE", "3000", "ALL").Err(); err != nil {
		t.Fatal(err)
	}
	var started, done, failed atomic.Int64
	var group sync.WaitGroup
	for n := range goroutines {
		group.Go(func() {
			started.Add(1)
			if _, err := limiter.Check(context.Background(), ratelimit.Identifier{"user": n}); err != nil {
				failed.Add(1)
			}
			done.Add(1)
		})
	}
	most := 0
	for started.Load() < goroutines {
		most = max(most, threads(t))
		time.Sleep(time.Millisecond)
	}
	if waiting := goroutines - done.Load(); waiting < goroutines {
		t.Errorf("%d wait, not all", waiting)
	}
	for done.Load() < goroutines {
		most = max(most, threads(t))
		time.Sleep(time.Millisecond)
	}
	group.Wait()
	if most >= 50 || failed.Load() > 0 {
		t.Errorf("%d threads, %d failed", most, failed.Load())
	}
	t.Logf("%d threads at most", most)
}

// A server that takes a call and closes the connection: the call may have counted.
func TestACallOfUnknownFateIsSentOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	var group sync.WaitGroup
	group.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = connection.Close() }()
				buffer := make([]byte, 4096)
				for {
					n, err := connection.Read(buffer)
					switch said := strings.ToLower(string(buffer[:n])); {
					case err != nil:
						return
					case strings.Contains(said, "evalsha"):
						calls.Add(1)
						return
					default:
						// What a client says first: this server is too old for it.
						answers := strings.Repeat("-ERR unknown command\r\n", strings.Count(said, "*"))
						if _, err := connection.Write([]byte(answers)); err != nil {
							return
						}
					}
				}
			})
		}
	})
	client := newClient(t, &redis.Options{Addr: listener.Addr().String(), MaxRetries: 5, DisableIdentity: true, Protocol: 2})
	limiter := newLimiter(t, client, ratelimit.Config{Deadline: 5 * time.Second})
	if result, err := limiter.Check(t.Context(), ratelimit.Identifier{"user": 1}); !errors.Is(err, ratelimit.ErrStore) || result.Blocked() {
		t.Error(result, err)
	}
	if calls.Load() != 1 {
		t.Errorf("it was sent %d times", calls.Load())
	}
	_ = client.Close()
	_ = listener.Close()
	group.Wait()
}

func TestTheContextEndsTheWaitAtOnce(t *testing.T) {
	client := newClient(t, &redis.Options{Addr: server(t)})
	limiter := newLimiter(t, client, ratelimit.Config{Deadline: 5 * time.Second})
	if err := client.Do(t.Context(), "CLIENT", "PAUSE", "600", "ALL").Err(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := limiter.Check(ctx, ratelimit.Identifier{"user": "u"})
	if took := time.Since(start); took > 300*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %s: %v", took, err)
	}
	// The call was sent, and counts when the server comes to it.
	for range 300 {
		if client.Get(t.Context(), "labkit:rl:{lim:per_user:user:u}").Val() == "1" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it never counted")
}

// Whether the client minds deadlines of contexts or not, the wait ends in time.
func TestTheDeadlineEndsTheWait(t *testing.T) {
	address := server(t)
	pausing := newClient(t, &redis.Options{Addr: address})
	client := newClient(t, &redis.Options{Addr: address, ContextTimeoutEnabled: true, PoolSize: 1})
	limiter := newLimiter(t, client, ratelimit.Config{Deadline: 50 * time.Millisecond})
	if _, err := limiter.Check(context.Background(), ratelimit.Identifier{"user": "v"}); err != nil {
		t.Fatal(err)
	}
	if err := pausing.Do(t.Context(), "CLIENT", "PAUSE", "1500", "ALL").Err(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	// One waits for the socket, the other for the pool.
	for range 2 {
		group.Go(func() {
			start := time.Now()
			_, err := limiter.Check(context.Background(), ratelimit.Identifier{"user": "u"})
			took := time.Since(start)
			if took > time.Second || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ratelimit.ErrStore) {
				t.Errorf("after %s: %v", took, err)
			}
		})
	}
	group.Wait()
}

// A server that takes no connection, or takes it and says nothing, holds nobody either.
func TestTheDeadlineEndsTheWaitForAConnection(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	letGo := make(chan struct{})
	defer func() {
		close(letGo)
		_ = silent.Close()
	}()
	for name, dialer := range map[string]func(context.Context, string, string) (net.Conn, error){
		"no connection": func(context.Context, string, string) (net.Conn, error) {
			<-letGo
			return nil, errors.New("too late")
		},
		"silent": nil,
	} {
		client := newClient(t, &redis.Options{Addr: silent.Addr().String(), ContextTimeoutEnabled: true, Dialer: dialer})
		limiter := newLimiter(t, client, ratelimit.Config{Deadline: 50 * time.Millisecond})
		start := time.Now()
		_, err := limiter.Check(context.Background(), ratelimit.Identifier{"user": "u"})
		if took := time.Since(start); took > time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: after %s: %v", name, took, err)
		}
	}
}

// slow is a hook that minds no context.
type slow struct{ waits time.Duration }

func (s slow) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s slow) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		time.Sleep(s.waits)
		return next(ctx, command)
	}
}

func TestOneServerHasOnePool(t *testing.T) {
	for client, size := range map[redis.UniversalClient]int{
		redis.NewClient(&redis.Options{PoolSize: 7}): 7, redis.NewClient(&redis.Options{PoolSize: 7, MaxActiveConns: 3}): 3,
		redis.NewFailoverClient(&redis.FailoverOptions{PoolSize: 5}): 5,
		redis.NewClusterClient(&redis.ClusterOptions{PoolSize: 7}):   0,
	} {
		if found := goredis.New(client).PoolSize(); found != size {
			t.Errorf("%T: %d, not %d", client, found, size)
		}
		_ = client.Close()
	}
}

func (s slow) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// What a host gave its client to run need not mind any context: the deadline holds all the same, for who cannot leave too.
func TestTheDeadlineHoldsWhateverTheHostsOwnPartsDo(t *testing.T) {
	const waits = 600 * time.Millisecond
	address := server(t)
	for name, give := range map[string]func(*redis.Options){
		"a hook": nil,
		"a password": func(options *redis.Options) {
			options.CredentialsProvider = func() (string, string) { time.Sleep(waits); return "", "" }
		},
		"on connect": func(options *redis.Options) {
			options.OnConnect = func(context.Context, *redis.Conn) error { time.Sleep(waits); return nil }
		},
		"a dialer": func(options *redis.Options) {
			options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
				time.Sleep(waits)
				return net.Dial(network, address)
			}
		},
	} {
		options := &redis.Options{Addr: address, ContextTimeoutEnabled: true}
		if give != nil {
			give(options)
		}
		client := newClient(t, options)
		limiter := newLimiter(t, client, ratelimit.Config{Deadline: 50 * time.Millisecond})
		if give == nil {
			// Also one that comes later.
			client.AddHook(slow{waits})
		}
		start := time.Now()
		_, err := limiter.Check(context.Background(), ratelimit.Identifier{"user": "u"})
		if took := time.Since(start); took > waits*2/3 || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ratelimit.ErrStore) {
			t.Errorf("%s: after %s: %v", name, took, err)
		}
	}
	time.Sleep(2 * waits)
}

func TestAClusterIsClustered(t *testing.T) {
	for client, clustered := range map[redis.UniversalClient]bool{
		redis.NewClient(&redis.Options{}): false, redis.NewClusterClient(&redis.ClusterOptions{}): true,
		redis.NewFailoverClient(&redis.FailoverOptions{}): false,
	} {
		if goredis.New(client).Clustered() != clustered {
			t.Errorf("%T: %t", client, !clustered)
		}
		_ = client.Close()
	}
}

// A Ring would have one counter in two places, whatever topology is said.
func TestARingIsAMistakeInTheOptions(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1", "b": "127.0.0.1:2"}})
	defer func() { _ = ring.Close() }()
	for _, client := range []redis.UniversalClient{ring, struct{ *redis.Ring }{ring}} {
		for _, topology := range []ratelimit.Topology{"", ratelimit.Single, ratelimit.Cluster} {
			_, err := ratelimit.New(ratelimit.Config{Name: "lim", Redis: goredis.New(client), Topology: topology})
			var found *ratelimit.ConfigError
			if !errors.As(err, &found) || len(found.Findings) != 1 || found.Findings[0].Path != "redis" ||
				!strings.Contains(err.Error(), "a Ring of go-redis spreads the keys of one check over several servers") {
				t.Errorf("%T, %q: %v", client, topology, err)
			}
		}
	}
}
