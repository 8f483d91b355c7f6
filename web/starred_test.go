package web_test

import (
	"strings"
	"testing"
	"time"

	"feedex/node"
	"feedex/protocol"
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
