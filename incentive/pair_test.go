package incentive

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

// A book is the account that one of two honest nodes keeps of the other, with a feed that both follow.
type book struct {
	other    Holder
	ledger   *Ledger
	earnings *Earnings
	polled   map[feed.EntryID]bool // has; whether an own poll has listed it
	seen     map[feed.EntryID]time.Time
	held     map[feed.EntryID]bool // brought by the other, beyond what earned that day
	waiting  []feed.Entry          // to be given, but for what the other gave
	has      map[protocol.DID]bool // bundles
	offered  map[protocol.DID]bool // by the other
}

func newBook(other Holder) *book {
	return &book{
		other: other, ledger: newLedger(Config{}), earnings: NewEarnings(DefaultRules()),
		polled: make(map[feed.EntryID]bool), seen: make(map[feed.EntryID]time.Time), held: make(map[feed.EntryID]bool),
		has: make(map[protocol.DID]bool), offered: make(map[protocol.DID]bool),
	}
}

// poll takes in a document. Credit that was held for its entries is owed now.
func (b *book) poll(now time.Time, document []feed.Entry) {
	var fresh []feed.Entry
	for _, e := range document {
		id := e.EntryID()
		polled, known := b.polled[id]
		if !known {
			fresh = append(fresh, e)
			b.seen[id] = now
		}
		if known && !polled {
			b.earnings.Confirmed(now, e.Feed, b.other, 1)
		}
		if b.held[id] {
			b.ledger.Got(now, b.other, Entry)
			delete(b.held, id)
		}
		b.polled[id] = true
	}
	if len(fresh) > 0 {
		all := protocol.NewBundle(news, fresh)
		b.has[all.DID] = true
		b.earnings.Stored(now, all, fresh, Holder{})
		b.waiting = append(b.waiting, fresh...)
	}
}

// give gives to as much of what waits as it may have, unless it has that bundle or offered it. An entry without a date,
// which is only as old as a node has known it, does not wait for more than half a day.
func (b *book) give(now time.Time, to *book) {
	b.waiting = slices.DeleteFunc(b.waiting, func(e feed.Entry) bool {
		return e.Published.IsZero() && now.Sub(b.seen[e.EntryID()]) > day/2
	})
	n := min(len(b.waiting), int(b.ledger.Allowance(b.other)/Entry), protocol.MaxBundleEntries)
	if n == 0 {
		return
	}
	bundle := protocol.NewBundle(news, slices.Clone(b.waiting[:n]))
	b.waiting = b.waiting[n:]
	if b.offered[bundle.DID] {
		return
	}
	b.has[bundle.DID], to.offered[bundle.DID] = true, true
	b.earnings.Stored(now, bundle, nil, Holder{})
	if to.has[bundle.DID] {
		_, earned := to.earnings.Offered(now, to.other, bundle.DID)
		to.ledger.Got(now, to.other, Value(earned, 0))
		return
	}
	b.ledger.Gave(now, b.other, Value(Young(now, bundle.Entries), 0))
	b.earnings.Gave(now, b.other, bundle)
	to.take(now, bundle)
}

// take takes in what the other gives.
func (b *book) take(now time.Time, bundle *protocol.Bundle) {
	b.has[bundle.DID] = true
	var fresh []feed.Entry
	var proven, undated []feed.EntryID
	for _, e := range bundle.Entries {
		id := e.EntryID()
		b.waiting = slices.DeleteFunc(b.waiting, func(w feed.Entry) bool { return w.EntryID() == id })
		switch polled, known := b.polled[e.EntryID()]; {
		case !known:
			fresh = append(fresh, e)
			b.polled[e.EntryID()], b.seen[e.EntryID()] = false, now
		case polled && Dated(now, []feed.Entry{e}) > 0:
			proven = append(proven, e.EntryID())
		case polled && YoungSince(now, &e, b.seen[e.EntryID()]):
			undated = append(undated, e.EntryID())
		}
	}
	b.ledger.Got(now, b.other, Value(b.earnings.Listed(b.other, undated).Entries, 0))
	earned := b.earnings.Stored(now, bundle, fresh, b.other, proven...)
	b.ledger.Got(now, b.other, Value(earned.Entries, 0))
	for i := range fresh {
		switch {
		case Young(now, fresh[i:i+1]) == 0:
		case earned.Fresh > 0 && Dated(now, fresh[i:i+1]) > 0:
			earned.Fresh--
		default:
			b.held[fresh[i].EntryID()] = true
		}
	}
}

// Two honest nodes that follow one feed, of whatever pace, and give each other what their polls find, in bundles that
// overlap as they come: once polls of both have listed what there is, neither book holds more against the other than
// the other holds for it.
func TestTwoHonestBooksAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := newBook(holder(2)), newBook(holder(1))
		var document []feed.Entry
		at, polled := now, now
		agree := func() {
			a.poll(at, document)
			b.poll(at, document)
			x := a.ledger.Account(a.other)
			y := b.ledger.Account(b.other)
			if x.Deficit+y.Deficit > 0 {
				t.Fatalf("at %v one holds %+v, the other %+v", at, x, y)
			}
		}
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.SampledFrom([]int{1, 30, 300, 960}).Draw(t, "minutes")) * time.Minute)
			dated := rapid.Bool().Draw(t, "dated")
			for n := range rapid.SampledFrom([]int{0, 0, 1, 2, 30}).Draw(t, "published") {
				e := feed.Entry{Feed: news, ID: fmt.Sprint(i, "-", n), Title: "T"}
				if dated {
					e.Published = at
				}
				document = append(document, e)
			}
			if at.Sub(polled) >= 16*time.Hour { // both poll within two thirds of a day
				a.poll(at, document)
				b.poll(at, document)
				polled = at
			}
			for _, do := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 8).Draw(t, "deeds") {
				switch do {
				case 0:
					a.poll(at, document)
				case 1:
					b.poll(at, document)
				case 2:
					a.give(at, b)
				case 3:
					b.give(at, a)
				}
			}
			if rapid.IntRange(0, 5).Draw(t, "settle") == 0 {
				agree()
			}
		}
		agree()
	})
}

// Entries that own polls list are no invention: they earn beyond the cap, for each neighbor once.
func TestWhatPollsListEarnsBeyondTheCap(t *testing.T) {
	e := NewEarnings(DefaultRules())
	all := bundle(news, "a", 20, now, time.Hour)
	own := protocol.NewBundle(news, all.Entries[:12])
	e.Stored(now, own, own.Entries, Holder{})
	var polled []feed.EntryID
	for i := range own.Entries {
		polled = append(polled, own.Entries[i].EntryID())
	}
	if got := e.Stored(now, all, all.Entries[12:], holder(1), polled...).Entries; got != 20 {
		t.Errorf("20 entries, of which polls list 12, earn %d", got)
	}
	total := 20
	for n := range 12 {
		part := protocol.NewBundle(news, all.Entries[n:20])
		if n == 0 {
			continue // that is all of them
		}
		total += e.Stored(now, part, nil, holder(1), polled[n:]...).Entries
	}
	if total != 20 {
		t.Errorf("cut in many ways they earn %d, want 20", total)
	}
	if got := e.Stored(now, own, nil, holder(2), polled...).Entries; got != 12 {
		t.Errorf("for another neighbor they earn %d", got)
	}
}
