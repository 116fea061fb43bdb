package httplimit

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// refuse answers 429; where a limiter fails closed 503, which knows no time to come again.
func (m *middleware) refuse(w http.ResponseWriter, r *http.Request, result ratelimit.Result) {
	if m.onBlock != nil {
		m.guarded(r, "OnBlock", func() { m.onBlock(r, result) })
	}
	kind, body := "text/plain; charset=utf-8", m.text+"\n"
	if wantsJSON(r.Header.Values("Accept")) {
		kind, body = "application/json", m.document(result)
	}
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	for _, field := range result.Headers(m.format) {
		header.Set(field.Name, field.Value)
	}
	if result.Failed() {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		w.WriteHeader(http.StatusTooManyRequests)
	}
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, body)
	}
}

// document is the answer in JSON.
func (m *middleware) document(result ratelimit.Result) string {
	said := struct {
		Error      string `json:"error"`
		Rule       string `json:"rule,omitempty"`
		RetryAfter *int64 `json:"retry_after,omitempty"`
	}{Error: m.text, Rule: result.Rule()}
	if info, ok := result.Info(); ok {
		if wait, waits := info.RetryAfter(); waits {
			seconds := int64(math.Ceil(wait.Seconds()))
			said.RetryAfter = &seconds
		}
	}
	text, err := json.Marshal(said)
	if err != nil {
		return "{}\n"
	}
	return string(text) + "\n"
}

// wantsJSON tells whether a client would rather have JSON than a text, which is what those get who say nothing.
func wantsJSON(accept []string) bool {
	json, best := false, 0.0
	for wanted := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		isJSON, quality := rangeOf(wanted)
		// Of equals the first.
		if quality > best {
			json, best = isJSON, quality
		}
	}
	return json
}

// rangeOf reads one range of an Accept field; its quality is 0 where it is of neither kind.
func rangeOf(wanted string) (isJSON bool, quality float64) {
	kind, parameters, _ := strings.Cut(wanted, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch kind {
	case "text/plain", "text/*", "text/html", "*/*":
	case "application/json", "application/*":
		isJSON = true
	default:
		if isJSON = strings.HasSuffix(kind, "+json"); !isJSON {
			return false, 0
		}
	}
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "q") && value != "" && strings.Trim(value, "0123456789.") == "" {
			if quality, err := strconv.ParseFloat(value, 64); err == nil {
				return isJSON, quality
			}
		}
	}
	return isJSON, 1
}
