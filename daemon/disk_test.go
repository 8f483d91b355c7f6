package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
	"feedex/protocol"
	"feedex/reading"
)

// A disk is a database in memory that fails when it is told so. As on a disk, what was written and not
// committed is dropped when a commit fails.
type disk struct {
	*archive.Memory
	noDatabase
	durable, written []func(*archive.Memory)
	standing         standingFilters

	work      func(time.Duration) // lets the time of a step of indexing pass
	mu        sync.Mutex
	state     diskState
	indexings []time.Time // when a step of indexing began
}

// noDatabase has no more than nil for what a disk lacks. A test that needs it has an archive on disk.
type noDatabase struct{ reading.Database }

// A diskState is the state of a disk, as far as a test may choose it.
type diskState struct {
	commit, index error         // what commits and steps of indexing fail with, nil if they do not
	unindexed     int           // entries
	stepTakes     time.Duration // a step of indexing
	contended     bool          // the loop always has to wait for one
}

func newDisk() *disk { return &disk{Memory: archive.NewMemory(), work: func(time.Duration) {}} }

// set makes the disk behave anew.
func (d *disk) set(s diskState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = s
}

// indexed is when each step of indexing began, and how many entries they left.
func (d *disk) indexed() (steps []time.Time, left int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.indexings), d.state.unindexed
}

func (d *disk) write(f func(*archive.Memory)) {
	f(d.Memory)
	d.written = append(d.written, f)
}

// These implement reading.Database.

func (d *disk) Keep(r []archive.Record) { d.write(func(m *archive.Memory) { m.Keep(r) }) }
func (d *disk) Fill(at time.Time, r []archive.Record) (stored []bool) {
	d.write(func(m *archive.Memory) { stored = m.Fill(at, r) })
	return stored
}
func (d *disk) MarkPolled(at time.Time, ids []feed.EntryID) (shares []archive.Share) {
	d.write(func(m *archive.Memory) { shares = m.MarkPolled(at, ids) })
	return shares
}
func (d *disk) Purge(at time.Time, ids []feed.EntryID) (dropped []bool) {
	d.write(func(m *archive.Memory) { dropped = m.Purge(at, ids) })
	return dropped
}
func (d *disk) Readmit(ids []feed.EntryID) { d.write(func(m *archive.Memory) { m.Readmit(ids) }) }
func (d *disk) OverLimit(context.Context, time.Time, archive.Retention) ([]feed.EntryID, error) {
	return nil, nil
}
func (d *disk) Untidy(context.Context, archive.Retention) (bool, error)  { return false, nil }
func (d *disk) SetLimits(feed.URL, *int64, *time.Duration, *int64)       {}
func (d *disk) FeedLimits(context.Context) ([]archive.FeedLimits, error) { return nil, nil }
func (d *disk) LastPurge(context.Context) (archive.Purge, error)         { return archive.Purge{}, nil }
func (d *disk) Vacuum(context.Context) error                             { return errors.New("there is no file") }
func (d *disk) Inherit(to, from feed.URL) {
	d.write(func(m *archive.Memory) { m.Inherit(to, from) })
}
func (d *disk) Rename(at time.Time, from, to feed.URL, listed []feed.Entry) (renamed bool) {
	d.write(func(m *archive.Memory) { renamed = m.Rename(at, from, to, listed) })
	return renamed
}
func (d *disk) KeepFeed(f archive.Feed) {
	d.write(func(m *archive.Memory) { m.KeepFeed(f) })
}
func (d *disk) KeepDID(did protocol.DID) {
	d.write(func(m *archive.Memory) { m.KeepDID(did) })
}
func (d *disk) KeepPeer(p protocol.FormerNeighbor) {
	d.write(func(m *archive.Memory) { m.KeepPeer(p) })
}
func (d *disk) DropPeer(id protocol.NodeID) {
	d.write(func(m *archive.Memory) { m.DropPeer(id) })
}
func (d *disk) KeepHost(h archive.KnownHost) {
	d.write(func(m *archive.Memory) { m.KeepHost(h) })
}
func (d *disk) KeepRequests(l []grade.Request) {
	d.write(func(m *archive.Memory) { m.KeepRequests(l) })
}
func (d *disk) Requests(_ context.Context, n int) ([]grade.Request, error) {
	return d.LoadRequests(n), nil
}
func (d *disk) NumberedFeed(context.Context, int64) (archive.Feed, error) { return archive.Feed{}, nil }
func (d *disk) DropHost(name string) {
	d.write(func(m *archive.Memory) { m.DropHost(name) })
}
func (d *disk) DropAccount(holder string) {
	d.write(func(m *archive.Memory) { m.DropAccount(holder) })
}
func (d *disk) KeepAccount(a archive.KeptAccount) {
	a.Text = slices.Clone(a.Text) // the caller will write over it
	d.write(func(m *archive.Memory) { m.KeepAccount(a) })
}

func (d *disk) Commit() error {
	d.mu.Lock()
	err := d.state.commit
	d.mu.Unlock()
	if err == nil {
		d.durable = append(d.durable, d.written...)
	} else {
		d.Memory = archive.NewMemory()
		for _, f := range d.durable {
			f(d.Memory)
		}
	}
	d.written = nil
	return err
}

// A janitor is the housekeeping of a disk, as far as there is one.
type janitor struct {
	archive.Housekeeper
	disk *disk
}

// indexedAtOnce is how many entries a step of it brings into the index.
const indexedAtOnce = 128

func (j janitor) Index(context.Context) (more bool, err error) {
	d := j.disk
	d.mu.Lock()
	d.indexings = append(d.indexings, time.Now())
	takes := d.state.stepTakes
	d.mu.Unlock()
	d.work(takes)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.index == nil {
		d.state.unindexed -= min(indexedAtOnce, d.state.unindexed)
	}
	return d.state.unindexed > 0, d.state.index
}

func (j janitor) Contended() bool {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	return j.disk.state.contended
}
func (j janitor) Log(context.Context) error          { return nil }
func (j janitor) Tidy(context.Context) (bool, error) { return false, nil }

func (d *disk) Stats(context.Context) (archive.Stats, error) { return archive.Stats{}, nil }

// FeedNames implements archive.Contents: nobody has given a feed a title.
func (d *disk) FeedNames(context.Context) ([]archive.FeedName, error) { return nil, nil }
