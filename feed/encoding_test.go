package feed

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

func TestDecode(t *testing.T) {
	in := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const mark = "\ufeff"
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	utf16be := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	utf32be := utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	for name, tc := range map[string]struct{ contentType, body, want string }{
		"nothing":              {"", "", ""},
		"ASCII":                {"text/xml; charset=iso-8859-1", "<a>", "<a>"},
		"UTF-8":                {"", "<ä>", "<ä>"},
		"UTF-8 with a mark":    {"text/xml; charset=koi8-r", mark + "<ä>", "<ä>"},
		"UTF-8, mark, invalid": {"", mark + "<\xe4>", "<\ufffd>"},
		"UTF-16 with a mark":   {"text/xml; charset=utf-8", in(utf16le, mark+"<ä𝄞>"), "<ä𝄞>"},
		"UTF-16 without": {"", in(utf16be, "<?xml encoding='utf-8'?>€"),
			"<?xml encoding='utf-8'?>€"},
		"UTF-16 without, after blanks": {"text/xml; charset=utf-16", in(utf16be, "\r\n<a>日本"), "\n<a>日本"},
		"UTF-16 without, in JSON":      {"", in(utf16le, `{"a": "日本"}`), `{"a": "日本"}`},
		"UTF-32 without, after blanks": {"", in(utf32be, "\n<a>日本"), "\n<a>日本"},
		"UTF-16 cut off":               {"", in(utf16be, mark+"<a>") + "\x00", "<a>\ufffd"},
		"UTF-32":                       {"", in(utf32be, mark+"<ä>"), "<ä>"},
		"the header before the declaration": {"text/xml; charset=windows-1251",
			`<?xml encoding="iso-8859-7"?>` + in(charmap.Windows1251, "Мир"), `<?xml encoding="iso-8859-7"?>Мир`},
		"the declaration": {"text/xml",
			"\n<?xml version='1.0' encoding = 'Shift_JIS' ?>" + in(japanese.ShiftJIS, "日本"),
			"\n<?xml version='1.0' encoding = 'Shift_JIS' ?>日本"},
		"a declaration of nothing": {"", `<?xml version="1.0" encoding=?>` + "\xe4",
			`<?xml version="1.0" encoding=?>ä`},
		"a header of nothing": {"text/xml; charset=\"",
			`<?xml encoding="koi8-r"?>` + in(charmap.KOI8R, "Мир"), `<?xml encoding="koi8-r"?>Мир`},
		"an unknown label":                 {"text/xml; charset=klingon", "<\xe4>", "<ä>"},
		"a false label":                    {"text/xml; charset=utf-16", "<a>", "<a>"},
		"an encoding that eats everything": {"text/xml; charset=iso-2022-kr", "<a>", "<a>"},
		"UTF-8 with another label":         {"text/xml; charset=iso-8859-1", "<ä>", "<ä>"},
		"Latin-1 in disguise":              {"", "<?xml encoding='utf-8'?>\xe4", "<?xml encoding='utf-8'?>ä"},
		"no label":                         {"", "<\x80\x93\xe4>", "<€“ä>"},
		"a slip in UTF-8":                  {"", "<ä\xff\xc3>", "<ä\ufffd\ufffd>"},
		"zero bytes":                       {"", "<a>\x00b\x01\x7f\u0085</a>", "<a>b</a>"},
		"escape sequences":                 {"text/xml; charset=iso-2022-jp", in(japanese.ISO2022JP, "日本"), "日本"},
	} {
		if got := newSource(tc.contentType, []byte(tc.body)).text(); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// What somebody wrote is in UTF-8 but where its mark says otherwise, and bytes that are none stay.
func TestUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "ä\n": "ä\n", "\ufeffä": "ä", "\xff\xfe\xe4\x00": "ä", "\xfe\xff\x00\xe4": "ä",
		"\xe4": "\xe4", "a\x00b\x00": "a\x00b\x00",
	} {
		if got := string(UTF8([]byte(in))); got != want {
			t.Errorf("UTF8(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDropBadRefs(t *testing.T) {
	for in, want := range map[string]string{
		"plain & <a>&amp;":                     "plain & <a>&amp;",
		"&#65;&#x41;&#9;&#10;&#13;&#150;":      "&#65;&#x41;&#9;&#10;&#13;&#150;",
		"a&#0;b&#x1F;c&#11;d&#xfffe;e&#xFFFF;": "abcde",
		"&#;&#x;&#-1;&#1 ;&#99999999999;&#":    "&#;&#x;&#-1;&#1 ;&#99999999999;&#",
		"&#&#1;#1;":                            "&##1;",
		"&#x1F600;&#xD83D;":                    "&#x1F600;&#xD83D;",
	} {
		if got := dropBadRefs(in); got != want {
			t.Errorf("dropBadRefs(%q) = %q, want %q", in, got, want)
		}
	}
}
