package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/query"
	"feedex/protocol"
	"feedex/search"
)

// ringOf are nodes that know nobody and give nothing away, each of which has count entries that the one before wishes
// for: node 0 serves node 1, and so on.
func (w *network) ringOf(size, count int) (hosts []*testHost, wishes [][]search.Wish) {
	for range size {
		hosts = append(hosts, w.add(node.Config{Incentive: incentive.Config{Gifts: -1}}))
	}
	wishes = make([][]search.Wish, size)
	for i, h := range hosts {
		for k := range count {
			e := oldEntry(feed.URL(fmt.Sprintf("https://%d.example.com/feed", i)), k)
			h.holds(e)
			wishes[(i+1)%size] = append(wishes[(i+1)%size], wishFor(e, h))
		}
	}
	return hosts, wishes
}

// balance watches how far ahead of the others a node of a ring gets, at most.
func (w *network) balance(t *testing.T, hosts []*testHost) (served map[protocol.NodeID]int) {
	served = make(map[protocol.NodeID]int)
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			r, _ := e.(node.Respond)
			b, _ := r.Reply.(protocol.Batch)
			served[h.id] += len(b.Entries)
		}
		for i, h := range hosts {
			last := hosts[(i+len(hosts)-1)%len(hosts)] // serves h
			if served[h.id]-served[last.id] > incentive.Quantum {
				t.Fatalf("%d of %d gave %d for %d", i, len(hosts), served[h.id], served[last.id])
			}
		}
	}
	return served
}

// Paper §3.6: "if S also wants to download some other entries from C, S and C form a circular dependency of length 2.
// Or if there exists a node P such that P wants to download from C, and S from P, they form a circular dependency of
// length 3." Nobody gives anything away, and all of them get all that they wish for, in rounds of 20 entries.
func TestNodesServeEachOtherInRings(t *testing.T) {
	for size := 2; size <= 4; size++ {
		const count = 130
		w := newNetwork(t)
		hosts, wishes := w.ringOf(size, count)
		served := w.balance(t, hosts)
		for i, h := range hosts {
			h.step(node.Pull{Tag: 1, Wishes: wishes[i]})
			w.run(time.Minute)
			if last := h.pulled[len(h.pulled)-1]; i < size-1 && (!last.Done || len(last.Missing) != count) {
				t.Errorf("%d of %d got something before the ring was closed: %+v", i, size, last)
			}
		}
		w.run(10 * time.Minute)
		for i, h := range hosts {
			got := 0
			for _, wish := range wishes[i] {
				if h.has(wish.ID) {
					got++
				}
			}
			want := count
			if size > 3 {
				want = 0 // nobody knows of rings that long
			}
			if got != want {
				t.Errorf("%d of %d got %d of %d entries and gave %d", i, size, got, want, served[h.id])
			}
			for j, other := range hosts {
				if left := h.node.Exchangeable(other.id); left != incentive.Quantum {
					t.Errorf("%d of %d is not even with %d at the end: it may have %d", i, size, j, left)
				}
			}
		}
	}
}

// A node that takes and does not give gets one round in a day, whatever it says.
func TestWhoDoesNotGiveGetsOneRound(t *testing.T) {
	w, holder := newAlone(t, node.Config{Incentive: incentive.Config{Gifts: -1}})
	taker, friend := stranger(1), stranger(2)
	var mine []feed.Entry
	for i := range 100 {
		mine = append(mine, oldEntry(news, i))
	}
	holder.holds(mine...)
	takes := func(askers ...protocol.NodeID) int {
		c := protocol.GetEntries{Askers: askers}
		for _, e := range mine {
			c.Wanted = append(c.Wanted, protocol.Wanted{ID: e.EntryID()})
		}
		r := holder.answerTo(taker, "", c)
		b, _ := r.Reply.(protocol.Batch)
		if r.Fault != nil && r.Fault.Code != protocol.Spent {
			t.Errorf("refused with %v", r.Fault)
		}
		return len(b.Entries)
	}
	if got := takes(friend); got != 0 {
		t.Fatalf("a node with nothing that the holder wishes for got %d", got)
	}
	refuses := func(*testHost, node.Call) protocol.Reply {
		return &protocol.RemoteError{Code: protocol.Spent, Text: query.Spent().Text}
	}
	w.play(taker, refuses)
	w.play(friend, refuses)
	for day := range 2 {
		wishFor := func(i int, from protocol.NodeID) search.Wish {
			e := oldEntry(blog, 100*day+i)
			return search.Wish{Wanted: protocol.Wanted{ID: e.EntryID(), Digest: e.Digest()}, Feed: blog,
				Holders: []protocol.NodeID{from}}
		}
		holder.pulls(wishFor(1, taker), wishFor(2, friend))
		got := 0
		for i := range 30 {
			got += takes(friend)
			if i == 0 && got != incentive.Quantum {
				t.Errorf("day %d: at first it got %d", day, got)
			}
			w.run(time.Minute)
		}
		holder.pulls(wishFor(3, taker), wishFor(4, friend))
		if got += takes(friend); got != incentive.Quantum {
			t.Errorf("day %d: it got %d", day, got)
		}
		w.run(25 * time.Hour)
	}
}

