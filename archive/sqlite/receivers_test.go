package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"feedex/archive/archivetest"
	"feedex/reading"
)

// Where nothing that waits for a receiver makes room, what waits is gone through once for all that comes together.
func TestReceiversThatAreFullAreGoneThroughOnce(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	f := s.LoadFeed(news)
	f.URL, f.Subscribed, f.Since, f.LastSuccess = news, true, time.Unix(1, 0), time.Unix(2, 0)
	s.KeepFeed(f)
	commit(t, s)
	p := s.Pen(reading.Owner)
	if _, err := p.AddFilter(time.Unix(1, 0), reading.FilterWish{Name: "All", Words: "title"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.KeepReceiver(reading.Receiver{Name: "phone", Kind: reading.Webhook,
		Address: "https://hook.example/", Created: time.Unix(3, 0)}); err != nil {
		t.Fatal(err)
	}
	s.Keep(archivetest.FeedRecords(news, 10, 9+reading.MaxWaiting))
	commit(t, s)

	// What changes rows by way of a view says that it changed none, as what finds nothing to drop.
	s.write(`CREATE TABLE looks (receiver INTEGER)`)
	s.write(`CREATE VIEW look AS SELECT receiver FROM looks`)
	s.write(`CREATE TRIGGER look_in INSTEAD OF INSERT ON look BEGIN INSERT INTO looks VALUES (new.receiver); END`)
	s.writer.stmts[dropHearsay] = s.writer.prepare(`INSERT INTO look VALUES (?)`)
	s.Keep(archivetest.FeedRecords(news, 5000, 5009))
	looks := 0
	s.row(`SELECT count(*) FROM looks`, nil, &looks)
	commit(t, s)
	if looks != 1 {
		t.Errorf("what waits was gone through %d times for 10 entries, want once", looks)
	}
}
