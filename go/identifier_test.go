package ratelimit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

type (
	role   string
	level  int
	ratio  float32
	flag   bool
	broken struct{}
	angry  struct{}
	named  struct{ name string }
	blob   []byte
	octet  uint8
)

func (broken) MarshalText() ([]byte, error) { return nil, errors.New("no") }
func (angry) String() string                { panic("no") }
func (n *named) String() string             { return n.name }

func TestAValueIsWhatItsKindSays(t *testing.T) {
	text, number, none := "x", 7, (*int)(nil)
	pointer := &text
	for _, c := range []struct {
		given, scalar any
	}{
		{nil, nil}, {"a", []byte("a")}, {role("admin"), []byte("admin")}, {[]byte{0xff}, []byte{0xff}},
		{1, int64(1)}, {int8(-1), int64(-1)}, {level(3), int64(3)}, {time.Second, int64(time.Second)},
		{uint8(1), uint64(1)}, {uint64(math.MaxUint64), uint64(math.MaxUint64)}, {uintptr(5), uint64(5)},
		{1.5, 1.5}, {float32(0.5), 0.5}, {ratio(0.25), 0.25}, {true, true}, {flag(false), false},
		{&text, []byte("x")}, {&pointer, []byte("x")}, {&number, int64(7)}, {none, nil}, {&none, nil},
		{netip.MustParseAddr("198.18.0.1"), []byte("198.18.0.1")}, {net.ParseIP("198.18.0.1"), []byte("198.18.0.1")},
		{&named{"n"}, []byte("n")}, {error(nil), nil},
		{blob("ab"), []byte("ab")}, {blob{0xff}, []byte{0xff}}, {json.RawMessage("a"), []byte("a")}, {&blob{'a'}, []byte("a")},
		{[]octet{'a'}, []byte("a")}, {blob(nil), []byte{}},
		{float32(0.1), 0.1}, {ratio(-0.3), -0.3}, {float32(math.MaxFloat32), 3.4028235e38},
	} {
		scalar, bad := scalarOf(c.given)
		if bad != "" || !reflect.DeepEqual(scalar, c.scalar) {
			t.Errorf("%T %v is %T %v (%s), not %v", c.given, c.given, scalar, scalar, bad, c.scalar)
		}
	}
}

func TestWhatHasNoTextIsABadValue(t *testing.T) {
	for _, c := range []struct {
		given any
		what  string
	}{
		{[]string{"a"}, "a list"}, {[2]int{}, "a list"}, {[]int8{1}, "a list"}, {map[string]int{}, "a map"}, {struct{}{}, "a struct {}"},
		{named{"n"}, "a ratelimit.named"}, {func() {}, "a func()"}, {complex(1, 2), "a complex128"},
		{broken{}, "a ratelimit.broken whose MarshalText fails"}, {angry{}, "a ratelimit.angry that panics"},
		{&[]string{}, "a list"},
	} {
		if _, bad := scalarOf(c.given); bad != c.what {
			t.Errorf("%T is %q, not %q", c.given, bad, c.what)
		}
	}
}

func TestOnlyMentionedPropertiesAreLookedAt(t *testing.T) {
	limiter := newLimiter(t, Config{Rules: []Rule{{Name: "r", Characteristics: []string{"user"}, Limit: 5, Period: time.Hour}}})
	if _, err := limiter.Check(t.Context(), Identifier{"user": 1, "odd": func() {}}); err != nil {
		t.Error(err)
	}
	_, err := limiter.Check(t.Context(), Identifier{"user": func() {}})
	if !errors.Is(err, ErrIdentifier) {
		t.Error(err)
	}
}

// expected is what a value of one of the fuzzed kinds is to the core, told without the code that writes it.
func expected(value any) any {
	switch value := value.(type) {
	case string:
		return []byte(value)
	case role:
		return []byte(value)
	case *[]byte:
		return *value
	case int:
		return int64(value)
	case float32:
		wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(value), 'e', -1, 32), 64)
		return wide
	default:
		return value
	}
}

