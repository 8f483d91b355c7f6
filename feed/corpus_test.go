package feed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
)

// corpus is a folder of feed documents that nobody here wrote, with what the test suites they come from say about them.
// It is no part of the project: FEEDEX_MATERIAL names the folder that has it, where it is at hand.
func corpus(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FEEDEX_MATERIAL")
	if folder == "" {
		t.Skip("FEEDEX_MATERIAL names no folder with a corpus of feed documents")
	}
	return filepath.Join(folder, "corpus")
}

// corpusURL is where the documents are taken to have been fetched from.
const corpusURL URL = "http://feeds.example.com/dir/feed.xml"

var corpusTime = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, v := range row {
			m[rows[0][i]] = v
		}
		out = append(out, m)
	}
	return out
}

func parseCorpus(t *testing.T, file string) (*Document, error) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(corpus(t), filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(corpusURL, "", body, corpusTime)
}

// TestCorpusDocuments parses every document. Few may be refused: those that break off, that are web
// pages, or that are JSON of another kind. Entries may be fewer than items, where items share an id.
func TestCorpusDocuments(t *testing.T) {
	t.Parallel()
	const maxRefused, minEntries, minFormats = 5, 0.99, 0.97
	refused, entries, items, named, same := 0, 0, 0, 0, 0
	byFormat := map[string][2]int{}
	for _, row := range table(t, "manifest.csv") {
		doc, err := parseCorpus(t, row["file"])
		if err != nil {
			refused++
			t.Logf("%s: %v", row["file"], err)
			continue
		}
		n, _ := strconv.Atoi(row["items"])
		items += n
		entries += min(len(doc.Entries), n)
		if versions.MatchString(row["format"][strings.LastIndexByte(row["format"], ' ')+1:]) {
			named++
			if strings.EqualFold(strings.ReplaceAll(doc.Format, " Feed", "Feed"), row["format"]) {
				same++
			}
		}
		f := byFormat[row["format"]]
		byFormat[row["format"]] = [2]int{f[0] + min(len(doc.Entries), n), f[1] + n}
	}
	for _, format := range slices.Sorted(maps.Keys(byFormat)) {
		t.Logf("%-18s %d entries of %d items", format, byFormat[format][0], byFormat[format][1])
	}
	if float64(same) < minFormats*float64(named) || named == 0 {
		t.Errorf("%d of %d documents are in the format that they say", same, named)
	}
	rate := float64(entries) / float64(items)
	t.Logf("%d refused, %d entries of %d items (%.2f%%)", refused, entries, items, 100*rate)
	if refused > maxRefused || rate < minEntries {
		t.Errorf("want at most %d refused, and %.1f%% of the items", maxRefused, 100*minEntries)
	}
}

// TestCorpusDates compares parseDate with gofeed on every date in the corpus that both can read.
func TestCorpusDates(t *testing.T) {
	t.Parallel()
	reader := gofeed.NewParser()
	reader.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	compared := 0
	compare := func(file, written string, parsed *time.Time) {
		ours, ok := parseDate(written)
		if !ok || parsed == nil {
			return
		}
		compared++
		if ours.Unix() != parsed.Unix() {
			t.Errorf("%s: %q is %v, gofeed says %v", file, written, ours, parsed.UTC())
		}
	}
	for _, row := range table(t, "manifest.csv") {
		body, err := os.ReadFile(filepath.Join(corpus(t), filepath.FromSlash(row["file"])))
		if err != nil {
			t.Fatal(err)
		}
		f, err := reader.Parse(bytes.NewReader(body))
		if err != nil {
			continue
		}
		for _, item := range f.Items {
			compare(row["file"], item.Published, item.PublishedParsed)
			compare(row["file"], item.Updated, item.UpdatedParsed)
		}
	}
	if t.Logf("%d dates", compared); compared < 1000 {
		t.Error("too few dates to compare")
	}
}

var step = regexp.MustCompile(`^(?:items|entries)\[(\d+)\]\.(.+)$`)

// claimed is our answer where a suite makes the claim; ok is false where the claim is about something that a Document
// does not hold.
func claimed(doc *Document, row map[string]string) (got string, ok bool) {
	path := row["path"]
	m := step.FindStringSubmatch(path)
	if m == nil {
		switch path {
		case "title":
			return doc.Title, true
		case "link":
			return doc.Link, true
		case "len(items)", "len(entries)":
			return strconv.Itoa(len(doc.Entries)), true
		}
		return "", false
	}
	i, _ := strconv.Atoi(m[1])
	if i >= len(doc.Entries) {
		return "no such entry", true
	}
	e := &doc.Entries[i]
	switch m[2] {
	case "title":
		return e.Title, true
	case "link", "url":
		return e.Link, true
	case "id", "guid", "guid.value":
		return e.ID, true
	case "isoDate", "pubDate", "publishedParsed", "pubDateParsed", "published", "date_published":
		if e.Published.IsZero() { // an Atom entry may have but the other
			return e.Updated.Format(time.RFC3339), true
		}
		return e.Published.Format(time.RFC3339), true
	case "updatedParsed", "updated":
		return e.Updated.Format(time.RFC3339), true
	}
	return "", false
}

// agrees compares apart from what is a matter of taste: blanks, relative links, forms of a date.
func agrees(row map[string]string, got string) bool {
	want := row["expected"]
	if got == want || strings.Join(strings.Fields(got), " ") == strings.Join(strings.Fields(want), " ") {
		return true
	}
	var unquoted string
	if json.Unmarshal([]byte(want), &unquoted) == nil && unquoted == got {
		return true
	}
	if row["topic"] == "date" {
		if t, ok := parseDate(want); ok {
			return t.UTC().Format(time.RFC3339) == got
		}
	}
	if row["topic"] == "link" {
		base, err := url.Parse(string(corpusURL))
		b := builder{base: base}
		return err == nil && b.link(want) == got
	}
	return false
}

// minAgreement is the share of the suites' claims that we fulfil; it may rise, not fall. The rest was looked at: titles
// whose relative links the suite wants resolved (a title leads nowhere), ids that several entries share or that are the
// site's address (they are none, see unite), dc:date as the date of an update too (it is the only date), an id resolved
// like a link (RFC 4287 §4.2.6.1 compares letters), and letters that the suite's parser lost (we find the encoding).
const minAgreement = 0.986

func TestCorpusClaims(t *testing.T) {
	t.Parallel()
	docs := map[string]*Document{}
	total, agreed := map[string]int{}, map[string]int{}
	for _, row := range table(t, "expectations.csv") {
		doc, seen := docs[row["file"]]
		if !seen {
			doc, _ = parseCorpus(t, row["file"])
			docs[row["file"]] = doc
		}
		if doc == nil {
			doc = &Document{}
		}
		got, ok := claimed(doc, row)
		if !ok {
			continue
		}
		for _, topic := range []string{row["topic"], "all"} {
			total[topic]++
			if agrees(row, got) {
				agreed[topic]++
			}
		}
		if !agrees(row, got) {
			t.Logf("%s: %s %s = %q, we say %q", row["file"], row["suite"], row["path"], row["expected"], got)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(total)) {
		t.Logf("%-10s %d of %d", topic, agreed[topic], total[topic])
	}
	if rate := float64(agreed["all"]) / float64(total["all"]); rate < minAgreement {
		t.Errorf("agreement is %.2f%%, want %.1f%%", 100*rate, 100*minAgreement)
	}
}
