package archivetest

import (
	"errors"
	"testing"
	"time"

	"feedex/feed"
	"feedex/reading"
)

// Housekeeping comes to its end, step by step, and changes nothing of what is found but what it purges and forgets.
func testHousekeeping(t *testing.T, a reading.Database) {
	Follow(t, a, time.Unix(1, 0), news)
	relayed := FeedRecord(otherNews, 50)
	relayed.Source, relayed.Confirmed = someNeighbor, false
	Keep(t, a, append(FeedRecords(news, 1, 30), relayed)...)
	u, err := a.Housekeeper()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	ctx := t.Context()
	steps := func(name string, step func() (more bool, err error)) {
		t.Helper()
		for range 1000 {
			if more, err := step(); err != nil || !more {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
		}
		t.Errorf("%s does not end", name)
	}
	tidy := func() {
		t.Helper()
		steps("Index", func() (bool, error) { return u.Index(ctx) })
		steps("Tidy", func() (bool, error) { return u.Tidy(ctx) })
		state := int64(-1)
		steps("Compact", func() (bool, error) {
			state, err = u.Compact(ctx, state)
			return state >= 0, err
		})
		steps("Reclaim", func() (bool, error) {
			left, err := u.Reclaim(ctx, 1)
			return left > 0, err
		})
		if err := errors.Join(u.Log(ctx), u.Shorten(ctx)); err != nil {
			t.Error(err)
		}
		if st, err := a.Stats(ctx); err != nil || st.Unindexed != 0 || st.Free != 0 {
			t.Errorf("after housekeeping Stats = %+v, %v", st, err)
		}
	}
	tidy()
	words := feed.Filter{Words: []string{"title"}, Limit: 100}
	if found := search(t, a, words); len(found) != 31 {
		t.Errorf("%d entries are found", len(found))
	}

	at := time.Unix(1_000_000, 0)
	ids := []feed.EntryID{relayed.ID, FeedRecord(news, 1).ID, FeedRecord(news, 2).ID, {9}}
	if n, err := u.Purge(ctx, at, ids); n != 3 || err != nil {
		t.Errorf("Purge = %d, %v", n, err)
	}
	tidy()
	if found := search(t, a, words); len(found) != 28 {
		t.Errorf("%d entries are found after three were purged", len(found))
	}
	forget := func(after time.Duration, remembered ...bool) {
		t.Helper()
		var id feed.EntryID
		steps("ForgetPurged", func() (more bool, err error) {
			id, more, err = u.ForgetPurged(ctx, at.Add(after), id)
			return more, err
		})
		for i, v := range a.Known(ids[:3]) {
			if v.Purged != remembered[i] {
				t.Errorf("after %v: entry %d is known as %+v", after, i, v)
			}
		}
	}
	forget(29*24*time.Hour, true, true, true)
	forget(31*24*time.Hour, false, true, true) // of feeds that are followed for ever
	var number int64
	steps("ForgetFeeds", func() (more bool, err error) {
		number, more, err = u.ForgetFeeds(ctx, number)
		return more, err
	})
	if id, err := a.Shelf(reading.Owner).FeedID(ctx, otherNews); id != 0 || err != nil {
		t.Errorf("a feed of which there is nothing has number %d, %v", id, err)
	}
	if id := feedID(t, a.Shelf(reading.Owner), news); id == 0 {
		t.Error("a feed that is followed is forgotten")
	}
	Keep(t, a, relayed)
	if found := search(t, a, words); len(found) != 29 {
		t.Errorf("%d entries are found after one came again", len(found))
	}
}
