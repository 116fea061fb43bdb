package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// decode reads JSON, numbers as they are written.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// value is a value of a scenario as Go has it.
func value(given any) (any, error) {
	switch given := given.(type) {
	case json.Number:
		return number(given)
	case []any:
		list := make([]any, len(given))
		for at := range given {
			var err error
			if list[at], err = value(given[at]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		if len(given) == 1 {
			for tag, operand := range given {
				if strings.HasPrefix(tag, "$") {
					return tagged(tag, operand)
				}
			}
		}
		pairs := make(map[string]any, len(given))
		for name := range given {
			var err error
			if pairs[name], err = value(given[name]); err != nil {
				return nil, err
			}
		}
		return pairs, nil
	default:
		return given, nil
	}
}

// number is an integer where it has neither fraction nor exponent.
func number(given json.Number) (any, error) {
	text := given.String()
	if strings.ContainsAny(text, ".eE") {
		return given.Float64()
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

func tagged(tag string, operand any) (any, error) {
	text, ok := operand.(string)
	switch {
	case !ok:
	case tag == "$float" && text == "nan":
		return math.NaN(), nil
	case tag == "$float" && text == "inf":
		return math.Inf(1), nil
	case tag == "$bytes":
		return hex.DecodeString(text)
	case tag == "$pattern":
		return regexp.Compile(text)
	}
	return nil, fmt.Errorf("unknown value {%q: %v}", tag, operand)
}

// float is a number as the protocol prints it.
func float(f float64) any {
	switch {
	case math.IsNaN(f):
		return map[string]any{"$float": "nan"}
	case math.IsInf(f, 1):
		return map[string]any{"$float": "inf"}
	case math.IsInf(f, -1):
		return map[string]any{"$float": "-inf"}
	}
	// With an exponent it is no integer, however large.
	return json.RawMessage(strconv.FormatFloat(f, 'e', -1, 64))
}

// refuseUnknown passes no key over in silence.
func refuseUnknown[V any](given map[string]V, what string, known ...string) error {
	for key := range given {
		if !slices.Contains(known, key) {
			return fmt.Errorf("unknown key `%s` of a %s (publishes come with the rule store)", key, what)
		}
	}
	return nil
}
