package daemon

import (
	crand "crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"feedex/archive"
	"feedex/internal/when"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
	"feedex/transport"
)

const (
	// firstRevival is the wait after a storage fault; it doubles up to longestWait.
	firstRevival = 2 * time.Second
	// longestWait is how long something that failed is left alone at most.
	longestWait = time.Minute
)

// storage is the archive's health as far as the loop knows it.
type storage struct {
	problem error     // why entries cannot be stored, nil while they can
	retry   time.Time // when to try again
	tries   int       // that failed, none of them a good while after the one before
}

// down reports whether the archive failed and it is not yet time to try it again.
func (s *storage) down(now time.Time) bool { return s.problem != nil && now.Before(s.retry) }

// rests is how all that needs a core ends while there is none.
func (s *storage) rests() error { return resting{s.problem} }

// resting is a reading.ErrRests that says why.
type resting struct{ why error }

func (r resting) Error() string   { return "the node rests because " + r.why.Error() }
func (r resting) Unwrap() []error { return []error{reading.ErrRests, r.why} }

// commit makes durable what was written, in a step or beside the core. Where that fails the node rests: publishers are
// asked for nothing that could not be kept.
func (l *loop) commit() error {
	err := l.store.Commit()
	if err == nil {
		return nil
	}
	if l.node != nil {
		l.fail(l.clock.now(time.Now()), err)
	}
	return resting{err}
}

// fail ends a batch whose changes could not be made durable. Nothing of it was acknowledged: the calls
// are refused, the effects are not carried out, and the core, which believes in what was not stored,
// is thrown away. A new one is made from the archive in a while.
func (l *loop) fail(now time.Time, err error) {
	s := &l.storage
	if now.Sub(s.retry) > longestWait {
		s.tries = 0 // it was fine for a good while
	}
	wait := when.Doubled(l.config.revival, longestWait, s.tries)
	s.tries++
	s.problem, s.retry = err, now.Add(wait)
	l.node = nil
	for tag, reply := range l.asked {
		delete(l.asked, tag)
		reply <- unavailable()
	}
	l.endRequests()
	l.around.rested()
	l.config.Log.Error("the node rests; nothing was acknowledged", "err", err, "retry", wait)
}

func unavailable() transport.Response {
	return transport.Response{Fault: protocol.Faultf(protocol.Unavailable,
		"entries cannot be stored at present; try again later")}
}

// turnAway refuses what arrives while nothing can be stored.
func (l *loop) turnAway(batch []arrival) {
	for _, a := range batch {
		switch {
		case a.reply != nil:
			a.reply <- unavailable()
		case a.heard != nil:
			a.heard(nil)
		case a.stored != nil:
			a.stored <- l.storage.rests()
		case a.look != nil:
			a.look(nil)
		}
	}
}

// recover makes a new core from the archive and reports whether there is one.
func (l *loop) recover(now time.Time) bool {
	if l.storage.down(now) || l.awaitClock(now) {
		return false
	}
	if err := l.revive(); err != nil {
		l.fail(now, err)
		return false
	}
	return true
}

// revive makes a core from what the archive knows.
func (l *loop) revive() error {
	if l.storage.problem != nil {
		if err := l.tryWriting(); err != nil {
			return err
		}
	}
	config, s := l.config.Node, l.around.allSources()
	config.Trackers, config.Peers = s.Trackers, s.Peers
	n, err := node.New(l.clock.now(time.Now()), config, l.store, l.rng)
	if err != nil {
		return err
	}
	if err := l.store.Commit(); err != nil { // what it read may have failed, too
		return err
	}
	if l.storage.problem != nil {
		l.storage.problem = nil
		l.config.Log.Info("the node goes on")
	}
	l.life++
	l.node = n
	l.around.revived(n)
	l.asked = make(map[uint64]chan<- transport.Response)
	return nil
}

// stepBytes is how much room there has to be on a disk before entries are stored again that could not be: what a step
// writes, and more. A row alone also finds room in what a full disk has left over, and the node would rest, work and
// rest by turns.
const stepBytes = 4 << 20

// tryWriting writes what the archive has already, and sees whether there is room for more.
func (l *loop) tryWriting() error {
	if feeds := l.store.LoadFeeds(); len(feeds) > 0 {
		l.store.KeepFeed(feeds[0])
	}
	if err := l.store.Commit(); err != nil {
		return err
	}
	room, size := l.config.roomOn(l.config.Data)
	if l.life > 0 && size > 0 && room < stepBytes { // the first waits for the clock alone
		return fmt.Errorf("%w, %d MiB at least", archive.ErrFull, stepBytes>>20)
	}
	return nil
}

// ReserveBytes is how much of the disk a node of its own sets aside. To delete something from the archive takes room
// first: the log of SQLite, which may have 32 MiB that are still to be brought into the file, and the log of a step.
const ReserveBytes = 40 << 20

// A reserve is a file that holds nothing but room: it is given up when the disk is full and something is to be purged.
type reserve struct {
	path  string
	bytes int64
}

func reserveIn(data string, bytes int64) reserve {
	return reserve{filepath.Join(data, "reserve"), bytes}
}

// take makes the file if it is not there and there is to be one. Where there is no room for it, there is none.
func (r reserve) take() {
	if info, err := os.Stat(r.path); r.bytes == 0 || err == nil && info.Size() == r.bytes {
		return
	}
	if r.write() != nil {
		r.release()
	}
}

func (r reserve) write() error {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	noise := make([]byte, 1<<20)
	for written := int64(0); written < r.bytes; written += int64(len(noise)) {
		crand.Read(noise) // a disk that compresses would store zeros, or a repetition, in no room
		if _, err := f.Write(noise[:min(int64(len(noise)), r.bytes-written)]); err != nil {
			return err
		}
	}
	return f.Sync()
}

// release gives the room up, and reports whether there was any.
func (r reserve) release() bool { return os.Remove(r.path) == nil }
