package ratelimit

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"reflect"
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

// FuzzIdentifier: whatever a property holds, the core understands what it is handed, and both halves read it alike.
func FuzzIdentifier(f *testing.F) {
	f.Add("user", []byte("name"), int64(1), 1.5, true)
	f.Add("", []byte{0xff, 0}, int64(math.MinInt64), math.NaN(), false)
	limiter, err := New(Config{Name: "fuzz", MaxKeys: 1000, Logger: slog.New(slog.DiscardHandler), Rules: []Rule{{
		Name: "r", Characteristics: []string{"text", "bytes", "int", "float", "flag"}, Limit: 1 << 60, Period: time.Hour,
	}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte, n int64, x float64, is bool) {
		for _, value := range []any{text, raw, n, x, is, uint64(n), role(text), &raw} {
			scalar, bad := scalarOf(value)
			again, _ := scalarOf(scalar)
			if bad != "" || !same(scalar, again) {
				t.Fatalf("%v became %v (%s)", value, again, bad)
			}
		}
		result, err := limiter.Check(t.Context(), Identifier{"text": text, "bytes": raw, "int": n, "float": x, "flag": is})
		isBad := math.IsNaN(x) || math.IsInf(x, 0)
		if result.Failed() != isBad || isBad != errors.Is(err, ErrIdentifier) {
			t.Fatalf("%q %x %v: %v", text, raw, x, err)
		}
	})
}

func same(a, b any) bool {
	if a, ok := a.(float64); ok && math.IsNaN(a) {
		return math.IsNaN(b.(float64))
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
