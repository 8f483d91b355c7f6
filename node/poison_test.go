package node_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Bundles that are not what they say, and offers of what does not exist.

// A bundle that is not what its did says is refused, and marks nothing: the real one is still taken.
func TestForgedBundlesMarkNothing(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(11, node.Config{MaxNeighbors: 20, MinNeighbors: 10}, news)
	a := hosts[0]
	honest := bundleOf(3)
	change := []struct {
		name string
		code protocol.Code
		edit func(*protocol.Bundle)
	}{
		{"an entry is missing", protocol.BadDID, func(b *protocol.Bundle) { b.Entries = b.Entries[:2] }},
		{"a title is another", protocol.BadDID, func(b *protocol.Bundle) { b.Entries[1].Title = "Buy now" }},
		{"an entry of another feed", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries[1].Feed = blog }},
		{"an entry twice", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries[1] = b.Entries[0] }},
		{"no entries", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries = nil }},
		{"a title too long", protocol.TooLong,
			func(b *protocol.Bundle) { b.Entries[0].Title = string(make([]byte, 5000)) }},
		{"a title that is not clean", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries[0].Title = "a\x00b" }},
		{"a path too long", protocol.TooLong, func(b *protocol.Bundle) { b.Path = make([]protocol.NodeID, 17) }},
		{"a feed that nobody wants", protocol.UnwantedFeed, func(b *protocol.Bundle) { b.Feed = comic }},
		{"another did", protocol.BadDID, func(b *protocol.Bundle) { b.DID[0]++ }},
	}
	var b *testHost
	for i, c := range change {
		b = hosts[1+i]
		if !linked(a, b) {
			t.Fatal("not linked")
		}
		forged := *honest
		forged.Entries = slices.Clone(honest.Entries)
		c.edit(&forged)
		if r := a.put(b, &forged); r.Fault == nil || r.Fault.Code != c.code {
			t.Errorf("%s: answered %v, %v; want fault %v", c.name, r.Reply, r.Fault, c.code)
		}
	}
	for i := range honest.Entries {
		if a.has(honest.Entries[i].EntryID()) {
			t.Errorf("entry %d was stored from a bundle that was refused", i)
		}
	}
	if a.node.Saw(honest.DID) {
		t.Error("a forged bundle marked the honest one seen")
	}
	if r := a.put(b, honest); r.Fault != nil || !a.has(honest.Entries[1].EntryID()) {
		t.Errorf("the honest bundle was not taken afterwards: %v", r.Fault)
	}
}

// mutations change a bundle so that its did is not that of its content any more.
var mutations = []func(rng *rand.Rand, b *protocol.Bundle, other *protocol.Bundle){
	func(rng *rand.Rand, b, _ *protocol.Bundle) { b.DID[rng.IntN(len(b.DID))] ^= 1 << rng.IntN(8) },
	func(_ *rand.Rand, b, other *protocol.Bundle) { b.DID = other.DID },
	func(_ *rand.Rand, b, other *protocol.Bundle) { b.Entries = other.Entries },
	func(rng *rand.Rand, b, _ *protocol.Bundle) {
		i := rng.IntN(len(b.Entries))
		b.Entries = slices.Delete(b.Entries, i, i+1)
	},
	func(rng *rand.Rand, b, _ *protocol.Bundle) {
		b.Entries = append(b.Entries, b.Entries[rng.IntN(len(b.Entries))])
	},
	func(rng *rand.Rand, b, other *protocol.Bundle) {
		b.Entries[rng.IntN(len(b.Entries))] = other.Entries[rng.IntN(len(other.Entries))]
	},
	func(rng *rand.Rand, b, other *protocol.Bundle) {
		b.Entries = append(b.Entries, other.Entries[rng.IntN(len(other.Entries))])
	},
	func(_ *rand.Rand, b, _ *protocol.Bundle) { b.Entries = nil },
	func(_ *rand.Rand, b, _ *protocol.Bundle) { b.Feed = blog },
	func(rng *rand.Rand, b, _ *protocol.Bundle) { b.Entries[rng.IntN(len(b.Entries))].Feed = blog },
	func(rng *rand.Rand, b, _ *protocol.Bundle) {
		text := []func(e *feed.Entry) *string{
			func(e *feed.Entry) *string { return &e.ID },
			func(e *feed.Entry) *string { return &e.Title },
			func(e *feed.Entry) *string { return &e.Link },
			func(e *feed.Entry) *string { return &e.Summary },
			func(e *feed.Entry) *string { return &e.Content },
		}[rng.IntN(5)](&b.Entries[rng.IntN(len(b.Entries))])
		i := rng.IntN(len(*text) + 1)
		*text = (*text)[:i] + string(rune(rng.IntN(0x250))) + (*text)[i:]
	},
	func(rng *rand.Rand, b, _ *protocol.Bundle) { b.Entries[rng.IntN(len(b.Entries))].Summary = "" },
	func(rng *rand.Rand, b, _ *protocol.Bundle) {
		e := &b.Entries[rng.IntN(len(b.Entries))]
		e.Published = e.Published.Add(time.Duration(1+rng.IntN(1000)) * time.Second)
	},
	func(rng *rand.Rand, b, _ *protocol.Bundle) {
		e := &b.Entries[rng.IntN(len(b.Entries))]
		e.Categories = append(e.Categories, "x")
	},
	func(rng *rand.Rand, b, _ *protocol.Bundle) {
		e := &b.Entries[rng.IntN(len(b.Entries))]
		e.Enclosures = append(e.Enclosures, feed.Enclosure{URL: "https://example.com/a.mp3", Length: rng.Int64N(100)})
	},
}

