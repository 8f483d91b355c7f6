package xmlrpc

import (
	"fmt"
	"strings"
	"testing"

	kolo "github.com/kolo/xmlrpc"
)

// bundles is the array that a node sends when it delivers n bundles of three entries each, with summaries of about 600
// bytes in the markup that publishers use.
func bundles(n int) Array {
	words := strings.Repeat("The quick brown fox jumps over the lazy dog & runs. ", 4)
	summary := "<p>" + words + "</p>\n<p>" + words +
		"</p>\n<a href=\"https://example.com/more\">more</a> " + words[:140]
	var all Array
	for i := range n {
		var entries Array
		for j := range 3 {
			entries = append(entries, Struct{
				{"id", fmt.Sprintf("https://example.com/posts/%d/%d", i, j)},
				{"title", fmt.Sprintf("Post %d of feed %d: what's new?", j, i)},
				{"link", fmt.Sprintf("https://example.com/posts/%d/%d?utm=feed&x=1", i, j)},
				{"summary", summary},
				{"published", 1_790_000_000 + int64(i)},
				{"authors", Array{"A. Writer"}},
			})
		}
		all = append(all, Struct{
			{"did", strings.Repeat("0123456789abcdef", 3)[:40]},
			{"feed", "https://example.com/feed.xml"},
			{"path", Array{"192.0.2.1:7790", "192.0.2.2:7790"}},
			{"entries", entries},
		})
	}
	return all
}

// dids is a list of n ids as check_dids carries it.
func dids(n int) Array {
	a := make(Array, n)
	for i := range a {
		a[i] = fmt.Sprintf("%040x", i)
	}
	return a
}

// messages are the messages that the benchmarks and the memory tests send.
func messages() []struct {
	name  string
	value Value
} {
	return []struct {
		name  string
		value Value
	}{
		{"bundle", bundles(1)},
		{"bundles", bundles(900)},
		{"dids", dids(64)},
	}
}

// plain is v as kolo reads and wants it: maps, nil where empty, and slices of any.
func plain(v Value) any {
	switch v := v.(type) {
	case Array:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
		}
		return out
	case Struct:
		if len(v) == 0 {
			return map[string]any(nil)
		}
		out := make(map[string]any, len(v))
		for _, m := range v {
			out[m.Name] = plain(m.Value)
		}
		return out
	}
	return v
}

func BenchmarkEncode(b *testing.B) {
	for _, m := range messages() {
		size := int64(len(AppendCall(nil, "put_entries", m.value)))
		b.Run(m.name+"/feedex", func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = AppendCall(buf[:0], "put_entries", m.value)
			}
		})
		b.Run(m.name+"/kolo", func(b *testing.B) {
			arg := plain(m.value)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := kolo.EncodeMethodCall("put_entries", arg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, m := range messages() {
		body := AppendCall(nil, "put_entries", m.value)
		b.Run(m.name+"/feedex", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeCall(body, MessageLimits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(m.name+"/kolo", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var v any // kolo reads the first value of any message
				if err := kolo.Response(body).Unmarshal(&v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
