package xmlrpc

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A shape says which values to draw.
type shape struct {
	text  *rapid.Generator[string] // strings and member names
	extra bool                     // bytes and times, too
}

// messy is text with what is hard to carry in it.
func messy() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"\r", "\n", "\r\n", "\t", " ", "&", "<", ">", "]]>", "&amp;", "&#13;", "<!--", "-->",
			"<![CDATA[", "\x00", "\x1F", "\x7F", "\u0085", "\u2028", "\uFEFF", "\uFFFD", "\uFFFE", "\uFFFF", "\xFF",
			"\xED\xA0\x80", "é", "😀", "\"", "'"}),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string { return strings.Join(pieces, "") })
}

// draw draws a value with at most depth levels of arrays and structs.
func (sh shape) draw(t *rapid.T, depth int) Value {
	kinds := []string{"string", "int", "bool", "double"}
	if sh.extra {
		kinds = append(kinds, "bytes", "time")
	}
	if depth > 0 {
		kinds = append(kinds, "array", "struct")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "int":
		return rapid.Int64().Draw(t, "int")
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "double":
		return rapid.Float64().Draw(t, "double")
	case "bytes":
		return rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "bytes")
	case "time":
		return DateTime(rapid.StringMatching(`20[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|1[0-9]|2[0-8])T(0[0-9]|1[0-9]|2[0-3])`+
			`:[0-5][0-9]:[0-5][0-9]`).Draw(t, "time"))
	case "array":
		var a Array
		for range rapid.IntRange(0, 5).Draw(t, "length") {
			a = append(a, sh.draw(t, depth-1))
		}
		return a
	case "struct":
		var s Struct
		for _, name := range rapid.SliceOfNDistinct(sh.text, 0, 5, carried).Draw(t, "names") {
			s = append(s, Member{name, sh.draw(t, depth-1)})
		}
		return s
	}
	return sh.text.Draw(t, "string")
}

// carried is s as XML can carry it.
func carried(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r != 0xFFFE && r != 0xFFFF {
			return r
		}
		return 0xFFFD
	}, s) // which takes each byte that is not UTF-8 for U+FFFD
}

// edit is v with each of its strings and member names changed by f.
func edit(v Value, f func(string) string) Value {
	switch v := v.(type) {
	case string:
		return f(v)
	case Array:
		var out Array
		for _, item := range v {
			out = append(out, edit(item, f))
		}
		return out
	case Struct:
		var out Struct
		for _, m := range v {
			out = append(out, Member{f(m.Name), edit(m.Value, f)})
		}
		return out
	}
	return v
}

// TestRoundTrip encodes any values and reads them back.
func TestRoundTrip(t *testing.T) {
	sh := shape{text: messy(), extra: true}
	rapid.Check(t, func(t *rapid.T) {
		var params []Value
		for range rapid.IntRange(0, 3).Draw(t, "params") {
			params = append(params, sh.draw(t, 4))
		}
		want := Call{Method: "m"}
		for _, p := range params {
			want.Params = append(want.Params, edit(p, carried))
		}
		got, err := DecodeCall(AppendCall(nil, "m", params...), MessageLimits{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("call: got %#v, %v; want %#v", got, err, want)
		}

		v := sh.draw(t, 4)
		back, err := DecodeResponse(AppendResponse(nil, v), MessageLimits{})
		if err != nil || !reflect.DeepEqual(back, edit(v, carried)) {
			t.Fatalf("response: got %#v, %v; want %#v", back, err, v)
		}

		fault := Fault{rapid.Int().Draw(t, "code"), sh.text.Draw(t, "fault")}
		_, err = DecodeResponse(AppendFault(nil, fault), MessageLimits{})
		fault.String = carried(fault.String)
		if f, ok := err.(*Fault); !ok || *f != fault {
			t.Fatalf("fault: got %#v, want %#v", err, fault)
		}
	})
}
