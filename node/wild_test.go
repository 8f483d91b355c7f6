package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// Tests of the effects of documents in the wild on a node: two feeds, one guid; one feed, two URLs; dates that move; a
// web page in place of a feed.

// read has the node poll the feed and find the document that body is.
func (h *testHost) read(u feed.URL, body string) {
	h.net.t.Helper()
	s := h.node.Subscription(u)
	s.Polling, s.Begun = true, h.net.Now()
	doc, err := feed.Parse(u, "", []byte(body), h.net.Now())
	h.step(node.Fetched{Feed: u, Document: doc, Err: err})
}

// follower is a node by itself that follows the feeds, an hour after it began to.
func follower(t *testing.T, feeds ...feed.URL) (*network, *testHost) {
	w, h := newAlone(t, node.Config{})
	h.step(node.Subscribe{Feeds: feeds}) // where there is nothing: tests bring the documents
	w.run(time.Hour)
	return w, h
}

// channel is an RSS document of items, each a guid, a title, a text and a date.
func channel(items ...[4]string) string {
	s := "<rss version='2.0'><channel><title>News</title><link>http://example.com/</link>"
	for _, i := range items {
		s += fmt.Sprintf("<item><guid isPermaLink='false'>%s</guid><title>%s</title><description>%s</description>"+
			"<pubDate>%s</pubDate></item>",
			i[0], i[1], i[2], i[3])
	}
	return s + "</channel></rss>"
}

// arrivals counts the entries that the node told of as new.
func (h *testHost) arrivals() (n int) {
	for _, note := range h.notes {
		if a, ok := note.(node.Arrived); ok {
			n += len(a.Records)
		}
	}
	return n
}

// kept are the versions of these entries of the feed that the node keeps, by guid, with their dates.
func (h *testHost) kept(u feed.URL, guid string) feed.Entry {
	return h.record((&feed.Entry{Feed: u, ID: guid}).EntryID()).Entry
}

func TestTwoFeedsWithTheSameGUID(t *testing.T) {
	const blog feed.URL = "http://blog.example/feed"
	_, h := follower(t, news, blog)
	h.read(news, channel([4]string{"1", "In the news", "a", ""}))
	h.read(blog, channel([4]string{"1", "In the blog", "b", ""}))
	if a, b := h.kept(news, "1"), h.kept(blog, "1"); a.Title != "In the news" || b.Title != "In the blog" {
		t.Errorf("kept %q and %q", a.Title, b.Title)
	}
	if n := h.arrivals(); n != 2 {
		t.Errorf("%d entries arrived", n)
	}
}

// A feed is its URL (Paper §3): at another URL it is another feed, whose entries are its own, though their
// text is the same.
func TestOneFeedAtTwoURLs(t *testing.T) {
	const mirror feed.URL = "http://mirror.example/news"
	_, h := follower(t, news, mirror)
	body := channel([4]string{"1", "In the news", "a", "Thu, 01 Jan 2026 00:00:00 GMT"})
	h.read(news, body)
	h.read(mirror, body)
	a, b := h.kept(news, "1"), h.kept(mirror, "1")
	if a.Digest() != b.Digest() || a.EntryID() == b.EntryID() {
		t.Errorf("digests %s and %s of the same text, ids %s and %s", a.Digest(), b.Digest(), a.EntryID(), b.EntryID())
	}
	h.step(node.Unsubscribe{Feeds: []feed.URL{mirror}})
	h.read(news, channel([4]string{"1", "In the news", "edited", "Thu, 01 Jan 2026 00:00:00 GMT"}))
	if a, b := h.kept(news, "1"), h.kept(mirror, "1"); a.Summary != "edited" || b.Summary != "a" {
		t.Errorf("after an edit at one URL the texts are %q and %q", a.Summary, b.Summary)
	}
}

func TestAnEditedEntryIsARevision(t *testing.T) {
	_, h := follower(t, news)
	const date = "Thu, 01 Jan 2026 00:00:00 GMT"
	h.read(news, channel([4]string{"1", "A title", "a text", date}, [4]string{"2", "Another", "b", date}))
	before := h.record((&feed.Entry{Feed: news, ID: "1"}).EntryID())
	h.read(news, channel([4]string{"1", "A better title", "a longer text", date}, [4]string{"2", "Another", "b", date}))
	after := h.record(before.ID)
	if after.Entry.Title != "A better title" || after.Entry.Summary != "a longer text" || after.Seq != before.Seq ||
		!after.Seen.Equal(before.Seen) {
		t.Errorf("kept %+v, before the edit %+v", after, before)
	}
	if n := h.arrivals(); n != 2 {
		t.Errorf("%d entries arrived, of which one was edited", n)
	}
}

// rfc1123 is a date in RSS.
func rfc1123(t time.Time) string { return t.UTC().Format(time.RFC1123Z) }

