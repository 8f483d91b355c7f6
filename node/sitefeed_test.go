package node_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
)

// The addresses of web pages, and of feeds that they name.
const (
	site  feed.URL = "https://site.example/"
	other feed.URL = "https://other.example/"
	first feed.URL = "https://site.example/atom.xml"
	third feed.URL = "https://feeds.example/third"
)

// page has a web page at an address that names these feeds.
func (w *network) page(u feed.URL, names ...feed.URL) *publisher {
	p := w.feed(u)
	p.answer = func(f node.Fetch) node.Fetched {
		if f.ETag == "page" {
			return node.Fetched{Status: courtesy.Unchanged, ETag: f.ETag, Body: f.Body}
		}
		var named []discover.SiteFeed
		for _, name := range names {
			named = append(named, discover.SiteFeed{URL: name, Title: string(name), Type: "application/atom+xml"})
		}
		meant, _ := discover.Meant(named)
		return node.Fetched{Status: courtesy.OK, Names: discover.Text(named), Instead: discover.Lend(u, meant.URL),
			Unusable: true, Err: errors.New("a web page"), ETag: "page", Body: feed.Digest{1}}
	}
	return p
}

// followed are the addresses that the node follows.
func (h *testHost) followed() (urls []feed.URL) {
	for _, s := range h.node.Feeds() {
		urls = append(urls, s.URL)
	}
	return urls
}

func TestPageGivesWayToItsFeed(t *testing.T) {
	w := newNetwork(t)
	w.page(site, first)
	w.publish(first)
	h := w.add(node.Config{})
	yes, policy := true, "fixed:3h"
	h.step(node.Subscribe{Feeds: []feed.URL{site}, Weight: 5, Discreet: &yes, Private: &yes, Policy: &policy})
	w.run(time.Minute)
	if got := h.followed(); !slices.Equal(got, []feed.URL{first}) || w.feed(site).requests != 1 ||
		w.feed(first).requests != 1 {
		t.Fatalf("follows %v after %d requests for the page and %d for the feed", got, w.feed(site).requests,
			w.feed(first).requests)
	}
	s := h.node.Feeds()[0]
	if s.Weight != 5 || !s.Discreet || !s.Private || s.Policy != policy || s.Page != site || s.LastSuccess.IsZero() {
		t.Errorf("the feed is followed as %+v", s)
	}
	if to, known := h.node.Became(site); to != first || known ||
		!slices.Contains(h.notes, node.Note(node.Replaced{Page: site, Feed: first})) {
		t.Errorf("the page became %q, notes %v", to, h.notes)
	}
	// The owner says the page again: it is asked at once, and whole, what it names now.
	h.step(node.Subscribe{Feeds: []feed.URL{site}})
	w.run(time.Minute)
	if got := h.followed(); !slices.Equal(got, []feed.URL{first}) || w.feed(site).requests != 2 {
		t.Errorf("said again: follows %v after %d requests", got, w.feed(site).requests)
	}
	w.run(9 * 24 * time.Hour)
	if w.feed(site).requests != 2 {
		t.Errorf("the page was asked for %d times", w.feed(site).requests)
	}
	// A config file says it at each start.
	h.kill()
	h.start()
	h.step(node.Subscribe{Feeds: []feed.URL{site}, Standing: true})
	w.run(time.Hour)
	if got := h.followed(); !slices.Equal(got, []feed.URL{first}) || w.feed(site).requests != 2 {
		t.Errorf("after a restart: follows %v after %d requests", got, w.feed(site).requests)
	}
}

// An address that waits for its first poll is decided by it, also after a restart.
func TestPageIsFollowedAfterARestart(t *testing.T) {
	w := newNetwork(t)
	w.page(site, first).slow = 10 * time.Second
	w.publish(first)
	h := w.add(node.Config{}, site)
	w.run(5 * time.Second)
	h.kill()
	w.run(time.Hour)
	h.start()
	w.run(time.Hour)
	if got := h.followed(); !slices.Equal(got, []feed.URL{first}) {
		t.Errorf("follows %v", got)
	}
}

