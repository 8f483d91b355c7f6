package xmlrpc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRefuseValue(t *testing.T) {
	tests := []struct{ name, value, reason string }{
		{"no value", "", "end tag in place of an element"},
		{"text in place of a value", "hi", "text between elements"},
		{"CDATA in place of a value", "<![CDATA[hi]]>", "text between elements"},
		{"other element in place of a value", "<string>hi</string>", `element "string" in place of value`},
		{"two values", "<value/><value/>", "no end of param"},
		{"text after a value", "<value/>x", "no end of param"},
		{"unknown type", "<value><text>hi</text></value>", `unknown element "text"`},
		{"unknown empty type", "<value><text/></value>", `unknown element "text"`},
		{"type in capitals", "<value><String>hi</String></value>", `unknown element "String"`},
		{"type with a prefix", "<value><ex:i8>1</ex:i8></value>", `unknown element "ex:i8"`},
		{"long type", "<value><" + strings.Repeat("é", 100) + "/></value>",
			`unknown element "` + strings.Repeat(`\u00e9`, 16) + `"…`},
		{"value in value", "<value><value>hi</value></value>", `unknown element "value"`},
		{"text before type", "<value>a<string>b</string></value>", "no end of value"},
		{"text after type", "<value><string>b</string>a</value>", "no end of value"},
		{"two types", "<value><string>b</string><int>1</int></value>", "no end of value"},
		{"element in text", "<value><string>a<b/>c</string></value>", "no end of string"},
		{"wrong end", "<value><string>a</int></value>", "no end of string"},
		{"longer end", "<value><string>a</strings></value>", "no end of string"},
		{"end with attribute", "<value><string>a</string x='1'></value>", "no end of string"},
		{"attribute", "<value type='x'>a</value>", "attribute"},
		{"attribute on type", "<value><string xml:space='preserve'>a</string></value>", "attribute"},
		{"name space", "<value><ex:nil xmlns:ex='http://ws.apache.org/xmlrpc/namespaces/extensions'/></value>",
			"attribute"},
		{"space before name", "<value>< string>a</string></value>", "malformed tag"},
		{"slash and more", "<value><string/ ></value>", "malformed tag"},
		{"open tag", "<value><string<int>1</int></value>", "malformed tag"},
		{"processing instruction", "<value><?php echo 1 ?></value>", "processing instruction"},
		{"processing instruction between", "<?a b?><value/>", "processing instruction"},
		{"declaration inside", "<value><?xml version='1.0'?></value>", "processing instruction"},
		{"document type inside", "<value><!DOCTYPE x></value>", "document type"},
		{"document type between", "<!DOCTYPE x><value/>", "document type"},
		{"entity declaration", "<value><!ENTITY a 'b'></value>", "malformed tag"},
		{"comment without end", "<value><!-- a</value>", "comment without end"},
		{"comment without end in an array", "<value><array><data><!-- </data></array></value>", "comment without end"},
		{"comment without end in a struct", "<value><struct><!-- </struct></value>", "comment without end"},
		{"comment without end after a value", "<value/><!-- ", "comment without end"},
		{"comment with dashes", "<value><!-- a -- b --></value>", "comment with -- inside"},
		{"comment with a dash too many", "<value><!-- a ---></value>", "comment with -- inside"},
		{"CDATA without end", "<value><![CDATA[a</value>", "CDATA section without end"},
		{"CDATA misspelled", "<value><![cdata[a]]></value>", "malformed tag"},
		{"end of CDATA in text", "<value>a]]>b</value>", "]]> in text"},

		{"unknown entity", "<value>&nbsp;</value>", "& that begins no known reference"},
		{"entity in capitals", "<value>&LT;</value>", "& that begins no known reference"},
		{"bare &", "<value>a & b</value>", "& that begins no known reference"},
		{"reference cut by a tag", "<value>&am</value>", "& that begins no known reference"},
		{"reference cut by a comment", "<value>&#6<!-- -->5;</value>", "malformed character reference"},
		{"reference without digits", "<value>&#;</value>", "malformed character reference"},
		{"reference without digits, hexadecimal", "<value>&#x;</value>", "malformed character reference"},
		{"reference in capitals", "<value>&#X41;</value>", "malformed character reference"},
		{"reference with letters", "<value>&#4a;</value>", "malformed character reference"},
		{"reference with a sign", "<value>&#-65;</value>", "malformed character reference"},
		{"reference without end", "<value>&#65 </value>", "malformed character reference"},
		{"reference to NUL", "<value>&#0;</value>", "reference to a character that XML forbids"},
		{"reference to a control", "<value>&#1;</value>", "reference to a character that XML forbids"},
		{"reference to a control, hexadecimal", "<value>&#x1F;</value>", "reference to a character that XML forbids"},
		{"reference to a surrogate", "<value>&#xD800;</value>", "reference to a character that XML forbids"},
		{"reference to U+FFFE", "<value>&#xFFFE;</value>", "reference to a character that XML forbids"},
		{"reference to U+FFFF", "<value>&#65535;</value>", "reference to a character that XML forbids"},
		{"reference beyond Unicode", "<value>&#x110000;</value>", "reference to a character that XML forbids"},
		{"reference beyond 64 bits", "<value>&#x10000000000000041;</value>",
			"reference to a character that XML forbids"},

		{"NUL", "<value>\x00</value>", "character that XML forbids"},
		{"control", "<value>abcdefghij\x1Fklmn</value>", "character that XML forbids"},
		{"control in a comment", "<!-- \x01 --><value/>", "character that XML forbids"},
		{"control in CDATA", "<value><![CDATA[\x0B]]></value>", "character that XML forbids"},
		{"control in a tag", "<value\x0C></value>", "character that XML forbids"},
		{"U+FFFE", "<value>\uFFFE</value>", "character that XML forbids"},
		{"U+FFFF", "<value>\uFFFF</value>", "character that XML forbids"},
		{"not UTF-8", "<value>\xFF</value>", "not UTF-8"},
		{"not UTF-8, cut", "<value>\xE2\x82</value>", "not UTF-8"},
		{"not UTF-8, long form", "<value>\xC0\xBC</value>", "not UTF-8"},
		{"not UTF-8, surrogate", "<value>\xED\xA0\x80</value>", "not UTF-8"},
		{"not UTF-8, in a comment", "<!-- \x80 --><value/>", "not UTF-8"},

		{"int, empty", "<value><int/></value>", "malformed int"},
		{"int, text", "<value><int>one</int></value>", "malformed int"},
		{"int, fraction", "<value><i4>1.0</i4></value>", "malformed i4"},
		{"int, hexadecimal", "<value><int>0x1</int></value>", "malformed int"},
		{"int, underscore", "<value><int>1_0</int></value>", "malformed int"},
		{"int, space inside", "<value><int>1 0</int></value>", "malformed int"},
		{"int, too large", "<value><i8>9223372036854775808</i8></value>", "malformed i8"},
		{"int, too long", "<value><int>" + strings.Repeat("0", 401) + "</int></value>", "malformed int"},
		{"int, other digits", "<value><int>٣</int></value>", "malformed int"},
		{"boolean, empty", "<value><boolean></boolean></value>", "malformed boolean"},
		{"boolean, word", "<value><boolean>true</boolean></value>", "malformed boolean"},
		{"boolean, two", "<value><boolean>2</boolean></value>", "malformed boolean"},
		{"double, empty", "<value><double/></value>", "malformed double"},
		{"double, NaN", "<value><double>nan</double></value>", "malformed double"},
		{"double, infinite", "<value><double>-Inf</double></value>", "malformed double"},
		{"double, hexadecimal", "<value><double>0x1p-2</double></value>", "malformed double"},
		{"double, too large", "<value><double>1e400</double></value>", "malformed double"},
		{"double, two points", "<value><double>1.2.3</double></value>", "malformed double"},
		{"double, too long", "<value><double>" + strings.Repeat("0", 401) + "</double></value>", "malformed double"},
		{"base64, not", "<value><base64>A$==</base64></value>", "malformed base64"},
		{"base64, no padding", "<value><base64>AAEC/w</base64></value>", "malformed base64"},
		{"base64, bits left over", "<value><base64>AAEC/x==</base64></value>", "malformed base64"},
		{"time, empty", "<value><dateTime.iso8601/></value>", "malformed dateTime.iso8601"},
		{"time, date alone", "<value><dateTime.iso8601>20260921</dateTime.iso8601></value>",
			"malformed dateTime.iso8601"},
		{"time, text behind", "<value><dateTime.iso8601>20260921T14:13:20 UTC</dateTime.iso8601></value>",
			"malformed dateTime.iso8601"},
		{"time, much behind", "<value><dateTime.iso8601>20260921T14:13:20.00000000000000000</dateTime.iso8601></value>",
			"malformed dateTime.iso8601"},
		{"nil, not empty", "<value><nil>0</nil></value>", "malformed nil"},
		{"nil, other prefix", "<value><x:nil/></value>", `unknown element "x:nil"`},

		{"array, empty", "<value><array/></value>", "array without data"},
		{"array without data", "<value><array></array></value>", "end tag in place of an element"},
		{"array, value in place of data", "<value><array><value/></array></value>", `element "value" in place of data`},
		{"array, two data", "<value><array><data/><data/></array></value>", "no end of array"},
		{"array, text inside", "<value><array><data>a<value/></data></array></value>", "text between elements"},
		{"array, text outside", "<value><array>a<data></data></array></value>", "text between elements"},
		{"array, text behind", "<value><array><data></data>a</array></value>", "no end of array"},
		{"array, other element", "<value><array><data><int>1</int></data></array></value>",
			`element "int" in place of value`},
		{"struct, value inside", "<value><struct><value/></struct></value>", `element "value" in place of member`},
		{"struct, text inside", "<value><struct>a</struct></value>", "text between elements"},
		{"member, empty", "<value><struct><member/></struct></value>", "empty member"},
		{"member, no name", "<value><struct><member><value/></member></struct></value>",
			`element "value" in place of name`},
		{"member, no value", "<value><struct><member><name>a</name></member></struct></value>",
			"end tag in place of an element"},
		{"member, value first", "<value><struct><member><value/><name>a</name></member></struct></value>",
			`element "value" in place of name`},
		{"member, two values", "<value><struct><member><name>a</name><value/><value/></member></struct></value>",
			"no end of member"},
		{"name with element", "<value><struct><member><name>a<b/></name><value/></member></struct></value>",
			"no end of name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeCall([]byte(call(tt.value)), MessageLimits{})
			checkRefusal(t, err, ErrSyntax, tt.reason)
		})
	}
}

