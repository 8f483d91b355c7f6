package filter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// leastListed is how many entries a document of the corpus has to list, as most that list fewer were written to test
// one thing, by hand.
const leastListed = 5

// articles is what feed documents that nobody here wrote are made of. FEEDEX_MATERIAL names the folder that has them.
type articles struct {
	documents, listed []int // bytes and entries of each document
	bytes, words      []int // of each entry, in the document
	entries           []*feed.Entry
}

// corpusArticles reads the documents of leastListed entries or more.
func corpusArticles(tb testing.TB) (a articles) {
	tb.Helper()
	folder := os.Getenv("FEEDEX_MATERIAL")
	if folder == "" {
		tb.Skip("FEEDEX_MATERIAL names no folder with a corpus of feed documents")
	}
	item := regexp.MustCompile(`(?s)<(?:item|entry)[\s>].*?</(?:item|entry)>`)
	err := filepath.WalkDir(filepath.Join(folder, "corpus"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := feed.Parse("http://feeds.example.com/feed.xml", "", body, time.Unix(0, 0))
		if err != nil || len(doc.Entries) < leastListed {
			return nil // no document, as the list of them is none, or one written for a test
		}
		a.documents, a.listed = append(a.documents, len(body)), append(a.listed, len(doc.Entries))
		for _, markup := range item.FindAll(body, -1) {
			a.bytes = append(a.bytes, len(markup))
		}
		for i := range doc.Entries {
			e := &doc.Entries[i]
			if e.Content != "" {
				e.Summary = "" // which it begins with as a rule
			}
			f := archive.FoldFields(e)
			a.entries, a.words = append(a.entries, e), append(a.words, len(strings.Fields(f.Title+f.Text)))
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// TestCorpusSizes is Cobra's Figure 5 of the documents of the corpus, as docs/evaluation/publishing.md has it.
func TestCorpusSizes(t *testing.T) {
	a := corpusArticles(t)
	page, err := os.ReadFile("../docs/evaluation/publishing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		what   string
		values []int
		cobra  string // median and 90th percentile
	}{
		{"size of a document, bytes", a.documents, "7,606 | 22,890"},
		{"size of a document, entries", a.listed, "10 | 17"},
		{"size of an entry, bytes", a.bytes, "768 | 2,426"},
		{"size of an entry, words", a.words, "61 | 637"},
	} {
		slices.Sort(row.values)
		n := len(row.values)
		line := fmt.Sprintf("| %s | %d | %d | %d | %s |", row.what, n, row.values[n/2], row.values[n*9/10], row.cobra)
		if t.Log(line); !strings.Contains(string(page), line+"\n") {
			t.Errorf("the page lacks %q", line)
		}
	}
}
