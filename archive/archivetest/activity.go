package archivetest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
	"feedex/reading"
)

// The activity of a node is counted in its hour: news of feeds that are followed, which neighbors brought them and how
// much earlier than by an own poll, and requests. What its first poll asked of a feed and got is no part of that.
func testHours(t *testing.T, a reading.Database) {
	at := time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)
	first := at.Add(-time.Hour)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	a.KeepRequests([]grade.Request{
		{At: first, URL: "https://example.org/moved", Feed: string(news), Status: http.StatusFound, First: true},
		{At: first, URL: string(news), Status: http.StatusOK, Bytes: 7000},
	})
	a.Keep([]archive.Record{newsRecord("backlog", "of the first poll", first)})
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, LastPoll: first, LastSuccess: first})
	var brought []archive.Record
	for i := range 3 {
		r := newsRecord(fmt.Sprint("brought", i), "brought", at)
		r.Source, r.Confirmed = someNeighbor, false
		brought = append(brought, r)
	}
	relayed := archive.NewRecord(feed.Entry{Feed: "https://example.org/other", ID: "1"}, at, someNeighbor)
	a.Keep(append(brought, relayed, newsRecord("own", "own", at)))
	a.Keep(brought) // is no news

	later := at.Add(45 * time.Minute) // in the next hour
	ids := []feed.EntryID{brought[0].ID, brought[1].ID}
	a.MarkPolled(later, ids)
	a.MarkPolled(later.Add(time.Hour), ids)
	a.KeepRequests([]grade.Request{
		{At: later, URL: string(news), Status: http.StatusOK, Bytes: 6000},
		{At: later, URL: string(news), Status: http.StatusNotModified, Bytes: 0},
		{At: later, URL: string(news), Status: http.StatusTooManyRequests, Bytes: 10},
		{At: later, URL: string(news)},
	})
	a.KeepSpared(later, .5)
	a.KeepSpared(later, .75)
	Commit(t, a)

	want := []archive.Hour{
		{At: at.Truncate(time.Hour), Polled: 1, Brought: 3},
		{At: later.Truncate(time.Hour), Compared: 2, Ahead: 90 * time.Minute, Requests: 4, Unchanged: 1,
			Failed: 2, Bytes: 6010, Spared: 1.25},
	}
	got, err := a.Hours(t.Context(), first)
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Hours = %+v, %v, want %+v", got, err, want)
	}
	names, err := a.FeedNames(t.Context())
	for _, n := range names {
		if n.URL == news && (n.Polled != 1 || n.Brought != 3) || n.URL != news && n.Polled+n.Brought != 0 {
			t.Errorf("of %s own polls brought %d and neighbors %d", n.URL, n.Polled, n.Brought)
		}
	}
	if err != nil || len(names) != 2 {
		t.Errorf("%d feeds, %v, want 2", len(names), err)
	}
	if f, err := a.Shelf(reading.Owner).Subscriptions(t.Context()); err != nil || len(f) != 1 || f[0].URL != news ||
		f[0].Polls != 1 || f[0].Neighbors != 3 {
		t.Errorf("Subscriptions = %+v, %v, want one of which polls brought 1 and neighbors 3", f, err)
	}
	if since, err := a.CountedSince(t.Context()); err != nil || !since.Equal(want[0].At) {
		t.Errorf("counted since %v, %v, want %v", since, err, want[0].At)
	}
	followed := at.Add(-10 * time.Minute) // when nothing could have been counted before
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: followed, LastPoll: first, LastSuccess: first})
	Commit(t, a)
	if since, err := a.CountedSince(t.Context()); err != nil || !since.Equal(followed) {
		t.Errorf("followed within that hour, counted since %v, %v, want %v", since, err, followed)
	}
	if got, err := a.Hours(t.Context(), later); err != nil || len(got) != 1 || got[0] != want[1] {
		t.Errorf("Hours = %+v, %v, want the last", got, err)
	}
}
