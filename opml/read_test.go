package opml_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedex/opml"
)

var update = flag.Bool("update", false, "rewrite testdata/*.want")

// render is a list as the golden files have it.
func render(l opml.List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q\n", l.Title)
	for _, f := range l.Feeds {
		fmt.Fprintf(&b, "%d: %s %q %q %q\n", f.Line, f.URL, f.Title, f.Site, f.Folder)
	}
	for _, p := range l.Problems {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

func TestReadGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.opml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, name := range files {
		document, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := opml.Read(document)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden := strings.TrimSuffix(name, ".opml") + ".want"
		if *update {
			if err := os.WriteFile(golden, []byte(render(l)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got := render(l); got != string(want) {
			t.Errorf("%s is read as\n%swant\n%s", name, got, want)
		}
	}
}

func TestReadRefusals(t *testing.T) {
	for document, want := range map[string]string{
		"":                                     "it holds no elements",
		"https://example.com/feed.xml\n":       "it holds no elements",
		"<?xml version='1.0'?><rss><channel/>": "it begins with <rss>",
		"<!DOCTYPE html><html><body></body></html>": "it begins with <html>",
	} {
		if _, err := opml.Read([]byte(document)); !errors.Is(err, opml.ErrFormat) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", document, err, want)
		}
	}
	if _, err := opml.Read(make([]byte, opml.MaxBytes+1)); !errors.Is(err, opml.ErrSize) {
		t.Errorf("a document that is too long: %v", err)
	}
}

// Neither many entries nor deep ones nor what never ends costs more than reading.
func TestReadIsBounded(t *testing.T) {
	many := "<opml>" + strings.Repeat("<outline xmlUrl='https://example.com/'/>\n", opml.MaxEntries+5)
	l, err := opml.Read([]byte(many))
	if err != nil || len(l.Feeds) != opml.MaxEntries-1 || len(l.Problems) != 1 ||
		!strings.Contains(l.Problems[0].Reason, "not read") {
		t.Errorf("%d feeds, %v, %v", len(l.Feeds), l.Problems, err)
	}
	deep := "<opml>" + strings.Repeat("<outline text='f'>", 100_000) + "<outline xmlUrl='https://example.com/'/>" +
		strings.Repeat("</outline>", 100_000-1) + "<outline xmlUrl='https://example.com/2'/></opml>"
	l, err = opml.Read([]byte(deep))
	if err != nil || len(l.Feeds) != 2 || len(l.Feeds[0].Folder) != opml.MaxDepth || len(l.Feeds[1].Folder) != 1 ||
		l.Problems != nil {
		t.Errorf("deep inside: %d feeds, %v, %v", len(l.Feeds), l.Problems, err)
	}
	for _, endless := range []string{"<!--", "<![CDATA[", "<?", "<outline a='", "<a b=\"<", "<outline ", "&", "<a b=c ",
		"'", "</", "\r"} {
		// A fraction of a second where the time grows with the length, and longer than tests may take where it grows
		// with the square.
		l, err := opml.Read([]byte("<opml>" + strings.Repeat(endless, opml.MaxBytes/len(endless)-8)))
		if err != nil || len(l.Problems) == 0 || len(l.Problems) > opml.MaxEntries {
			t.Errorf("%.20q without end: %d problems, %v", endless, len(l.Problems), err)
		}
	}
}
