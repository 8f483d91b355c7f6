package incentive

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const news feed.URL = "https://news.example.com/feed"

// bundle is one of n entries of the feed, published at the given age before now; without a date where
// the age is negative. Bundles differ by their name.
func bundle(u feed.URL, name string, n int, at time.Time, age time.Duration) *protocol.Bundle {
	entries := make([]feed.Entry, n)
	for i := range entries {
		entries[i] = feed.Entry{Feed: u, ID: fmt.Sprint(name, "-", i), Title: name}
		if age >= 0 {
			entries[i].Published = at.Add(-age)
		}
	}
	return protocol.NewBundle(u, entries)
}

func TestWhatADeliveryEarns(t *testing.T) {
	for _, c := range []struct {
		rule   string
		bundle *protocol.Bundle
		fresh  int
		want   int
	}{
		{"new entries earn", bundle(news, "a", 3, now, time.Hour), 3, 3},
		{"known ones earn as well: they would have served", bundle(news, "a", 3, now, time.Hour), 1, 3},
		{"entries of the last 48 hours earn", bundle(news, "a", 3, now, 48*time.Hour), 3, 3},
		{"older ones do not", bundle(news, "a", 3, now, 48*time.Hour+time.Second), 3, 0},
		{"without a date nothing earns yet", bundle(news, "a", 3, now, -1), 3, 0},
		{"a date in the future is none", bundle(news, "a", 3, now.Add(ahead+time.Second), 0), 3, 0},
		{"unless clocks differ", bundle(news, "a", 3, now.Add(ahead), 0), 3, 3},
		{"five a day of an unknown feed", bundle(news, "a", 40, now, time.Hour), 40, 5},
	} {
		e := NewEarnings(DefaultRules())
		if known := c.bundle.Entries[c.fresh:]; len(known) > 0 {
			e.Stored(now, protocol.NewBundle(news, known), known, Holder{})
		}
		got := e.Stored(now, c.bundle, c.bundle.Entries[:c.fresh], holder(1))
		if got.Entries != c.want || got.Fresh != min(c.fresh, c.want) {
			t.Errorf("%s: %+v earn, want %d", c.rule, got, c.want)
		}
	}
	if got := NewEarnings(DefaultRules()).Stored(now, bundle(news, "a", 3, now, 0), nil, Holder{}).Entries; got != 0 {
		t.Errorf("an own poll earns %d", got)
	}
}

func TestWhatAnOfferEarns(t *testing.T) {
	b := bundle(news, "a", 3, now, 47*time.Hour)
	for _, c := range []struct {
		rule  string
		after time.Duration
		do    func(*Earnings)
		want  int
	}{
		{"the full value of the bundle", 0, func(e *Earnings) {}, 3},
		{"while its entries are of the last 48 hours", time.Hour, func(e *Earnings) {}, 3},
		{"not once they are older", time.Hour + time.Second, func(e *Earnings) {}, 0},
		{"once", 0, func(e *Earnings) { e.Offered(now, holder(1), b.DID) }, 0},
		{"whatever others earn with it", 0, func(e *Earnings) { e.Offered(now, holder(2), b.DID) }, 3},
		{"not after delivering it", 0, func(e *Earnings) { e.Stored(now, b, nil, holder(1)) }, 0},
		{"not for whom we gave it to", 0, func(e *Earnings) { e.Gave(now, holder(1), b) }, 0},
		{"what was given to others does not matter", 0, func(e *Earnings) { e.Gave(now, holder(2), b) }, 3},
	} {
		e := NewEarnings(DefaultRules())
		e.Stored(now, b, b.Entries, Holder{})
		c.do(e)
		u, got := e.Offered(now.Add(c.after), holder(1), b.DID)
		if got != c.want || got > 0 && u != news {
			t.Errorf("%s: %d of %q earn, want %d", c.rule, got, u, c.want)
		}
	}
	if _, got := NewEarnings(DefaultRules()).Offered(now, holder(1), b.DID); got != 0 {
		t.Errorf("a bundle that we do not have earns %d", got)
	}
}

