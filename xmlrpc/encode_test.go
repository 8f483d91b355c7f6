package xmlrpc

import (
	"math"
	"strings"
	"testing"
)

func TestAppendValue(t *testing.T) {
	tests := []struct {
		name  string
		value Value
		want  string
	}{
		{"string", "hi", "<string>hi</string>"},
		{"empty string", "", "<string></string>"},
		{"markup", `<a href="x">&'</a>`, `<string>&lt;a href="x"&gt;&amp;'&lt;/a&gt;</string>`},
		{"end of CDATA", "]]>", "<string>]]&gt;</string>"},
		{"tab, newline, return", "\t\n\r\r\n", "<string>\t\n&#13;&#13;\n</string>"},
		{"controls", "\x00a\x1F\x7F", "<string>\uFFFDa\uFFFD\x7F</string>"},
		{"not UTF-8", "a\xFF\xE2\x82b&", "<string>a\uFFFD\uFFFD\uFFFDb&amp;</string>"},
		{"surrogate", "\xED\xA0\x80", "<string>\uFFFD\uFFFD\uFFFD</string>"},
		{"noncharacters", "\uFFFE\uFFFF\uFFFD\uFEFF\uF8FF", "<string>\uFFFD\uFFFD\uFFFD\uFEFF\uF8FF</string>"},
		{"beyond the first plane", "\U0001F600\U0001FFFE\U0010FFFF", "<string>\U0001F600\U0001FFFE\U0010FFFF</string>"},
		{"int", int64(-7), "<int>-7</int>"},
		{"Go's int", 7, "<int>7</int>"},
		{"largest int", int64(math.MaxInt32), "<int>2147483647</int>"},
		{"smallest int", int64(math.MinInt32), "<int>-2147483648</int>"},
		{"larger than int", int64(math.MaxInt32 + 1), "<i8>2147483648</i8>"},
		{"smaller than int", int64(math.MinInt32 - 1), "<i8>-2147483649</i8>"},
		{"smallest", int64(math.MinInt64), "<i8>-9223372036854775808</i8>"},
		{"true", true, "<boolean>1</boolean>"},
		{"false", false, "<boolean>0</boolean>"},
		{"double", 0.1, "<double>0.1</double>"},
		{"double without exponent", 1e21, "<double>1000000000000000000000</double>"},
		{"bytes", []byte{0, 1, 2, 255}, "<base64>AAEC/w==</base64>"},
		{"no bytes", []byte(nil), "<base64></base64>"},
		{"time", DateTime("20260921T14:13:20"), "<dateTime.iso8601>20260921T14:13:20</dateTime.iso8601>"},
		{"array", Array{"a", Array{}},
			"<array><data><value><string>a</string></value><value><array><data></data></array></value></data></array>"},
		{"struct", Struct{{"a", "b"}, {"<&>", Struct(nil)}},
			"<struct><member><name>a</name><value><string>b</string></value></member>" +
				"<member><name>&lt;&amp;&gt;</name><value><struct></struct></value></member></struct>"},
	}
	const before, after = "<methodResponse><params><param><value>",
		"</value></param></params></methodResponse>"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(AppendResponse([]byte("kept "), tt.value))
			if got != "kept "+before+tt.want+after {
				t.Errorf("got %s, want %s", strings.TrimSuffix(strings.TrimPrefix(got, "kept "+before), after), tt.want)
			}
		})
	}
}

func TestAppendCall(t *testing.T) {
	tests := []struct {
		method string
		params []Value
		want   string
	}{
		{"m", nil, "<methodName>m</methodName><params></params>"},
		{"a<b", []Value{1, ""}, "<methodName>a&lt;b</methodName><params><param><value><int>1</int></value></param>" +
			"<param><value><string></string></value></param></params>"},
	}
	for _, tt := range tests {
		want := "<methodCall>" + tt.want + "</methodCall>"
		if got := string(AppendCall(nil, tt.method, tt.params...)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAppendFault(t *testing.T) {
	const want = "<methodResponse><fault><value><struct>" +
		"<member><name>faultCode</name><value><int>-32700</int></value></member>" +
		"<member><name>faultString</name><value><string>a &amp; b</string></value></member>" +
		"</struct></value></fault></methodResponse>"
	if got := string(AppendFault(nil, Fault{-32700, "a & b"})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendPanics(t *testing.T) {
	for _, v := range []Value{nil, int32(1), uint64(1), float32(1), []string{"a"}, []Value{"a"}, map[string]Value{},
		&Struct{}, Array{nil}, Struct{{"a", struct{}{}}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%#v was encoded", v)
				}
			}()
			AppendResponse(nil, v)
		}()
	}
}

// TestAppendAllocates shows that encoding into a buffer that is large enough takes no memory.
func TestAppendAllocates(t *testing.T) {
	var value Value = bundles(10)
	buf := AppendResponse(nil, value)
	if n := testing.AllocsPerRun(10, func() { buf = AppendResponse(buf[:0], value) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
