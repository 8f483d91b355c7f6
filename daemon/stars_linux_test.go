package daemon

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
)

// shareStars has the owner share stars of feeds.
func (n *testNode) shareStars(feeds ...feed.URL) {
	n.t.Helper()
	labels := archive.SharesLabels
	if err := n.client.Subscribe(n.t.Context(), node.Subscribe{Feeds: feeds, Sharing: &labels}); err != nil {
		n.t.Fatal(err)
	}
}

// A starPeer is a neighbor written by hand, on loopback.
type starPeer struct {
	t    *testing.T
	id   protocol.NodeID
	node string
	http *http.Client
}

// newStarPeer is a peer that becomes a neighbor of the node, which follows the feed, and proves the key, nil for none.
func newStarPeer(t *testing.T, n *testNode, key ed25519.PrivateKey, feeds ...feed.URL) *starPeer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &starPeer{t: t, node: n.at.Listen, http: &http.Client{Transport: &http.Transport{}}}
	if p.id, err = protocol.ParseNodeID(ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	dialled, err := protocol.ParseNodeID(n.at.Listen)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(_ context.Context, r transport.Request) transport.Response {
		switch c := r.Call.(type) {
		case protocol.Vouch:
			if key != nil {
				proof := protocol.ProveKey(key, protocol.ProvesLink, c.Key, c.Challenge, dialled)
				return transport.Response{Reply: proof}
			}
		case protocol.CheckDID:
			return transport.Response{Reply: protocol.Seen(true)}
		case protocol.UpdateSubset, protocol.Disconnect:
			return transport.Response{Reply: protocol.OK{}}
		case protocol.WhoAmI:
			return transport.Response{Reply: r.From}
		}
		return transport.Response{Fault: protocol.Faultf(protocol.UnknownMethod, "it answers no such thing")}
	}
	handler := transport.NewHandler(transport.HandlerConfig{Methods: protocol.NodeMethods(), Serve: serve})
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := transport.Serve(ctx, ln, handler, transport.ServerConfig{}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		p.http.CloseIdleConnections()
		cancel()
		serving.Wait()
	})
	connect := protocol.Connect{Key: protocol.NodeKeyOf(key)}
	if key != nil {
		connect.Challenge = "challenge"
	}
	for _, u := range feeds {
		connect.Subset = append(connect.Subset, protocol.Interest{Feed: u})
	}
	if r, err := p.call(connect); err != nil || len(r.(protocol.Subset)) == 0 {
		t.Fatalf("it is not taken for a neighbor: %v, %v", r, err)
	}
	return p
}

func (p *starPeer) call(c protocol.Call) (protocol.Reply, error) {
	return callByHand(p.t.Context(), p.http, "http://"+p.node+transport.Path, "", p.id.Port(), c)
}

// tells tells the node of stars, and returns the code of the fault, 0 for none, -1 for an answer that is no message.
func (p *starPeer) tells(s protocol.Stars) protocol.Code {
	p.t.Helper()
	_, err := p.call(protocol.TellStars{Stars: s})
	refused, is := errors.AsType[*protocol.RemoteError](err)
	switch {
	case is:
		return refused.Code
	case err != nil:
		return -1
	}
	return 0
}

// manyStars are so many stars of a feed.
func manyStars(u feed.URL, count int) protocol.FeedStars {
	f := protocol.FeedStars{Feed: u}
	for i := range count {
		var id feed.EntryID
		binary.BigEndian.PutUint32(id[:], uint32(i))
		f.Entries = append(f.Entries, id)
	}
	return f
}

