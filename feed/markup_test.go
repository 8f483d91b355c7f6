package feed

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzMarkup holds that the walk sees what encoding/xml will see: what comes out of it parses without
// an error and keeps to the limits, so that nothing passes the guard in disguise.
func FuzzMarkup(f *testing.F) {
	for _, s := range []string{
		"<rss/>", "<rss><channel></channel>", "<rss a=b c d='e' f = \"g\"><channel/></rss>",
		"<?xml version='1.0'?><!DOCTYPE a [<!-- ' -->]><feed>x</feed>",
		"<rss>a<b>c</d>e</rss>", "<rss><a:b></b></a:b></rss>", "<rss><br><![CDATA[]]]]><![CDATA[>]]></rss>",
		"<rss>]]><!-- -- --><? ?><?x?></rss>",
		"<rss><channel><x:y xmlns:x='u'><item></channel></rss>", "<rss><a b='<'></rss>",
		"<rss>< a> </ a> <3 &#1; & &x </rss>", "<rss>]]<!---->></rss>",
		"<feed><entry><id>a b</id><content type='xhtml'> <div><div></div></div></content></entry></feed>",
		"<rss><a:b:c/><:/><a:/></rss>",
		"<rdf:RDF><item rdf:about='a&amp;]]>b'></item></rdf:RDF>", "<feed xml:base='a/b?c'><x xml:base=b/></feed>",
		"<rss><a\u00e9/></rss>", "<feed xml:base=0 A></feed>", "<feed xml:base TYPE/>",
	} {
		f.Add(s)
	}
	files, _ := filepath.Glob("../testdata/feeds/*.xml")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := walkMarkup(dropBadRefs(Clean(s)), nil)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrLimit) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		d := xml.NewDecoder(strings.NewReader(m.text))
		d.Strict = false
		depth, elements, roots := 0, 0, 0
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				// Where a comment is taken out of the middle of one of these it comes into being.
				if strings.Contains(err.Error(), "unescaped ]]>") ||
					strings.Contains(err.Error(), "illegal character code") {
					return
				}
				t.Fatalf("%q is read as %q: %v", s, m.text, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if depth == 0 {
					roots++
				}
				depth++
				elements++
			case xml.EndElement:
				depth--
			case xml.Comment, xml.ProcInst, xml.Directive:
				t.Fatalf("%q is read as %q: %T remains", s, m.text, token)
			}
			if depth > maxDepth+1 || elements > 2*maxElements {
				t.Fatalf("%d elements, %d deep", elements, depth)
			}
		}
		if roots != 1 || depth != 0 {
			t.Fatalf("%q is read as %q: %d roots, %d left open", s, m.text, roots, depth)
		}
	})
}
