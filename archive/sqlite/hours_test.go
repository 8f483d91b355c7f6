package sqlite

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

var neighborID, _ = protocol.ParseNodeID("192.0.2.7:7790")

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
