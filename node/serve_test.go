package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/query"
	"feedex/protocol"
	"feedex/search"
)

// wants asks the node for entries in the name of somebody, over no link.
func (h *testHost) wants(from protocol.NodeID, entries ...feed.Entry) (protocol.Batch, *protocol.Fault) {
	h.net.t.Helper()
	var c protocol.GetEntries
	for _, e := range entries {
		c.Wanted = append(c.Wanted, protocol.Wanted{ID: e.EntryID()})
	}
	r := h.answerTo(from, "", c)
	b, _ := r.Reply.(protocol.Batch)
	return b, r.Fault
}

// Paper §3.6: "an altruistic S that unconditionally uploads to C", within bounds.
func TestStrangersAreServedFromGifts(t *testing.T) {
	w, h := newAlone(t, node.Config{Incentive: incentive.Config{Gifts: 1000, Gift: 5000}})
	one, two := oldEntry(news, 1), oldEntry(news, 2)
	h.holds(one, two)
	b, fault := h.wants(stranger(1), two, oldEntry(news, 9), one)
	if fault != nil || len(b.Entries) != 2 || !b.Entries[0].Entry.Equal(&two) || !b.Entries[1].Entry.Equal(&one) ||
		b.Left != 0 {
		t.Fatalf("got %+v, %v", b, fault)
	}
	given := int64(b.Entries[0].WireBytes() + b.Entries[1].WireBytes())
	served := 2
	for ; served < 100; served += len(b.Entries) {
		if b, fault = h.wants(stranger(1), one, two); fault != nil {
			break
		}
		if len(b.Entries)+b.Left != 2 {
			t.Fatalf("got %d, %d left", len(b.Entries), b.Left)
		}
	}
	if most := int(5000 / (given / 2)); fault == nil || fault.Code != protocol.Spent || served > most ||
		served < most-1 {
		t.Errorf("one address got %d entries and then %v", served, fault)
	}
	if _, fault = h.wants(stranger(2), one); fault != nil {
		t.Errorf("another address got %v", fault)
	}
	w.run(time.Hour)
	if _, fault = h.wants(stranger(1), one); fault != nil {
		t.Errorf("an hour later it got %v", fault)
	}
}

func TestWhatStaysInsideIsNotServed(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{PrivateHosts: []string{"wiki.example.com"}}, [2]int{0, 1})
	h := hosts[0]
	inside := oldEntry("https://wiki.example.com/feed", 1)
	secret, open, hidden := oldEntry("https://example.com/feed?token=0123456789abcdef0123456789abcdef", 1),
		oldEntry(news, 1), oldEntry(news, 2)
	withheld := oldEntry(blog, 1)
	h.holds(secret, open, hidden, withheld, inside)
	h.store.Hide([]feed.EntryID{hidden.EntryID()})
	private := true
	h.step(node.Subscribe{Feeds: []feed.URL{blog}, Private: &private})
	for name, from := range map[string]protocol.NodeID{"stranger": stranger(1), "neighbor": hosts[1].id} {
		session := ""
		if l := h.node.LinkTo(from); l != nil {
			session = l.Session
		}
		var c protocol.GetEntries
		for _, e := range []feed.Entry{secret, hidden, withheld, inside, open} {
			c.Wanted = append(c.Wanted, protocol.Wanted{ID: e.EntryID()})
		}
		r := h.answerTo(from, session, c)
		b, _ := r.Reply.(protocol.Batch)
		if len(b.Entries) != 1 || b.Entries[0].Entry.ID != open.ID || b.Left != 0 {
			t.Errorf("%s got %+v, %v", name, r.Reply, r.Fault)
		}
		c.Wanted = []protocol.Wanted{{ID: open.EntryID(), Digest: feed.Digest{1}}}
		if b, _ := h.answerTo(from, session, c).Reply.(protocol.Batch); len(b.Entries) != 0 {
			t.Errorf("%s got another version than it asked for", name)
		}
	}
}

// Neighbors pay a tenth for each entry up to half of what they may owe, and are strangers beyond that.
func TestNeighborsPayForEntriesOfThePast(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{Incentive: incentive.Config{Bound: 10, Gifts: -1}}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	b.inside(func(n *node.Node) { n.Got(a.id, 3*incentive.Entry) })
	var wishes []search.Wish
	for i := range 60 {
		e := oldEntry(news, i)
		b.holds(e)
		wishes = append(wishes, wishFor(e, b))
	}
	before := b.node.Account(a.id)
	got := a.pulls(wishes...)
	after := b.node.Account(a.id)
	left, half := b.node.Allowance(a.id), b.node.Limit(a.id)/2
	if paid := after.Given - before.Given; len(got.Stored) == 0 ||
		paid != incentive.Credit(len(got.Stored))*query.ArchivePrice || len(got.Missing) != 60-len(got.Stored) {
		t.Errorf("%d stored, %d missing, for %v", len(got.Stored), len(got.Missing), paid)
	}
	if left < half || left >= half+query.ArchivePrice {
		t.Errorf("%v is left for what the neighbor follows, want half of what it may owe, %v", left, half)
	}
	if len(got.Refused) != 1 || got.Refused[0].Lied ||
		got.Refused[0].Why != (&protocol.RemoteError{Code: protocol.Spent, Text: query.Spent().Text}).Error() {
		t.Errorf("refused is %+v", got.Refused)
	}
	earned := a.node.Account(b.id)
	if earned.Got < query.RelayPrice || earned.Got > incentive.Credit(count(a.calls, "get_entries"))*query.RelayPrice {
		t.Errorf("the holder earned %v", earned.Got)
	}
}
