package web_test

import (
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// The page has what weighs anything, what weighs most first; how many starred an entry stands beside it wherever it is.
func TestStarred(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	titles := []string{"Pushed by four", "Second choice", "First choice"}
	first := len(n.entries)
	for _, title := range titles {
		n.add(newsURL, title, "<p>text</p>", noon.Add(-time.Hour), protocol.NodeID{})
	}
	entry := func(i, votes, weight int) node.StarredEntry {
		return node.StarredEntry{Feed: newsURL, Entry: n.entries[first+i].ID, Votes: votes, Weight: weight}
	}
	n.starred = []node.StarredEntry{entry(2, 2, 400), entry(1, 3, 300), entry(0, 4, 0)}
	w := get(b.h, "/starred", "Cookie", b.cookie)
	text := w.Body.String()
	wantSound(t, "/starred", w)
	one, two := strings.Index(text, titles[2]), strings.Index(text, titles[1])
	if one < 0 || two < one || strings.Contains(text, titles[0]) {
		t.Errorf("the page is not of %q and %q alone, in this order:\n%s", titles[2], titles[1], text)
	}
	text = get(b.h, "/entries", "Cookie", b.cookie).Body.String()
	if !strings.Contains(text, "starred by 4 of your neighbors") {
		t.Errorf("the list does not say how many starred an entry:\n%s", text)
	}
}

// With what neighbors labelled an entry is said of words that two networks use, or the person.
func TestLabelsOfNeighbors(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	n.add(newsURL, "Soup", "<p>text</p>", noon.Add(-time.Hour), protocol.NodeID{})
	id := n.entries[len(n.entries)-1].ID
	said := node.StarredEntry{Feed: newsURL, Entry: id, Votes: 1, Labels: []node.LabelVotes{
		{Name: "rec<b>ipes", Votes: 3}, {Name: "soups", Votes: 2}, {Name: "buy here", Votes: 1},
		{Name: "mine", Votes: 1}}}
	n.starred = []node.StarredEntry{said}
	want := func(text string) {
		t.Helper()
		for _, path := range []string{"/entries", "/entries/" + id.String()} {
			if page := get(b.h, path, "Cookie", b.cookie).Body.String(); !strings.Contains(page, text) ||
				strings.Contains(page, "buy here") {
				t.Errorf("%s has no %q:\n%s", path, text, page)
			}
		}
	}
	want("★ starred by 1 neighbor, labelled “rec")
	want("by 3 of your neighbors, labelled “soups” by 2 of your neighbors</span>")
	n.labels = []reading.Label{{ID: 1, Name: "mine"}}
	want("labelled “soups” by 2 of your neighbors, labelled “mine” by 1 neighbor</span>")

	const told = "Neighbors who share their stars of the feed hear of it"
	path := "/entries/" + id.String()
	if page := get(b.h, path, "Cookie", b.cookie).Body.String(); strings.Contains(page, told) {
		t.Error("the form says that labels are told, which they are not")
	}
	known := n.known[1]
	known.Sharing = archive.SharesLabels
	n.known[1] = known
	if page := get(b.h, path, "Cookie", b.cookie).Body.String(); !strings.Contains(page, told) {
		t.Errorf("the form does not say that labels are told:\n%s", page)
	}
}
