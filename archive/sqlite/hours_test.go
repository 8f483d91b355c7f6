package sqlite

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/fetch/grade"
	"feedex/protocol"
)

var neighborID, _ = protocol.ParseNodeID("192.0.2.7:7790")

// What a node does is counted in its hour: news of feeds that are followed, which neighbors brought them and how much
// earlier than by an own poll, and requests.
func TestHours(t *testing.T) {
	s := openFile(t, t.TempDir()+"/archive.db")
	at := time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	var brought []archive.Record
	for i := range 3 {
		r := newsRecord(fmt.Sprint("brought", i), "brought", at)
		r.Source, r.Confirmed = neighborID, false
		brought = append(brought, r)
	}
	relayed := archive.NewRecord(feed.Entry{Feed: "https://example.org/other", ID: "1"}, at, neighborID)
	s.Keep(append(brought, relayed, newsRecord("own", "own", at)))
	s.Keep(brought) // is no news

	later := at.Add(45 * time.Minute) // in the next hour
	ids := []feed.EntryID{brought[0].ID, brought[1].ID}
	s.MarkPolled(later, ids)
	s.MarkPolled(later.Add(time.Hour), ids)
	s.KeepRequests([]grade.Request{
		{At: later, URL: string(news), Status: http.StatusOK, Bytes: 6000},
		{At: later, URL: string(news), Status: http.StatusNotModified, Bytes: 0},
		{At: later, URL: string(news), Status: http.StatusTooManyRequests, Bytes: 10},
		{At: later, URL: string(news)},
	})
	s.KeepFollowed(later, 10*time.Minute)
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}

	want := []archive.Hour{
		{At: at.Truncate(time.Hour), Polled: 1, Brought: 3},
		{At: later.Truncate(time.Hour), Compared: 2, Ahead: 90 * time.Minute, Requests: 4, Unchanged: 1,
			Failed: 2, Bytes: 6010,
			Followed: 10 * time.Minute, FollowedBytes: 1000},
	}
	got, err := s.Hours(t.Context(), at)
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Hours = %+v, %v, want %+v", got, err, want)
	}
	if first, err := s.CountedSince(t.Context()); err != nil || !first.Equal(want[0].At) {
		t.Errorf("counted since %v, %v, want %v", first, err, want[0].At)
	}
	followed := at.Add(-10 * time.Minute) // when nothing could have been counted before
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: followed})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if first, err := s.CountedSince(t.Context()); err != nil || !first.Equal(followed) {
		t.Errorf("followed within that hour, counted since %v, %v, want %v", first, err, followed)
	}
	if got, err := s.Hours(t.Context(), later); err != nil || len(got) != 1 || got[0] != want[1] {
		t.Errorf("Hours = %+v, %v, want the last", got, err)
	}
}

// Of what an older feedex kept nobody knows when an own poll listed it; it is not compared.
func TestMigrateToHours(t *testing.T) {
	r := newsRecord("1", "hello", time.Unix(1, 0))
	path := olderArchive(t, 11, fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret, kept, subscribed) VALUES (1, '%s', 0, 1, 1);
		INSERT INTO requests VALUES (NULL, 1000, '', '%s', 1, 0, '', '', 200, '', '', 0, 0);
		INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '192.0.2.7:7790', '1', 'hello', '', '', '');`, news, news, r.ID[:],
		r.Digest[:]))
	s := openFile(t, path)
	if got := s.Known([]feed.EntryID{r.ID}); got[0].Polled {
		t.Error("an own poll has shown an entry of before")
	}
	s.MarkPolled(time.Unix(9, 0), []feed.EntryID{r.ID})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := s.Known([]feed.EntryID{r.ID}); !got[0].Polled || !got[0].Confirmed {
		t.Errorf("after an own poll it is %+v", got[0])
	}
	if got, err := s.Hours(t.Context(), time.Unix(0, 0)); err != nil || len(got) != 0 {
		t.Errorf("Hours = %+v, %v, want none", got, err)
	}
	if got := s.LoadRequests(9); len(got) != 1 || got[0].Status != 200 {
		t.Errorf("LoadRequests = %+v", got)
	}
}
