package httplimit

import (
	"bufio"
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

// WriteHeader sends the status. Informational ones come before the response.
func (w *response) WriteHeader(status int) {
	if status < 100 || status > 199 || status == http.StatusSwitchingProtocols {
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

// ReadFrom lets a server send a file by itself.
func (w *response) ReadFrom(body io.Reader) (int64, error) {
	w.begin(http.StatusOK)
	return io.Copy(w.ResponseWriter, body)
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

// withAbilities is the response with what the server's can do, and no more: handlers ask by type.
func (w *response) withAbilities() http.ResponseWriter {
	canFlush := able[http.Flusher](w.ResponseWriter) || able[interface{ FlushError() error }](w.ResponseWriter)
	canHijack := able[http.Hijacker](w.ResponseWriter)
	switch {
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

// able tells whether a response, or one that it wraps, is a T.
func able[T any](w http.ResponseWriter) bool {
	for {
		if _, ok := w.(T); ok {
			return true
		}
		wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = wrapped.Unwrap()
	}
}
