package httplimit_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
	"gitlab.com/gitlab-org/labkit-ratelimit/go/httplimit"
)

// running is a server with a handler behind a limiter, which charges afterwards by what charge says.
func running(t *testing.T, http2 bool, handler http.HandlerFunc, statuses *[]int) *httptest.Server {
	t.Helper()
	limiter := newLimiter(t, ratelimit.Rule{Limit: 100})
	options := []httplimit.Option{httplimit.WithCostAfter(func(_ *http.Request, status int, _ http.Header) float64 {
		*statuses = append(*statuses, status)
		return 1
	})}
	server := httptest.NewUnstartedServer(httplimit.New(limiter, byIP, options...)(handler))
	if server.EnableHTTP2 = http2; http2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func fetch(t *testing.T, server *httptest.Server) *http.Response {
	t.Helper()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func TestAStreamIsFlushedWithItsFields(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for name, flush := range map[string]func(http.ResponseWriter) error{
			"Flusher":            func(w http.ResponseWriter) error { w.(http.Flusher).Flush(); return nil },
			"ResponseController": func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() },
		} {
			var statuses []int
			goOn := make(chan struct{})
			server := running(t, http2, func(w http.ResponseWriter, _ *http.Request) {
				if err := flush(w); err != nil {
					t.Error(name, err)
				}
				<-goOn
				_, _ = io.WriteString(w, "late")
			}, &statuses)
			response := fetch(t, server)
			if response.Header.Get("RateLimit-Observed") != "1" || (response.ProtoMajor == 2) != http2 {
				t.Error(name, response.Proto, response.Header)
			}
			close(goOn)
			if body, err := io.ReadAll(response.Body); string(body) != "late" || err != nil {
				t.Error(name, string(body), err)
			}
			server.Close()
			if len(statuses) != 1 || statuses[0] != 200 {
				t.Error(name, statuses)
			}
		}
	}
}

func TestAConnectionIsHijacked(t *testing.T) {
	for name, hijack := range map[string]func(http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error){
		"Hijacker": func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) { return w.(http.Hijacker).Hijack() },
		"ResponseController": func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
			return http.NewResponseController(w).Hijack()
		},
	} {
		var statuses []int
		server := running(t, false, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := hijack(w)
			if err != nil {
				t.Error(name, err)
				return
			}
			_, _ = io.WriteString(connection, "HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			_ = connection.Close()
		}, &statuses)
		if response := fetch(t, server); response.StatusCode != 418 {
			t.Error(name, response.StatusCode)
		}
		server.Close()
		if len(statuses) != 1 || statuses[0] != 101 {
			t.Error(name, statuses)
		}
	}
}

// A response does what its server's can, and no more: handlers ask by type, and have another way where it cannot.
func TestAResponseClaimsWhatTheServersCan(t *testing.T) {
	type claims struct{ flusher, flushError, hijacker, pusher bool }
	of := func(w http.ResponseWriter) (claim claims) {
		_, claim.flusher = w.(http.Flusher)
		_, claim.flushError = w.(interface{ FlushError() error })
		_, claim.hijacker = w.(http.Hijacker)
		_, claim.pusher = w.(http.Pusher)
		return claim
	}
	var claim claims
	handler := httplimit.New(newLimiter(t, ratelimit.Rule{Limit: 100}), byIP)(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { claim = of(w) }))
	type plain struct{ http.ResponseWriter }
	type hijacker struct {
		http.ResponseWriter
		http.Hijacker
	}
	for want, w := range map[claims]http.ResponseWriter{
		{}:                          plain{httptest.NewRecorder()},
		{true, true, false, false}:  wrapping{httptest.NewRecorder()},
		{false, false, true, false}: hijacker{plain{httptest.NewRecorder()}, nil},
		{true, true, true, false}: struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
		}{httptest.NewRecorder(), nil, nil},
		{true, true, false, true}: struct {
			http.ResponseWriter
			http.Flusher
			http.Pusher
		}{httptest.NewRecorder(), nil, nil},
		{true, true, true, true}: struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
			http.Pusher
		}{httptest.NewRecorder(), nil, nil, nil},
	} {
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if claim != want {
			t.Errorf("%T: %+v, not %+v", w, claim, want)
		}
	}
}

// wrapping is a response that can only be unwrapped, as other middleware has it.
type wrapping struct{ http.ResponseWriter }

