package opml_test

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/opml"
)

func TestWrite(t *testing.T) {
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
<head>
<title>Ann &amp; Bo</title>
<dateCreated>Sun, 01 Mar 2026 12:00:00 GMT</dateCreated>
</head>
<body>
<outline type="rss" text="Loose &lt;b&gt;" title="Loose &lt;b&gt;" xmlUrl="https://example.com/?a=1&amp;b=2" htmlUrl="https://example.com/"/>
<outline text="A">
  <outline type="rss" text="https://example.com/1" title="https://example.com/1" xmlUrl="https://example.com/1"/>
  <outline text="B">
    <outline type="rss" text="Two" title="Two" xmlUrl="https://example.com/2"/>
  </outline>
</outline>
<outline text="B">
  <outline type="rss" text="Three" title="Three" xmlUrl="https://example.com/3"/>
</outline>
</body>
</opml>
`
	var b bytes.Buffer
	err := opml.Write(&b, opml.List{Title: "Ann &\nBo", Feeds: []opml.Outline{
		{URL: "https://example.com/3", Title: "Three", Folder: []string{"B"}},
		{URL: "https://example.com/1", Folder: []string{"A", " "}},
		{URL: "https://example.com/?a=1&b=2", Title: "Loose <b>\x00", Site: "https://example.com/"},
		{URL: "https://example.com/2", Title: "Two", Folder: []string{"A", "B"}},
	}}, time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)))
	if err != nil || b.String() != want {
		t.Errorf("%v, written as\n%s", err, b.String())
	}
	if err := opml.Write(broken{}, opml.List{}, time.Time{}); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// A list that is written is well-formed, and is read again as it was.
func TestRoundTrip(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(strings.Fields(feed.Clean(rapid.String().Draw(t, "text"))), " ")
	})
	name := rapid.Custom(func(t *rapid.T) string { return "f" + text.Draw(t, "name") })
	entry := rapid.Custom(func(t *rapid.T) opml.Outline {
		f := opml.Outline{Title: text.Draw(t, "title"), Site: text.Draw(t, "site"),
			Folder: rapid.SliceOfN(name, 0, 3).Draw(t, "folder")}
		raw := "https://example.com/" + rapid.StringMatching(`[a-z]{0,4}(\?[a-z&=;%]{0,8})?`).Draw(t, "path")
		u, err := feed.ParseURL(raw)
		if err != nil {
			t.Skipf("%q is no URL of a feed: %v", raw, err)
		}
		f.URL = u
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		want := opml.List{Title: text.Draw(t, "list"), Feeds: rapid.SliceOf(entry).Draw(t, "feeds")}
		var b bytes.Buffer
		if err := opml.Write(&b, want, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
			t.Fatalf("%v:\n%s", err, b.String())
		}
		got, err := opml.Read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Feeds {
			if got.Feeds[i].Line == 0 {
				t.Fatal("a feed without a line")
			}
			got.Feeds[i].Line = 0
		}
		for _, l := range []*opml.List{&want, &got} {
			slices.SortStableFunc(l.Feeds, func(a, b opml.Outline) int { return slices.Compare(a.Folder, b.Folder) })
			for i := range l.Feeds {
				l.Feeds[i].Folder = slices.Clip(append([]string{}, l.Feeds[i].Folder...))
			}
		}
		if len(got.Feeds)+len(want.Feeds) == 0 {
			got.Feeds, want.Feeds = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v came back as %+v from\n%s", want, got, b.String())
		}
	})
}

// Nothing makes Read fail otherwise than it says, and what it read is what is read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"<opml><body><outline text=a xmlUrl='http://example.com/'>",
		"<opml><outline text='&amp;#1;'><outline xmlurl=\"feed:x", "<?<!--]]>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		l, err := opml.Read(document)
		if err != nil {
			if !errors.Is(err, opml.ErrFormat) && !errors.Is(err, opml.ErrSize) {
				t.Fatal(err)
			}
			return
		}
		line := 0
		for _, p := range l.Problems {
			if line = max(line, p.Line); p.Line < 1 || p.Line < line || p.Reason == "" {
				t.Fatalf("%+v behind line %d", p, line)
			}
		}
		var b bytes.Buffer
		if err := opml.Write(&b, l, time.Time{}); err != nil {
			t.Fatal(err)
		}
		again, err := opml.Read(b.Bytes())
		if err != nil || again.Problems != nil || len(again.Feeds) != len(l.Feeds) || again.Title != l.Title {
			t.Fatalf("%v: %+v became %+v", err, l, again)
		}
		byURL := func(a, b opml.Outline) int { return cmp.Compare(a.URL, b.URL) }
		slices.SortFunc(l.Feeds, byURL)
		slices.SortFunc(again.Feeds, byURL)
		for i := range l.Feeds {
			if l.Feeds[i].URL != again.Feeds[i].URL {
				t.Fatalf("%s became %s", l.Feeds[i].URL, again.Feeds[i].URL)
			}
		}
	})
}
