package search_test

import (
	"fmt"
	"slices"
	"testing"

	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

// wanted is a version of the entry with that id.
func wanted(id, version byte) protocol.Wanted {
	return protocol.Wanted{ID: feed.EntryID{id}, Digest: feed.Digest{version}}
}

// wishesFor are the wishes for so many entries that all these holders have.
func wishesFor(entries int, holders ...protocol.NodeID) (w search.Wishes) {
	for i := range entries {
		w.Add(search.Wish{Wanted: wanted(byte(i), 1), Holders: slices.Clone(holders)})
	}
	return w
}

func everybody(protocol.NodeID) bool { return true }

// said is which holder is asked for how many.
func said(requests []search.HolderRequest) string {
	text := ""
	for _, r := range requests {
		text += fmt.Sprintf("%d:%d ", r.Holder.Addr().As4()[3], len(r.Wanted))
	}
	return text
}

func TestWhoIsAskedForWhat(t *testing.T) {
	a, b, c, d, e := node(1), node(2), node(3), node(4), node(5)
	for _, test := range []struct {
		name   string
		wishes func() search.Wishes
		want   string
	}{
		{"nothing is wished for", func() search.Wishes { return search.Wishes{} }, ""},
		{"the first has all", func() search.Wishes { return wishesFor(3, a, b) }, "1:3 "},
		{"a batch from each", func() search.Wishes { return wishesFor(protocol.MaxBatch+1, a, b) },
			fmt.Sprintf("1:%d 2:1 ", protocol.MaxBatch)},
		{"nobody has more than a batch", func() search.Wishes { return wishesFor(protocol.MaxBatch+1, a) },
			fmt.Sprintf("1:%d ", protocol.MaxBatch)},
		{"four at a time", func() (w search.Wishes) {
			for i, id := range []protocol.NodeID{a, b, c, d, e, a} {
				w.Add(search.Wish{Wanted: wanted(byte(i), 1), Holders: []protocol.NodeID{id}})
			}
			return w
		}, "1:2 2:1 3:1 4:1 "},
		{"one version of an entry at a time", func() (w search.Wishes) {
			w.Add(search.Wish{Wanted: wanted(1, 1), Holders: []protocol.NodeID{a}})
			w.Add(search.Wish{Wanted: wanted(1, 2), Holders: []protocol.NodeID{b}})
			return w
		}, "1:1 "},
	} {
		w := test.wishes()
		if got := said(w.Next(everybody)); got != test.want || w.Waiting() != (test.want != "") {
			t.Errorf("%s: asked are %q, want %q", test.name, got, test.want)
		}
		if got := said(w.Next(everybody)); got != "" {
			t.Errorf("%s: while they have not answered %q are asked as well", test.name, got)
		}
	}
	w := wishesFor(1, a, b)
	if got := said(w.Next(func(id protocol.NodeID) bool { return id != a })); got != "2:1 " {
		t.Errorf("where the first is of no use asked are %q", got)
	}
}

func TestWhoIsAskedNext(t *testing.T) {
	a, b := node(1), node(2)
	for _, test := range []struct {
		name    string
		holders []protocol.NodeID
		come    int // of three
		left    int
		want    string
	}{
		{"all came", []protocol.NodeID{a, b}, 3, 0, ""},
		{"it had none", []protocol.NodeID{a, b}, 0, 0, "2:3 "},
		{"nor had anybody else", []protocol.NodeID{a}, 0, 0, ""},
		{"it left the last for another answer", []protocol.NodeID{a, b}, 2, 1, "1:1 "},
		{"it left more than the last", []protocol.NodeID{a, b}, 1, 1, "2:1 1:1 "},
		{"it left all, and is not asked the same again", []protocol.NodeID{a, b}, 0, 3, "2:3 "},
		{"it left more than it was asked for", []protocol.NodeID{a}, 0, 4, ""},
	} {
		w := wishesFor(3, test.holders...)
		r := w.Next(everybody)[0]
		w.Answered(r, test.left, false)
		if w.Waiting() {
			t.Errorf("%s: somebody is waited for", test.name)
		}
		w.Drop(func(one protocol.Wanted) bool { return int(one.ID[0]) < test.come })
		if got := said(w.Next(everybody)); got != test.want || w.Len() != 3-test.come {
			t.Errorf("%s: asked next are %q, want %q; %d wishes are open", test.name, got, test.want, w.Len())
		}
	}
}

// What is wished for twice is one wish, which all have that are said to, each once.
func TestAWishTwiceIsOne(t *testing.T) {
	w := wishesFor(2, node(1))
	for i := range 2 {
		w.Add(search.Wish{Wanted: wanted(byte(i), 1), Holders: []protocol.NodeID{node(1), node(2)}})
	}
	if w.Len() != 2 {
		t.Errorf("%d wishes are open", w.Len())
	}
	for _, want := range []string{"1:2 ", "2:2 ", ""} {
		requests := w.Next(everybody)
		if got := said(requests); got != want {
			t.Errorf("asked are %q, want %q", got, want)
		}
		for _, r := range requests {
			w.Answered(r, 0, false)
		}
	}
}

// Wishes that somebody is asked for are not let go of; the rest are.
func TestWishesUnderWayStay(t *testing.T) {
	w := wishesFor(protocol.MaxBatch+7, node(1))
	r := w.Next(everybody)[0]
	w.Drop(func(protocol.Wanted) bool { return true })
	if w.Len() != protocol.MaxBatch {
		t.Errorf("%d wishes are open", w.Len())
	}
	w.Answered(r, 0, false)
	if w.Drop(func(protocol.Wanted) bool { return true }); w.Len() != 0 {
		t.Errorf("%d wishes are open after the answer", w.Len())
	}
}

// Holders that give no more away are asked again, first, when that may have changed.
func TestHoldersThatGiveNoMoreAway(t *testing.T) {
	a, b := node(1), node(2)
	w := wishesFor(2, a, b)
	w.Add(search.Wish{Wanted: wanted(7, 1), Holders: []protocol.NodeID{b}})
	first := w.Next(everybody)
	w.Answered(first[0], 0, true)
	w.Answered(first[1], 0, false)
	counts := map[protocol.NodeID]int{a: 0, b: 0}
	if w.Count(counts); counts[a] != 2 || counts[b] != 2 || len(counts) != 2 {
		t.Errorf("wishes that they could fulfill: %v", counts)
	}
	if w.Again(b) || !w.Again(a) || w.Again(a) {
		t.Error("which holder is asked again is wrong")
	}
	again := w.Next(everybody)
	if got := said(again); got != "1:2 " {
		t.Errorf("asked again are %q", got)
	}
	w.Answered(again[0], 1, true)
	w.KeepSpent()
	if ids := w.IDs(); len(ids) != 1 || ids[0] != wanted(0, 1).ID {
		t.Errorf("kept are wishes for %v", ids)
	}
}

func TestEachEntryIsMissingOnce(t *testing.T) {
	var w search.Wishes
	for _, one := range []protocol.Wanted{wanted(2, 1), wanted(1, 1), wanted(2, 2)} {
		w.Add(search.Wish{Wanted: one})
	}
	if ids := w.IDs(); !slices.Equal(ids, []feed.EntryID{wanted(2, 1).ID, wanted(1, 1).ID}) {
		t.Errorf("missing are %v", ids)
	}
}

// A holder that is busy is asked for a quarter each time, and then no more.
func TestBusyHoldersAreAskedForFewer(t *testing.T) {
	a, b := node(1), node(2)
	w := wishesFor(protocol.MaxBatch+1, a)
	w.Add(search.Wish{Wanted: wanted(200, 1), Holders: []protocol.NodeID{a, b}})
	for _, want := range []string{"1:100 2:1 ", "1:25 ", "1:6 ", "1:4 "} {
		asked := w.Next(everybody)
		if got := said(asked); got != want {
			t.Fatalf("asked are %q, want %q", got, want)
		}
		if fewer := w.Busy(asked[0]); fewer != (want != "1:4 ") {
			t.Errorf("after %q: asked for fewer: %v", want, fewer)
		}
	}
	if got := said(w.Next(everybody)); got != "" || w.Len() != protocol.MaxBatch+2 {
		t.Errorf("asked no more are %q, %d wishes are open", got, w.Len())
	}
}
