package reading

import (
	"context"
	"errors"
	"iter"
	"time"

	"feedex/discover"
	"feedex/feed"
	"feedex/opml"
)

// A Library is the set of calls that the sync APIs of feed readers make to a node for one person. Several goroutines
// may use it at once. Its methods end early with their context's error; reading takes no longer than some seconds, and
// works also while nothing can be stored. A method's changes are durable when it returns nil.
type Library interface {
	Items
	Editor
	FilterList
	LabelList
	// Icon returns the picture of feeds with that number, the zero Icon where there is none.
	Icon(ctx context.Context, id IconID) (Icon, error)
}

// An Entrance lets clients in. There is no other way to a Library, and none by which a client says whose it wants.
type Entrance interface {
	// Visitor is who shows an app password, the zero Visitor if it is none.
	Visitor(ctx context.Context, password string) (Visitor, error)
	// FeverVisitor is who shows a key that the Fever API makes of an app password, the zero Visitor if it is of none.
	FeverVisitor(ctx context.Context, key string) (Visitor, error)
}

// A Visitor is a client that an app password let in. The zero Visitor is nobody.
type Visitor struct {
	Name    string   // of the password
	Person  PersonID // whose it is
	Library Library  // of that person
}

// Items are the items that there are to read.
type Items interface {
	// Subscriptions are the feeds that the node follows and the person has not left out, ordered by ID.
	Subscriptions(ctx context.Context) ([]FollowedFeed, error)
	// Folders are all folders, also those without a feed, ordered by name.
	Folders(ctx context.Context) ([]Folder, error)
	// Counts are the feeds with items that are unread, ordered by feed.
	Counts(ctx context.Context) ([]UnreadCount[FeedID], error)
	// Size is how many items of a stream there are.
	Size(ctx context.Context, s Stream) (int, error)
	// IDs are the items of a stream on one page, in its order.
	IDs(ctx context.Context, s Stream, p Page) ([]ItemID, error)
	// Find are the items of which the words are so, those that are not listed too, the oldest first: those of the
	// latest entries, at most limit of them, of these feeds alone where there are any. The error wraps archive.ErrSlow
	// where it took too long.
	Find(ctx context.Context, m feed.Match, of []FeedID, limit int) ([]ItemID, error)
	// Items are those items with their content, in the order of ids; those of which there is none, or whose feed is not
	// followed, are left out. Few are held in memory at one time. An error is the last thing it yields.
	Items(ctx context.Context, ids []ItemID) iter.Seq2[Item, error]
}

// A RefreshResult is what comes of having feeds polled now.
type RefreshResult struct {
	Polled int       // feeds that are
	Later  int       // feeds that may not be yet, for their publishers' sake
	From   time.Time // when the first of these may be, zero for none
	Ended  int       // feeds that are polled no more
}

// An Editor makes the changes that a person's programs ask for: marks, labels, feeds and folders.
type Editor interface {
	// Mark marks items. Those of which there is none do not matter.
	Mark(ctx context.Context, ids []ItemID, m Mark) error
	// MarkStream marks all items of a stream.
	MarkStream(ctx context.Context, s Stream, m Mark) error

	// Subscribe follows a feed or, where a web page is at the address, the first that the page names; it is no error if
	// that is followed already. Addresses are tried one after another. The error wraps ErrNoFeed where none can be
	// read, or the page names none.
	Subscribe(ctx context.Context, tries ...feed.URL) (FeedID, error)
	// Discover is which feeds are at an address: the one there, or those that the web page there names. It follows
	// none. The error wraps ErrNoFeed where there is none, and ErrUnread where the address could not be read.
	Discover(ctx context.Context, u feed.URL) ([]discover.SiteFeed, error)
	// Refresh has feeds polled now, as far as their publishers allow it. Those that are not followed do not matter.
	Refresh(ctx context.Context, ids ...FeedID) (RefreshResult, error)
	// Unsubscribe follows a feed no more and keeps what there is of it, with its marks; for a program, and for people
	// beside the owner, it leaves the feed out of what they read. It is no error if nobody followed it.
	Unsubscribe(ctx context.Context, id FeedID) error
	// Arrange titles and files feeds. Feeds that nobody knows do not matter. The error wraps ErrName or ErrFolders
	// where that is the reason; nothing is changed then.
	Arrange(ctx context.Context, list ...Arrangement) error
	// AddFolder makes a folder, or finds that of this name. Errors as with Arrange.
	AddFolder(ctx context.Context, name string) (FolderID, error)
	// RenameFolder gives a folder another name. Where there is one of that name, its feeds go into that. Errors as with
	// Arrange; it is none if there is no such folder.
	RenameFolder(ctx context.Context, id FolderID, name string) error
	// RemoveFolder removes a folder and leaves its feeds followed. It is no error if there is none.
	RemoveFolder(ctx context.Context, id FolderID) error
	// Label gives items the label of a name, which is made where there is none, or takes it from them. The error wraps
	// ErrName, ErrFilterName, ErrLabels or ErrEntryLabels where that is the reason.
	Label(ctx context.Context, ids []ItemID, name string, has bool) error
	// RenameLabel gives a label another name. The error wraps ErrName, ErrFilterName or ErrLabelName where that is the
	// reason; it is none if there is no such label.
	RenameLabel(ctx context.Context, id LabelID, name string) error
	// RemoveLabel takes a label from all items. It is no error if there is none.
	RemoveLabel(ctx context.Context, id LabelID) error
	// Import follows the feeds of a list, titled and filed as there.
	Import(ctx context.Context, list []opml.Outline) error
	// FetchFullText returns the full text of an item, as KeepFullText has it, for which its page is asked: one that was
	// had within the last day is not asked for again. Where show says so, that is what people read from then on. The
	// error wraps ErrFullText where there is none, and says why; ErrNoItem where there is no such item.
	FetchFullText(ctx context.Context, id ItemID, show bool) (FullText, error)
}

// The refusals of FetchFullText.
var (
	ErrFullText = errors.New("the full text could not be had")
	ErrNoItem   = errors.New("there is no such item")
)

// Before is the Stream of what arrived no later than at, to the second: what a reader that was shown everything until
// then means by "mark all read".
func (s Stream) Before(at time.Time) Stream {
	s.Until = time.Unix(at.Unix()+1, 0)
	return s
}
