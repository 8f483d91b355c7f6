package node_test

import (
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// hearsOf reports whether a neighbor of a has heard of a feed from it.
func hearsOf(a, by *testHost, u feed.URL) bool {
	_, ok := by.node.HopsOf(a.id, u)
	return ok
}

// A feed whose URL looks like a secret stays on the node until its owner says whether it is one, and then it is as they
// say, in the next run too. The word of a neighbor about it does not matter before.
func TestOwnersDecideAboutWhatLooksSecret(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	w.feed(letters)
	first := w.publish(letters)
	c := node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
	a, b := w.add(c, news), w.add(c, news)
	w.run(5 * time.Minute)
	told := ""
	w.watch = func(from *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if tell, ok := e.(node.Tell); ok && from == a {
				if k, ok := tell.Note.(node.Withheld); ok {
					told += string(k.Feed) + ": " + k.Why + "\n"
				}
			}
		}
	}
	a.step(node.Subscribe{Feeds: []feed.URL{letters}})
	w.run(10 * time.Minute)
	const why = `its address holds "x7kq…" in its path, which may be a key`
	if s := a.node.Feed(letters); !s.Private || s.Kept != why || !s.Undecided || a.node.Status().Undecided != 1 ||
		told != string(letters)+": "+why+"\n" {
		t.Fatalf("status %+v, told %q", s, told)
	}
	b.step(node.Subscribe{Feeds: []feed.URL{letters}, Private: new(bool)})
	w.run(10 * time.Minute)
	if hearsOf(a, b, letters) || hearsOf(b, a, letters) || !a.has(first) {
		t.Errorf("before the owner answers a neighbor hears of it: %v, and is heard: %v", hearsOf(a, b, letters),
			hearsOf(b, a, letters))
	}
	for _, private := range []bool{false, true, false} {
		a.step(node.Subscribe{Feeds: []feed.URL{letters}, Private: &private})
		for range 2 {
			w.run(5 * time.Minute)
			s := a.node.Feed(letters)
			if s.Private != private || s.Undecided || a.node.Status().Undecided != 0 ||
				hearsOf(a, b, letters) == private {
				t.Errorf("private %v: status %+v, the neighbor hears of it: %v", private, s, hearsOf(a, b, letters))
			}
			if found := a.knownOf(letters, b); (found == 0) != private {
				t.Errorf("private %v: a query found %d entries", private, found)
			}
			a.kill()
			a.start()
		}
		w.run(time.Minute)
	}
}

// No answer of the owner has a password leave the node, or what is on a private network or a private host.
func TestOwnersCannotShareAPassword(t *testing.T) {
	for _, u := range []feed.URL{"https://ann:word@example.com/feed", "http://192.168.1.5/feed",
		"https://wiki.example.com/feed"} {
		w := newNetwork(t)
		w.feed(news)
		w.publish(u)
		c := node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute,
			PrivateHosts: []string{"wiki.example.com"}}
		a, b := w.add(c, news), w.add(c, news)
		w.forbid(a, u)
		a.step(node.Subscribe{Feeds: []feed.URL{u}, Private: new(bool)})
		w.run(time.Hour)
		if s := a.node.Feed(u); s.Kept == "" || s.Undecided || s.LastSuccess.IsZero() || !linked(a, b) {
			t.Errorf("%s: %+v", u, s)
		}
	}
}

// An address that redirects to one that looks like a secret is as secret as that, unless its owner says otherwise.
func TestWhereAFeedLeadsMayBeASecret(t *testing.T) {
	const short feed.URL = "https://short.example.com/3xq"
	w := newNetwork(t)
	w.feed(news)
	secret := true
	w.feed(short).answer = func(f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.Secret = secret
		return ev
	}
	c := node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
	a, b := w.add(c, news), w.add(c, news)
	w.run(5 * time.Minute)
	w.forbid(a, short)
	a.step(node.Subscribe{Feeds: []feed.URL{short}})
	w.run(10 * time.Minute)
	a.kill()
	a.start()
	w.run(10 * time.Minute)
	if s := a.node.Feed(short); s.Kept != "it leads to an address that may hold a key" || !s.Undecided ||
		!linked(a, b) {
		t.Fatalf("%+v", s)
	}
	w.watch = nil
	a.step(node.Subscribe{Feeds: []feed.URL{short}, Private: new(bool)})
	w.run(5 * time.Minute)
	if !hearsOf(a, b, short) {
		t.Error("what the owner shares is not advertised")
	}
	a.step(node.Unsubscribe{Feeds: []feed.URL{short}})
	secret = false
	w.run(5 * time.Minute)
	a.step(node.Subscribe{Feeds: []feed.URL{short}})
	w.run(5 * time.Minute)
	if s := a.node.Feed(short); s.Kept != "" || !hearsOf(a, b, short) {
		t.Errorf("it leads nowhere else any more: %+v", s)
	}
}

// Neither does a public page give away the secret feed that it names, nor is the feed public that a secret page names;
// and what the owner says of a page says nothing of the feed.
func TestPagesAndTheFeedsTheyName(t *testing.T) {
	const open, closed feed.URL = "https://site.example.com/", "https://site.example.com/home?session=x1"
	for _, c := range []struct{ page, feed feed.URL }{{open, letters}, {closed, blog}, {closed, letters}} {
		w := newNetwork(t)
		w.page(c.page, c.feed)
		w.publish(c.feed)
		a, b := w.add(node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}, news),
			w.add(node.Config{Trackers: []string{tracker}}, news)
		w.run(5 * time.Minute)
		w.forbid(a, c.page, c.feed)
		a.step(node.Subscribe{Feeds: []feed.URL{c.page}})
		w.run(time.Hour)
		s := a.node.Feed(c.feed)
		if s == nil || !s.Undecided || s.Page != c.page || s.LastSuccess.IsZero() || !linked(a, b) {
			t.Errorf("%s names %s: %+v", c.page, c.feed, s)
		}
		if c.page == closed && c.feed == blog && !strings.HasPrefix(s.Kept, "the page that named it") {
			t.Errorf("it is kept because %s", s.Kept)
		}
		a.hears(b, protocol.QueryFeed{})
		w.run(time.Minute)
	}
}

// A feed that a secret page named stays at home, with its entries, once its owner follows it no more, in this run and
// the next. Neighbors hear of it as of any feed where the owner shared it.
func TestAFeedOfASecretPageStaysOnceItIsUnsubscribed(t *testing.T) {
	const page feed.URL = "https://site.example.com/home?session=x1"
	for _, shared := range []bool{false, true} {
		w := newNetwork(t)
		w.feed(news)
		w.page(page, blog)
		id := w.publish(blog)
		c := node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
		a, b := w.add(c, news), w.add(c, news)
		w.run(5 * time.Minute)
		a.step(node.Subscribe{Feeds: []feed.URL{page}})
		w.run(10 * time.Minute)
		if s := a.node.Feed(blog); s == nil || s.Page != page || !s.Undecided || !a.has(id) || !linked(a, b) {
			t.Fatalf("%+v", s)
		}
		if shared {
			a.step(node.Subscribe{Feeds: []feed.URL{blog}, Private: new(bool)})
		}
		a.step(node.Unsubscribe{Feeds: []feed.URL{blog}})
		for range 2 {
			w.run(10 * time.Minute)
			if n := a.knownOf(blog, b); (n > 0) != shared {
				t.Errorf("shared %v: a neighbor is told of %d entries", shared, n)
			}
			a.kill()
			a.start()
		}
	}
}
