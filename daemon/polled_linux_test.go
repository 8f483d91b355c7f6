package daemon

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Attempts of strangers to alter entries, made over HTTP on a node whose settings are the defaults, but that it polls
// as often as it may.

// Strangers who agree on everything bring another version of what the node polled itself: two of one network, two of
// two, ten of one network one after the other, and ten of as many networks, who all brought true entries before. Their
// version is never shown, whatever they say of its date, also when the entry is gone from its publisher's document, or
// the node was started anew.
func TestStrangersCannotChangeAPolledEntry(t *testing.T) {
	t.Parallel()
	if !inNamespace(t) {
		return
	}
	makeNetwork(t)
	f, others := publishFeed(t, "20.2.0.1", "gone", "listed"), publishFeeds(t, 10)
	b := besiege(t, append(others, f)...)
	gone, listed := f.entries[0], f.entries[1]
	attack := func(who string, strangers []*stranger) {
		now := time.Now().UTC().Truncate(time.Second)
		for i, s := range strangers {
			s.connect(f.url)
			for name, updated := range map[string]time.Time{
				"five seconds ago": now.Add(-5 * time.Second), "never": {}, "in a while": now.Add(50 * time.Minute),
				"in years": now.AddDate(20, 0, 0), "long ago": now.AddDate(-1, 0, 0), "as before": listed.Updated,
			} {
				for _, e := range []feed.Entry{gone, listed} {
					s.put(f.url, nil, altered(e, updated))
					b.wantGenuine(fmt.Sprintf("%s, number %d, updated %s", who, i, name), e)
					s.put(f.url, []protocol.NodeID{newID(addressed(300+i, 9))}, altered(e, updated))
					b.wantGenuine(fmt.Sprintf("%s, number %d, as a relay, updated %s", who, i, name), e)
				}
			}
			s.leave()
		}
	}
	var near, far []*stranger
	for i := range 10 {
		near = append(near, newStranger(t, addressed(1, 1+i), b.at.Listen))
		far = append(far, newStranger(t, addressed(2+i, 1), b.at.Listen))
	}
	attack("two of one network", near[:2])
	attack("two of two networks", far[:2])
	f.drop()
	f.publish(f.written("third"))
	var witnesses []*stranger
	for i := range 10 {
		witnesses = append(witnesses, newStranger(t, addressed(100+i, 1), b.at.Listen))
	}
	b.hear(others, witnesses...)
	b.waitWhole(f)
	b.wantGenuine("after a poll", listed)
	b.wantGenuine("after a poll of a document without it", gone)
	attack("ten of one network", near)
	attack("ten of ten networks, who brought true entries", witnesses)
	b.restart(t)
	attack("ten of ten networks, after a restart", witnesses)
	b.waitWhole(f)
	b.wantGenuine("at last", listed)
	b.wantGenuine("at last", gone)
}

// Entries that no own poll has shown strangers may invent, and alter. They are not taken for confirmed on the word of
// any number of one network, whatever these brought before, nor on that of strangers; two witnesses in two networks are
// believed.
func TestWhoConfirmsWhatNoPollHasShown(t *testing.T) {
	t.Parallel()
	if !inNamespace(t) {
		return
	}
	makeNetwork(t)
	f, others := publishFeed(t, "20.2.0.1", "first"), publishFeeds(t, 12)
	f.once = true // its publisher refuses the node
	b := besiege(t, append(others, f)...)
	at := func(network, n int) *stranger { return newStranger(t, addressed(network, n), b.at.Listen) }
	var near []*stranger
	for i := range 10 {
		near = append(near, at(1, 1+i))
	}
	one, two := at(2, 1), at(3, 1)
	b.hear(others, append(near, one, two)...)
	bring := func(e feed.Entry, who []*stranger) (got feed.Entry, confirmed bool) {
		for i, s := range who {
			s.connect(f.url)
			beside := f.written(fmt.Sprint("beside-", i)) // so that it is not the same bundle
			beside.Published = beside.Published.AddDate(0, 0, -3)
			s.put(f.url, nil, e, beside)
			s.leave()
		}
		return b.shown(e)
	}
	for name, c := range map[string]struct {
		who  []*stranger
		want bool
	}{
		"ten-of-one-network":                        {near, false},
		"two-who-brought-nothing":                   {[]*stranger{at(4, 1), at(5, 1)}, false},
		"two-of-whom-one-brought-nothing":           {[]*stranger{one, at(6, 1)}, false},
		"two-of-two-networks-who-brought-true-ones": {[]*stranger{one, two}, true},
	} {
		junk := f.written(name)
		if _, confirmed := bring(junk, c.who); confirmed != c.want {
			t.Errorf("%s invented an entry; it is confirmed: %v", name, confirmed)
		}
		brought := f.written(name + "-altered")
		bring(brought, []*stranger{at(7, 1+len(name))})
		other := altered(brought, brought.Updated.Add(time.Minute))
		if got, confirmed := bring(other, c.who); got.Equal(&other) != c.want || confirmed != c.want {
			t.Errorf("%s altered an entry that was one stranger's word; it is shown as %s, confirmed %v", name,
				got.Title, confirmed)
		}
	}
}

// An entry that a neighbor brought counts as the neighbor's own no more once a document of the publisher that the owner
// asks for has it, as when a poll lists it.
func TestPagesGiveBackTheRoomOfWhatNeighborsBrought(t *testing.T) {
	t.Parallel()
	if !inNamespace(t) {
		return
	}
	makeNetwork(t)
	f := publishFeed(t, "20.2.0.1", "first")
	b := besiege(t, f)
	s := newStranger(t, addressed(1, 1), b.at.Listen)
	s.connect(f.url)
	stored := func() int64 {
		t.Helper()
		list, err := b.client.Neighbors(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("neighbors: %+v, %v", list, err)
		}
		return list[0].Unshown
	}
	e := f.written("second")
	s.put(f.url, nil, e)
	if stored() == 0 {
		t.Fatal("nothing counts of what the neighbor brought")
	}
	f.publish(e)
	if p, err := b.client.FetchArchive(t.Context(), f.url, ""); err != nil || p.Listed != 2 || p.Stored != 0 {
		t.Fatalf("the document: %+v, %v", p, err)
	}
	if n := stored(); n != 0 {
		t.Errorf("%d bytes count of what the publisher has", n)
	}
}