func TestRefuseCall(t *testing.T) {
	const m = "<methodCall><methodName>m</methodName></methodCall>"
	const declared = "XML declaration other than of version 1.0 in UTF-8"
	tests := []struct{ name, body, reason string }{
		{"nothing", "", "message ends early"},
		{"space", " \n", "message ends early"},
		{"comment", "<!-- -->", "message ends early"},
		{"text", "hello", "text between elements"},
		{"JSON", `{"jsonrpc":"2.0"}`, "text between elements"},
		{"HTML", "<html><body/></html>", `element "html" in place of methodCall`},
		{"HTML with document type", "<!DOCTYPE html><html/>", "document type"},
		{"response", "<methodResponse/>", `element "methodResponse" in place of methodCall`},
		{"document type with entities", `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]>` + m, "document type"},
		{"empty", "<methodCall/>", "empty methodCall"},
		{"no name", "<methodCall></methodCall>", "end tag in place of an element"},
		{"params first", "<methodCall><params/><methodName>m</methodName></methodCall>",
			`element "params" in place of methodName`},
		{"empty name", "<methodCall><methodName/></methodCall>", "malformed method name"},
		{"name with space", "<methodCall><methodName>a b</methodName></methodCall>", "malformed method name"},
		{"name with dash", "<methodCall><methodName>a-b</methodName></methodCall>", "malformed method name"},
		{"name beyond ASCII", "<methodCall><methodName>é</methodName></methodCall>", "malformed method name"},
		{"name with element", "<methodCall><methodName>a<b/></methodName></methodCall>", "no end of methodName"},
		{"two names", "<methodCall><methodName>a</methodName><methodName>b</methodName></methodCall>",
			`element "methodName" in place of params`},
		{"two params", "<methodCall><methodName>a</methodName><params/><params/></methodCall>", "no end of methodCall"},
		{"other element in params", "<methodCall><methodName>a</methodName><params><value/></params></methodCall>",
			`element "value" in place of param`},
		{"empty param", "<methodCall><methodName>a</methodName><params><param/></params></methodCall>", "empty param"},
		{"text in params", "<methodCall><methodName>a</methodName><params>x</params></methodCall>",
			"text between elements"},
		{"comment without end after the name", "<methodCall><methodName>a</methodName><!--</methodCall>",
			"comment without end"},
		{"comment without end in params", "<methodCall><methodName>a</methodName><params><!--</params></methodCall>",
			"comment without end"},
		{"text after params", "<methodCall><methodName>a</methodName><params/>x</methodCall>", "no end of methodCall"},
		{"no end", "<methodCall><methodName>m</methodName>", "message ends early"},
		{"second message", m + m, "something after the end"},
		{"text behind", m + "x", "something after the end"},
		{"NUL behind", m + "\x00", "character that XML forbids"},
		{"processing instruction behind", m + "<?a?>", "something after the end"},
		{"processing instruction in front", `<?xml-stylesheet href="a"?>` + m, "processing instruction"},
		{"attribute", `<methodCall version="1">` + m[12:], "attribute"},
		{"name space other", `<methodCall xmlns:ex="http://example.com/">` + m[12:], "attribute"},
		{"name space by another prefix", `<methodCall xmlns:exe="` + extensions + `">` + m[12:], "attribute"},
		{"name space as default", `<methodCall xmlns="` + extensions + `">` + m[12:], "attribute"},
		{"name space twice", `<methodCall xmlns:ex="` + extensions + `" xmlns:ex="` + extensions + `">` + m[12:],
			"attribute"},
		{"name space without end", `<methodCall xmlns:ex="` + m, "malformed attribute"},
		{"name space without quotes", `<methodCall xmlns:ex=` + extensions + `>` + m[12:], "malformed attribute"},
		{"name space on the second element", `<methodCall><methodName xmlns:ex="` + extensions +
			`">m</methodName></methodCall>`, "attribute"},
		{"declaration late", ` <?xml version="1.0"?>` + m, "processing instruction"},
		{"declaration twice", `<?xml version="1.0"?><?xml version="1.0"?>` + m, "processing instruction"},
		{"declaration empty", `<?xml ?>` + m, "malformed attribute"},
		{"declaration without end", `<?xml version="1.0">` + m, "malformed attribute"},
		{"declaration of version 1.1", `<?xml version="1.1"?>` + m, declared},
		{"declaration without version", `<?xml encoding="UTF-8"?>` + m, declared},
		{"declaration of Latin 1", `<?xml version="1.0" encoding="ISO-8859-1"?>` + m, declared},
		{"declaration of UTF-16", `<?xml version="1.0" encoding="UTF-16"?>` + m, declared},
		{"declaration of no encoding", `<?xml version="1.0" encoding=""?>` + m, declared},
		{"declaration out of order", `<?xml version="1.0" standalone="yes" encoding="UTF-8"?>` + m, declared},
		{"declaration of something twice", `<?xml version="1.0" encoding="UTF-8" encoding="UTF-8"?>` + m, declared},
		{"declaration of something else", `<?xml version="1.0" charset="UTF-8"?>` + m, declared},
		{"declaration without space", `<?xml version="1.0"encoding="UTF-8"?>` + m, declared},
		{"declaration, standalone maybe", `<?xml version="1.0" standalone="maybe"?>` + m, declared},
		{"UTF-16", "\xFF\xFE<\x00m\x00", "not UTF-8"},
		{"byte order mark twice", "\uFEFF\uFEFF" + m, "text between elements"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeCall([]byte(tt.body), MessageLimits{})
			checkRefusal(t, err, ErrSyntax, tt.reason)
		})
	}
}