// How much of a page is to be unread is meant of the feed in its place, also where its owner chooses that later.
func TestBacklogOfAPage(t *testing.T) {
	w := newNetwork(t)
	w.page(site, first)
	w.publish(first)
	w.page(other, first, third)
	w.publish(third)
	h := w.add(node.Config{})
	h.step(node.Subscribe{Feeds: []feed.URL{site, other}, Backlog: 7, BacklogOf: 2})
	w.run(time.Hour)
	h.step(node.Subscribe{Feeds: []feed.URL{third}})
	w.run(time.Minute)
	for _, u := range []feed.URL{first, third} {
		if f := h.store.LoadFeed(u); !f.Subscribed || f.Backlog != 7 || f.BacklogOf != 2 {
			t.Errorf("of %s, followed: %v, %s is unread to %d", u, f.Subscribed, f.Backlog, f.BacklogOf)
		}
	}
	h.step(node.Unsubscribe{Feeds: []feed.URL{first}})
	h.step(node.Subscribe{Feeds: []feed.URL{first}})
	if f := h.store.LoadFeed(first); f.Backlog != archive.UsualBacklog || f.BacklogOf != 0 {
		t.Errorf("followed again %s is unread, as nobody said", f.Backlog)
	}
}

// How much of a feed is unread to whom says who chose it first, before its first poll; they alone choose again.
func TestWhoChoseABacklogFirst(t *testing.T) {
	_, h := newAlone(t, node.Config{})
	h.start()
	for i, c := range []struct {
		of   int64
		says archive.Backlog
		want archive.Backlog
	}{{0, 7, 7}, {2, 3, 7}, {1, 5, 5}, {2, archive.UsualBacklog, 5}, {3, 1, 5}} {
		h.step(node.Subscribe{Feeds: []feed.URL{site}, Backlog: c.says, BacklogOf: c.of})
		if f := h.store.LoadFeed(site); f.Backlog != c.want || f.BacklogOf > 1 {
			t.Errorf("after wish %d %s is unread to %d, want %s to the owner", i, f.Backlog, f.BacklogOf, c.want)
		}
	}
}

// A page that was for the owner alone makes its feed private, and lends its password to its own origin only.
func TestSecretPages(t *testing.T) {
	w := newNetwork(t)
	const mine, members feed.URL = "https://ann:pw@site.example/", "https://site.example/?token=1"
	w.page(mine, first)
	w.page(members, third)
	w.publish(third)
	h := w.add(node.Config{}, mine, members)
	w.run(time.Minute)
	if got := h.followed(); !slices.Equal(got, []feed.URL{"https://ann:pw@site.example/atom.xml", third}) {
		t.Fatalf("follows %v", got)
	}
	for _, s := range h.node.Feeds() {
		if !s.Private {
			t.Errorf("%s is not private", s.URL)
		}
	}
}

// Nobody sends the node from page to page.
func TestPagesLeadNoFurther(t *testing.T) {
	w := newNetwork(t)
	w.page(site, other)
	w.page(other, third)
	w.publish(third)
	h := w.add(node.Config{}, site)
	w.run(6 * 24 * time.Hour)
	if got := h.followed(); !slices.Equal(got, []feed.URL{other}) || w.feed(third).requests != 0 ||
		w.feed(other).requests > 12 {
		t.Errorf("follows %v after %d requests for the other page, %d for its feed", got, w.feed(other).requests,
			w.feed(third).requests)
	}
}

// A page that names several feeds waits for its owner, and is asked for no more.
func TestPageWaitsForItsOwner(t *testing.T) {
	w := newNetwork(t)
	w.page(site, first, third)
	w.publish(third)
	h := w.add(node.Config{}, site)
	w.run(7 * 24 * time.Hour)
	if offer := h.node.Offering(h.id); len(offer) > 0 {
		t.Errorf("neighbors are told that the page is a feed: %v", offer)
	}
	h.kill()
	h.start()
	w.run(7 * 24 * time.Hour)
	s := h.node.Feeds()[0]
	if len(s.Names) != 2 || s.Names[1].URL != third || !s.WebPage || !s.Ended || w.feed(site).requests != 1 {
		t.Fatalf("after %d requests the page is %+v", w.feed(site).requests, s)
	}
	if s := h.node.Status(); s.Pages != 1 || s.Ended != 0 {
		t.Errorf("counts %d pages to choose from and %d feeds that ended", s.Pages, s.Ended)
	}
	h.step(node.Subscribe{Feeds: []feed.URL{third}})
	w.run(time.Minute)
	if to, known := h.node.Became(site); !slices.Equal(h.followed(), []feed.URL{third}) || to != third || !known {
		t.Errorf("after the choice it follows %v", h.followed())
	}
	// Another time it names one of them only.
	w.page(site, first)
	w.publish(first)
	h.step(node.Subscribe{Feeds: []feed.URL{site}})
	w.run(time.Minute)
	if got := h.followed(); !slices.Equal(got, []feed.URL{third, first}) {
		t.Errorf("the page that names one follows %v", got)
	}
}