// Whatever a neighbor sends in place of stars is refused with the fault that says why, and 100,000 of them, in one call
// or in many, leave nothing behind.
func TestStarsByAttackers(t *testing.T) {
	f, secret := startFeed(t, "News"), startFeed(t, "Mine")
	feeds := []feed.URL{f.url}
	for len(feeds) < protocol.MaxStars/protocol.MaxFeedStars {
		feeds = append(feeds, startFeed(t, "More").url)
	}
	n := startNode(t, Config{Subscribe: feeds})
	for _, u := range feeds {
		n.waitEntries(u, 1)
	}
	yes, mine := true, []feed.URL{secret.url}
	if err := n.client.Subscribe(t.Context(), node.Subscribe{Feeds: mine, Private: &yes}); err != nil {
		t.Fatal(err)
	}
	n.shareStars(append(feeds, secret.url)...)
	stars := func(feeds ...protocol.FeedStars) protocol.Stars { return protocol.Stars{Feeds: feeds} }
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	other := ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))
	p := newStarPeer(t, n, key, f.url, secret.url)
	for _, tc := range []struct {
		name string
		s    protocol.Stars
		want protocol.Code
	}{
		{"100,000 in one call", stars(manyStars(f.url, 100_000)), -1},
		{"too many of a feed", stars(manyStars(f.url, protocol.MaxFeedStars+1)), protocol.TooLong},
		{"without a signature", stars(manyStars(f.url, 1)), protocol.NotVouched},
		{"signed by another", stars(manyStars(f.url, 1)).Sign(other),
			protocol.NotVouched},
		{"of a private feed", stars(manyStars(secret.url, 1)).Sign(key), protocol.UnwantedFeed},
		{"of no feed here", stars(manyStars("https://elsewhere.example.com/", 1)).Sign(key), protocol.UnwantedFeed},
	} {
		if got := p.tells(tc.s); got != tc.want {
			t.Errorf("%s: fault %d, want %d", tc.name, got, tc.want)
		}
	}
	named := stars(protocol.FeedStars{Feed: f.url}, protocol.FeedStars{Feed: secret.url}).Sign(key)
	r, err := p.call(protocol.TellStars{Stars: named})
	if s, ok := r.(protocol.Stars); err != nil || !ok || len(s.Feeds) != 1 || s.Feeds[0].Feed != f.url {
		t.Errorf("what the node shares is answered with %+v, %v", r, err)
	}
	flooder, taken := newStarPeer(t, n, nil, feeds...), 0
	var names, all []protocol.FeedStars
	for _, u := range feeds {
		names, all = append(names, protocol.FeedStars{Feed: u}), append(all, manyStars(u, protocol.MaxFeedStars))
	}
	flooder.tells(stars(names...))
	for range 100_000 / protocol.MaxStars {
		switch code := flooder.tells(stars(all...)); code {
		case 0:
			taken++
		case protocol.Busy:
		default:
			t.Fatalf("a flood of stars: fault %d", code)
		}
	}
	if taken != 5 {
		t.Errorf("%d calls of a flood were taken", taken)
	}
	if page := newVisitor(t, n).page("/starred"); strings.Contains(page, "starred by") {
		t.Errorf("stars of strangers are shown:\n%s", page)
	}
}

// Two nodes with keys, linked over sockets, follow feeds of a publisher that lets one of them in: what its owner stars
// and labels the other shows, once both share that.
func TestStarsOfANeighborAreShown(t *testing.T) {
	titles := []string{"First", "Second"}
	var open atomic.Bool
	var feeds []feed.URL
	for range 6 { // their twelve entries give standing
		f := startFeed(t, titles...)
		f.allowed = func(*http.Request) bool { return open.Load() }
		feeds = append(feeds, f.url)
	}
	common := startFeed(t, "What both have") // nobody links with who has nothing to offer
	teller := startNode(t, Config{Subscribe: []feed.URL{common.url}, Node: node.Config{MinNeighbors: 1}})
	shower := startNode(t, Config{Subscribe: append(feeds, common.url),
		Node: node.Config{MinNeighbors: 1, Peers: []string{teller.at.Listen}}})
	for end := time.Now().Add(patience); ; breathe() { // until it is known what the other wants, who was refused it
		list, err := teller.client.Neighbors(t.Context())
		if err != nil || time.Now().After(end) {
			t.Fatal(list, err)
		}
		if len(list) == 1 && list[0].Feeds == len(feeds)+1 {
			break
		}
	}
	open.Store(true)
	for _, u := range feeds {
		if err := teller.client.Subscribe(t.Context(), following(u)); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range feeds {
		shower.waitEntries(u, len(titles))
	}
	for end := time.Now().Add(patience); ; breathe() { // until it knows that the other follows them too
		list, err := shower.client.Neighbors(t.Context())
		if err != nil || time.Now().After(end) {
			t.Fatal(list, err)
		}
		if len(list) == 1 && list[0].Overlap == len(feeds)+1 {
			break
		}
	}
	id := (&feed.Entry{Feed: feeds[0], ID: "urn:test:1"}).EntryID().String()
	v := newVisitor(t, teller)
	v.send("/entries/"+id, "/mark", url.Values{"entry": {id}, "as": {"starred"}, "next": {"/"}})
	other := (&feed.Entry{Feed: feeds[0], ID: "urn:test:0"}).EntryID().String() // both use the word
	v.send("/entries/"+id, "/label", url.Values{"entry": {id}, "label": {"recipes"}, "next": {"/"}})
	newVisitor(t, shower).send("/entries/"+other, "/label", url.Values{"entry": {other}, "label": {"recipes"},
		"next": {"/"}})
	teller.shareStars(feeds...)
	if page := newVisitor(t, shower).page("/entries/" + id); strings.Contains(page, "starred by") {
		t.Error("who shares no stars sees those of others")
	}
	shower.shareStars(feeds[0])
	shown := newVisitor(t, shower)
	for _, path := range []string{"/entries/" + id, "/entries?show=all"} {
		for end := time.Now().Add(patience); ; breathe() { // a page leaves stars out while the node is busy
			page := shown.page(path)
			if strings.Contains(page, "★ starred by 1 neighbor<") &&
				strings.Contains(page, `labelled <bdi class="tag">recipes</bdi> by 1 neighbor<`) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: the star is not shown:\n%s", path, page)
			}
		}
	}
	shown.want("/starred", "once neighbors on two networks starred it")
	if page := newVisitor(t, teller).page("/entries/" + id); strings.Contains(page, "starred by") {
		t.Error("the own star counts as a neighbor's")
	}
}