// Dates that move with every fetch make no revisions, whatever their habit; what else changes does, and
// keeps the first date of publication.
func TestDatesThatMove(t *testing.T) {
	for name, dates := range map[string]func(fetch time.Time, item int) string{
		"the fetch": func(fetch time.Time, _ int) string { return rfc1123(fetch) },
		"minutes apart": func(fetch time.Time,
			item int) string {
			return rfc1123(fetch.Add(-time.Duration(item) * time.Minute))
		},
		"forward by the clock": func(fetch time.Time, item int) string {
			return rfc1123(fetch.Add(-time.Duration(item+1) * 30 * time.Hour))
		},
		"without one now and then": func(fetch time.Time, item int) string {
			if fetch.Hour()%2 == item%2 {
				return ""
			}
			return "Thu, 01 Jan 2026 00:00:00 GMT"
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, h := follower(t, news)
			document := func(text string) string {
				var items [][4]string
				for i := range 4 {
					items = append(items, [4]string{fmt.Sprint(i), fmt.Sprint("Item ", i), text, dates(w.Now(), i)})
				}
				return channel(items...)
			}
			h.read(news, document("text"))
			w.run(time.Hour) // the first date may come later than the entry
			h.read(news, document("text"))
			first := h.kept(news, "1")
			for range 5 {
				w.run(time.Hour)
				h.read(news, document("text"))
				if e := h.kept(news, "1"); !e.Equal(&first) {
					t.Errorf("at %v the entry became %+v, it was %+v", w.Now(), e, first)
				}
			}
			h.read(news, document("edited"))
			if e := h.kept(news, "1"); e.Summary != "edited" || !e.Published.Equal(first.Published) {
				t.Errorf("the edit is %+v, the entry was %+v", e, first)
			}
			if n := h.arrivals(); n != 4 {
				t.Errorf("%d entries arrived", n)
			}
		})
	}
}

// An earlier date of publication is a correction, a later one is not; the date of a change counts where
// something changed.
func TestWhichDatesCount(t *testing.T) {
	w, e := editors(t, 1, node.Config{})
	h, p := w.list[0], w.feeds[news]
	date := func(published, updated time.Time) feed.Entry {
		p.entries[0].Published, p.entries[0].Updated = published, updated
		p.edits++
		h.poll(news)
		return h.record(e.EntryID()).Entry
	}
	if got := date(e.Published.Add(time.Minute), e.Updated.Add(time.Hour)); !got.Equal(&e) {
		t.Errorf("dates alone, later ones: kept %+v", got)
	}
	earlier := e.Published.Add(-time.Hour)
	if got := date(earlier, e.Updated); !got.Published.Equal(earlier) {
		t.Errorf("a correction: published %v, want %v", got.Published, earlier)
	}
	w.edit("another text", true)
	h.poll(news)
	if got := h.record(e.EntryID()).Entry; !got.Updated.Equal(w.Now().Truncate(time.Second)) ||
		got.Summary != "another text" {
		t.Errorf("an edit: kept %+v", got)
	}
}

// A neighbor polled at another moment, so its version of a feed whose dates move has other dates. It is no
// revision, is not set aside and is nothing to be suspected of.
func TestANeighborsDatesThatMove(t *testing.T) {
	w, e := editors(t, 2, node.Config{})
	a, b := w.list[0], w.list[1]
	other := e
	other.Published, other.Updated = e.Published.Add(time.Minute), e.Updated.Add(time.Hour)
	a.put(b, bundleWith(other))
	if a.node.SetAside() != 0 {
		t.Errorf("%d versions are set aside", a.node.SetAside())
	}
	w.run(3 * time.Hour)
	a.poll(news)
	if got := a.record(e.EntryID()).Entry; !got.Equal(&e) || a.suspects(b.id) != 0 {
		t.Errorf("kept %+v, %d suspicions", got, a.suspects(b.id))
	}
}

// A web page, or half a document, in place of a feed: the owner is told what is wrong and where, and what
// was there stays, validators included.
func TestWhatIsNoFeedChangesNothing(t *testing.T) {
	_, h := follower(t, news)
	h.read(news, channel([4]string{"1", "A title", "a text", ""}))
	s := h.node.Subscription(news)
	s.ETag, s.Title = `"good"`, "News"
	for body, reason := range map[string]string{
		"<!DOCTYPE html>\n<html><body>Log in to the network</body></html>": "document is a web page, not a feed",
		channel([4]string{"1", "A title", "a t", ""})[:150]:                "document ends inside",
		"": "document is empty",
	} {
		h.read(news, body)
		if got := h.node.Feeds()[0].LastError; !strings.Contains(got, reason) {
			t.Errorf("the owner is told %q, want %q", got, reason)
		}
		if e := h.kept(news, "1"); e.Summary != "a text" || s.ETag != `"good"` || s.Title != "News" ||
			len(s.LastListed) != 1 {
			t.Errorf("after %q: kept %+v, ETag %s, title %s, %d entries listed", reason, e, s.ETag, s.Title,
				len(s.LastListed))
		}
	}
	h.read(news, channel([4]string{"1", "A title", "a text", ""}, [4]string{"2", "Another", "b", ""}))
	if got := h.node.Feeds()[0]; got.LastError != "" || h.arrivals() != 2 {
		t.Errorf("once it is a feed again the owner is told %q, %d entries arrived", got.LastError, h.arrivals())
	}
}
