package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/backfill"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
)

// A refuser is a fetcher that counts its requests, all of which end in the same way.
type refuser struct {
	ends  node.Fetched
	asked *atomic.Int32
}

func (r refuser) Fetch(_ context.Context, f node.Fetch) node.Fetched {
	r.asked.Add(1)
	got := r.ends
	got.Feed, got.From = f.Feed, f.At().Host()
	return got
}

// A textShelf is an archive with one item, which has a page.
type textShelf struct {
	reading.Database
	text     reading.FullText // that is kept
	deferred time.Time        // until when its feed is left alone
}

func (s *textShelf) FullText(context.Context, reading.ItemID) (reading.FullText, error) {
	return s.text, nil
}
func (s *textShelf) KeepFullText(t reading.FullText)            { s.text = t }
func (s *textShelf) DeferFullTexts(_ feed.URL, until time.Time) { s.deferred = until }
func (s *textShelf) ItemRecord(context.Context, reading.ItemID) (archive.Record, int64, error) {
	return archive.Record{Entry: feed.Entry{Link: "https://one.example/page"}}, 1, nil
}
func (s *textShelf) NumberedFeed(context.Context, int64) (archive.Feed, error) {
	return archive.Feed{URL: "https://one.example/a", Subscribed: true}, nil
}

// While a host wants to be left alone, or our own network is down, nobody is asked for what can wait, and none of that
// counts as an attempt.
func TestWhatCanWaitWaits(t *testing.T) {
	const u, page = "https://one.example/a", "https://one.example/2024"
	for name, ends := range map[string]node.Fetched{
		"the host rests": {Status: 429, RetryAfter: time.Hour, Err: errors.New("HTTP 429")},
		"offline":        {Unreached: true, Err: errors.New("no route to host")},
	} {
		runLoop(t, friendly, func(t *testing.T, l *testLoop) {
			var asked atomic.Int32
			shelf := &textShelf{}
			l.inspect(func(h *host) {
				h.fetcher = refuser{ends, &asked}
				shelf.Database, h.store = h.store, shelf
			})
			for _, u := range []feed.URL{u, "https://two.example/a"} {
				if err := l.Subscribe(t.Context(), following(u)); err != nil {
					t.Fatal(err)
				}
			}
			l.pass(time.Second)
			before := asked.Load()
			if _, err := (unasked{l.host}).FetchArchive(t.Context(), u, page); !errors.Is(err, backfill.ErrLater) {
				t.Errorf("%s: the archive: %v", name, err)
			}
			if n := asked.Load(); n != before || n == 0 {
				t.Errorf("%s: %d requests, and then %d", name, before, n)
			}
			if rests := ends.Status != 0; !rests {
				return
			}
			text, err := newFullTexts(t.Context(), l.host).fetch(1, true, nobody)
			if wait := time.Until(shelf.deferred); !errors.Is(err, reading.ErrFullText) || text.Problem == "" ||
				shelf.text != (reading.FullText{}) || wait < 50*time.Minute || wait > 70*time.Minute {
				t.Errorf("%s: the full text: %v; kept is %+v, its feed rests for %v", name, err, shelf.text, wait)
			}
		})
	}
}