func TestRefuseResponse(t *testing.T) {
	tests := []struct{ name, body, reason string }{
		{"call", call("<value/>"), `element "methodCall" in place of methodResponse`},
		{"empty", "<methodResponse/>", "empty methodResponse"},
		{"nothing inside", "<methodResponse></methodResponse>", "end tag in place of an element"},
		{"no params", "<methodResponse><params/></methodResponse>", "response of other than one value"},
		{"two params", "<methodResponse><params><param><value/></param><param><value/></param></params>" +
			"</methodResponse>", "response of other than one value"},
		{"params and fault", "<methodResponse><params><param><value/></param></params><fault/></methodResponse>",
			"no end of methodResponse"},
		{"fault, empty", "<methodResponse><fault/></methodResponse>", "empty fault"},
		{"fault, no value", "<methodResponse><fault></fault></methodResponse>", "end tag in place of an element"},
		{"fault, no struct", "<methodResponse><fault><value>no</value></fault></methodResponse>",
			"fault without faultCode or faultString"},
		{"fault, empty struct", "<methodResponse><fault><value><struct/></value></fault></methodResponse>",
			"fault without faultCode or faultString"},
		{"fault, code as text",
			"<methodResponse><fault><value><struct><member><name>faultCode</name><value>1</value></member>" +
				"<member><name>faultString</name><value/></member></struct></value></fault></methodResponse>",
			"fault without faultCode or faultString"},
		{"fault, no text", "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>1</int>" +
			"</value></member>" +
			"</struct></value></fault></methodResponse>", "fault without faultCode or faultString"},
		{"faults", "<methodResponse><faults/></methodResponse>", `element "faults" in place of fault`},
		{"behind", "<methodResponse><params><param><value/></param></params></methodResponse>x",
			"something after the end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := DecodeResponse([]byte(tt.body), MessageLimits{})
			if v != nil {
				t.Errorf("got %v beside the error", v)
			}
			checkRefusal(t, err, ErrSyntax, tt.reason)
		})
	}
}

