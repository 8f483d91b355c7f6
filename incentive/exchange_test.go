package incentive

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/protocol"
)

var exchangeDay = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestWhoDoesNotGiveGetsOneTurn(t *testing.T) {
	x, now, h := NewExchanges(Config{}), exchangeDay, giftHolder(t, "8.8.8.8:7790")
	if got := x.Allowed(now, h, false); got != 0 {
		t.Errorf("without a ring %d entries are allowed", got)
	}
	if got := x.Allowed(now, h, true); got != Quantum {
		t.Errorf("in a ring %d entries are allowed", got)
	}
	x.Served(now, h, Quantum-5)
	if got := x.Allowed(now, h, true); got != 5 {
		t.Errorf("%d more are allowed to one that got %d", got, Quantum-5)
	}
	x.Served(now, h, 5)
	if got := x.Allowed(now.Add(tabLife-1), h, true); got != 0 {
		t.Errorf("%d more are allowed to one that gave nothing", got)
	}
	x.Owed(now, h, protocol.NodeID{}, Quantum+3)
	if got := x.Allowed(now, h, false); got != 3 {
		t.Errorf("%d are allowed to one that is owed 3", got)
	}
	if got := x.Allowed(now, h, true); got != Quantum+3 {
		t.Errorf("%d are allowed in a ring to one that is owed 3", got)
	}
	x.Served(now, h, Quantum+3)
	if got := x.Allowed(now.Add(tabLife), h, true); got != Quantum {
		t.Errorf("after a day %d are allowed", got)
	}
}

// Who serves us little for a node does not take the place of who served us much for it, whoever was first.
func TestWhoGaveMostIsServedFor(t *testing.T) {
	now, h, little, much := exchangeDay, giftHolder(t, "8.8.8.8:7790"), ringNode(1), ringNode(2)
	for _, gives := range [][]protocol.NodeID{{little, much}, {much, little}, {little, much, little}} {
		x := NewExchanges(Config{})
		for _, by := range gives {
			weight := 1
			if by == much {
				weight = 5
			}
			x.Owed(now, h, by, weight)
		}
		x.Served(now, h, 2)
		if got := x.By(h); got != much {
			t.Errorf("where %v gave, the node is served for %v", gives, got)
		}
	}
}

// Three that serve each other in a ring are even at the end of each round, and each is behind by a quantum at most.
func TestARingOfThreeIsEven(t *testing.T) {
	now := exchangeDay
	ids := []protocol.NodeID{ringNode(0), ringNode(1), ringNode(2)} // S, C, P: each serves the next
	var x [3]*Exchanges
	for i := range x {
		x[i] = NewExchanges(Config{})
	}
	for round := range 5 {
		for i := range ids {
			next, last := (i+1)%3, (i+2)%3
			if got := x[i].Allowed(now, HolderOf(ids[next]), true); got < Quantum {
				t.Fatalf("round %d: %d allows the next %d", round, i, got)
			}
			x[i].Served(now, HolderOf(ids[next]), Quantum)
			x[next].Owed(now, HolderOf(ids[last]), ids[i], Quantum) // it was told so
		}
		for i := range x {
			if len(x[i].tabs) != 0 {
				t.Fatalf("after round %d %d keeps tabs: %v", round, i, x[i].tabs)
			}
		}
	}
}