// A hundred thousand mutated bundles, from a neighbor that is taken back whenever it was sent away for them:
// none is stored, none marks a did, and each honest bundle is taken afterwards.
func TestMutatedBundlesMarkNothing(t *testing.T) {
	const count = 100_000
	_, a, friend := newPair(t, node.Config{}, news)
	rng := rand.New(rand.NewPCG(7, 8))
	var honest []*protocol.Bundle
	for i := range 50 {
		var entries []feed.Entry
		for j := range 1 + i%4 {
			entries = append(entries, feed.Entry{
				Feed: news, ID: fmt.Sprintf("tag:%d/%d", i, j), Title: "Title", Link: "https://example.com/",
				Summary: "<p>Text</p>", Published: epoch,
			})
		}
		honest = append(honest, bundleWith(entries...))
	}
	foe := a.befriend(stranger(1), news)
	pardons := 0
	foreign := make(map[protocol.DID]bool)
	for range count {
		if !a.neighborOf(foe.id) {
			pardons++
			if err := a.node.Forgive(); err != nil {
				t.Fatal(err)
			}
			a.befriend(foe.id, news)
		}
		b, other := *honest[rng.IntN(len(honest))], honest[rng.IntN(len(honest))]
		if b.DID == other.DID {
			continue
		}
		b.Entries = slices.Clone(b.Entries)
		mutations[rng.IntN(len(mutations))](rng, &b, other)
		foreign[b.DID] = true
		if a.put(foe, &b).Fault == nil {
			t.Fatalf("a bundle was taken whose did is %s, and whose content gives %s", b.DID,
				protocol.NewBundle(b.Feed, b.Entries).DID)
		}
	}
	if pardons < count/10 {
		t.Errorf("for %d mutated bundles a neighbor was sent away %d times", count, pardons)
	}
	for d := range foreign {
		if a.node.Saw(d) {
			t.Errorf("%s was marked by a bundle that has another did", d)
		}
	}
	for _, b := range honest {
		if r := a.put(friend, b); r.Fault != nil {
			t.Fatalf("an honest bundle was refused afterwards: %v", r.Fault)
		}
		for i := range b.Entries {
			if a.digest(b.Entries[i].EntryID()) != b.Entries[i].Digest() {
				t.Errorf("entry %d of %s is not kept as it was sent", i, b)
			}
		}
	}
}

// Content is left out and the did made to fit: that is another bundle, and the whole one is still taken.
func TestAStrippedBundleIsAnotherBundle(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, attacker, friend := hosts[0], hosts[1], hosts[2]
	honest := bundleOf(3)
	stripped := bundleWith(honest.Entries[:1]...)
	if r := a.put(attacker, stripped); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	if a.node.Saw(honest.DID) {
		t.Fatal("the whole bundle counts as seen")
	}
	if r := a.hears(friend, protocol.CheckDID{DID: honest.DID}); r.Reply != protocol.Seen(false) {
		t.Errorf("the whole bundle is answered %v, %v", r.Reply, r.Fault)
	}
	if r := a.put(friend, honest); r.Fault != nil || !a.has(honest.Entries[2].EntryID()) {
		t.Errorf("the whole bundle is not taken: %v", r.Fault)
	}
}

// A million offers of random dids, from neighbors of which each is sent away in the end: what was seen is still seen,
// and next to no memory is used.
func TestRandomOffersDisplaceNothing(t *testing.T) {
	w, a, friend := newPair(t, unlimited(), news)
	var honest []protocol.DID
	for i := range 1000 {
		b := one(fmt.Sprint("honest ", i))
		if r := a.put(friend, b); r.Fault != nil {
			t.Fatal(r.Fault)
		}
		honest = append(honest, b.DID)
		w.run(200 * time.Millisecond)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	random := func() (d protocol.DID) {
		binary.BigEndian.PutUint64(d[:], rng.Uint64())
		binary.BigEndian.PutUint64(d[8:], rng.Uint64())
		return d
	}
	before := heapBytes()
	var foe *testHost
	foes, promised := 0, 0
	for offers, calls := 0, 0; offers < 1_000_000; calls++ {
		if foe == nil || !a.neighborOf(foe.id) {
			foes++
			foe = a.befriend(stranger(foes), news)
		}
		c := protocol.Call(protocol.CheckDID{DID: random()})
		if calls%2 == 1 {
			dids := make([]protocol.DID, protocol.MaxDIDs)
			for i := range dids {
				dids[i] = random()
			}
			c = protocol.CheckDIDs{DIDs: dids}
			offers += len(dids) - 1
		}
		offers++
		a.askedBy(foe, c, func(r node.Respond) {
			if r.Fault == nil {
				promised++
			}
		})
		w.run(110 * time.Millisecond)
	}
	runtime.KeepAlive(honest)
	if grown := heapBytes() - before; grown > 5<<20 {
		t.Errorf("a million offers left %d bytes behind", grown)
	}
	t.Logf("%d neighbors offered, %d offers were accepted", foes, promised)
	audits := a.node.Status().Counters.Audits
	unseen := int64(0)
	for i, d := range honest {
		if !a.node.SawLately(d) {
			t.Fatalf("bundle %d of 1,000 was pushed out of the latest", i)
		}
		if a.hears(friend, protocol.CheckDID{DID: d}).Reply != protocol.Seen(true) {
			unseen++
		}
		w.run(200 * time.Millisecond)
	}
	if audits = a.node.Status().Counters.Audits - audits; unseen != audits {
		t.Errorf("%d of 1,000 bundles are answered unseen, %d of them to see whether they are there", unseen, audits)
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // what is in a sync.Pool outlives the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
