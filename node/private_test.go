package node

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// What must stay inside stays inside.

// forbid fails the test when one of the feeds stands in any call or answer that leaves h, other than to
// withdraw it.
func (w *network) forbid(h *testHost, feeds ...feed.URL) {
	w.watch = func(from *testHost, _ Event, effects []Effect) {
		if from != h {
			return
		}
		for _, e := range effects {
			var wire []byte
			switch e := e.(type) {
			case Call:
				c := e.Call
				if update, ok := c.(protocol.UpdateSubset); ok {
					changes := slices.Clone(update.Changes)
					c = protocol.UpdateSubset{Changes: slices.DeleteFunc(changes, func(in protocol.Interest) bool { return in.Hops < 0 })}
				}
				wire = protocol.EncodeCall(nil, h.id.Port(), c)
			case Respond:
				if e.Reply != nil {
					wire = protocol.EncodeReply(nil, e.Reply)
				}
			}
			for _, u := range feeds {
				text := bytes.ReplaceAll([]byte(u), []byte("&"), []byte("&amp;"))
				if bytes.Contains(wire, text) {
					w.t.Errorf("%s left the node: %.200s", u, wire)
				}
			}
		}
	}
}

// secrets are feeds of which the URL alone says that they are not for others.
func secrets() []feed.URL {
	return []feed.URL{
		"https://user:secret@news.example.com/feed", "https://example.com/feed?token=abc", "http://192.168.1.5/feed",
		"http://nas.local/feed", "http://localhost/feed", "http://[fd00::5]/feed", "http://10.1.2.3:8080/feed?a=b&c=d",
	}
}

// Feeds with a secret in the URL, on private addresses, of hosts that the owner named, and of publishers who
// opted out: none stands in any call, and no query finds its entries.
func TestPrivateFeedsNeverLeaveTheNode(t *testing.T) {
	const optedOut, intranet feed.URL = "https://shy.example.com/feed", "https://wiki.corp.example.com/feed"
	private := append(secrets(), optedOut, intranet)
	w := newNetwork(t)
	for _, u := range append(private, news) {
		w.feed(u)
		w.publish(u)
	}
	w.feed(optedOut).private = true
	c := Config{Trackers: []string{tracker}, PrivateHosts: []string{"Wiki.Corp.example.com."}, AdvertInterval: time.Minute}
	a := w.add(c, append(private, news)...)
	w.forbid(a, private...)
	b := w.add(Config{Trackers: []string{tracker}}, news)
	w.run(10 * time.Minute)
	if !linked(a, b) {
		t.Fatal("not linked")
	}
	for _, u := range append(private, news) {
		w.publish(u)
	}
	w.run(3 * time.Hour)
	for _, u := range private {
		if n := len(a.node.feeds[u].ETag); n == 0 {
			t.Errorf("%s was not polled", u)
		}
		a.hears(b, protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: u}}})
	}
	if r := a.hears(b, protocol.QueryFeed{}); len(r.Reply.(protocol.Answer).Found) != 2 {
		t.Errorf("a query for everything found %+v, want the two public entries", r.Reply)
	}
	a.step(Unsubscribe{Feeds: private})
	w.run(time.Hour)
	a.kill()
	a.start()
	w.run(10 * time.Minute)
	if r := a.hears(b, protocol.QueryFeed{}); len(r.Reply.(protocol.Answer).Found) != 2 {
		t.Errorf("when the feeds are followed no more a query found %+v, want the two public entries", r.Reply)
	}
}

// A neighbor that advertises what it should keep to itself does not make us say it on, nor pass on entries
// of a feed that we know to be private.
func TestNeighborsPrivateFeedsAreNotAdvertisedOn(t *testing.T) {
	const optedOut feed.URL = "https://shy.example.com/feed"
	private := append(secrets(), optedOut)
	w := newNetwork(t)
	w.feed(optedOut).private = true
	w.publish(optedOut)
	w.feed(news)
	c := Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
	a := w.add(c, news, optedOut)
	b, d := w.add(c, news), w.add(c, news)
	w.run(10 * time.Minute)
	w.forbid(a, private...)
	var changes protocol.Subset
	for _, u := range private {
		changes = append(changes, protocol.Interest{Feed: u})
	}
	a.hears(b, protocol.UpdateSubset{Changes: changes})
	for _, u := range private {
		e := feed.Entry{Feed: u, ID: "z"}
		if r := a.put(d, protocol.NewBundle(u, []feed.Entry{e})); r.Fault == nil || a.has(e.EntryID()) {
			t.Errorf("an entry of %s was taken", u)
		}
	}
	late := w.add(c, news)
	w.run(10 * time.Minute)
	if !linked(a, late) {
		t.Fatal("not linked")
	}
}

