package ratelimit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// deepestJSON is as deep as the core reads.
const deepestJSON = 128

// raw is a rule that is text. The core reads it, and says what is wrong with it, but for what JSON readers pass over.
func (w *ruleWriter) raw(text []byte, path string) object {
	if !utf8.Valid(text) {
		w.found("not_utf8", path, "the text of a rule is UTF-8, and this is not")
	}
	reader := rawReader{ruleWriter: w, Decoder: json.NewDecoder(bytes.NewReader(text))}
	reader.UseNumber()
	// What is no JSON at all the core tells.
	_ = reader.look(path, 0, false)
	return object{"$json": strings.ToValidUTF8(string(reader.quoted(text)), "\uFFFD")}
}

// rawReader reads a rule that is text.
type rawReader struct {
	*ruleWriter
	*json.Decoder
	// Where integers stand that are texts.
	huge [][2]int64
}

// quoted is the text with its huge integers as texts: a JSON reader makes other numbers of them.
func (r *rawReader) quoted(text []byte) []byte {
	var quoted []byte
	done := int64(0)
	for _, at := range r.huge {
		quoted = append(quoted, text[done:at[0]]...)
		quoted = append(append(append(quoted, '"'), text[at[0]:at[1]]...), '"')
		done = at[1]
	}
	return append(quoted, text[done:]...)
}

// isHuge tells whether a number is an integer beyond 64 bits.
func isHuge(number json.Number) bool {
	text := number.String()
	_, notSigned := strconv.ParseInt(text, 10, 64)
	_, notUnsigned := strconv.ParseUint(text, 10, 64)
	return notSigned != nil && notUnsigned != nil && !strings.ContainsAny(text, ".eE")
}

// look finds keys that stand twice in one map, of which the last would win, and words that only this package may say to
// the core; in matchers also integers that are texts.
func (r *rawReader) look(path string, depth int, matcher bool) error {
	token, err := r.Token()
	if err != nil {
		return err
	}
	if number, ok := token.(json.Number); ok && matcher && isHuge(number) {
		r.huge = append(r.huge, [2]int64{r.InputOffset() - int64(len(number)), r.InputOffset()})
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth == deepestJSON {
		return fmt.Errorf("%s is too deep", path)
	}
	seen := make(map[string]bool)
	for at := 0; r.More(); at++ {
		inner, key := fmt.Sprintf("%s[%d]", path, at), ""
		if delimiter == '{' {
			token, err := r.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
			inner = path + "." + key
			if seen[key] {
				r.found("duplicate_key", inner, fmt.Sprintf("`%s` stands here twice", key))
			}
			if strings.HasPrefix(key, "$") {
				r.found("unknown_field", inner, fmt.Sprintf("`%s` is no word of rules", key))
			}
			seen[key] = true
		}
		if err := r.look(inner, depth+1, matcher || key == "match"); err != nil {
			return err
		}
	}
	_, err = r.Token()
	return err
}