func TestDeliveryEarnsOnce(t *testing.T) {
	e, b := NewEarnings(DefaultRules()), bundle(news, "a", 3, now, time.Hour)
	e.Stored(now, b, b.Entries, holder(1))
	if _, got := e.Offered(now, holder(1), b.DID); got != 0 {
		t.Errorf("offering what it delivered earns %d", got)
	}
	if got := e.Stored(now, b, b.Entries, holder(1)).Entries; got != 0 {
		t.Errorf("delivering it again earns %d", got)
	}
}

// A pruned bundle is another bundle, which others may offer.
func TestPrunedBundleIsAnotherBundle(t *testing.T) {
	e, whole := NewEarnings(DefaultRules()), bundle(news, "a", 3, now, time.Hour)
	known, pruned := protocol.NewBundle(news, whole.Entries[:1]), protocol.NewBundle(news, whole.Entries[1:])
	e.Stored(now, known, known.Entries, Holder{})
	e.Stored(now, whole, pruned.Entries, holder(1))
	e.Stored(now, pruned, nil, Holder{})
	if _, got := e.Offered(now, holder(1), pruned.DID); got != 0 {
		t.Errorf("the holder that brought the whole earns %d for offering what was left of it", got)
	}
	if _, got := e.Offered(now, holder(2), pruned.DID); got != 2 {
		t.Errorf("the offer of the pruned bundle earns %d", got)
	}
	if _, got := e.Offered(now, holder(2), whole.DID); got != 1 {
		t.Errorf("the offer of the whole bundle earns %d beside that", got)
	}
	if _, got := e.Offered(now, holder(3), whole.DID); got != 3 {
		t.Errorf("for another it earns %d", got)
	}
}

// A thousand entries that look true each hour earn no more than the cap, which they do not raise.
func TestFloodOfAFeedEarnsNoMoreThanTheCap(t *testing.T) {
	e := NewEarnings(DefaultRules())
	const ownRate = 7 // a day
	for d := range 7 {
		at := now.Add(time.Duration(d) * 24 * time.Hour)
		b := bundle(news, fmt.Sprint("own", d), ownRate, at, time.Hour)
		e.Stored(at, b, b.Entries, Holder{})
		earned := 0
		for hour := range 24 {
			at := at.Add(time.Duration(hour) * time.Hour)
			if dayOf(at) != dayOf(now)+int64(d) {
				break // now is in the morning: the rest counts on the next day
			}
			for i := range 10 {
				b := bundle(news, fmt.Sprint("flood", d, hour, i), 100, at, 0)
				earned += e.Stored(at, b, b.Entries, holder(1)).Entries
			}
		}
		if want := 2*ownRate + 5; earned != want {
			t.Errorf("day %d: %d earn, want the cap of %d", d, earned, want)
		}
	}
}

// A neighbor that brings most of a feed first earns with it, once own polls have shown it.
func TestConfirmedEntriesRaiseTheCap(t *testing.T) {
	for _, c := range []struct {
		rule    string
		confirm func(*Earnings, time.Time, *protocol.Bundle)
		want    int
	}{
		{"nobody confirms", func(*Earnings, time.Time, *protocol.Bundle) {}, 5},
		{"its own offer confirms nothing",
			func(e *Earnings, at time.Time, b *protocol.Bundle) { e.Offered(at, holder(1), b.DID) }, 5},
		{"nor does another's: it may have it from the first",
			func(e *Earnings, at time.Time, b *protocol.Bundle) { e.Offered(at, holder(2), b.DID) }, 5},
		{"an own poll does", func(e *Earnings, at time.Time,
			b *protocol.Bundle) {
			e.Confirmed(at, news, holder(1), 10)
		}, 2*10 + 5},
		{"also after midnight", func(e *Earnings, at time.Time, b *protocol.Bundle) {
			e.Confirmed(at.Add(16*time.Hour), news, holder(1), 10)
		}, 2*10 + 5},
	} {
		e := NewEarnings(DefaultRules())
		for d := range 6 {
			at := now.Add(time.Duration(d) * 24 * time.Hour)
			b := bundle(news, fmt.Sprint(d), 10, at, 0)
			e.Stored(at, b, b.Entries, holder(1))
			c.confirm(e, at, b)
		}
		at := now.Add(6 * 24 * time.Hour)
		other := bundle(news, "own", 10, at, 0)
		if c.want > 5 {
			e.Stored(at, other, other.Entries, Holder{})
		}
		b := bundle(news, "last", 100, at, 0)
		if got := e.Stored(at, b, b.Entries, holder(1)).Entries; got != c.want {
			t.Errorf("%s: %d earn, want %d", c.rule, got, c.want)
		}
	}
}

