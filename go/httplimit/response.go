package httplimit

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// response adds the fields of a result when the header is about to be sent. What the handler says itself stands.
type response struct {
	http.ResponseWriter
	request    *http.Request
	middleware *middleware
	id         ratelimit.Identifier
	result     ratelimit.Result
	begun      bool
}

// begin is called before anything is sent, with the status that will be.
func (w *response) begin(status int) {
	if w.begun {
		return
	}
	w.begun = true
	header := w.Header()
	if w.middleware.cost != nil {
		if charged, ok := w.middleware.charge(w.request, w.id, status, header); ok {
			w.result = charged
		}
	}
	for _, field := range w.result.Headers(w.middleware.format) {
		name := http.CanonicalHeaderKey(field.Name)
		_, said := header[name]
		if _, asWritten := header[field.Name]; !said && !asWritten {
			header[name] = []string{field.Value}
		}
	}
}

// WriteHeader sends the status. Informational ones come before the response, and what is none the server panics with.
func (w *response) WriteHeader(status int) {
	if status > 199 && status < 1000 || status == http.StatusSwitchingProtocols {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(body []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.ResponseWriter.Write(body)
}

// WriteString spares a server that takes strings a copy.
func (w *response) WriteString(body string) (int, error) {
	w.begin(http.StatusOK)
	return io.WriteString(w.ResponseWriter, body)
}

// head is how much of a body goes through here before a server sends the rest by itself; net/http looks at as much to
// tell the type of the body.
const head = 512

// ReadFrom lets a server send a file by itself. Nothing is announced before there is something to send: a handler whose
// reader fails at once may still answer with another status.
func (w *response) ReadFrom(body io.Reader) (int64, error) {
	var sent int64
	if !w.begun {
		var err error
		if sent, err = io.CopyN(struct{ io.Writer }{w}, body, head); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return sent, err
		}
	}
	rest, err := io.Copy(w.ResponseWriter, body)
	return sent + rest, err
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter {
	return w.ResponseWriter
}

// flushes is a response whose server can flush.
type flushes struct{ *response }

func (w flushes) Flush() {
	_ = w.FlushError()
}

// FlushError is what [http.ResponseController] calls.
func (w flushes) FlushError() error {
	w.begin(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// hijacks is a response whose server can hand over the connection.
type hijacks struct{ *response }

func (w hijacks) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	connection, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.begin(http.StatusSwitchingProtocols)
	}
	return connection, buffered, err
}

// pushes is a response whose server can push, as HTTP/2 can.
type pushes struct{ *response }

func (w pushes) Push(target string, options *http.PushOptions) error {
	pusher, ok := find[http.Pusher](w.ResponseWriter)
	if !ok {
		return http.ErrNotSupported
	}
	return pusher.Push(target, options)
}

// withAbilities is the response with what the server's can do, and no more: handlers ask by type. A server that can push
// can flush.
func (w *response) withAbilities() http.ResponseWriter {
	_, canFlush := find[http.Flusher](w.ResponseWriter)
	if !canFlush {
		_, canFlush = find[flushErrorer](w.ResponseWriter)
	}
	_, canHijack := find[http.Hijacker](w.ResponseWriter)
	_, canPush := find[http.Pusher](w.ResponseWriter)
	switch {
	case canFlush && canHijack && canPush:
		return struct {
			*response
			http.Flusher
			flushErrorer
			http.Hijacker
			http.Pusher
		}{w, flushes{w}, flushes{w}, hijacks{w}, pushes{w}}
	case canFlush && canPush:
		return struct {
			*response
			http.Flusher
			flushErrorer
			http.Pusher
		}{w, flushes{w}, flushes{w}, pushes{w}}
	case canFlush && canHijack:
		return struct {
			*response
			http.Flusher
			flushErrorer
			http.Hijacker
		}{w, flushes{w}, flushes{w}, hijacks{w}}
	case canFlush:
		return flushes{w}
	case canHijack:
		return hijacks{w}
	default:
		return w
	}
}

type flushErrorer interface{ FlushError() error }

// find finds what is a T in a response, or one that it wraps.
func find[T any](w http.ResponseWriter) (found T, ok bool) {
	for {
		if found, ok = w.(T); ok {
			return found, true
		}
		wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return found, false
		}
		w = wrapped.Unwrap()
	}
}
