package ratelimit

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// reply answers what the core asks of the functions and patterns of rules, in order. The first that fails ends it: its
// error is given back.
func (l *Limiter) reply(w *work, value any) error {
	questions := native.Words(w.buffer[:w.answer.Len])
	for {
		tag, ok := questions.Tag()
		if !ok {
			return nil
		}
		number, _ := questions.Number()
		var err error
		if tag == native.AsksMatch {
			text, _ := questions.Next()
			w.answers, err = l.match(w.answers, number, text)
		} else {
			w.answers, err = l.number(w.answers, number, value)
		}
		if err != nil {
			class, message := classOf(err)
			w.answers = native.AppendFailed(w.answers, class, message)
			return err
		}
	}
}

func (l *Limiter) match(to []byte, pattern uint32, text string) (answers []byte, err error) {
	defer recovered(&err)
	if int64(pattern) >= int64(len(l.patterns)) {
		return to, fmt.Errorf("there is no pattern %d", pattern)
	}
	return native.AppendBool(to, l.patterns[pattern].MatchString(text)), nil
}

func (l *Limiter) number(to []byte, function uint32, value any) (answers []byte, err error) {
	answers = to
	defer recovered(&err)
	if int64(function) >= int64(len(l.functions)) {
		return to, fmt.Errorf("there is no function %d", function)
	}
	number, err := l.functions[function](value)
	if err != nil {
		return to, err
	}
	if duration, ok := number.(time.Duration); ok {
		number = seconds(duration)
	}
	switch n := reflect.ValueOf(number); n.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return native.AppendInt(to, n.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return native.AppendUint(to, n.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return native.AppendFloat(to, n.Float()), nil
	default:
		return to, &NotANumberError{Value: number}
	}
}

// NotANumberError tells that a [NumberFunc] returned what is no number.
type NotANumberError struct {
	// Value is what it returned.
	Value any
}

func (e *NotANumberError) Error() string {
	return fmt.Sprintf("%s is no number, but %T", shown(e.Value), e.Value)
}

// PanicError is what a function of a rule, or a Redis client, panicked with.
type PanicError struct {
	// Value is the value of the panic.
	Value any
}

func (e *PanicError) Error() string {
	return "panic: " + shown(e.Value)
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = &PanicError{Value: value}
	}
}

// shown is what a value says of itself; of what may hold itself, only what it is. fmt stops panics of its methods.
func shown(value any) string {
	switch value.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(value)
	}
	switch reflect.ValueOf(value).Kind() {
	case reflect.Pointer, reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
		return kindOf(reflect.ValueOf(value))
	default:
		return fmt.Sprint(value)
	}
}

// classOf is an error as the log has it: its type, and what it says. Both are UTF-8. The error is somebody else's, and may
// be a nil of its type.
func classOf(err error) (class, message string) {
	class = strings.ToValidUTF8(fmt.Sprintf("%T", err), "?")
	defer func() {
		if recover() != nil {
			message = "an error whose text panics"
		}
	}()
	return class, strings.ToValidUTF8(err.Error(), "?")
}

// isOf is [errors.Is] of an error of somebody else's, whose methods may panic.
func isOf(err, target error) (is bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, target)
}
