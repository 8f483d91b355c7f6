package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/protocol"
)

// Private feeds stay inside.

// forbid fails the test when one of the feeds stands in any call or answer that leaves h, be it a fault, or the
// did of a bundle of its entries does.
func (w *network) forbid(h *testHost, feeds ...feed.URL) {
	w.grep(h, feeds, func(c protocol.Call) protocol.Call { return c })
}

// silence is forbid for feeds that h spoke of before: it may withdraw them.
func (w *network) silence(h *testHost, feeds ...feed.URL) {
	w.grep(h, feeds, func(c protocol.Call) protocol.Call {
		if update, ok := c.(protocol.UpdateSubset); ok {
			changes := slices.Clone(update.Changes)
			return protocol.UpdateSubset{Changes: slices.DeleteFunc(changes,
				func(in protocol.Interest) bool { return in.Hops < 0 })}
		}
		return c
	})
}

// grep looks for the feeds in what leaves h, in calls as seen makes of them.
func (w *network) grep(h *testHost, feeds []feed.URL, seen func(protocol.Call) protocol.Call) {
	needles := make(map[string]feed.URL)
	for _, u := range feeds {
		needles[strings.ReplaceAll(string(u), "&", "&amp;")] = u
	}
	w.watch = func(from *testHost, ev node.Event, effects []node.Effect) {
		if from != h {
			return
		}
		asked, _ := ev.(node.Asked) // a caller that names a feed may hear the name in the fault
		for _, e := range effects {
			var wire []byte
			switch e := e.(type) {
			case node.Tell:
				if a, ok := e.Note.(node.Arrived); ok && slices.Contains(feeds, a.Feed) {
					var entries []feed.Entry
					for _, r := range a.Records {
						entries = append(entries, r.Entry)
					}
					bundles := protocol.Split(a.Feed, entries)
					for _, b := range bundles {
						needles[b.DID.String()] = a.Feed
					}
				}
			case node.Call:
				wire = protocol.EncodeCall(nil, h.id.Port(), seen(e.Call))
			case node.Respond:
				if e.Reply != nil {
					wire = protocol.EncodeReply(nil, e.Reply)
				} else if asked.Call != nil && !slices.Contains(feeds, namedIn(asked.Call)) {
					wire = protocol.EncodeFault(nil, e.Fault)
				}
			}
			for text, u := range needles {
				if bytes.Contains(wire, []byte(text)) {
					w.t.Errorf("%s left the node, as %q: %.200s", u, text, wire)
				}
			}
		}
	}
}

// namedIn is the feed that the call is about.
func namedIn(c protocol.Call) feed.URL {
	if put, ok := c.(protocol.PutEntries); ok {
		return put.Bundle.Feed
	}
	return ""
}

// letters is a feed whose address was drawn by chance.
const letters feed.URL = "https://letters.example.com/feeds/x7kq2mbv5ytzlp9r4wsd.xml"

// secrets are feeds of which the URL alone says that they are not for others.
func secrets() []feed.URL {
	return []feed.URL{
		"https://user:secret@news.example.com/feed", "https://example.com/feed?token=abc", "http://192.168.1.5/feed",
		"http://nas.local/feed", "http://localhost/feed", "http://[fd00::5]/feed", "http://10.1.2.3:8080/feed?a=b&c=d",
		"https://calendar.example.com/ical/private-7d3f1c9a5b2e8d4f/basic.ics", letters,
		"https://example.com/feed;jsessionid=1A530637289A", "https://example.com/feed?u=ann&p=hunter2",
	}
}