// Entries that are served in exchange are not taken from what is given away, and a node that could have them for
// nothing owes nothing.
func TestExchangesLeaveGiftsToOthers(t *testing.T) {
	w := newNetwork(t)
	hosts, wishes := w.ringOf(2, 30)
	a, b := hosts[0], hosts[1]
	a.pulls(wishes[0]...)
	a.node.RefillGifts()
	before := a.node.GiftsLeft(b.id)
	b.pulls(wishes[1][:20]...)
	if after := a.node.GiftsLeft(b.id); after != before ||
		!b.has(wishes[1][0].ID) {
		t.Errorf("of %d bytes that may be given away %d are left", before, after)
	}
}

// No node is named to others that has not asked for what is here, nor for longer than an hour.
func TestAskersAreNamedForAnHour(t *testing.T) {
	w, holder := newAlone(t, node.Config{Incentive: incentive.Config{Gifts: -1}})
	e := oldEntry(news, 1)
	holder.holds(e)
	holder.wants(stranger(1), oldEntry(blog, 1))
	holder.wants(stranger(2), e)
	for range 3 {
		holder.wants(stranger(3), e)
	}
	if got := holder.node.AskersBut(stranger(2)); !slices.Equal(got, []protocol.NodeID{stranger(3)}) {
		t.Errorf("named to one of them are %v", got)
	}
	for i := range 2 * protocol.MaxAskers {
		holder.wants(stranger(10+i), e)
	}
	if got := holder.node.AskersBut(protocol.NodeID{}); len(got) != protocol.MaxAskers ||
		got[0] == stranger(2) {
		t.Errorf("%d are named", len(got))
	}
	w.run(query.WishLife)
	holder.step(node.Wake{})
	if got := holder.node.AskersBut(protocol.NodeID{}); len(got) != 0 {
		t.Errorf("an hour later %v are named", got)
	}
}

// Wishes that nobody fulfilled are kept for an hour, and no more than a download has.
func TestParkedWishesAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts, wishes := w.ringOf(2, 300)
	for range 10 {
		hosts[0].pulls(wishes[0]...) // the same again
	}
	kept := func() int {
		wishes, _ := hosts[0].node.Parked()
		return wishes
	}
	if kept() != 300 {
		t.Errorf("%d wishes are kept", kept())
	}
	for i := range 5 {
		hosts[1].holds(oldEntry(news, i))
		var more []search.Wish
		for k := range 300 {
			e := oldEntry(feed.URL(fmt.Sprintf("https://more%d.example.com/", i)), k)
			hosts[1].holds(e)
			more = append(more, wishFor(e, hosts[1]))
		}
		hosts[0].pulls(more...)
	}
	if kept() > node.MaxWishes {
		t.Errorf("%d wishes are kept", kept())
	}
	w.run(query.WishLife + time.Minute)
	if wishes, downloads := hosts[0].node.Parked(); wishes != 0 || downloads != 0 {
		t.Errorf("an hour later %d wishes are kept", kept())
	}
}

// Long entries are not to be had for short ones: a node that gives the one gets as much of the other, by what they
// count. One that counts more than a round is passed over and holds up nothing.
func TestLongEntriesAreNotServedForShortOnes(t *testing.T) {
	w := newNetwork(t)
	hosts, wishes := w.ringOf(2, 60)
	long, short := hosts[0], hosts[1]
	wishes[1] = nil
	for k, bytes := range append([]int{1 << 20}, slices.Repeat([]int{100 << 10}, 59)...) {
		e := oldEntry("https://long.example.com/feed", k)
		e.Content = strings.Repeat("x", bytes)
		long.holds(e)
		wishes[1] = append(wishes[1], wishFor(e, long))
	}
	gave := make(map[protocol.NodeID]int) // bytes
	weights := make(map[protocol.NodeID]int)
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			r, _ := e.(node.Respond)
			b, _ := r.Reply.(protocol.Batch)
			for i := range b.Entries {
				gave[h.id] += b.Entries[i].WireBytes()
				weights[h.id] += incentive.Weight(b.Entries[i].WireBytes())
			}
		}
		if a, b := weights[long.id], weights[short.id]; a-b > incentive.Quantum || b-a > incentive.Quantum {
			t.Fatalf("one gave what counts %d, the other %d", a, b)
		}
	}
	for i, h := range hosts {
		h.step(node.Pull{Tag: 1, Wishes: wishes[i]})
		w.run(time.Minute)
	}
	w.run(10 * time.Minute)
	got := 0
	for _, wish := range wishes[0] {
		if long.has(wish.ID) {
			got++
		}
	}
	if got != 60 || short.has(wishes[1][0].ID) || !short.has(wishes[1][1].ID) {
		t.Errorf("%d of 60 short entries came; the longest %v, the next %v", got, short.has(wishes[1][0].ID),
			short.has(wishes[1][1].ID))
	}
	if most := (60 + incentive.Quantum) * protocol.OwedBytes; gave[long.id] > most || gave[long.id] == 0 {
		t.Errorf("%d bytes were given for 60 short entries, want %d at most", gave[long.id], most)
	}
}
