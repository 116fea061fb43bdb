package ratelimit

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// Identifier is what a caller says of one request: property → value. A value is a string, bytes, an integer, a float,
// a boolean or nil, of any such kind; a pointer is what it points to; anything else is taken by its MarshalText, or its
// String. Only properties that some rule mentions are looked at. What has no text (a map, a list) and NaN are mistakes:
// the check then has no verdict.
type Identifier map[string]any

// names are those of its properties, for the log.
func (id Identifier) names() []string {
	names := make([]string, 0, len(id))
	for name := range id {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// appendTo appends the values of properties, in their order.
func (id Identifier) appendTo(to []byte, properties []string) []byte {
	for _, name := range properties {
		to = appendValue(to, id[name])
	}
	return to
}

// appendValue appends one value. What most values are is told without reflection.
func appendValue(to []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return native.AppendNull(to)
	case string:
		return native.AppendText(to, value)
	case int:
		return native.AppendInt(to, int64(value))
	case int64:
		return native.AppendInt(to, value)
	case bool:
		return native.AppendBool(to, value)
	case float64:
		return native.AppendFloat(to, value)
	case []byte:
		return native.AppendText(to, value)
	default:
		return appendOdd(to, reflect.ValueOf(value))
	}
}

func appendOdd(to []byte, value reflect.Value) []byte {
	switch value.Kind() {
	case reflect.String:
		return native.AppendText(to, value.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return native.AppendInt(to, value.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return native.AppendUint(to, value.Uint())
	case reflect.Float32:
		return native.AppendFloat(to, widened(value.Float()))
	case reflect.Float64:
		return native.AppendFloat(to, value.Float())
	case reflect.Bool:
		return native.AppendBool(to, value.Bool())
	case reflect.Pointer, reflect.Interface:
		return appendPointed(to, value)
	default:
		text, ok, err := textOf(value)
		switch {
		case err != nil:
			return native.AppendBad(to, err.Error())
		case ok:
			return native.AppendText(to, text)
		case isBytes(value):
			return native.AppendText(to, value.Bytes())
		default:
			return native.AppendBad(to, kindOf(value))
		}
	}
}

// isBytes tells whether a value is a slice of bytes, of whatever name.
func isBytes(value reflect.Value) bool {
	return value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8
}

// widened is the float64 that a float32 means: of its shortest decimal, so that 0.1 is 0.1.
func widened(short float64) float64 {
	wide, err := strconv.ParseFloat(strconv.FormatFloat(short, 'g', -1, 32), 64)
	if err != nil {
		return short
	}
	return wide
}

// mostHops is how many pointers in a row are followed.
const mostHops = 16

// appendPointed goes to what a pointer points to; a text of the pointer's own comes before that of what it points to.
func appendPointed(to []byte, value reflect.Value) []byte {
	if value.IsNil() {
		return native.AppendNull(to)
	}
	inner := value.Elem()
	// One that points to itself, by an interface perhaps, has no end.
	for hops := 0; inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Interface; hops++ {
		if inner.IsNil() {
			return native.AppendNull(to)
		}
		if hops == mostHops {
			return native.AppendBad(to, "a pointer to a pointer")
		}
		value, inner = inner, inner.Elem()
	}
	switch inner.Kind() {
	case reflect.Struct, reflect.Array, reflect.Slice, reflect.Map:
		text, ok, err := textOf(value)
		if err != nil {
			return native.AppendBad(to, err.Error())
		}
		if ok {
			return native.AppendText(to, text)
		}
	}
	if !inner.CanInterface() {
		return native.AppendBad(to, kindOf(inner))
	}
	return appendValue(to, inner.Interface())
}

// textOf is the text that a type brings: of its MarshalText, else of its String. An error says, in words for the log,
// that it fails.
func textOf(value reflect.Value) (text string, ok bool, err error) {
	if !value.CanInterface() {
		return "", false, nil
	}
	defer func() {
		if recover() != nil {
			text, ok, err = "", false, fmt.Errorf("%s that panics", kindOf(value))
		}
	}()
	switch value := value.Interface().(type) {
	case encoding.TextMarshaler:
		bytes, err := value.MarshalText()
		if err != nil {
			return "", false, fmt.Errorf("%s whose MarshalText fails", kindOf(reflect.ValueOf(value)))
		}
		return string(bytes), true, nil
	case fmt.Stringer:
		return value.String(), true, nil
	default:
		return "", false, nil
	}
}

// kindOf names what no property can be, in the words of the other languages.
func kindOf(value reflect.Value) string {
	switch value.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "a map"
	default:
		return strings.ToValidUTF8("a "+value.Type().String(), "?")
	}
}

// scalarOf is a value as the core is told it: nil, a bool, an int64, a uint64, a float64 or bytes; or, in words, why it
// is none.
func scalarOf(value any) (scalar any, bad string) {
	return native.Value(appendValue(nil, value))
}