// A feed turns private: what of it waits, or is kept for newcomers, goes nowhere any more.
func TestAFeedThatTurnsPrivateIsOfferedNoMore(t *testing.T) {
	w := newNetwork(t)
	w.feed(blog)
	hosts := w.full(2, Config{}, news, blog)
	a, slow := hosts[0], hosts[1]
	w.hang[slow.id] = true
	w.publish(news)
	a.poll(news)
	w.publish(news)
	a.poll(news)
	w.feed(news).private = true
	w.publish(news)
	a.poll(news)
	if !a.node.feeds[news].Private {
		t.Fatal("not private")
	}
	if n := len(a.node.gossip.recent); n != 2 {
		t.Fatalf("%d bundles of lately", n)
	}
	w.forbid(a, news)
	w.hang[slow.id] = false
	late := w.add(Config{Trackers: []string{tracker}}, news, blog)
	w.run(10 * time.Minute)
	if !linked(a, slow) || !linked(a, late) {
		t.Fatal("not linked")
	}
}

// The same where the neighbor asked for it already.
func TestWhatWasAskedForBeforeTheFeedTurnedPrivateStays(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, Config{}, news)
	a, b := hosts[0], hosts[1]
	for range 3 {
		a.offerAll(one(w.publish(news).String()))
	}
	for len(a.node.links[b.id].asked) == 0 {
		w.next()
	}
	w.feed(news).private = true
	w.publish(news)
	a.poll(news)
	w.forbid(a, news)
	w.run(10 * time.Minute)
}

// A name that sounds public may belong to somebody's intranet: the feed is spoken of only once a poll has
// shown that it does not.
func TestAFeedIsNotSpokenOfBeforeItsFirstPoll(t *testing.T) {
	const intranet feed.URL = "https://intranet.example.com/feed"
	for name, err := range map[string]error{"it may not be called": errors.New("address is not public"), "it is read": nil} {
		w := newNetwork(t)
		w.feed(news)
		c := Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
		a, b := w.add(c, news), w.add(c, news)
		w.run(2 * time.Minute)
		w.forbid(a, intranet)
		p := w.feed(intranet)
		p.local, p.slow, p.err = true, 5*time.Minute, err
		a.step(Subscribe{Feeds: []feed.URL{intranet}})
		w.run(2 * time.Hour)
		if p.requests == 0 || !linked(a, b) {
			t.Fatalf("%s: polled %d times, linked %v", name, p.requests, linked(a, b))
		}
	}
}

// A publisher's opt-out is remembered across restarts, although an unchanged document does not repeat it.
func TestAnOptOutSurvivesARestart(t *testing.T) {
	for _, u := range []feed.URL{news, "http://192.168.1.5/feed"} {
		w := newNetwork(t)
		w.feed(u).private = true
		w.publish(u)
		h := w.add(Config{AllowLocal: true}, u)
		w.run(time.Minute)
		if !h.node.feeds[u].Private {
			t.Fatalf("%s is not private", u)
		}
		h.kill()
		h.start()
		w.run(3 * time.Hour)
		if h.node.status.Counters.NotModified == 0 {
			t.Fatalf("%s was not polled after the restart", u)
		}
		if !h.node.feeds[u].Private {
			t.Errorf("%s: after a restart the publisher's opt-out is forgotten", u)
		}
	}
}

// What was public in a test network is private in the world, though it is followed no more.
func TestLocalFeedsOfATestNetworkAreNotServedLater(t *testing.T) {
	const lan feed.URL = "http://192.168.1.5/feed"
	w := newNetwork(t)
	w.feed(news)
	w.publish(lan)
	a := w.add(Config{AllowLocal: true, Trackers: []string{tracker}}, news, lan)
	w.run(time.Minute)
	a.step(Unsubscribe{Feeds: []feed.URL{lan}})
	a.kill()
	a.config.AllowLocal = false
	a.start()
	w.forbid(a, lan)
	b := w.add(Config{Trackers: []string{tracker}}, news)
	w.run(10 * time.Minute)
	a.hears(b, protocol.QueryFeed{})
}
