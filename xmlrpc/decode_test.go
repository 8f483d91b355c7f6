package xmlrpc

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// call is a call of method m with one parameter, of which value is the element.
func call(value string) string {
	return "<methodCall><methodName>m</methodName><params><param>" + value + "</param></params></methodCall>"
}

func TestDecodeValue(t *testing.T) {
	tests := []struct {
		name, value string
		want        Value
	}{
		{"string", "<value><string>hi</string></value>", "hi"},
		{"string, no type", "<value>hi</value>", "hi"},
		{"string, no type, space around", "<value> hi\n</value>", " hi\n"},
		{"string, no type, space only", "<value> \t</value>", " \t"},
		{"string, no type, comment first", "<value> <!-- x -->hi</value>", " hi"},
		{"string, no type, CDATA first", "<value><![CDATA[<int>]]></value>", "<int>"},
		{"string, no type, reference first", "<value>&lt;int></value>", "<int>"},
		{"empty value", "<value/>", ""},
		{"empty value, two tags", "<value></value>", ""},
		{"empty value, space in tag", "<value />", ""},
		{"empty string", "<value><string/></value>", ""},
		{"empty string, two tags", "<value><string></string></value>", ""},
		{"string keeps space", "<value><string> a\t\n </string></value>", " a\t\n "},
		{"five entities", "<value>&lt;&gt;&amp;&quot;&apos;</value>", `<>&"'`},
		{"entities once", "<value>&amp;lt;</value>", "&lt;"},
		{"decimal references", "<value>&#65;&#0000000000000000065;&#8364;&#128512;</value>", "AA€😀"},
		{"hexadecimal references", "<value>&#x41;&#x20aC;&#x1F600;</value>", "A€😀"},
		{"references to tab, newline, return", "<value>&#9;&#10;&#13;&#xD;</value>", "\t\n\r\r"},
		{"references to edges", "<value>&#x20;&#xD7FF;&#xE000;&#xFFFD;&#x10000;&#x10FFFF;</value>",
			" \uD7FF\uE000\uFFFD\U00010000\U0010FFFF"},
		{"CDATA", "<value><string>a<![CDATA[<b>&amp;]]>c</string></value>", "a<b>&amp;c"},
		{"CDATA with brackets", "<value><string><![CDATA[]]]]><![CDATA[>]]></string></value>", "]]>"},
		{"CDATA, empty", "<value><string><![CDATA[]]></string></value>", ""},
		{"comment in text", "<value><string>a<!-- <b> & - -->b</string></value>", "ab"},
		{"comment and nothing", "<value><string><!----></string></value>", ""},
		{"brackets in text", "<value>]] ]&gt; > ]]]</value>", "]] ]> > ]]]"},
		{"line ends", "<value>a\r\nb\rc\r\r\nd&#13;\ne\r</value>", "a\nb\nc\n\nd\r\ne\n"},
		{"line ends in CDATA", "<value><![CDATA[a\r\nb\r]]></value>", "a\nb\n"},
		{"line end beside CDATA", "<value>a\r<![CDATA[\n]]></value>", "a\n\n"},
		{"edges of Unicode", "<value>\u007F\u0085\uD7FF\uE000\uFFFD\uFEFF\U0010FFFF</value>",
			"\u007F\u0085\uD7FF\uE000\uFFFD\uFEFF\U0010FFFF"},

		{"int", "<value><int>-12</int></value>", int64(-12)},
		{"i4", "<value><i4>2147483647</i4></value>", int64(math.MaxInt32)},
		{"i8", "<value><i8>-9223372036854775808</i8></value>", int64(math.MinInt64)},
		{"int of 64 bits", "<value><int>9223372036854775807</int></value>", int64(math.MaxInt64)},
		{"int with plus, zeros, space", "<value><int>\n +007 </int></value>", int64(7)},
		{"int in pieces", "<value><int>1<!-- x -->2<![CDATA[3]]>&#52;</int></value>", int64(1234)},
		{"false", "<value><boolean>0</boolean></value>", false},
		{"true", "<value><boolean> 1 </boolean></value>", true},
		{"double", "<value><double>-0.5</double></value>", -0.5},
		{"double without point", "<value><double>+3</double></value>", 3.0},
		{"double with exponent", "<value><double>1e-07</double></value>", 1e-07},
		{"base64", "<value><base64>AAEC/w==</base64></value>", []byte{0, 1, 2, 255}},
		{"base64 in lines", "<value><base64>\n  AAEC\r\n\t/w==\n</base64></value>", []byte{0, 1, 2, 255}},
		{"base64, empty", "<value><base64/></value>", []byte{}},
		{"time", "<value><dateTime.iso8601>20260921T14:13:20</dateTime.iso8601></value>",
			DateTime("20260921T14:13:20")},
		{"time with dashes", "<value><dateTime.iso8601> 2026-09-21T14:13:20Z </dateTime.iso8601></value>",
			DateTime("2026-09-21T14:13:20Z")},
		{"time with zone", "<value><dateTime.iso8601>2026-09-21T14:13:20.123456789+02:00</dateTime.iso8601></value>",
			DateTime("2026-09-21T14:13:20.123456789+02:00")},
		{"nil", "<value><nil/></value>", nil},
		{"nil, two tags", "<value><nil></nil></value>", nil},
		{"ex:nil", "<value><ex:nil/></value>", nil},

		{"array", "<value><array><data><value>a</value><value><int>1</int></value></data></array></value>",
			Array{"a", int64(1)}},
		{"array, empty", "<value><array><data></data></array></value>", Array(nil)},
		{"array, empty data", "<value><array><data/></array></value>", Array(nil)},
		{"array of empty values", "<value><array><data><value/><value></value><value>c</value></data></array></value>",
			Array{"", "", "c"}},
		{"array of arrays", "<value><array><data><value><array><data><value>a</value></data></array></value><value>" +
			"b</value></data></array></value>",
			Array{Array{"a"}, "b"}},
		{"struct", "<value><struct><member><name>a</name><value>1</value></member><member><name>b</name><value>" +
			"<struct/></value></member></struct></value>",
			Struct{{"a", "1"}, {"b", Struct(nil)}}},
		{"struct, empty", "<value><struct></struct></value>", Struct(nil)},
		{"struct, names escaped", "<value><struct><member><name>&lt;a&gt; b</name><value/></member></struct></value>",
			Struct{{"<a> b", ""}}},
		{"struct, name empty", "<value><struct><member><name/><value/></member></struct></value>", Struct{{"", ""}}},
		{"struct, name twice",
			"<value><struct><member><name>a</name><value>1</value></member><member><name>a</name><value>2</value>" +
				"</member></struct></value>",
			Struct{{"a", "1"}, {"a", "2"}}},
		{"space and comments",
			"<!-- 1 --> <value > <!-- 2 --><array\t> <data\n><!-- 3 --> <value><int >5</int > </value > " +
				"</data\r\n></array> </value>\n",
			Array{int64(5)}},
		{"space and comments in a struct",
			"<value>\n<struct>\n <member>\n  <name>a</name>\n  <!-- x --><value>\n<string>b</string>\n</value>\n " +
				"</member>\n</struct>\n</value>",
			Struct{{"a", "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeCall([]byte(call(tt.value)), MessageLimits{})
			if err != nil {
				t.Fatal(err)
			}
			if want := (Call{"m", []Value{tt.want}}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %#v, want %#v", got, want)
			}
		})
	}
}

func TestDecodeCall(t *testing.T) {
	tests := []struct {
		name, body string
		want       Call
	}{
		{"no params", "<methodCall><methodName>system.listMethods</methodName></methodCall>",
			Call{Method: "system.listMethods"}},
		{"empty params", "<methodCall><methodName>m</methodName><params/></methodCall>", Call{Method: "m"}},
		{"empty params, two tags", "<methodCall><methodName>m</methodName><params> </params></methodCall>",
			Call{Method: "m"}},
		{"two params", "<methodCall><methodName>m</methodName><params><param><value>a</value></param> " +
			"<param><value>b</value></param></params></methodCall>",
			Call{"m", []Value{"a", "b"}}},
		{"every character of a name", "<methodCall><methodName>Az09_.:/</methodName></methodCall>",
			Call{Method: "Az09_.:/"}},
		{"name escaped", "<methodCall><methodName>a&#x62;</methodName></methodCall>", Call{Method: "ab"}},
		{"longest name", "<methodCall><methodName>" + strings.Repeat("m", 255) + "</methodName></methodCall>",
			Call{Method: strings.Repeat("m", 255)}},
		{"declaration", `<?xml version="1.0"?><methodCall><methodName>m</methodName></methodCall>`, Call{Method: "m"}},
		{"declaration in full",
			"<?xml  version = '1.0' encoding=\"utf-8\" standalone='yes' " +
				"?>\n<methodCall><methodName>m</methodName></methodCall>", Call{Method: "m"}},
		{"declaration of a part of UTF-8",
			`<?xml version="1.0" encoding="us-ascii"?><methodCall><methodName>m</methodName></methodCall>`,
			Call{Method: "m"}},
		{"byte order mark", "\uFEFF<?xml version=\"1.0\" " +
			"standalone=\"no\"?><methodCall><methodName>m</methodName></methodCall>", Call{Method: "m"}},
		{"space and comments around",
			" \r\n<!-- a --><methodCall ><!-- b --> <methodName >m</methodName > </methodCall\t> <!-- c -->\n",
			Call{Method: "m"}},
		{"Apache's name space",
			`<methodCall xmlns:ex="http://ws.apache.org/xmlrpc/namespaces/extensions"><methodName>m</methodName>` +
				`</methodCall>`, Call{Method: "m"}},
		{"Apache's name space, other quotes",
			`<methodCall xmlns:ex = 'http://ws.apache.org/xmlrpc/namespaces/extensions' ` +
				`><methodName>m</methodName></methodCall>`, Call{Method: "m"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeCall([]byte(tt.body), MessageLimits{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
			if method, ok := DecodeMethod([]byte(tt.body)); !ok || method != tt.want.Method {
				t.Errorf("DecodeMethod = %q, %t", method, ok)
			}
		})
	}
}

// TestDecodeCutShort takes every beginning of a message: each is refused as cut short, and the
// method is known as soon as its name is there.
func TestDecodeCutShort(t *testing.T) {
	body := "\uFEFF<?xml version='1.0'?> <!-- é --><methodCall><methodName>m</methodName><params>" +
		"<param><value>a&lt;<![CDATA[b]]><!-- c --></value></param><param><value><struct><member><name>é</name>" +
		"<value><array><data><value><base64>AAEC</base64></value></data></array></value></member></struct>" +
		"</value></param></params></methodCall>"
	named := strings.Index(body, "</methodName>") + len("</methodName>")
	for n := range len(body) {
		_, err := DecodeCall([]byte(body[:n]), MessageLimits{})
		if !errors.Is(err, ErrSyntax) || errors.Is(err, ErrLimit) {
			t.Errorf("first %d bytes: got %v, want ErrSyntax", n, err)
		}
		if method, ok := DecodeMethod([]byte(body[:n])); ok != (n >= named) || ok && method != "m" {
			t.Errorf("first %d bytes: DecodeMethod = %q, %t", n, method, ok)
		}
	}
}

func TestDecodeResponse(t *testing.T) {
	const fault = "<value><struct><member><name>faultCode</name><value><int>-3</int></value></member>" +
		"<member><name>faultString</name><value>no &amp; no</value></member></struct></value>"
	tests := []struct {
		name, body string
		want       Value
		fault      *Fault
	}{
		{"value", "<params><param><value><string>ok</string></value></param></params>", "ok", nil},
		{"space", " <params> <param> <value/> </param> </params> ", "", nil},
		{"fault", "<fault>" + fault + "</fault>", nil, &Fault{-3, "no & no"}},
		{"fault with space", " <!-- x --><fault > " + fault + " </fault > ", nil, &Fault{-3, "no & no"}},
		{"fault with more", "<fault>" + strings.Replace(fault, "<struct>",
			"<struct><member><name>faultHint</name><value/></member>", 1) + "</fault>",
			nil, &Fault{-3, "no & no"}},
		{"text that looks like a fault", "<params><param><value><![CDATA[<fault>" +
			fault + "</fault>]]></value></param></params>", "<fault>" + fault + "</fault>", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeResponse([]byte("<methodResponse>"+tt.body+"</methodResponse>"), MessageLimits{})
			var f *Fault
			if errors.As(err, &f) != (tt.fault != nil) || f == nil && err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) || !reflect.DeepEqual(f, tt.fault) {
				t.Errorf("got %#v, %v; want %#v, %v", got, f, tt.want, tt.fault)
			}
			if f != nil && f.Error() != fmt.Sprintf("fault %d: %s", f.Code, f.String) {
				t.Errorf("error reads %q", f)
			}
		})
	}
}

// TestDecodeIsOwnMemory shows that what was decoded stays when the bytes are used again.
func TestDecodeIsOwnMemory(t *testing.T) {
	want := Call{"put_entries", []Value{bundles(2)}}
	body := AppendCall(nil, want.Method, want.Params...)
	got, err := DecodeCall(body, MessageLimits{})
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	if !reflect.DeepEqual(got, want) {
		t.Error("the call changed with the bytes that it was read from")
	}
}