// A neighbor stands on the path of what it delivers, and counts once.
func TestWhoDeliversCountsOnce(t *testing.T) {
	e, at := NewEarnings(DefaultRules()), now
	for d := range 4 {
		b := bundle(news, fmt.Sprint(d), 20, at, time.Hour).Via(node(1))
		want := 20
		if d == 0 {
			want = capFree
		}
		if got := e.Stored(at, b, b.Entries, holder(1)).Entries; got != want {
			t.Errorf("on day %d it earns %d, want %d", d, got, want)
		}
		e.Confirmed(at, news, holder(1), 20)
		at = at.Add(day)
	}
}

// Entries that a flooder has others bring do not raise its cap, and those of them that polls show do.
func TestAFloodByOthersRaisesNoCap(t *testing.T) {
	flooder := protocol.NewNodeID(netip.MustParseAddr("20.1.2.3"), 7790)
	for shown, want := range map[int]int{0: 5, 200: 2*200 + 5} {
		e := NewEarnings(DefaultRules())
		first := bundle(news, "first", 1, now, 0)
		e.Stored(now, first, first.Entries, HolderOf(flooder))
		relayed := bundle(news, "relayed", 200, now, 0)
		relayed.Path = []protocol.NodeID{flooder}
		e.Stored(now, relayed, relayed.Entries, holder(2))
		e.Confirmed(now, news, HolderOf(flooder), shown)
		flood := bundle(news, "flood", 500, now, 0)
		if got := e.Stored(now, flood, flood.Entries, HolderOf(flooder)).Entries + 1; got != want {
			t.Errorf("%d shown: %d earn, want %d", shown, got, want)
		}
	}
}

func TestDailyCapForgets(t *testing.T) {
	for _, c := range []struct{ days, want int }{{0, 2*70 + 5}, {1, 70 + 5}, {6, 20 + 5}, {7, 5}, {400, 5}} {
		e := NewEarnings(DefaultRules())
		busy := bundle(news, "busy", 70, now, 0)
		e.Stored(now, busy, busy.Entries, Holder{})
		at, got := now.Add(time.Duration(c.days)*24*time.Hour), 0
		for i := range 2 {
			b := bundle(news, fmt.Sprint(i), 100, at, 0)
			got += e.Stored(at, b, b.Entries, holder(1)).Entries
		}
		if got != c.want {
			t.Errorf("after %d days %d earn, want %d", c.days, got, c.want)
		}
	}
}

// Clocks that are set back, or not at all, earn nobody more.
func TestDailyCapSurvivesAWrongClock(t *testing.T) {
	e := NewEarnings(DefaultRules())
	total := 0
	for i, at := range []time.Time{now, now.AddDate(0, 0, -3), now.AddDate(0, 0, -300), {}, now} {
		b := bundle(news, fmt.Sprint(i), 10, at, 0)
		total += e.Stored(at, b, b.Entries, holder(1)).Entries
	}
	if total != 5 {
		t.Errorf("%d earn, want 5", total)
	}
}

// A bundle whose feed was forgotten meanwhile earns by the pace that the feed has now: nobody has the cap of a day
// twice.
func TestABundleOutlivesTheCapOfItsFeed(t *testing.T) {
	e := NewEarnings(DefaultRules())
	old, young := bundle(news, "old", capFree, now, 0), bundle(news, "young", capFree, now, 0)
	e.Stored(now, old, old.Entries, holder(1))
	forgotten := e.caps(news)
	for i := range 2*keptFeeds + 1 {
		e.caps(feed.URL(fmt.Sprint("https://example.com/", i)))
	}
	if e.caps(news) == forgotten {
		t.Fatal("the pace is not forgotten")
	}
	if got := e.Stored(now, young, young.Entries, holder(2)).Entries; got != capFree {
		t.Errorf("a delivery earns %d, want %d", got, capFree)
	}
	if u, got := e.Offered(now, holder(2), old.DID); u != news || got != 0 {
		t.Errorf("an offer beyond the cap earns %d of %s", got, u)
	}
}

