package xmlrpc

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// nested is n arrays in each other.
func nested(n int) string {
	return strings.Repeat("<value><array><data>", n) + strings.Repeat("</data></array></value>", n)
}

// structs is n structs in each other.
func structs(n int) string {
	return strings.Repeat("<value><struct><member><name>a</name>", n) + "<value/>" +
		strings.Repeat("</member></struct></value>", n)
}

// TestLimits finds for each limit the largest message that is read and the smallest that is not.
func TestLimits(t *testing.T) {
	list := func(n int) string {
		return call("<value><array><data>" + strings.Repeat("<value/>", n) + "</data></array></value>")
	}
	text := func(n int) string { return call("<value><string>" + strings.Repeat("x", n) + "</string></value>") }
	tests := []struct {
		name     string
		limits   MessageLimits
		body     func(n int) string
		most     int
		reason   string
		defaults bool
	}{
		{"bytes", MessageLimits{Bytes: 500},
			func(n int) string { return call("<value/>") + strings.Repeat(" ", n-len(call("<value/>"))) }, 500,
			"longer than 500 bytes", false},
		{"bytes by default", MessageLimits{},
			func(n int) string { return call("<value/>") + strings.Repeat(" ", n-len(call("<value/>"))) }, 4 << 20,
			"longer than 4194304 bytes", true},
		{"depth", MessageLimits{Depth: 3}, func(n int) string { return call(nested(n)) }, 3,
			"nested deeper than 3", false},
		{"depth by default", MessageLimits{}, func(n int) string { return call(nested(n)) }, 32,
			"nested deeper than 32", true},
		{"depth of structs", MessageLimits{}, func(n int) string { return call(structs(n)) }, 32,
			"nested deeper than 32", true},
		{"values", MessageLimits{Values: 5}, func(n int) string { return list(n - 1) }, 5, "more than 5 values", false},
		{"values, many", MessageLimits{Values: 5000}, func(n int) string { return list(n - 1) }, 5000,
			"more than 5000 values", false},
		{"values by default", MessageLimits{}, func(n int) string { return list(n - 1) }, 65_536,
			"more than 65536 values", true},
		{"string", MessageLimits{StringBytes: 10}, text, 10, "text longer than 10 bytes", false},
		{"string by default", MessageLimits{}, text, 2 << 20, "text longer than 2097152 bytes", true},
		{"string, no type", MessageLimits{StringBytes: 10},
			func(n int) string { return call("<value>" + strings.Repeat("x", n) + "</value>") }, 10,
			"text longer than 10 bytes", false},
		{"string, resolved", MessageLimits{StringBytes: 10},
			func(n int) string { return call("<value>" + strings.Repeat("&#x20;", n) + "</value>") }, 10,
			"text longer than 10 bytes", false},
		{"string, in pieces", MessageLimits{StringBytes: 10},
			func(n int) string { return call("<value>" + strings.Repeat("<!----><![CDATA[x]]>", n) + "</value>") }, 10,
			"text longer than 10 bytes", false},
		{"member name", MessageLimits{StringBytes: 10}, func(n int) string {
			return call("<value><struct><member><name>" + strings.Repeat("x", n) +
				"</name><value/></member></struct></value>")
		}, 10, "text longer than 10 bytes", false},
		{"base64", MessageLimits{StringBytes: 12}, func(n int) string {
			return call("<value><base64>" + strings.Repeat("AAAA", n/4) + strings.Repeat(" ", n%4) +
				"</base64></value>")
		}, 12, "text longer than 12 bytes", false},
		{"method name", MessageLimits{}, func(n int) string {
			return "<methodCall><methodName>" + strings.Repeat("x", n) + "</methodName></methodCall>"
		}, 255, "method name longer than 255 bytes", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := DecodeCall([]byte(tt.body(tt.most)), tt.limits); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			_, err := DecodeCall([]byte(tt.body(tt.most+1)), tt.limits)
			checkRefusal(t, err, ErrLimit, tt.reason)
		})
	}
	t.Run("zero and below are the defaults", func(t *testing.T) {
		got := (MessageLimits{Bytes: -1, Depth: -1, Values: -1, StringBytes: -1}).withDefaults()
		if got != (MessageLimits{4 << 20, 32, 65_536, 2 << 20}) {
			t.Errorf("got %+v", got)
		}
	})
}

// TestValuesAreCountedExactly reads a message that only looks as if it held too many values.
func TestValuesAreCountedExactly(t *testing.T) {
	many := strings.Repeat("<value/>", 2000)
	body := call("<value><array><data><!-- " + many + " --><value><![CDATA[" + many +
		"<!--]]></value><value>c</value></data></array></value>")
	got, err := DecodeCall([]byte(body), MessageLimits{Values: 3})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Value{Array{many + "<!--", "c"}}; !reflect.DeepEqual(got.Params, want) {
		t.Errorf("got %.100v", got.Params)
	}
	_, err = DecodeCall([]byte(body), MessageLimits{Values: 2})
	checkRefusal(t, err, ErrLimit, "more than 2 values")
}