// FuzzIdentifier: whatever a property holds, the core is handed that value and no other: it is equal to itself in a rule,
// its counter's key is its own, and that of another value is another one.
func FuzzIdentifier(f *testing.F) {
	f.Add("user", []byte("name"), int64(1), 1.5, true)
	f.Add("", []byte{0xff, 0}, int64(math.MinInt64), math.NaN(), false)
	f.Add("a:b", []byte("{}"), int64(-1), 1e19, true)
	f.Add("\x00%", []byte(strings.Repeat("x", 300)), int64(math.MaxInt64), -0.1, false)
	var keys []string
	counted := newLimiter(f, Config{Name: "fuzz", Redis: fakeRedis{evalSha: func(_ context.Context, given, _ []string) (string, error) {
		keys = append(keys[:0], given...)
		return "1 3600000 0 ", nil
	}}, Deadline: time.Minute, Rules: []Rule{{
		Name: "r", Characteristics: []string{"text", "bytes", "int", "float", "flag"}, Limit: 1 << 60, Period: time.Hour,
	}}})
	f.Fuzz(func(t *testing.T, text string, raw []byte, n int64, x float64, is bool) {
		for _, value := range []any{text, raw, n, x, is, uint64(n), role(text), &raw, int(n), float32(x)} {
			if scalar, bad := scalarOf(value); bad != "" || !same(expected(value), scalar) {
				t.Fatalf("%T %v became %v (%s)", value, value, scalar, bad)
			}
		}
		key := func(id Identifier) string {
			if result, err := counted.Check(t.Context(), id); err != nil || result.Failed() {
				t.Fatalf("%v: %v", id, err)
			}
			// It is the limiter's again.
			return strings.Clone(keys[0])
		}
		id := Identifier{"text": text, "bytes": raw, "int": n, "float": x, "flag": is}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if result, err := counted.Check(t.Context(), id); !result.Failed() || !errors.Is(err, ErrIdentifier) {
				t.Fatalf("%v: %v", id, err)
			}
			x = 0.5
			id["float"] = x
		}
		match := map[string]any{"text": Eq(text), "bytes": raw, "int": OneOf(n), "float": Eq(x), "flag": is}
		equal := newLimiter(t, Config{Rules: []Rule{{Name: "r", Limit: 1, Period: time.Hour, Match: match}}})
		matches := func(id Identifier) bool {
			result, err := equal.Peek(t.Context(), id)
			if err != nil {
				t.Fatalf("%v: %v", id, err)
			}
			return result.Matched()
		}
		own := key(id)
		if !matches(id) || key(id) != own {
			t.Fatalf("%v is not equal to itself", id)
		}
		want := fmt.Sprintf("labkit:rl:{fuzz:r:text:p%d:bytes:_unknown_:int:%d:float:%d:flag:%t}", n, n, n>>32, is)
		if got := key(Identifier{"text": fmt.Sprintf("p%d", n), "int": n, "float": float64(n >> 32), "flag": is}); got != want {
			t.Fatalf("the key is %s, not %s", got, want)
		}
		for property, other := range map[string]any{
			"text": text + "\x01", "bytes": append([]byte{1}, raw...), "int": n ^ 1, "float": math.Nextafter(x, 0.25), "flag": !is,
		} {
			changed := maps.Clone(id)
			changed[property] = other
			if x == 0.25 && property == "float" {
				continue
			}
			if matches(changed) || key(changed) == own {
				t.Fatalf("%s %v is %v: %s", property, other, id[property], own)
			}
		}
	})
}

func same(a, b any) bool {
	if a, ok := a.(float64); ok && math.IsNaN(a) {
		b, ok := b.(float64)
		return ok && math.IsNaN(b)
	}
	if a, ok := a.([]byte); ok && len(a) == 0 {
		b, ok := b.([]byte)
		return ok && len(b) == 0
	}
	return reflect.DeepEqual(a, b)
}

// FuzzWords: no reply of any form makes the reader leave its bounds.
func FuzzWords(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 'a', 'b', 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		words, read := native.Words(raw), 0
		for {
			word, ok := words.Next()
			if !ok {
				break
			}
			if read += 4 + len(word); !bytes.Contains(raw, []byte(word)) || read > len(raw) {
				t.Fatalf("%q of %x", word, raw)
			}
		}
	})
}
