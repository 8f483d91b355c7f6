package shell

import "testing"

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/var/lib/feedex": "/var/lib/feedex", "/home/a b": "'/home/a b'", "it's": `'it'\''s'`, "": "''",
		"https://example.com/": "https://example.com/", "https://example.com/?a=1&b": "'https://example.com/?a=1&b'",
		"$(id)": "'$(id)'", "`id`": "'`id`'", "a\nb": "'a\nb'", "~": "'~'", "ä": "'ä'",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}