// allocated is how many bytes of memory f takes, be they freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestRefusalIsCheap sends what is cheap to send and would be dear to read.
func TestRefusalIsCheap(t *testing.T) {
	const mega = 1 << 20
	const head = "<methodCall><methodName>m</methodName><params><param>"
	open := head + "<value><array><data>"
	tests := []struct {
		name, body string
		limits     MessageLimits
	}{
		{"1 MB of empty values", open + strings.Repeat("<value/>", mega/8), MessageLimits{}},
		{"1 MB of empty values, few allowed", open + strings.Repeat("<value/>", mega/8), MessageLimits{Values: 4096}},
		{"1 MB of short values", open + strings.Repeat("<value>a</value>", mega/16), MessageLimits{Values: 4096}},
		{"1 MB of numbers", open + strings.Repeat("<value><int>1000</int></value>", mega/30),
			MessageLimits{Values: 4096}},
		{"1 MB of empty params", head + strings.Repeat("<value/></param><param>", mega/23),
			MessageLimits{Values: 4096}},
		{"1 MB of members", head + "<value><struct>" + strings.Repeat("<member><name/><value/></member>", mega/32),
			MessageLimits{Values: 4096}},
		{"1 MB of empty values in a short message", open + strings.Repeat("<value/>", mega/8),
			MessageLimits{Bytes: mega / 2}},
		{"100,000 unknown levels", head + strings.Repeat("<x>", 100_000), MessageLimits{}},
		{"100,000 unknown levels in a value", head + "<value>" + strings.Repeat("<x>", 100_000), MessageLimits{}},
		{"200,000 levels of arrays", head + strings.Repeat("<value><array><data>", 200_000), MessageLimits{}},
		{"100,000 levels of structs", head + strings.Repeat("<value><struct><member><name/>", 100_000),
			MessageLimits{}},
		{"1 MB of values that are values", head + strings.Repeat("<value>", mega/7), MessageLimits{}},
		{"1 MB of a name", head + "<value><" + strings.Repeat("x", mega), MessageLimits{}},
		{"1 MB of digits", head + "<value><int>" + strings.Repeat("1", mega) + "</int>", MessageLimits{}},
		{"1 MB of a fraction", head + "<value><double>0." + strings.Repeat("1", mega) + "</double>", MessageLimits{}},
		{"1 MB of a time", head + "<value><dateTime.iso8601>" + strings.Repeat("1", mega) +
			"</dateTime.iso8601>", MessageLimits{}},
		{"1 MB of a method's name", "<methodCall><methodName>" + strings.Repeat("x", mega) + "</methodName>",
			MessageLimits{}},
		{"1 MB of attributes", head + "<value" + strings.Repeat(" a='b'", mega/6) + "/>", MessageLimits{}},
		{"1 MB of comments", head + strings.Repeat("<!---->", mega/7), MessageLimits{}},
		{"1 MB of open comments", head + strings.Repeat("<!--", mega/4), MessageLimits{}},
		{"1 MB of open CDATA", head + "<value>" + strings.Repeat("<![CDATA[", mega/9), MessageLimits{}},
		{"1 MB of space", strings.Repeat(" ", mega), MessageLimits{}},
		{"1 MB of a digit's reference", head + "<value>&#" + strings.Repeat("0", mega) + "65;", MessageLimits{}},
		{"1 MB of document type", "<!DOCTYPE m [" + strings.Repeat("<!ENTITY a 'b'>", mega/15), MessageLimits{}},
		{"4 MiB of nothing, and more", strings.Repeat("\x00", 4*mega+1), MessageLimits{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			var err error
			if n := allocated(func() { _, err = DecodeCall(body, tt.limits) }); n >= 64<<10 {
				t.Errorf("took %d bytes, want less than 64 KiB", n)
			}
			if err == nil {
				t.Error("not refused")
			}
		})
	}
}

// TestDecodeAllocates bounds what messages cost that are read: a string costs one allocation, or two
// where it is long.
func TestDecodeAllocates(t *testing.T) {
	body := AppendCall(nil, "check_dids", dids(64))
	if n := testing.AllocsPerRun(10, func() { mustDecode(t, body) }); n > 64+12 {
		t.Errorf("64 strings took %v allocations", n)
	}
	body = AppendCall(nil, "put_entries", bundles(900))
	if n := allocated(func() { mustDecode(t, body) }); n > uint64(len(body))*5/4 {
		t.Errorf("%d bytes took %d bytes of memory", len(body), n)
	}
	// The dearest of all values: eight bytes, and two words in the list and on the way to it.
	body = []byte(call("<value><array><data>" + strings.Repeat("<value/>", 65_000) + "</data></array></value>"))
	if n := allocated(func() { mustDecode(t, body) }); n > uint64(len(body))*16 {
		t.Errorf("%d bytes took %d bytes of memory", len(body), n)
	}
}

func mustDecode(t *testing.T, body []byte) Call {
	c, err := DecodeCall(body, MessageLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestKeptStringsAreSmall keeps one short string of each of many long messages, as an attacker might that wants its
// peers to run out of memory.
func TestKeptStringsAreSmall(t *testing.T) {
	const messages = 64
	fill := bytes.Repeat([]byte("<value>abcdefgh</value>"), 10_000)
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	var kept []string
	for i := range messages {
		body := fmt.Sprintf("<value><array><data>%s<value>kept %d</value>%s</data></array></value>", fill, i, fill)
		a := mustDecode(t, []byte(call(body))).Params[0].(Array)
		kept = append(kept, a[len(a)/2].(string))
	}
	if after := live(); after > before+messages*2*chunk {
		t.Errorf("%d short strings keep %d bytes alive", messages, after-before)
	}
	if kept[7] != "kept 7" {
		t.Errorf("kept %q", kept[7])
	}
}