func (w wrapping) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestOtherThingsOfAControllerReachTheServer(t *testing.T) {
	var statuses []int
	server := running(t, false, func(w http.ResponseWriter, _ *http.Request) {
		controller := http.NewResponseController(w)
		if err := controller.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		if len(statuses) != 0 {
			t.Error("early hints are no response")
		}
		w.WriteHeader(http.StatusAccepted)
	}, &statuses)
	if response := fetch(t, server); response.StatusCode != 202 || response.Header.Get("RateLimit-Observed") != "1" {
		t.Error(response.StatusCode, response.Header)
	}
	server.Close()
	if len(statuses) != 1 || statuses[0] != 202 {
		t.Error(statuses)
	}
}

func TestAFileIsServedWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := strings.Repeat("0123456789", 100_000)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	var statuses []int
	server := running(t, false, func(w http.ResponseWriter, r *http.Request) {
		if _, ok := w.(io.ReaderFrom); !ok {
			t.Error("the server cannot send it by itself")
		}
		http.ServeFile(w, r, path)
	}, &statuses)
	response := fetch(t, server)
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != content || response.Header.Get("RateLimit-Observed") != "1" {
		t.Error(len(body), err, response.Header)
	}
}

// On HTTP/2 a handler may push. This server's client takes none, which the handler is told by the server itself.
func TestAServerThatPushesDoesSo(t *testing.T) {
	var statuses []int
	server := running(t, true, func(w http.ResponseWriter, _ *http.Request) {
		pusher, ok := w.(http.Pusher)
		if !ok {
			t.Errorf("%T pushes nothing", w)
			return
		}
		if err := pusher.Push("/style.css", nil); !errors.Is(err, http.ErrNotSupported) {
			t.Error(err)
		}
	}, &statuses)
	if response := fetch(t, server); response.ProtoMajor != 2 {
		t.Error(response.Proto)
	}
}

// breaking gives some bytes, then an error.
type breaking struct{ bytes string }

func (f *breaking) Read(to []byte) (int, error) {
	n := copy(to, f.bytes)
	if f.bytes = f.bytes[n:]; n == 0 {
		return 0, errors.New("the backend is gone")
	}
	return n, nil
}

// A body that fails before its first byte leaves the handler its choice of status, and that is what is charged.
func TestABodyThatFailsAtOnceAnnouncesNothing(t *testing.T) {
	for bytes, want := range map[string]int{"": 502, "some": 200, strings.Repeat("x", 2000): 200} {
		var statuses []int
		server := running(t, false, func(w http.ResponseWriter, _ *http.Request) {
			sent, err := io.Copy(w, &breaking{bytes})
			if err == nil || sent != int64(len(bytes)) {
				t.Error(sent, err)
			}
			if sent == 0 {
				http.Error(w, "", http.StatusBadGateway)
			}
		}, &statuses)
		response := fetch(t, server)
		if body, err := io.ReadAll(response.Body); err != nil || !strings.HasPrefix(string(body), bytes) {
			t.Error(len(body), err)
		}
		server.Close()
		if response.StatusCode != want || len(statuses) != 1 || statuses[0] != want {
			t.Errorf("%d bytes: %d, and %v was charged", len(bytes), response.StatusCode, statuses)
		}
	}
}

func TestABodyThatIsEmptyIsServed(t *testing.T) {
	var statuses []int
	server := running(t, false, func(w http.ResponseWriter, _ *http.Request) {
		if sent, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("")); sent != 0 || err != nil || len(statuses) != 0 {
			t.Error(sent, err, statuses)
		}
		w.WriteHeader(http.StatusNotFound)
	}, &statuses)
	if response := fetch(t, server); response.StatusCode != 404 || len(statuses) != 1 || statuses[0] != 404 {
		t.Error(response.StatusCode, statuses)
	}
}

// What is no status is the server's to judge, and nothing is charged by it.
func TestWhatIsNoStatusIsNotCharged(t *testing.T) {
	for _, status := range []int{0, 99, 1000} {
		var statuses []int
		server := running(t, false, func(w http.ResponseWriter, _ *http.Request) {
			defer func() {
				if recover() == nil {
					t.Errorf("%d passed", status)
				}
				w.WriteHeader(http.StatusInternalServerError)
			}()
			w.WriteHeader(status)
		}, &statuses)
		if response := fetch(t, server); response.StatusCode != 500 || len(statuses) != 1 || statuses[0] != 500 {
			t.Errorf("%d: %d, and %v was charged", status, response.StatusCode, statuses)
		}
	}
}
