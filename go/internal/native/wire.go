package native

import (
	"encoding/binary"
	"math"
)

// The tags of values; bindings/c has the same in wire.rs.
const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagInt
	tagUint
	tagFloat
	tagBytes
	tagBad
	tagFailed
)

// The tags of questions.
const (
	// AsksNumber is followed by the number of a function.
	AsksNumber byte = 1
	// AsksMatch is followed by the number of a pattern, and a text.
	AsksMatch byte = 2
)

// AppendNull appends the value of an absent property.
func AppendNull(to []byte) []byte {
	return append(to, tagNull)
}

// AppendBool appends a boolean.
func AppendBool(to []byte, flag bool) []byte {
	if flag {
		return append(to, tagTrue)
	}
	return append(to, tagFalse)
}

// AppendInt appends an integer.
func AppendInt(to []byte, n int64) []byte {
	return binary.LittleEndian.AppendUint64(append(to, tagInt), uint64(n))
}

// AppendUint appends an unsigned integer.
func AppendUint(to []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(to, tagUint), n)
}

// AppendFloat appends a float.
func AppendFloat(to []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(append(to, tagFloat), math.Float64bits(f))
}

// AppendText appends a string or bytes: the library tells them apart.
func AppendText[T string | []byte](to []byte, text T) []byte {
	return appendSized(append(to, tagBytes), text)
}

// AppendBad appends a value that is none; what says what it is.
func AppendBad(to []byte, what string) []byte {
	return appendSized(append(to, tagBad), what)
}

// AppendFailed appends the answer of a function or a pattern that failed. Both texts must be UTF-8.
func AppendFailed(to []byte, class, message string) []byte {
	return appendSized(appendSized(append(to, tagFailed), class), message)
}

// appendSized appends bytes behind their length. What is longer than a length can say is cut off: no property is.
func appendSized[T string | []byte](to []byte, text T) []byte {
	text = text[:min(uint64(len(text)), math.MaxUint32)]
	return append(binary.LittleEndian.AppendUint32(to, uint32(len(text))), text...)
}

// Words reads texts from what the library wrote, each behind its length.
type Words string

// Next takes the next one; false at the end.
func (w *Words) Next() (string, bool) {
	all := string(*w)
	if len(all) < 4 {
		return "", false
	}
	length := int(uint32(all[0]) | uint32(all[1])<<8 | uint32(all[2])<<16 | uint32(all[3])<<24)
	if len(all)-4 < length {
		return "", false
	}
	*w = Words(all[4+length:])
	return all[4 : 4+length], true
}

// Number takes four bytes as a number.
func (w *Words) Number() (uint32, bool) {
	all := string(*w)
	if len(all) < 4 {
		return 0, false
	}
	*w = Words(all[4:])
	return uint32(all[0]) | uint32(all[1])<<8 | uint32(all[2])<<16 | uint32(all[3])<<24, true
}

// Tag takes one byte.
func (w *Words) Tag() (byte, bool) {
	all := string(*w)
	if all == "" {
		return 0, false
	}
	*w = Words(all[1:])
	return all[0], true
}

// Value reads back what was appended: nil, a bool, an int64, a uint64, a float64 or bytes; or, in words, why it is none.
func Value(wire []byte) (value any, bad string) {
	switch tag := wire[0]; tag {
	case tagNull:
		return nil, ""
	case tagFalse, tagTrue:
		return tag == tagTrue, ""
	case tagInt:
		return int64(binary.LittleEndian.Uint64(wire[1:])), ""
	case tagUint:
		return binary.LittleEndian.Uint64(wire[1:]), ""
	case tagFloat:
		return math.Float64frombits(binary.LittleEndian.Uint64(wire[1:])), ""
	case tagBytes:
		return wire[5:], ""
	default:
		return nil, string(wire[5:])
	}
}
