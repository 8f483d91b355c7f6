package dht

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// ErrPacket is wrapped by errors about packets that are none of the DHT.
var ErrPacket = errors.New("no packet of the DHT")

const (
	// maxPacket is how many bytes a packet has at most. Those of BEP 5 fit in an Ethernet frame; longer ones are
	// dropped.
	maxPacket = 1500
	// maxDepth is how deep lists and dictionaries may lie in one another. A packet of BEP 5 takes three.
	maxDepth = 5
)

// A dict is a bencoded dictionary. Its values are strings, int64s, lists ([]any) and dicts.
type dict = map[string]any

// encode appends v in bencoding (BEP 3), the keys of dictionaries in order. It takes ints as well.
func encode(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(append(strconv.AppendInt(b, int64(len(v)), 10), ':'), v...)
	case int64:
		return append(strconv.AppendInt(append(b, 'i'), v, 10), 'e')
	case int:
		return encode(b, int64(v))
	case []any:
		b = append(b, 'l')
		for _, one := range v {
			b = encode(b, one)
		}
		return append(b, 'e')
	case dict:
		b = append(b, 'd')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b = encode(encode(b, key), v[key])
		}
		return append(b, 'e')
	}
	panic(fmt.Sprintf("dht: encode %T", v)) // a mistake of this package
}

// decode reads a dictionary that is the whole of a packet. Its keys may be in any order, as some implementations write
// them; nothing else may be amiss. The error wraps ErrPacket.
func decode(packet []byte) (dict, error) {
	d := unpacker{packet}
	v, err := d.value(maxDepth)
	if err != nil {
		return nil, err
	}
	top, ok := v.(dict)
	if !ok || len(d.rest) > 0 {
		return nil, fmt.Errorf("%w: not one dictionary", ErrPacket)
	}
	return top, nil
}

// An unpacker reads what is left of a packet.
type unpacker struct{ rest []byte }

// value reads a value in which others lie so deep at most.
func (d *unpacker) value(depth int) (any, error) {
	if depth == 0 || len(d.rest) == 0 {
		return nil, fmt.Errorf("%w: too short, or too deep", ErrPacket)
	}
	switch c := d.rest[0]; c {
	case 'i':
		d.rest = d.rest[1:]
		return d.number('e')
	case 'l':
		d.rest = d.rest[1:]
		var list []any
		for !d.ended() {
			v, err := d.value(depth - 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case 'd':
		d.rest = d.rest[1:]
		entries := make(dict)
		for !d.ended() {
			key, err := d.text()
			if err != nil {
				return nil, err
			}
			if _, twice := entries[key]; twice {
				return nil, fmt.Errorf("%w: key %q stands twice", ErrPacket, key)
			}
			if entries[key], err = d.value(depth - 1); err != nil {
				return nil, err
			}
		}
		return entries, nil
	default:
		return d.text()
	}
}

// ended reports whether a list or dictionary ends here, and if so reads its end.
func (d *unpacker) ended() bool {
	if len(d.rest) == 0 || d.rest[0] != 'e' {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

// text reads a string.
func (d *unpacker) text() (string, error) {
	n, err := d.number(':')
	if err != nil {
		return "", err
	}
	if n < 0 || n > int64(len(d.rest)) {
		return "", fmt.Errorf("%w: a string of %d bytes where %d follow", ErrPacket, n, len(d.rest))
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s, nil
}

// number reads a number up to a byte. It must be written as encode writes it.
func (d *unpacker) number(end byte) (int64, error) {
	at := slices.Index(d.rest[:min(len(d.rest), 21)], end)
	if at < 0 {
		return 0, fmt.Errorf("%w: not a number", ErrPacket)
	}
	digits := string(d.rest[:at])
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != digits {
		return 0, fmt.Errorf("%w: %q is no number", ErrPacket, digits)
	}
	d.rest = d.rest[at+1:]
	return n, nil
}
