package reading

import (
	"context"
	"errors"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// ErrRests is how what needs a node that runs ends while nothing can be stored, and what cannot be stored.
var ErrRests = errors.New("the node rests because entries cannot be stored")

// WhyRests is what anybody may hear of an error that wraps ErrRests: not where the archive is.
func WhyRests(err error) string {
	if errors.Is(err, archive.ErrFull) {
		return ErrRests.Error() + ": " + archive.ErrFull.Error()
	}
	return ErrRests.Error()
}

// A Database is a node's archive as a host has it: what the node remembers and what its owner reads and says.
//
// All but its View belongs to the node's loop. Commit makes durable what was written since the last one, or drops all
// of it, and tells the first error that a method met; from that on the others did nothing and found nothing. The View
// sees what was committed.
type Database interface {
	View

	archive.Store
	archive.FeedLimiter
	archive.HubStore
	Declining
	People
	Icons
	FullTexts
	Passwords
	FilterSweeper
	StandingQueries
	Messages
	// Pen is what a person marks, files and leaves out, in the transaction that is open; nil where there is no such
	// person.
	Pen(p PersonID) Pen
	// Commit ends the transaction. After an error the Database may be used again.
	Commit() error

	// Vacuum gives back all room that holds nothing. It belongs to the loop, after a Commit, and takes long.
	Vacuum(ctx context.Context) error
	// Index brings at most max entries into the full-text index and returns how many remain, and Tidy takes a step
	// towards an index in few parts and reports whether there is another to take: for a process that has the archive
	// alone, as a node has not. A Housekeeper has both.
	Index(max int) (remaining int, err error)
	Tidy() (more bool, err error)
	// Housekeeper opens the archive for its housekeeping. Close it before the Database.
	Housekeeper() (archive.Housekeeper, error)
	// Close ends the Database. Changes that were not committed are dropped.
	Close() error
}

// A View is an archive as it is read beside the node's loop. It may be used by several goroutines at once. Its methods
// end early with the cause of their context's end, and take no longer than some seconds, but for those that go through
// everything.
type View interface {
	archive.Searcher
	archive.Channels
	archive.Contents
	archive.Activity
	archive.HubList
	archive.OverLimits
	UnsuggestedList
	PeopleList
	IconList
	FullTextList
	PasswordList
	FilterKeys
	StandingList
	ReceiverList
	// Shelf is what a person reads; nothing is marked there where there is no such person.
	Shelf(p PersonID) Shelf
}

// A Shelf is the archive as one person reads it.
type Shelf interface {
	Items
	Filing
	Headlines
	FilterList
	LabelList
	IconList
	Looks
	// Unfollowed returns what programs of the person unfollowed since then, ordered by By, the latest of each first.
	Unfollowed(ctx context.Context, since time.Time) ([]Unfollowed, error)
}

// A Pen writes what one person marks and files, and which feeds they leave out. Nobody's but theirs changes by it.
type Pen interface {
	Marking
	Folders
	Labels
	Filters
	Receivers
	// LeaveOut has a feed, which the node goes on to follow, no more among those that the person reads. TakeIn has it
	// there again: what they never had of it is read, but for so much of the latest.
	LeaveOut(id FeedID)
	TakeIn(id FeedID, b archive.Backlog)
	// NoteUnfollowed notes of a feed that the person reads who unfollows it: the name of a password. It is forgotten
	// once they follow it again.
	NoteUnfollowed(at time.Time, id FeedID, by string)
}

// Marking keeps what a person read and starred. An entry becomes an item, for all people, when it arrives: as it is
// kept or filled in, where its feed is followed then, and else when the node follows the feed. The latest of those that
// are there then are unread, archive.FirstUnread or as many as who follows it chose for themselves, and of those that
// the first poll brings, where neighbors have not brought as many before it. What one starred or labelled is purged
// for nobody.
type Marking interface {
	// Mark marks items at a moment. Those of which there is none do not matter.
	Mark(at time.Time, ids []ItemID, m Mark)
	// MarkStream marks at most limit items of a stream, and reports whether that may not have been all.
	MarkStream(at time.Time, s Stream, m Mark, limit int) (more bool)
}

// Folders keeps how a person titled and filed feeds. Names are such as Checked and FolderName make.
type Folders interface {
	// Arrange titles and files feeds; those that nobody knows do not matter. The URL of a page that is followed no more
	// stands for the feed that is followed in its place. Arrange reports false, and does nothing, where there would be
	// more than MaxFolders.
	Arrange(list []Arrangement) bool
	// AddFolder makes a folder, or finds that of this name. It reports false where there are too many.
	AddFolder(name string) (id FolderID, ok bool)
	// RenameFolder gives a folder another name. Where there is one of that name, its feeds go into that.
	RenameFolder(id FolderID, name string)
	// RemoveFolder removes a folder; it is no error if there is none.
	RemoveFolder(id FolderID)
}

// Filing reads which number, title and folders a feed has.
type Filing interface {
	// FeedID returns the number of a feed, 0 where nothing is known of it.
	FeedID(ctx context.Context, u feed.URL) (FeedID, error)
	// FeedOf returns the URL of a feed, "" where there is none of that number.
	FeedOf(ctx context.Context, id FeedID) (feed.URL, error)
	// Titles returns what the person calls those of the feeds of which anything is kept.
	Titles(ctx context.Context, feeds []feed.URL) (map[feed.URL]FeedTitle, error)
	// Filing returns the person's own title of the feed, "" for none, and the names of the folders that it is in.
	Filing(ctx context.Context, number int64) (name string, folders []string, err error)
	// Reads reports whether the feed is one of the person's Subscriptions.
	Reads(ctx context.Context, number int64) (bool, error)
}

// Headlines reads entries as pages list them, items or not.
type Headlines interface {
	// Headlines returns the latest entries, the latest first.
	Headlines(ctx context.Context, q HeadlineQuery) ([]Headline, error)
	// CountUnread counts what is not read of the person's Subscriptions, of those whose URL is a secret only where that
	// is asked for.
	CountUnread(ctx context.Context, secret bool) (int, error)
	// Found are the entries that answer a filter, as archive.Searcher has them, but that those of a feed whose URL is a
	// secret are there for who reads it alone. It takes no longer than some seconds.
	Found(ctx context.Context, f feed.Filter) ([]archive.Record, error)
	// ItemStates returns those of the entries that are kept.
	ItemStates(ctx context.Context, ids []feed.EntryID) (map[feed.EntryID]ItemState, error)
	// Entry returns the entry with its item, and the number of its feed, 0 if it is not kept.
	Entry(ctx context.Context, id feed.EntryID) (archive.Record, ItemState, int64, error)
}

// Passwords keeps the passwords by which programs of people come in.
type Passwords interface {
	// KeepPassword adds a password. The error is ErrTaken, ErrPasswords or, where there is no such person, ErrNobody;
	// nothing is changed then.
	KeepPassword(p Password) error
	// UsePassword notes when somebody came in by a password.
	UsePassword(name string, at time.Time)
	// EndSessions ends all sessions that a password has begun, if there is one of that name.
	EndSessions(name string)
	// DropPassword removes a password and reports whether there was one of that name.
	DropPassword(name string) bool
}

// A PasswordList reads what Passwords keeps.
type PasswordList interface {
	// Passwords returns the passwords, ordered by name.
	Passwords(ctx context.Context) ([]Password, error)
	// Password returns the password with that hash, of itself or, where fever is set, of the key that the Fever API
	// makes of it; the zero Password if there is none.
	Password(ctx context.Context, h Hash, fever bool) (Password, error)
}