func checkRefusal(t *testing.T, err, kind error, reason string) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *SyntaxError: %s", err, reason)
	}
	if e.Reason != reason {
		t.Errorf("refused for %q, want %q", e.Reason, reason)
	}
	if errors.Is(err, ErrLimit) != (kind == ErrLimit) || errors.Is(err, ErrSyntax) != (kind == ErrSyntax) {
		t.Errorf("%v is not of the kind %v alone", err, kind)
	}
}

// TestOffset shows where errors point.
func TestOffset(t *testing.T) {
	tests := []struct{ value, at string }{
		{"<value>abc\x01</value>", "\x01"},
		{"<value>\uFFFE</value>", "\uFFFE"},
		{"<value>é\xFF</value>", "\xFF"},
		{"<value><string>a</string><int>1</int></value>", "<int>"},
		{"<value> <int>x</int></value>", "<int>"},
		{"<value><what/></value>", "<what/>"},
		{"<value>a&lt;b&bad;</value>", "&bad;"},
		{"<value>a ]]> b</value>", "]]>"},
		{"<value><array><data><str/></data></array></value>", "<str/>"},
		{"<value><string a='b'/></value>", "a='b'"},
		{"<value><array><data>" + strings.Repeat("<value/>", 5) +
			"<value>6</value></data></array></value>", "<value>6"},
	}
	for _, tt := range tests {
		body := call(tt.value)
		_, err := DecodeCall([]byte(body), MessageLimits{Values: 6})
		var e *SyntaxError
		if !errors.As(err, &e) || e.Offset != strings.Index(body, tt.at) {
			t.Errorf("%s: got %v, want an error at byte %d", tt.value, err, strings.Index(body, tt.at))
		}
	}
	_, err := DecodeCall([]byte("<methodCall>x"), MessageLimits{})
	if want := "parse message at byte 12: text between elements"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestWireRefused reads the messages that a server must refuse, which several packages share. The
// first part of a file's name says with what: parse errors, and no others, are for this package to
// find. (Of what is too long it finds a part.)
func TestWireRefused(t *testing.T) {
	names, err := filepath.Glob("../testdata/wire/refused/*.xml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no messages: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			malformed := strings.HasPrefix(filepath.Base(name), "parse-error_")
			if _, err := DecodeCall(body, MessageLimits{}); errors.Is(err, ErrSyntax) != malformed {
				t.Errorf("got %v; want ErrSyntax: %t", err, malformed)
			}
		})
	}
}
