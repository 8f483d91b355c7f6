package sqlite

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
)

// Where neighbors could change what own polls had shown, an older feedex may have kept what is not the publisher's. The
// next poll of every feed is to read the whole document; and what an own poll has shown of what was filled in is known
// to be the publisher's.
func TestMigrateToPolled(t *testing.T) {
	script, ids := fmt.Sprintf(`INSERT INTO feeds (id, url, secret, kept, subscribed, etag, last_modified, body)
		VALUES (1, '%s', 0, 1, 1, '"tag"', 'then', x'%x');`, news, make([]byte, 20)), []feed.EntryID(nil)
	rows := []struct {
		seq       int
		source    string
		confirmed int
		polled    string
		want      bool // Polled
	}{
		{1, "", 1, "NULL", true},
		{2, "192.0.2.7:7790", 0, "NULL", false},
		{3, "192.0.2.7:7790", 1, "NULL", false}, // by two neighbors
		{4, "192.0.2.7:7790", 1, "9", true},
		{5, "192.0.2.7:7790", 0, "0", false}, // from before there was the column
		{6, "192.0.2.7:7790", 1, "0", true},
		{-1, "", 1, "NULL", true},
		{-2, "", 0, "NULL", false}, // of an export
		{-3, "192.0.2.7:7790", 1, "NULL", true},
		{-4, "192.0.2.7:7790", 0, "NULL", false},
	}
	for i, row := range rows {
		r := newsRecord(fmt.Sprint(i), "hello", time.Unix(1, 0))
		ids = append(ids, r.ID)
		script += fmt.Sprintf(`INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content, confirmed, polled)
			VALUES (%d, x'%x', x'%x', 1, 1, '%s', '%d', 'hello', '', '', '', %d, %s);`,
			row.seq, r.ID[:], r.Digest[:], row.source, i, row.confirmed, row.polled)
	}
	s := openFile(t, olderArchive(t, 18, script))
	for i, v := range s.Known(ids) {
		if v.Polled != rows[i].want {
			t.Errorf("entry %d: %+v, want Polled %v", i, v, rows[i].want)
		}
	}
	if f := s.LoadFeeds(); len(f) != 1 || f[0].ETag != "" || f[0].LastModified != "" || f[0].Body != (feed.Digest{}) {
		t.Errorf("the next poll is not to read the whole document: %+v", f)
	}
}