// Feeds with a secret in the URL, on private addresses, of hosts that the owner named, and of publishers who
// opted out, whether they are followed discreetly or openly: none stands in any call or answer, not even to
// be withdrawn, and no query finds its entries. Not when neighbors advertise them; not when feeds to volunteer for are
// wanted; not after they are followed no more, or after a restart.
func TestPrivateFeedsNeverLeaveTheNode(t *testing.T) {
	const optedOut, intranet feed.URL = "https://shy.example.com/feed", "https://wiki.corp.example.com/feed"
	const withheld, header feed.URL = "https://mine.example.com/feed", "https://noarchive.example.com/feed"
	private := append(secrets(), optedOut, intranet, withheld, header)
	w := newNetwork(t)
	for _, u := range append(private, news, blog) {
		w.feed(u)
		w.publish(u)
	}
	w.feed(optedOut).private = true
	w.feed(header).answer = func(f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.Private = true // as X-Robots-Tag says
		return ev
	}
	c := node.Config{
		Trackers: []string{tracker}, PrivateHosts: []string{"Wiki.Corp.example.com."}, AdvertInterval: time.Minute,
		Volunteer: 50,
	}
	a := w.add(c, news)
	w.forbid(a, private...)
	for i, u := range private {
		discreet := i%2 == 0 && u != header // what its publisher says is found by polls alone
		wish := node.Subscribe{Feeds: []feed.URL{u}, Weight: 1 + i, Discreet: &discreet}
		if owner := true; u == withheld {
			wish.Private = &owner
		}
		a.step(wish)
	}
	b, d := w.add(node.Config{Trackers: []string{tracker}}, news, blog),
		w.add(node.Config{Trackers: []string{tracker}}, news)
	w.run(10 * time.Minute)
	if !linked(a, b) || !linked(a, d) {
		t.Fatal("not linked")
	}
	curious := func() {
		t.Helper()
		for _, u := range private {
			a.hears(b, protocol.QueryFeed{Query: protocol.Query{ID: fmt.Sprint(w.Now(), u), Hops: 2, Budget: 8,
				Filter: feed.Filter{Feed: u}}})
			a.step(node.OwnerQuery{Tag: 1, Query: protocol.Query{Filter: feed.Filter{Feed: u}}, Explicit: true})
			a.put(d, protocol.NewBundle(u, w.feeds[u].entries))
			a.hears(b, protocol.CheckDID{DID: protocol.NewBundle(u, w.feeds[u].entries).DID, Feed: u})
		}
		a.hears(b, protocol.GetNeighbors{})
		w.run(time.Minute) // so many queries are answered within one
		if r := a.hears(b, protocol.QueryFeed{}); len(r.Reply.(protocol.Answer).Found) < len(w.feeds[news].entries) {
			t.Errorf("a query for everything found %+v, want the public entries", r.Reply)
		}
	}
	for _, u := range append(private, news) {
		w.publish(u)
	}
	w.run(3 * time.Hour)
	for _, u := range private {
		if n := len(a.stored(u).ETag); n == 0 {
			t.Errorf("%s was not polled", u)
		}
	}
	curious()
	a.advertise(b, 0, private...)
	a.advertise(d, 0, private...)
	w.run(10 * time.Minute)
	a.inside(func(n *node.Node) { n.Got(b.id, 10*incentive.Entry) })
	w.run(poller.VolunteerWatch + 10*time.Minute)
	wantVolunteered(t, a, blog) // and none of the others
	curious()
	a.step(node.Unsubscribe{Feeds: private})
	w.run(time.Hour)
	a.kill()
	a.start()
	w.run(10 * time.Minute)
	late := w.add(node.Config{Trackers: []string{tracker}}, news)
	w.run(10 * time.Minute)
	if !linked(a, b) || !linked(a, d) || !linked(a, late) {
		t.Fatal("not linked")
	}
	a.advertise(b, 0, private...)
	a.advertise(d, 0, private...)
	w.run(10 * time.Minute)
	curious()
}