// Nobody is ever ahead of us, whatever others say and do, by more than a quantum within a day, nor more than so many at
// once, and what is kept of it is bounded.
func TestNobodyGetsFarAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, now := NewExchanges(Config{}), exchangeDay
		got, gave := map[Holder]int{}, map[Holder]int{}
		holders := rapid.IntRange(1, 2*maxAhead).Draw(t, "holders")
		for range rapid.IntRange(1, 300).Draw(t, "deeds") {
			h := HolderOf(protocol.NewNodeID(exchangeAddr(rapid.IntRange(0, holders-1).Draw(t, "holder")), 7790))
			switch rapid.IntRange(0, 3).Draw(t, "deed") {
			case 0:
				n := rapid.IntRange(1, 2*Quantum).Draw(t, "entries")
				x.Owed(now, h, protocol.NodeID{}, n)
				gave[h] += n
			default:
				n := min(rapid.IntRange(1, 5*Quantum).Draw(t, "entries"),
					x.Allowed(now, h, rapid.Bool().Draw(t, "ring")))
				x.Served(now, h, n)
				got[h] += n
			}
			ahead := 0
			for h := range got {
				if got[h]-gave[h] > Quantum {
					t.Fatalf("%s got %d and gave %d", h, got[h], gave[h])
				}
				if got[h] > gave[h] {
					ahead++
				}
			}
			if ahead > maxAhead {
				t.Fatalf("%d are ahead at a time", ahead)
			}
		}
	})
	x := NewExchanges(Config{})
	for i := range 2 * maxTabs {
		x.Owed(exchangeDay, HolderOf(protocol.NewNodeID(exchangeAddr(i), 7790)), protocol.NodeID{}, 1)
	}
	for i := range 2 * maxAhead {
		h := HolderOf(protocol.NewNodeID(exchangeAddr(3*maxTabs+i), 7790))
		x.Served(exchangeDay, h, x.Allowed(exchangeDay, h, true))
	}
	if len(x.tabs) != maxTabs || x.ahead() != maxAhead {
		t.Errorf("%d tabs are kept, %d ahead", len(x.tabs), x.ahead())
	}
}

func exchangeAddr(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{8, byte(i >> 16), byte(i >> 8), byte(i)})
}

func TestLongEntriesCountMore(t *testing.T) {
	for bytes, want := range map[int]int{
		-1: 1, 0: 1, 500: 1, protocol.OwedBytes - 1: 1, protocol.OwedBytes: 2, 2*protocol.OwedBytes - 1: 2,
		10 * protocol.OwedBytes: 11, protocol.MaxBatchBytes: 1 + protocol.MaxBatchBytes/protocol.OwedBytes,
	} {
		if got := Weight(bytes); got != want {
			t.Errorf("%d bytes count %d, want %d", bytes, got, want)
		}
	}
}

// However long the entries are that somebody chooses to get and to give: it never gets ahead by more than a quantum of
// short ones, neither in entries nor in bytes, and whatever an answer counts fits into it.
func TestNobodyGetsLongEntriesForShortOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, now, h := NewExchanges(Config{}), exchangeDay, HolderOf(protocol.NewNodeID(exchangeAddr(1), 7790))
		size := rapid.OneOf(rapid.IntRange(0, 2000), rapid.IntRange(0, protocol.MaxBatchBytes))
		entries, bytes, gave := 0, 0, 0
		for range rapid.IntRange(1, 200).Draw(t, "entries") {
			n := size.Draw(t, "bytes")
			if rapid.Bool().Draw(t, "it gives") {
				x.Owed(now, h, protocol.NodeID{}, Weight(n))
				gave += Weight(n)
				continue
			}
			if Weight(n) <= x.Allowed(now, h, rapid.Bool().Draw(t, "ring")) {
				x.Served(now, h, Weight(n))
				entries, bytes = entries+1, bytes+n
			}
			if most := gave + Quantum; entries > most || bytes > most*protocol.OwedBytes {
				t.Fatalf("it got %d entries of %d bytes for what counts %d", entries, bytes, gave)
			}
		}
		batch := rapid.SliceOfN(size, 0, protocol.MaxBatch).Draw(t, "batch")
		long, weight := 0, 0
		for _, n := range batch {
			if long += n; long > protocol.MaxBatchBytes {
				break
			}
			weight += Weight(n)
		}
		if weight > protocol.MaxOwed {
			t.Fatalf("an answer counts %d", weight)
		}
	})
}