// A page that names nothing may become a feed, for a week; it is asked for ever more rarely, and then no more.
func TestPageWithoutFeeds(t *testing.T) {
	w := newNetwork(t)
	w.page(site)
	w.page(other)
	w.publish(other)
	h := w.add(node.Config{}, site, other)
	w.run(3 * 24 * time.Hour)
	for _, s := range h.node.Feeds() {
		if !s.WebPage || s.Ended || s.Errors < 2 {
			t.Errorf("what is a page still, by a 304, is %+v", s)
		}
	}
	if offer := h.node.Offering(h.id); len(offer) > 0 {
		t.Errorf("neighbors are told that pages are feeds: %v", offer)
	}
	w.feed(other).answer = nil // the network let nobody through
	w.run(6 * 24 * time.Hour)
	before := w.feed(site).requests
	w.run(20 * 24 * time.Hour)
	feeds := h.node.Feeds()
	if s := feeds[1]; s.URL != site || !s.Ended || !s.WebPage || len(s.Names) != 0 || w.feed(site).requests != before ||
		before > 14 {
		t.Errorf("after %d and then %d requests the page is %+v", before, w.feed(site).requests-before, s)
	}
	if s := feeds[0]; s.Ended || s.WebPage || s.LastError != "" || s.LastSuccess.IsZero() {
		t.Errorf("what became a feed is %+v", s)
	}
	// Said again, it is asked anew, and whole.
	w.page(site, first)
	h.step(node.Subscribe{Feeds: []feed.URL{site}})
	w.run(time.Minute)
	if got := h.followed(); !slices.Contains(got, first) || slices.Contains(got, site) {
		t.Errorf("follows %v", got)
	}
}

// A page in place of a feed that was read before may be anybody's.
func TestPageInPlaceOfAFeed(t *testing.T) {
	w := newNetwork(t)
	w.publish(site)
	h := w.add(node.Config{}, site)
	w.run(time.Minute)
	w.page(site, third)
	w.publish(third)
	w.run(30 * 24 * time.Hour)
	if s := h.node.Feeds()[0]; s.URL != site || s.Ended || s.Errors == 0 || w.feed(third).requests != 0 {
		t.Errorf("the feed is %+v", s)
	}
	// Nor is it the end of one that its owner followed before, and follows again.
	w.page(site)
	h.step(node.Unsubscribe{Feeds: []feed.URL{site}})
	h.step(node.Subscribe{Feeds: []feed.URL{site}})
	w.run(30 * 24 * time.Hour)
	w.feed(site).answer = nil
	w.run(2 * 24 * time.Hour)
	if s := h.node.Feeds()[0]; s.Ended || s.Errors != 0 || s.WebPage {
		t.Errorf("followed again the feed is %+v", s)
	}
}

// An owner's earlier choices about a feed are theirs to change, not a page's.
func TestPageNamesWhatIsFollowed(t *testing.T) {
	w := newNetwork(t)
	w.page(site, first)
	w.publish(first)
	h := w.add(node.Config{})
	h.step(node.Subscribe{Feeds: []feed.URL{first}, Weight: 7})
	w.run(time.Minute)
	h.step(node.Subscribe{Feeds: []feed.URL{site}})
	w.run(time.Minute)
	if s := h.node.Feeds(); len(s) != 1 || s[0].Weight != 7 || s[0].Page != site {
		t.Errorf("follows %+v", s)
	}
	if to, known := h.node.Became(site); to != first || !known {
		t.Errorf("the page became %q, known before: %v", to, known)
	}
	kept := h.store.LoadFeeds()
	if i := slices.IndexFunc(kept, func(f archive.Feed) bool { return f.URL == site }); i < 0 || kept[i].Subscribed {
		t.Errorf("keeps %+v", kept)
	}
}
