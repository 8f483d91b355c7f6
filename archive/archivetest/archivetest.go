// Package archivetest holds every archive to the contract of packages archive and reading: by examples, and by
// comparing it with archive.Memory over random work. Run is for what a node's core needs, RunDatabase,
// RunBlocks and RunRetention for what a host needs besides.
package archivetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// An Archive is an archive that Run tests. Commit ends a transaction, as reading.Database has it.
type Archive interface {
	archive.Store
	archive.Searcher
	committer
}

type committer interface{ Commit() error }

// An Indexer is an Archive that prepares searches apart from Commit. Run tests searches before,
// during and after that.
type Indexer interface {
	Index(max int) (remaining int, err error)
}

// A Reopener is an Archive that outlives its process. Reopen closes it without a Commit and opens it
// again.
type Reopener interface {
	Reopen() Archive
}

// Run tests the archives that open makes, which must be empty. Open registers with t what is to be
// done at the end; an Archive that is an io.Closer may be closed before.
func Run(t *testing.T, open func(t testing.TB) Archive) {
	t.Run("entries", func(t *testing.T) { testEntries(t, open) })
	t.Run("fill", func(t *testing.T) { testFill(t, open(t)) })
	t.Run("unshown", func(t *testing.T) { testUnshown(t, open(t)) })
	t.Run("purge", func(t *testing.T) { testPurge(t, open(t)) })
	t.Run("purge what no poll has shown", func(t *testing.T) { testPurgeUnshown(t, open(t)) })
	t.Run("feeds", func(t *testing.T) { testFeeds(t, open(t)) })
	t.Run("dids", func(t *testing.T) { testDIDs(t, open) })
	t.Run("peers", func(t *testing.T) { testPeers(t, open(t)) })
	t.Run("accounts", func(t *testing.T) { testAccounts(t, open(t)) })
	t.Run("requests", func(t *testing.T) { testRequests(t, open(t)) })
	t.Run("hosts", func(t *testing.T) { testHosts(t, open(t)) })
	t.Run("polled discreetly", func(t *testing.T) { testPolledDiscreetly(t, open(t)) })
	t.Run("polled openly again", func(t *testing.T) { testPolledOpenlyAgain(t, open(t)) })
	t.Run("purged discreetly", func(t *testing.T) { testPurgedDiscreetly(t, open(t)) })
	t.Run("purge forged", func(t *testing.T) { testPurgeForged(t, open(t)) })
	t.Run("shared", func(t *testing.T) { testShared(t, open) })
	t.Run("search", func(t *testing.T) { testSearch(t, open) })
	t.Run("model", func(t *testing.T) { testModel(t, open) })
}

// base is a moment around which the tests' times lie.
var base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// record is record n of feed u: distinct in everything, with the given text.
func record(u feed.URL, n int, title, summary string) archive.Record {
	return archive.NewRecord(feed.Entry{
		Feed:      u,
		ID:        fmt.Sprintf("urn:example:%d", n),
		Title:     title,
		Link:      fmt.Sprintf("%s#%d", u, n),
		Published: base.Add(time.Duration(n) * time.Minute),
		Summary:   summary,
	}, base.Add(time.Duration(n)*time.Hour), protocol.NodeID{})
}

// NodeID is the id that s spells.
func NodeID(t testing.TB, s string) protocol.NodeID {
	t.Helper()
	id, err := protocol.ParseNodeID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Commit has an archive keep what was written.
func Commit(t testing.TB, a committer) {
	t.Helper()
	if err := a.Commit(); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// search is the result of a search that must not fail.
func search(t testing.TB, a Archive, f feed.Filter) []archive.Record {
	t.Helper()
	found, err := a.Search(t.Context(), f)
	if err != nil {
		t.Fatalf("Search(%+v): %v", f, err)
	}
	return found
}

// same reports whether two records are the same to the letter.
func same(a, b *archive.Record) bool {
	return a.Seq == b.Seq && a.ID == b.ID && a.Digest == b.Digest && a.Seen.Equal(b.Seen) && a.Source == b.Source &&
		a.Confirmed == b.Confirmed &&
		a.Entry.Equal(&b.Entry)
}

// indexAll brings an Indexer up to date, a few entries at a time.
func indexAll(t testing.TB, a Archive) {
	t.Helper()
	ix, ok := a.(Indexer)
	if !ok {
		return
	}
	for remaining := math.MaxInt; remaining > 0; {
		n, err := ix.Index(7)
		if err != nil || n >= remaining {
			t.Fatalf("Index = %d, %v after %d remained", n, err, remaining)
		}
		remaining = n
	}
}

// indexSome has an Indexer index so many entries.
func indexSome(t testing.TB, a Archive, max int) {
	t.Helper()
	if ix, ok := a.(Indexer); ok {
		if _, err := ix.Index(max); err != nil {
			t.Fatal(err)
		}
	}
}
