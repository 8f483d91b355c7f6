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

// earned is what came of a story: what holders 1 and 2 earned at once, and late.
type earned struct{ one, two, oneLate, twoLate int }

func TestWhatUndatedEntriesEarn(t *testing.T) {
	b := bundle(news, "a", 3, now, -1)
	regrouped := protocol.NewBundle(news, b.Entries[:2])
	var ids []feed.EntryID
	for i := range b.Entries {
		ids = append(ids, b.Entries[i].EntryID())
	}
	offered := func(e *Earnings, after time.Duration, h int) int {
		_, n := e.Offered(now.Add(after), holder(h), b.DID)
		return n
	}
	for _, c := range []struct {
		rule  string
		story func(e *Earnings, got *earned)
		want  earned
	}{
		{"one neighbor's word is not enough", func(e *Earnings, got *earned) {
			got.one = e.Stored(now, b, b.Entries, holder(1)) + offered(e, 0, 1) + e.Stored(now, regrouped,
				nil, holder(1))
		}, earned{}},
		{"another's offer is", func(e *Earnings, got *earned) {
			got.one, got.two = e.Stored(now, b, b.Entries, holder(1)), offered(e, 0, 2)
		}, earned{oneLate: 3, two: 3}},
		{"but not of one in the same network", func(e *Earnings, got *earned) {
			got.one = e.Stored(now, b, b.Entries, holder(1))
			near := protocol.NewNodeID(node(1).Addr().Next(), node(1).Port())
			_, got.two = e.Offered(now, HolderOf(near), b.DID)
		}, earned{}},
		{"and its delivery, as far as it goes", func(e *Earnings, got *earned) {
			got.one, got.two = e.Stored(now, b, b.Entries, holder(1)), e.Stored(now, regrouped, nil, holder(2))
		}, earned{oneLate: 2, two: 2}},
		{"and an own poll", func(e *Earnings, got *earned) {
			got.one = e.Stored(now, b, b.Entries, holder(1))
			e.Shown(now, ids...)
			e.Shown(now, ids...)
		}, earned{oneLate: 3}},
		{"what an own poll brought earns for who offers it", func(e *Earnings, got *earned) {
			e.Stored(now, b, b.Entries, Holder{})
			got.one, got.two = offered(e, 0, 1), offered(e, 0, 2)
		}, earned{one: 3, two: 3}},
		{"two days later nothing does", func(e *Earnings, got *earned) {
			got.one = e.Stored(now, b, b.Entries, holder(1))
			got.two = e.Stored(now.Add(young+1), regrouped, nil, holder(2))
			e.Shown(now.Add(young+1), ids...)
		}, earned{}},
		{"nor does what was here before", func(e *Earnings, got *earned) {
			got.one, got.two = e.Stored(now, b, nil, holder(1)), offered(e, 0, 2)
		}, earned{}},
		{"late is not too much", func(e *Earnings, got *earned) {
			many := bundle(news, "b", 40, now, -1)
			got.one = e.Stored(now, many, many.Entries, holder(1))
			for i := range many.Entries {
				e.Shown(now, many.Entries[i].EntryID())
			}
		}, earned{oneLate: capFree}},
	} {
		e, got := NewEarnings(DefaultRules()), earned{}
		c.story(e, &got)
		for _, a := range e.Arrears() {
			if a.Holder == holder(1) {
				got.oneLate += a.Entries
			} else {
				got.twoLate += a.Entries
			}
		}
		if len(e.Arrears()) > 0 {
			t.Errorf("%s: arrears are paid twice", c.rule)
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.rule, got, c.want)
		}
	}
}

// Whichever neighbors bring and offer what in whatever order: nobody earns more than once with an entry that has no
// date, nor with one that nobody else has.
func TestUndatedEntriesEarnOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEarnings(DefaultRules())
		feeder := bundle(news, "feeder", 1000, now, 0)
		e.Stored(now, feeder, feeder.Entries, Holder{}) // so that no cap gets in the way
		b := bundle(news, "a", 3, now, -1)
		total := make(map[Holder]int)
		var had []Holder // that brought or offered it; nobody for an own poll
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			h := holder(rapid.IntRange(1, 3).Draw(t, "holder"))
			switch step := rapid.IntRange(0, 2).Draw(t, "step"); {
			case step == 0:
				var fresh []feed.Entry
				if had == nil {
					fresh = b.Entries
				}
				total[h] += e.Stored(now, b, fresh, h)
			case had == nil:
				continue
			case step == 1:
				_, n := e.Offered(now, h, b.DID)
				total[h] += n
			default:
				h = Holder{}
				e.Shown(now, b.Entries[0].EntryID(), b.Entries[1].EntryID(), b.Entries[2].EntryID())
			}
			had = append(had, h)
			for _, a := range e.Arrears() {
				total[a.Holder] += a.Entries
			}
			for h, n := range total {
				alone := !slices.ContainsFunc(had, func(other Holder) bool { return other != h })
				if n > 3 || alone && n > 0 {
					t.Fatalf("%s earned %d of 3 after %v", h, n, had)
				}
			}
		}
	})
}

func TestUndatedEntriesAreBounded(t *testing.T) {
	e := NewEarnings(DefaultRules())
	for i := range 3*keptUndated + 1 {
		b := bundle(news, fmt.Sprint(i), 1, now, -1)
		e.Stored(now, b, b.Entries, holder(1))
	}
	if n := e.undated.len(); n > 2*keptUndated {
		t.Errorf("%d entries are remembered", n)
	}
}
