package shell

import "testing"

func TestPOSIX(t *testing.T) {
	for in, want := range map[string]string{
		"/var/lib/feedex": "/var/lib/feedex", "/home/a b": "'/home/a b'", "it's": `'it'\''s'`, "": "''",
		"https://example.com/": "https://example.com/", "https://example.com/?a=1&b": "'https://example.com/?a=1&b'",
		"$(id)": "'$(id)'", "`id`": "'`id`'", "a\nb": "'a\nb'", "~": "'~'", "ä": "'ä'",
	} {
		if got := posix(in); got != want {
			t.Errorf("posix(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestWindows(t *testing.T) {
	for in, want := range map[string]string{
		`C:\Users\ann\feedex`: `C:\Users\ann\feedex`, `C:\My feeds`: `"C:\My feeds"`, `C:\My feeds\`: `"C:\My feeds\\"`,
		"it's": `"it's"`, "": `""`, "https://example.com/?a=1&b": `"https://example.com/?a=1&b"`, "a,b": `"a,b"`,
		"$(id)": "'$(id)'", "it's $5": "'it''s $5'", `a "b"`: `'a "b"'`, "~": `"~"`, "ä": `"ä"`,
	} {
		if got := windows(in); got != want {
			t.Errorf("windows(%q) = %s, want %s", in, got, want)
		}
	}
}
