package xmlrpc

import (
	"fmt"
	"strings"
)

// A decoder builds values from what its scanner reads.
type decoder struct {
	scanner
	limits MessageLimits
	count  int // values so far
	depth  int // arrays and structs that are open

	// The items of all open arrays and structs, so that each is allocated once, at its length.
	items   []Value
	members []Member

	arena strings.Builder // see keep
}

func newDecoder(body []byte, lim MessageLimits) decoder {
	return decoder{scanner: scanner{body: body}, limits: lim.withDefaults()}
}

// value reads a value element.
func (d *decoder) value() (v Value, ok bool) {
	if !d.skip() {
		return nil, false
	}
	start := d.pos
	empty, ok := d.open("value")
	if !ok {
		return nil, false
	}
	if d.count++; d.count > d.limits.Values {
		d.pos = start
		return nil, d.tooManyValues(d.limits.Values)
	}
	if empty {
		return "", true
	}
	start = d.pos
	if !d.skip() {
		return nil, false
	}
	if !d.at("<") || d.at("</") || d.at("<!") { // no type: a string, of which that space is a part
		d.pos = start
		text, ok := d.content("value", false)
		if !ok {
			return nil, false
		}
		return d.keep(text), true
	}
	start = d.pos
	name, ok := d.tagName()
	if !ok {
		return nil, false
	}
	if empty, ok = d.tagEnd(); !ok {
		return nil, false
	}
	switch string(name) {
	case "array":
		v, ok = d.array(empty)
	case "struct":
		v, ok = d.structure(empty)
	default:
		v, ok = d.scalar(start, name, empty)
	}
	if !ok {
		return nil, false
	}
	return v, d.close("value")
}

// content reads the text of element name and its end tag.
func (d *decoder) content(name string, empty bool) (text []byte, ok bool) {
	if empty {
		return nil, true
	}
	if text, ok = d.text(); !ok {
		return nil, false
	}
	if len(text) > d.limits.StringBytes {
		return nil, d.exceed(fmt.Sprintf("text longer than %d bytes", d.limits.StringBytes))
	}
	return text, d.end(name)
}

// array reads the rest of an array. An empty one is nil.
func (d *decoder) array(empty bool) (a Array, ok bool) {
	if empty {
		return nil, d.refuse("array without data")
	}
	if !d.enter() {
		return nil, false
	}
	if empty, ok = d.open("data"); !ok {
		return nil, false
	}
	first := len(d.items)
	for !empty {
		closing, ok := d.closing()
		if !ok {
			return nil, false
		}
		if closing {
			if !d.end("data") {
				return nil, false
			}
			break
		}
		v, ok := d.value()
		if !ok {
			return nil, false
		}
		d.items = append(d.items, v)
	}
	a = append(a, d.items[first:]...)
	d.items = d.items[:first]
	d.depth--
	return a, d.close("array")
}

// structure reads the rest of a struct. An empty one is nil.
func (d *decoder) structure(empty bool) (st Struct, ok bool) {
	if empty {
		return nil, true
	}
	if !d.enter() {
		return nil, false
	}
	first := len(d.members)
	for {
		closing, ok := d.closing()
		if !ok {
			return nil, false
		}
		if closing {
			break
		}
		m, ok := d.member()
		if !ok {
			return nil, false
		}
		d.members = append(d.members, m)
	}
	st = append(st, d.members[first:]...)
	d.members = d.members[:first]
	d.depth--
	return st, d.end("struct")
}

func (d *decoder) member() (m Member, ok bool) {
	empty, ok := d.open("member")
	if !ok {
		return m, false
	}
	if empty {
		return m, d.refuse("empty member")
	}
	if empty, ok = d.open("name"); !ok {
		return m, false
	}
	name, ok := d.content("name", empty)
	if !ok {
		return m, false
	}
	m.Name = d.keep(name)
	if m.Value, ok = d.value(); !ok {
		return m, false
	}
	return m, d.close("member")
}

// enter counts an array or struct that begins.
func (d *decoder) enter() bool {
	if d.depth++; d.depth > d.limits.Depth {
		return d.exceed(fmt.Sprintf("nested deeper than %d", d.limits.Depth))
	}
	return true
}

// chunk is how much memory short strings share. A string that outlives its message keeps that much
// alive, never the message; a string longer than a quarter of it has memory of its own.
const chunk = 4096

// keep makes a string of text, which is good only until the scanner moves on.
func (d *decoder) keep(text []byte) string {
	if len(text) > chunk/4 {
		return string(text)
	}
	if d.arena.Cap()-d.arena.Len() < len(text) {
		// The text that is still to come cannot need more than the bytes that are left.
		d.arena.Reset()
		d.arena.Grow(min(chunk, len(text)+len(d.body)-d.pos))
	}
	at := d.arena.Len()
	d.arena.Write(text)
	return d.arena.String()[at:]
}
