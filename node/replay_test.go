package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

// Credit for what is old, or made up.

// A week of deliveries is recorded and played again, by the neighbor that made them, by another, and by one that
// came since; offered and put as it was, cut into other bundles, put together into larger ones, and with a path;
// before and after a restart. Nobody's account moves, and nothing is stored anew.
func TestAReplayEarnsNothing(t *testing.T) {
	t.Parallel()
	for _, dated := range []bool{true, false} {
		w := newNetwork(t)
		hosts := w.full(3, bound(), news)
		victim := hosts[0]
		var week []*protocol.Bundle
		var entries []feed.Entry
		for i := range 50 {
			b := fresh(w, news, fmt.Sprint("entry ", i, ","), 2)
			if !dated {
				for j := range b.Entries {
					b.Entries[j].Published = time.Time{}
				}
				b = protocol.NewBundle(news, b.Entries)
			}
			week = append(week, b)
			entries = append(entries, b.Entries...)
			// What has no date earns once it is listed.
			w.feed(news).entries = append(w.feed(news).entries, b.Entries...)
			victim.put(hosts[1+i%2], b)
			if victim.hears(hosts[2-i%2], protocol.CheckDID{DID: b.DID}).Reply == protocol.Seen(false) {
				victim.put(hosts[2-i%2], b) // an audit
			}
			w.run(200 * time.Minute)
		}
		w.run(49 * time.Hour)
		records := func() int {
			found, err := victim.store.Search(t.Context(), feed.Filter{Feed: news, Limit: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			return len(found)
		}
		replay := append([]*protocol.Bundle(nil), week...)
		for i := 0; i+3 <= len(entries); i += 3 {
			replay = append(replay, protocol.NewBundle(news, entries[i:i+3]),
				protocol.NewBundle(news, entries[i+1:i+2]).Via(stranger(7)))
		}
		if n := records(); n != 100 || victim.account(hosts[1]).Got == 0 {
			t.Fatalf("%d entries are stored, for which %v was booked", n, victim.account(hosts[1]).Got)
		}
		for _, restart := range []bool{false, true} {
			if restart {
				victim.kill()
				w.run(time.Minute)
				victim.start()
				w.run(10 * time.Minute)
			}
			late := victim.hearer(stranger(1))
			late.connect(protocol.Subset{{Feed: news}})
			for _, from := range []*testHost{hosts[1], hosts[2], late.testHost} {
				if !victim.neighborOf(from.id) {
					t.Fatalf("%s is no neighbor", from.id)
				}
				before := victim.account(from)
				for i, b := range replay {
					victim.hears(from, protocol.CheckDID{DID: b.DID})
					victim.put(from, b)
					if i%20 == 0 {
						w.run(time.Minute) // as many as one may
					}
				}
				if a := victim.account(from); a.Got != before.Got || a.Deficit < before.Deficit {
					t.Errorf("dated %v, after a restart %v: a replay brought %s from %v to %v", dated, restart, from.id,
						before.Got, a.Got)
				}
			}
		}
		if n := records(); n != 100 {
			t.Errorf("after the replay %d entries are stored", n)
		}
	}
}

// A neighbor brings 1,000 new entries an hour that look true, in bundles of one or of fifty, of a feed that brings
// ten a day by another neighbor. It earns 2 x 10 + 5 a day with them, and no more.
func TestAFloodOfTrueLookingEntriesEarnsNoMoreThanTheCap(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 50} {
		w := newNetwork(t)
		config := unlimited() // to see what the cap does by itself
		config.Incentive.Bound = 10
		hosts := w.full(3, config, news)
		victim, honest, flooder := hosts[0], hosts[1], hosts[2]
		for _, h := range hosts {
			h.blocked[news] = true // nobody's own poll shows anything
		}
		w.run(w.Now().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(w.Now()))
		for i := range 70 { // a week
			victim.put(honest, fresh(w, news, fmt.Sprint("true ", i), 1))
			w.run(24 * time.Hour / 10)
		}
		if !victim.neighborOf(flooder.id) {
			t.Fatal("not linked")
		}
		before := victim.account(flooder).Got
		stored := 0
		for hour := range 5 {
			for i := 0; i < 1000; i += size {
				b := fresh(w, news, fmt.Sprint("flood ", hour, ",", i, ","), size)
				if victim.put(flooder, b.Via(stranger(7))).Fault == nil {
					stored += size
				}
				w.run(time.Hour / time.Duration(1000/size))
			}
		}
		if stored < 4000 {
			t.Fatalf("%d entries were taken; nothing is shown", stored)
		}
		if got := victim.account(flooder).Got - before; got > 25*incentive.Entry || got < 5*incentive.Entry {
			t.Errorf("in bundles of %d, %d entries earned %v", size, stored, got)
		}
	}
}

// What a neighbor brings without a date is paid for when an own poll lists it, and then once.
func TestWhatHasNoDateEarnsOnceAPollListsIt(t *testing.T) {
	t.Parallel()
	w := newNetwork(t)
	hosts := w.full(3, bound(), news)
	taker, giver, other := hosts[0], hosts[1], hosts[2]
	b := bundleWith(
		feed.Entry{Feed: news, ID: "listed", Title: "A"}, feed.Entry{Feed: news, ID: "invented", Title: "B"})
	before := taker.account(giver).Got
	taker.put(giver, b)
	taker.hears(other, protocol.CheckDID{DID: b.DID})
	if got := taker.account(giver).Got - before; got != 0 {
		t.Errorf("it earned %v before a poll", got)
	}
	w.feed(news).entries = append(w.feed(news).entries, b.Entries[0])
	for range 2 {
		w.run(2 * time.Hour)
		if got := taker.account(giver).Got - before; got != incentive.Entry {
			t.Errorf("it earned %v with an entry that was listed and one that was not", got)
		}
	}
}