// Of what came on several days the latest is taken back first, and each day is forgotten after a week.
func TestAWeek(t *testing.T) {
	for _, first := range []int64{0, 20_000} { // a clock may not know the day
		var w week
		w.add(first, 10)
		w.add(first+3, 20)
		w.take(first+4, 5)
		for after, want := range map[int64]int{4: 25, 6: 25} {
			if got := w.sum(first + after); got != want {
				t.Errorf("%d days later %d are left, want %d", after, got, want)
			}
		}
		if got := w.sum(first + 7); got != 15 {
			t.Errorf("of the later day %d are left", got)
		}
		if w.take(first+7, 100); w.sum(first+7) != 0 {
			t.Errorf("%d are left of nothing", w.sum(first+7))
		}
	}
}

// Where a feed has more sharers than are known, the first is forgotten and no other: what these brought does not raise
// their caps.
func TestWhoIsForgottenOfManySharers(t *testing.T) {
	p := &dailyCap{free: capFree}
	for h := range uint32(2) {
		p.stored(1, 100, 1+h)
	}
	for h := range uint32(maxSharers - 1) {
		p.earn(1, 1, 10+h)
	}
	if got := p.earn(1, 1000, 2); got != capFactor*100+capFree {
		t.Errorf("the second earns %d with what it brought", got)
	}
	if p.known(1) != nil || p.broughtBy(1) != nil || len(p.sharers) != maxSharers {
		t.Errorf("the first is not forgotten, of %d", len(p.sharers))
	}
	x := storedEntry{}
	for h := range uint32(maxSharers + 1) {
		if got := x.take(1 + h); (got == open) != (h < maxSharers) {
			t.Errorf("an entry may earn for sharer %d: %v", h+1, got)
		}
	}
}

func TestEarningsAreBounded(t *testing.T) {
	e := NewEarnings(DefaultRules())
	for i := range 3*keptBundles + 1 {
		b := &protocol.Bundle{DID: did(i), Feed: feed.URL(fmt.Sprint("https://example.com/", i)),
			Entries: make([]feed.Entry, keptEntries/keptBundles)}
		for k := range b.Entries {
			b.Entries[k].ID = fmt.Sprint(i, "-", k)
		}
		e.Stored(now, b, b.Entries, holder(i))
	}
	if n := len(e.bundles.current) + len(e.bundles.previous); n < keptBundles || n > 2*keptBundles {
		t.Errorf("%d bundles are remembered", n)
	}
	if n := len(e.entries.current) + len(e.entries.previous); n < keptEntries || n > 2*keptEntries {
		t.Errorf("%d entries are remembered", n)
	}
	if n := len(e.feeds.current) + len(e.feeds.previous); n < keptFeeds || n > 2*keptFeeds {
		t.Errorf("%d feeds are remembered", n)
	}
	for i := 2*keptBundles + 1; i < 3*keptBundles+1; i++ {
		if e.bundles.use(did(i)) == nil {
			t.Fatalf("one of the latest %d is forgotten", keptBundles)
		}
	}
	var n numbers
	first := n.of(holder(0))
	for i := range maxNumbered + 1 {
		n.of(holder(i))
	}
	if len(n.byHolder) > maxNumbered || n.of(holder(0)) == first {
		t.Errorf("%d holders have numbers, and a forgotten one has the old one", len(n.byHolder))
	}
	p := new(dailyCap)
	for i := range 10 * maxSharers {
		p.earn(1, 1, uint32(1+i))
	}
	for i := range 10 * maxSharers {
		p.stored(1, 1, uint32(1+i))
	}
	if len(p.sharers) > maxSharers || len(p.brought) > maxSharers {
		t.Errorf("%d sharers", len(p.sharers))
	}
}

