package sqlite

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// A role is what a connection is for. Settings are per connection, so they stand in the name by
// which database/sql opens every one of them.
type role string

const (
	// roleWriter commits durably: with synchronous=FULL a commit is on the disk when it returns.
	// Its transactions are immediate, because one that begins by reading could find the database
	// locked when it comes to write. The log that commits go to is brought into the file every 8,000
	// pages: a page that changes in many commits is then written there once, and few commits wait.
	// How room is given back (see Reclaim) has to be said before anything is in a new file.
	roleWriter role = "mode=rw&_txlock=immediate&_pragma=auto_vacuum(2)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)" +
		"&_pragma=wal_autocheckpoint(8000)&_pragma=journal_size_limit(67108864)"
	// roleHousekeeper is a writer that does not wait for others: it can do its work later. A log that grows while it
	// does is the business of the connection that brings it into the file.
	roleHousekeeper role = "mode=rw&_txlock=immediate&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(0)" +
		"&_pragma=journal_size_limit(67108864)"
	// roleReader may clean up after a node that was killed, but changes nothing otherwise.
	roleReader role = "mode=rw&_pragma=query_only(1)"
	// roleReadOnly is a reader without the right to write.
	roleReadOnly role = "mode=ro&_pragma=query_only(1)"
	// roleImmutable is a reader of a file beside which it can write nothing and that no other connection has open, as
	// on a medium that is read-only.
	roleImmutable role = "mode=ro&immutable=1&_pragma=query_only(1)"
)

// dsn is the data source name of the file at path. cell_size_check finds damage before it is
// followed; trusted_schema, defensive and dqs keep a doctored file from running more than our
// statements.
func dsn(path string, r role, cacheBytes int, busy time.Duration) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // a drive letter
	}
	settings := fmt.Sprintf("%s&_dqs=0&_defensive=1&_error_rc=1&_pragma=busy_timeout(%d)&_pragma=cache_size(-%d)"+
		"&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)",
		r, busy.Milliseconds(), cacheBytes>>10)
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: settings}).String(), nil
}