// A neighbor that advertises what it should keep to itself does not make us say it on, nor pass on entries
// of a feed that we know to be private.
func TestNeighborsPrivateFeedsAreNotAdvertisedOn(t *testing.T) {
	const optedOut feed.URL = "https://shy.example.com/feed"
	private := append(secrets(), optedOut)
	w := newNetwork(t)
	w.feed(optedOut).private = true
	w.publish(optedOut)
	c := node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
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

// A feed turns private: bundles of it that wait, or are kept for newcomers, go nowhere any more.
func TestAFeedThatTurnsPrivateIsOfferedNoMore(t *testing.T) {
	w, a, slow := newPair(t, node.Config{}, news, blog)
	w.feed(blog)
	w.hang[slow.id] = true
	w.publish(news)
	a.poll(news)
	w.publish(news)
	a.poll(news)
	w.feed(news).private = true
	w.publish(news)
	a.poll(news)
	if !a.stored(news).Private {
		t.Fatal("not private")
	}
	if n := len(a.node.Recent()); n != 2 {
		t.Fatalf("%d bundles of lately", n)
	}
	w.silence(a, news)
	w.hang[slow.id] = false
	late := w.add(node.Config{Trackers: []string{tracker}}, news, blog)
	w.run(10 * time.Minute)
	if !linked(a, slow) || !linked(a, late) {
		t.Fatal("not linked")
	}
}

// The same where the neighbor asked for it already.
func TestWhatWasAskedForBeforeTheFeedTurnedPrivateStays(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	for range 3 {
		a.offerAll(one(w.publish(news).String()))
	}
	for !a.node.Demanded(b.id) {
		w.next()
	}
	w.feed(news).private = true
	w.publish(news)
	a.poll(news)
	w.silence(a, news)
	w.run(10 * time.Minute)
}

// A name that sounds public may belong to somebody's intranet: the feed is spoken of only once a poll has
// shown that it does not.
func TestAFeedIsNotSpokenOfBeforeItsFirstPoll(t *testing.T) {
	const intranet feed.URL = "https://intranet.example.com/feed"
	for name, err := range map[string]error{"it may not be called": errors.New("address is not public"),
		"it is read": nil} {
		w := newNetwork(t)
		c := node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}
		a, b := w.add(c, news), w.add(c, news)
		w.run(2 * time.Minute)
		w.forbid(a, intranet)
		p := w.feed(intranet)
		p.local, p.slow, p.err = true, 5*time.Minute, err
		a.step(node.Subscribe{Feeds: []feed.URL{intranet}})
		w.run(2 * time.Hour)
		if p.requests == 0 || !linked(a, b) {
			t.Fatalf("%s: polled %d times, linked %v", name, p.requests, linked(a, b))
		}
	}
}

// Nor is it spoken of while its name is not known here, as when the owner is not in the intranet now, nor after a
// restart; it is once there is a public address, even if that lets nobody in.
func TestAFeedIsNotSpokenOfBeforeItIsReached(t *testing.T) {
	const intranet feed.URL = "https://intranet.example.com/feed"
	for name, c := range map[string]struct {
		status         int
		dialed, spoken bool
	}{
		"no such host":                         {0, false, false},
		"it refuses":                           {403, false, true},
		"a public address that lets nobody in": {0, true, true},
	} {
		w, a := newAlone(t, node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}, news)
		b := w.add(node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}, news)
		w.feed(intranet).answer = func(node.Fetch) node.Fetched {
			return node.Fetched{Status: c.status, Dialed: c.dialed,
				Err: errors.New(name)}
		}
		a.step(node.Subscribe{Feeds: []feed.URL{intranet}})
		w.run(2 * time.Hour)
		_, heard := b.node.HopsOf(a.id, intranet)
		a.kill()
		a.start()
		w.run(10 * time.Minute)
		_, again := b.node.HopsOf(a.id, intranet)
		if w.feed(intranet).requests == 0 || heard != c.spoken || !c.spoken && again {
			t.Errorf("%s: polled %d times, the neighbor heard of it: %v, after a restart: %v", name,
				w.feed(intranet).requests, heard, again)
		}
	}
}

// A publisher's opt-out is remembered across restarts, although an unchanged document does not repeat it.
func TestAnOptOutSurvivesARestart(t *testing.T) {
	for _, u := range []feed.URL{news, "http://192.168.1.5/feed"} {
		w := newNetwork(t)
		w.feed(u).private = true
		w.publish(u)
		h := w.add(node.Config{AllowLocal: true}, u)
		w.run(time.Minute)
		if !h.stored(u).Private {
			t.Fatalf("%s is not private", u)
		}
		h.kill()
		h.start()
		w.run(3 * time.Hour)
		if h.node.Status().Counters.NotModified == 0 {
			t.Fatalf("%s was not polled after the restart", u)
		}
		if !h.stored(u).Private {
			t.Errorf("%s: after a restart the publisher's opt-out is forgotten", u)
		}
	}
}

// A feed that was public in a test network is private in the world, though it is followed no more.
func TestLocalFeedsOfATestNetworkAreNotServedLater(t *testing.T) {
	const lan feed.URL = "http://192.168.1.5/feed"
	w := newNetwork(t)
	w.publish(lan)
	a := w.add(node.Config{AllowLocal: true, Trackers: []string{tracker}}, news, lan)
	w.run(time.Minute)
	a.step(node.Unsubscribe{Feeds: []feed.URL{lan}})
	a.kill()
	a.config.AllowLocal = false
	a.start()
	w.forbid(a, lan)
	b := w.add(node.Config{Trackers: []string{tracker}}, news)
	w.run(10 * time.Minute)
	a.hears(b, protocol.QueryFeed{})
}
