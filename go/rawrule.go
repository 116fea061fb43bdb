package ratelimit

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	// What is no JSON at all the core tells.
	_ = w.look(decoder, path, 0)
	return object{"$json": strings.ToValidUTF8(string(text), "\uFFFD")}
}

// look finds keys that stand twice in one map, of which the last would win, and words that only this package may say to
// the core.
func (w *ruleWriter) look(decoder *json.Decoder, path string, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth == deepestJSON {
		return fmt.Errorf("%s is too deep", path)
	}
	seen := make(map[string]bool)
	for at := 0; decoder.More(); at++ {
		inner := fmt.Sprintf("%s[%d]", path, at)
		if delimiter == '{' {
			token, err := decoder.Token()
			if err != nil {
				return err
			}
			key, _ := token.(string)
			inner = path + "." + key
			if seen[key] {
				w.found("duplicate_key", inner, fmt.Sprintf("`%s` stands here twice", key))
			}
			if strings.HasPrefix(key, "$") {
				w.found("unknown_field", inner, fmt.Sprintf("`%s` is no word of rules", key))
			}
			seen[key] = true
		}
		if err := w.look(decoder, inner, depth+1); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
