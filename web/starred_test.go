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
	for _, path := range []string{"/entries", "/feeds/1"} {
		text := get(b.h, path, "Cookie", b.cookie).Body.String()
		if !strings.Contains(text, "starred by 4 of your neighbors") {
			t.Errorf("%s does not say how many starred an entry:\n%s", path, text)
		}
	}
}

// With what neighbors labelled an entry is said of words that two networks use, or the person, each apart from what the
// page says: none can say more than it is. Of names that nobody here could give nothing is said.
func TestLabelsOfNeighbors(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	n.add(newsURL, "Soup", "<p>text</p>", noon.Add(-time.Hour), protocol.NodeID{})
	id := n.entries[len(n.entries)-1].ID
	n.starred = []node.StarredEntry{{Feed: newsURL, Entry: id, Votes: 1, Labels: []node.LabelVotes{
		{Name: "unseen<b>", Votes: 4}, {Name: "un\u200bseen", Votes: 4}, {Name: "unseen\u202e", Votes: 4},
		{Name: "x” by 9 neighbors", Votes: 3}, {Name: "soups", Votes: 2}, {Name: "unseen", Votes: 1},
		{Name: "mine", Votes: 1}}}}
	want := func(text string) {
		t.Helper()
		for _, path := range []string{"/entries", "/entries/" + id.String()} {
			if page := get(b.h, path, "Cookie", b.cookie).Body.String(); !strings.Contains(page, text) ||
				strings.Contains(page, "unseen") || strings.Contains(page, "seen</bdi>") {
				t.Errorf("%s has no %q:\n%s", path, text, page)
			}
		}
	}
	label := func(name, by string) string {
		return `<span class="said">labelled <bdi class="tag">` + name + "</bdi> by " + by + "</span>"
	}
	all := `<span class="stars">★ starred by 1 neighbor</span>` +
		label("x” by 9 neighbors", "3 of your neighbors") + label("soups", "2 of your neighbors")
	want(all)
	n.labels = []reading.Label{{ID: 1, Name: "mine"}}
	want(all + label("mine", "1 neighbor"))

	known := n.known[1]
	for _, tc := range []struct {
		name   string
		change func(f *archive.Feed)
		told   bool
	}{
		{"stars are shared", func(f *archive.Feed) { f.Sharing = archive.SharesStars }, false},
		{"labels are shared", func(*archive.Feed) {}, true},
		{"it is followed discreetly", func(f *archive.Feed) { f.Discreet = true }, false},
		{"its owner keeps it", func(f *archive.Feed) { f.Withheld = true }, false},
		{"its publisher wants it kept", func(f *archive.Feed) { f.Private = true }, false},
		{"it is followed no more", func(f *archive.Feed) { f.Subscribed = false }, false},
	} {
		k := known
		k.Subscribed, k.Sharing = true, archive.SharesLabels
		tc.change(&k.Feed)
		n.known[1] = k
		const told = "Neighbors who share their stars of the feed hear of it"
		page := get(b.h, "/entries/"+id.String(), "Cookie", b.cookie).Body.String()
		if strings.Contains(page, told) != tc.told {
			t.Errorf("%s, and the form says otherwise:\n%s", tc.name, page)
		}
	}
}
