package archive

import (
	"context"
	"errors"
	"time"

	"feedex/feed"
)

// Housekeeper is the work on an archive that can wait, beside the loop: to bring entries into the full-text index and
// to keep that in order, to purge, to give room back to the disk, and to bring the log into the file. Its methods may
// be called by any goroutine; each makes one step, which is durable when it returns nil, once the one before has ended.
// An archive that needs no such work has methods that find nothing to do.
//
// The loop goes first. A step that is under way when that wants to write has a few milliseconds to come to its end;
// then it is undone, and ErrGaveWay is its error: make it again later, or a smaller one.
type Housekeeper interface {
	// Index brings some of the entries that were kept or replaced since they were last indexed into the full-text
	// index, and reports whether there are more.
	Index(ctx context.Context) (more bool, err error)
	// Tidy takes a step towards an index in few parts, without the words of entries that are gone, and reports whether
	// there is another to take: the more parts there are the longer searches take, and what was deleted takes room
	// until then.
	Tidy(ctx context.Context) (more bool, err error)
	// Compact takes a step towards an index in one part, in which purged entries have left nothing. It begins with
	// state -1, returns what it is to be called with next, and is done when that is -1 again. It goes over all of the
	// index: OverLimits.Untidy says when that is worth it.
	Compact(ctx context.Context, state int64) (next int64, err error)
	// Purge drops entries as Entries has it, and returns how many.
	Purge(ctx context.Context, at time.Time, ids []feed.EntryID) (count int, err error)
	// ForgetPurged looks at some of the entries that were purged, those after an id, and forgets those that were purged
	// long ago and that nothing brings back. It returns the last that it looked at, and whether there are more.
	ForgetPurged(ctx context.Context, now time.Time, after feed.EntryID) (last feed.EntryID, more bool, err error)
	// ForgetFeeds looks at some of the feeds of which neighbors brought something, those after a number, and forgets
	// those of which there is nothing any more. It returns the last that it looked at, and whether there are more.
	ForgetFeeds(ctx context.Context, after int64) (last int64, more bool, err error)
	// Reclaim gives back to the disk at most max pages of the file (4 KiB each) that hold nothing, and returns how many
	// such pages remain. The file is shorter after the last step by Shorten. The error is ErrRewrite if the file was
	// not made for it.
	Reclaim(ctx context.Context, max int) (remaining int, err error)
	// Log brings the log into the file if it has grown long, as far as readers let it, while the loop may write.
	Log(ctx context.Context) error
	// Shorten brings the log into the file, which is then as long as it has to be, and empties it. While readers are at
	// work it may not be able to.
	Shorten(ctx context.Context) error
	// Contended reports whether the loop had to wait since it was called last.
	Contended() bool
	// Close ends the Housekeeper, before its archive is closed.
	Close() error
}

// Errors that a host does something about; errors of archives wrap them.
var (
	// ErrGaveWay is the error of a step that was undone because the loop had something to write.
	ErrGaveWay = errors.New("the archive was needed for something else")
	// ErrRewrite is for a file that an older feedex made: it can only be rewritten as a whole, by Vacuum.
	ErrRewrite = errors.New("an older feedex made the file: what is free in it is given back only when it is rewritten")
	// ErrFull means that there is no room on the disk. Work that makes room may succeed all the same.
	ErrFull = errors.New("the disk is full: free some space")
)
