package feed_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"feedex/feed"
)

// What is RSL is written with one prefix, and what a document of XML could not hold, or other programs might run, is no
// RSL.
func TestRSL(t *testing.T) {
	const in, out = `xmlns="https://rslstandard.org/rsl"`, `xmlns:rsl="https://rslstandard.org/rsl"`
	for statement, want := range map[string]string{
		`<content ` + in + ` url="/2"><license/>free &amp; open</content>`: `<rsl:content ` + out +
			` url="/2"><rsl:license></rsl:license>free &amp; open</rsl:content>`,
		`<r:rsl xmlns:r="https://rslstandard.org/rsl"/>`:    `<rsl:rsl ` + out + `></rsl:rsl>`,
		`<content ` + in + ` a="1"b="2" a="3" xml:id="x"/>`: `<rsl:content ` + out + ` a="1" b="2"></rsl:content>`,
		`<content ` + in + `><license ` + in + ` :c="4"/></content>`: `<rsl:content ` + out +
			`><rsl:license></rsl:license></rsl:content>`,

		``:                               ``,
		`All rights reserved`:            ``,
		`< 5 words are free`:             ``,
		`<rights>all</rights>`:           ``,
		`<content ` + in + `>`:           ``,
		`<content ` + in + `/> and more`: ``,
		`<content ` + in + `/><content ` + in + `/>`:                                   ``,
		`<content ` + in + `><!-- a comment --></content>`:                             ``,
		`<content ` + in + `>&nbsp;</content>`:                                         ``,
		`<:content ` + in + `/>`:                                                       ``,
		`<content ` + in + `><other:license/></content>`:                               ``,
		`<content ` + in + `><script xmlns="http://www.w3.org/1999/xhtml"/></content>`: ``,
	} {
		got, is := feed.RSL(statement)
		if !is {
			got = ""
		}
		if got != want || is != (want != "") {
			t.Errorf("%s is %q, want %q", statement, got, want)
		}
		if again, _ := feed.RSL(got); again != want {
			t.Errorf("%s, written a second time: %q", got, again)
		}
	}
}

// Whatever is taken for RSL, a document of XML may hold it.
func FuzzRSL(f *testing.F) {
	f.Add(`<content xmlns="https://rslstandard.org/rsl" url="/2"><license/>free &amp; open</content>`)
	f.Fuzz(func(t *testing.T, statement string) {
		element, is := feed.RSL(statement)
		if !is {
			return
		}
		var v struct {
			Inner string `xml:",innerxml"`
		}
		if err := xml.Unmarshal([]byte("<entry>"+element+"</entry>"), &v); err != nil || v.Inner != element {
			t.Errorf("%q became %q, which reads as %q, %v", statement, element, v.Inner, err)
		}
		if strings.ContainsAny(element, "\x00") || !strings.HasPrefix(element, "<rsl:") {
			t.Errorf("%q became %q", statement, element)
		}
	})
}