// Who gives back what it had from us earns nothing for it, however it is cut: one by one, with others, as a whole that
// was given in parts, or where nobody remembers that it was given. So does who gives back what earned.
func TestWhatWasGivenEarnsNothingInOtherBundles(t *testing.T) {
	whole := bundle(news, "a", 8, now, time.Hour)
	cut := func(from, to int) *protocol.Bundle { return protocol.NewBundle(news, whole.Entries[from:to]) }
	old := bundle(news, "old", 1, now, 30*day).Entries
	for _, c := range []struct {
		rule string
		do   func(e *Earnings) // before it is given back
	}{
		{"given as a whole", func(e *Earnings) { e.Gave(now, holder(1), whole) }},
		{"given in parts", func(e *Earnings) { e.Gave(now, holder(1), cut(0, 3)); e.Gave(now, holder(1), cut(3, 8)) }},
		{"given as parts of others", func(e *Earnings) {
			e.Gave(now, holder(1), protocol.NewBundle(news, append(slices.Clone(whole.Entries), old...)))
		}},
		{"given once it was forgotten", func(e *Earnings) {
			for i := range 2*keptEntries/100 + 1 {
				b := bundle(news, fmt.Sprint(i), 100, now, 0)
				e.Stored(now, b, b.Entries, Holder{})
			}
			e.Gave(now, holder(1), whole)
		}},
		{"forgotten", func(e *Earnings) { *e = *NewEarnings(DefaultRules()) }},
		{"paid for", func(e *Earnings) { e.Stored(now, whole, nil, holder(1), ids(whole.Entries)...) }},
		{"paid for when it was offered", func(e *Earnings) { e.Offered(now, holder(1), whole.DID) }},
	} {
		for _, by := range []Holder{{}, holder(2)} {
			e := NewEarnings(DefaultRules())
			e.Stored(now, whole, whole.Entries, by)
			c.do(e)
			got := 0
			for i := range whole.Entries {
				got += e.Stored(now, cut(i, i+1), nil, holder(1), whole.Entries[i].EntryID()).Entries
			}
			filled := protocol.NewBundle(news, append(slices.Clone(old), whole.Entries...))
			got += e.Stored(now, filled, old, holder(1)).Entries
			_, offered := e.Offered(now, holder(1), whole.DID)
			if got += e.Stored(now, whole, nil, holder(1)).Entries + offered; got != 0 {
				t.Errorf("%s, brought by %v: %d earn", c.rule, by, got)
			}
		}
	}
}

// A flood of what can earn nothing, old or known and without a date, has nothing forgotten that may earn.
func TestWhatIsOldHasNothingForgotten(t *testing.T) {
	for name, age := range map[string]time.Duration{"old": 30 * day, "without a date": -1} {
		e, b := NewEarnings(DefaultRules()), bundle(news, "a", 3, now, time.Hour)
		e.Stored(now, b, b.Entries, Holder{})
		for i := range 2*keptEntries/50 + 1 {
			flood := bundle(news, fmt.Sprint(i, " "), 50, now, age)
			e.Stored(now, flood, nil, holder(1))
			e.Gave(now, holder(2), flood)
		}
		cut := protocol.NewBundle(news, b.Entries[:2])
		if got := e.Stored(now, cut, nil, holder(2)).Entries; got != 2 {
			t.Errorf("%s: %d earn, want 2", name, got)
		}
		more := protocol.NewBundle(news, append(bundle(news, "old", 1, now, 30*day).Entries, cut.Entries...))
		if !e.Gave(now, holder(2), more) || e.Gave(now, holder(2), b) {
			t.Errorf("%s: whether all that is young was had before is told wrongly", name)
		}
	}
}

// Of a delivery what is new, and what we had and did not give, earns; what we gave is counted by itself.
func TestWhatCrossesIsCountedByItself(t *testing.T) {
	e := NewEarnings(DefaultRules())
	all := bundle(news, "a", 12, now, time.Hour)
	own, theirs := protocol.NewBundle(news, all.Entries[:8]), protocol.NewBundle(news, all.Entries[3:])
	e.Stored(now, own, own.Entries, Holder{})
	e.Gave(now, holder(1), protocol.NewBundle(news, all.Entries[:6]))
	got := e.Stored(now, theirs, all.Entries[8:], holder(1))
	if want := (Earned{Entries: 2 + 4, Fresh: 4, Again: 3}); got != want {
		t.Errorf("of 3 that it had from us, 2 others and 4 new ones %+v earn, want %+v", got, want)
	}
}
