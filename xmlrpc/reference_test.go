package xmlrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A node is an XML element as encoding/xml sees it.
type node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []node `xml:",any"`
}

// readXML reads a message with encoding/xml. It fails for what is not XML.
func readXML(body []byte) (root node, err error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	if err := d.Decode(&root); err != nil {
		return root, err
	}
	for {
		if _, err := d.Token(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return root, err
		}
	}
}

// value reads a value element in the simplest way. It cares for no mistakes.
func (n node) value() Value {
	if len(n.Nodes) == 0 {
		return n.Text
	}
	typ := n.Nodes[0]
	text := strings.Trim(typ.Text, " \t\r\n")
	switch typ.XMLName.Local {
	case "string":
		return typ.Text
	case "int", "i4", "i8":
		i, _ := strconv.ParseInt(text, 10, 64)
		return i
	case "boolean":
		return text == "1"
	case "double":
		f, _ := strconv.ParseFloat(text, 64)
		return f
	case "base64":
		data, _ := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		return data
	case "dateTime.iso8601":
		return DateTime(text)
	case "array":
		var a Array
		for _, v := range typ.Nodes[0].Nodes {
			a = append(a, v.value())
		}
		return a
	case "struct":
		var s Struct
		for _, m := range typ.Nodes {
			s = append(s, Member{m.Nodes[0].Text, m.Nodes[1].value()})
		}
		return s
	}
	return nil
}

// checkReference checks that encoding/xml reads the same from body as we did: the values of params,
// or the one of a fault.
func checkReference(t *testing.T, body []byte, got ...Value) {
	t.Helper()
	root, err := readXML(body)
	if err != nil {
		t.Fatalf("accepted what is not XML: %v", err)
	}
	var want []Value
	switch last := root.Nodes[len(root.Nodes)-1]; last.XMLName.Local {
	case "params":
		for _, p := range last.Nodes {
			want = append(want, p.Nodes[0].value())
		}
	case "fault":
		want = append(want, last.Nodes[0].value())
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %#v; encoding/xml reads %#v", got, want)
	}
}

// A noise writes values in all the ways in which a message may be written.
type noise struct{ *rapid.T }

func (n noise) any(of ...string) string { return rapid.SampledFrom(of).Draw(n.T, "") }

// space is white space and comments.
func (n noise) space() string {
	return n.any("", "", " ", "\r\n\t", "<!-- <value> & ]]> -->", "\n<!---->\r")
}

func (n noise) element(name, content string) string {
	if content == "" && rapid.Bool().Draw(n.T, "") {
		return "<" + name + n.any("", " ") + "/>"
	}
	return "<" + name + n.any("", " ", "\r\n") + ">" + content + "</" + name + n.any("", "\t") + ">"
}

// text is s, which XML can carry.
func (n noise) text(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch n.any("as it is", "as it is", "decimal", "hexadecimal", "CDATA", "comment") {
		case "decimal":
			fmt.Fprintf(&b, "&#%d;", r)
		case "hexadecimal":
			fmt.Fprintf(&b, "&#x%s%x;", n.any("", "0", "000000"), r)
		case "CDATA":
			if r == '\r' {
				b.WriteString("&#xD;")
			} else {
				fmt.Fprintf(&b, "<![CDATA[%c]]>", r)
			}
		case "comment":
			b.WriteString("<!-- x\r\n -->")
			fallthrough
		default:
			switch r {
			case '\n':
				b.WriteString(n.any("\n", "\r\n"))
			case '<', '&', '>', '\r', '"', '\'':
				b.WriteString(map[rune]string{'<': "&lt;", '&': "&amp;", '>': "&gt;", '\r': "&#13;", '"': "&quot;",
					'\'': "&apos;"}[r])
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

func (n noise) value(v Value) string {
	typed := func(name, content string) string { return n.space() + n.element(name, content) + n.space() }
	content := ""
	switch v := v.(type) {
	case nil:
		content = typed(n.any("nil", "ex:nil"), "")
	case string:
		if content = n.text(v); v == "" || rapid.Bool().Draw(n.T, "typed") {
			content = typed("string", content)
		}
	case int64:
		content = typed(n.any("int", "i4", "i8"), n.any("", "\n ")+n.text(strconv.FormatInt(v, 10))+n.any("", " "))
	case bool:
		content = typed("boolean", map[bool]string{true: "1", false: "0"}[v])
	case float64:
		content = typed("double", strconv.FormatFloat(v, n.any("e", "f", "g")[0], -1, 64))
	case []byte:
		content = typed("base64", strings.ReplaceAll(base64.StdEncoding.EncodeToString(v), "A", "A\n "))
	case DateTime:
		content = typed("dateTime.iso8601", n.any("", " ")+string(v))
	case Array:
		for _, item := range v {
			content += n.value(item)
		}
		if content == "" {
			content = n.any("", n.space())
		}
		content = typed("array", n.space()+n.element("data", content)+n.space())
	case Struct:
		for _, m := range v {
			content += n.space() + n.element("member", n.space()+n.element("name", n.text(m.Name))+n.value(m.Value))
		}
		content = typed("struct", content)
	}
	return n.space() + n.element("value", content) + n.space()
}

// TestReadNoise writes values in odd ways and reads them back, ourselves and by encoding/xml.
func TestReadNoise(t *testing.T) {
	sh := shape{text: rapid.Map(messy(), carried), extra: true}
	rapid.Check(t, func(rt *rapid.T) {
		n := noise{rt}
		want := sh.draw(rt, 3)
		if rapid.IntRange(0, 9).Draw(rt, "nil") == 0 {
			want = Array{nil, want}
		}
		body := n.any("", "\uFEFF") + n.any("", `<?xml version="1.0"?>`,
			"<?xml version='1.0' encoding='utf-8' ?>") + n.space() +
			n.element("methodResponse",
				n.space()+n.element("params", n.space()+n.element("param", n.value(want))+n.space())+
					n.space()) + n.space()
		got, err := DecodeResponse([]byte(body), MessageLimits{})
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("%q: got %#v, %v; want %#v", body, got, err, want)
		}
		root, err := readXML([]byte(body))
		if err != nil {
			rt.Fatal(err)
		}
		if v := root.Nodes[0].Nodes[0].Nodes[0].value(); !reflect.DeepEqual(v, want) {
			rt.Fatalf("%q: encoding/xml reads %#v; want %#v", body, v, want)
		}
	})
}
