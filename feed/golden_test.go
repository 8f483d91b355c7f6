package feed_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/feed"
)

var update = flag.Bool("update", false,
	"rewrite the expected results in testdata/feeds; read the difference before committing it")

const feeds = "../testdata/feeds"

// The documents are taken to come from this address at this time.
const goldenURL feed.URL = "http://example.com/blog/feed.xml"

var goldenTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// contentTypes are the Content-Type headers of documents that came with one that matters.
var contentTypes = map[string]string{
	"odd-http-charset.xml": "text/xml; charset=KOI8-R",
}

// A golden is the expected result of one document, laid out to be read.
type golden struct {
	Error       string        `json:"error,omitzero"`
	Title       string        `json:"title,omitzero"`
	Link        string        `json:"link,omitzero"`
	Description string        `json:"description,omitzero"`
	Language    string        `json:"language,omitzero"`
	Format      string        `json:"format,omitzero"`
	Icon        feed.URL      `json:"icon,omitzero"`
	Clients     []string      `json:"clients,omitzero"`
	Private     bool          `json:"private,omitzero"`
	Entries     []goldenEntry `json:"entries,omitzero"`
}

type goldenEntry struct {
	EntryID    string           `json:"entry_id"`
	Digest     string           `json:"digest"`
	ID         string           `json:"id,omitzero"`
	Title      string           `json:"title,omitzero"`
	Link       string           `json:"link,omitzero"`
	Authors    []string         `json:"authors,omitzero"`
	Published  time.Time        `json:"published,omitzero"`
	Updated    time.Time        `json:"updated,omitzero"`
	Summary    string           `json:"summary,omitzero"`
	Content    string           `json:"content,omitzero"`
	Categories []string         `json:"categories,omitzero"`
	Enclosures []feed.Enclosure `json:"enclosures,omitzero"`
	Rights     []string         `json:"rights,omitzero"`
	CopiedFrom feed.Original    `json:"copied_from,omitzero"`
	Extras     goldenExtras     `json:"extras,omitzero"`
}

type goldenExtras struct {
	Duration    string   `json:"duration,omitzero"`
	Image       feed.URL `json:"image,omitzero"`
	Language    string   `json:"language,omitzero"`
	Season      int      `json:"season,omitzero"`
	Episode     int      `json:"episode,omitzero"`
	Chapters    string   `json:"chapters,omitzero"`
	Transcripts string   `json:"transcripts,omitzero"` // each as address, type and language
}

func goldenExtrasOf(x *feed.Extras) goldenExtras {
	g := goldenExtras{Image: x.Image, Language: x.Language, Season: x.Season, Episode: x.Episode}
	if x.Duration > 0 {
		g.Duration = x.Duration.String()
	}
	if c := x.Chapters; c.URL != "" {
		g.Chapters = strings.TrimSpace(string(c.URL) + " " + c.Type)
	}
	for _, c := range x.Transcripts {
		g.Transcripts += strings.Join([]string{string(c.URL), c.Type, c.Language}, " ") + "; "
	}
	return g
}

func goldenOf(doc *feed.Document, err error) golden {
	if err != nil {
		return golden{Error: err.Error()}
	}
	g := golden{Title: doc.Title, Link: doc.Link, Description: doc.Description, Language: doc.Language,
		Format: doc.Format, Icon: doc.Icon, Clients: doc.Clients, Private: doc.Private}
	for _, e := range doc.Entries {
		ge := goldenEntry{EntryID: e.EntryID().String(), Digest: e.Digest().String(), ID: e.ID, Title: e.Title,
			Link: e.Link, Authors: e.Authors, Published: e.Published, Updated: e.Updated, Summary: e.Summary,
			Content: e.Content, Categories: e.Categories, Rights: e.Rights, Enclosures: e.Enclosures,
			CopiedFrom: e.CopiedFrom}
		ge.Extras = goldenExtrasOf(&e.Extras)
		g.Entries = append(g.Entries, ge)
	}
	return g
}

// documents lists testdata/feeds without the expected results.
func documents(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(feeds, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in %s: %v", feeds, err)
	}
	var out []string
	for _, f := range files {
		if !strings.HasSuffix(f, ".want") {
			out = append(out, f)
		}
	}
	return out
}

// TestParse compares each document of testdata/feeds with the result beside it.
func TestParse(t *testing.T) {
	for _, file := range documents(t) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := feed.Parse(goldenURL, contentTypes[name], body, goldenTime)
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(goldenOf(doc, err)); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file+".want", []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got\n%swant\n%s", b.String(), want)
			}
		})
	}
}
