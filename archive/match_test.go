package archive

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// The meaning of words is tested for every archive in archivetest; here is the part that only a Matcher shows.
func TestMatcher(t *testing.T) {
	seen := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dated := NewRecord(feed.Entry{Feed: "https://example.org/", Title: "apple pie", Published: seen.Add(-time.Hour)},
		seen, protocol.NodeID{})
	undated := NewRecord(feed.Entry{Feed: "https://example.org/", Title: "plum"}, seen, protocol.NodeID{})
	for _, c := range []struct {
		filter         feed.Filter
		dated, undated bool
	}{
		{feed.Filter{}, true, true},
		{feed.Filter{Since: seen}, false, true},
		{feed.Filter{Until: seen}, true, false},
		{feed.Filter{Feed: "https://example.com/"}, false, false},
		{feed.Filter{IDs: []feed.EntryID{{1}, dated.ID}}, true, false},
		{feed.Filter{Words: []string{"p*"}}, true, true},
		{feed.Filter{Words: []string{"apple"}, Title: []string{"pie"}}, true, false},
		{feed.Filter{Shareable: true}, true, true},
	} {
		m := NewMatcher(c.filter)
		if m.Match(&dated) != c.dated || m.Match(&undated) != c.undated {
			t.Errorf("%+v matches the dated: %v, the undated: %v", c.filter, m.Match(&dated), m.Match(&undated))
		}
	}
	if got := NewMatcher(feed.Filter{}).Limit(); got != feed.DefaultLimit {
		t.Errorf("Limit = %d, want %d", got, feed.DefaultLimit)
	}
	if got := NewMatcher(feed.Filter{Limit: 7}).Limit(); got != 7 {
		t.Errorf("Limit = %d, want 7", got)
	}
}

func BenchmarkMatch(b *testing.B) {
	text := "<p>It was the best of times, it was the worst of times, it was the age of wisdom &amp; of café.</p>"
	for len(text) < 600 {
		text += text
	}
	r := NewRecord(feed.Entry{Title: "A tale", Summary: text}, time.Time{}, protocol.NodeID{})
	m := NewMatcher(feed.Filter{Words: []string{"nowhere"}})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Match(&r)
	}
}
