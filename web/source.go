package web

import (
	"context"
	"errors"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/opml"
	"feedex/reach"
	"feedex/reading"
	"feedex/recommend"
	"feedex/saving"
)

// ErrNone means that there is no such feed or entry.
var ErrNone = errors.New("there is none")

// A Source is the node, as far as pages show it. Its methods may be called by several goroutines at once and end
// early with their context's error.
type Source interface {
	// Of is what one person reads. It is the only way by which pages learn of anybody's marks, folders and titles. What
	// is unfollowed by it is Unfollowed by the password of that name, unless that is "".
	Of(p reading.PersonID, by string) PersonalSource
	Present
	Archive
	NetworkSearcher
	OwnerActions
	OwnerFilters
	Inviter
	Keys
	Notifications
}

// Present is how the node is at this moment.
type Present interface {
	Status(ctx context.Context) (Status, error)
	// Feeds returns the feeds that the node follows, in any order.
	Feeds(ctx context.Context) ([]FeedSummary, error)
	Neighbors(ctx context.Context) ([]node.NeighborStatus, error)
	// Recommended returns feeds that neighbors with like interests follow and the node does not, the best first.
	// Nobody is asked for them.
	Recommended(ctx context.Context) ([]RecommendedFeed, error)
}

// An Archive is the archive of the node.
type Archive interface {
	// Hours returns the hours since then in which anything was done, in order.
	Hours(ctx context.Context, since time.Time) ([]archive.Hour, error)
	// CountedSince is when anything was first counted; zero for never.
	CountedSince(ctx context.Context) (time.Time, error)
	// Feed returns what is known of the feed with that number, ErrNone if there is none.
	Feed(ctx context.Context, number int64) (FeedDetail, error)
	// Happened returns what became of the feed since then, of each kind the latest n at most.
	Happened(ctx context.Context, number int64, since time.Time, n int) (Happened, error)
	// Brought counts the entries of the feed that neighbors brought since then, n at most.
	Brought(ctx context.Context, number int64, since time.Time, n int) (int, error)
	// IconAt is as in reading.IconList.
	IconAt(ctx context.Context, word string) (reading.Icon, error)
}

// A PersonalSource is the node as one person reads there, with what they may do. Nobody else's marks, folders and
// titles are in it, and of feeds whose URL is a secret none but those that they read; the owner has all of them.
type PersonalSource interface {
	// Version grows with everything that their pages may want to show.
	Version() uint64
	// Known returns what is known of the feed with that number, ErrNone if there is none.
	Known(ctx context.Context, number int64) (KnownFeed, error)
	// Titles is as in reading.Filing.
	Titles(ctx context.Context, feeds []feed.URL) (map[feed.URL]reading.FeedTitle, error)
	// Entry returns one entry, ErrNone if there is none.
	Entry(ctx context.Context, id feed.EntryID) (EntryDetail, error)
	// Picture returns the picture at an address that an entry of that feed holds. The error says why there is none.
	Picture(ctx context.Context, number int64, at feed.URL) ([]byte, error)
	// Chapters returns those at an address that an entry of that feed holds, likewise.
	Chapters(ctx context.Context, number int64, at feed.URL) ([]feed.Chapter, error)
	// Headlines returns the latest entries, the latest first.
	Headlines(ctx context.Context, q reading.HeadlineQuery) ([]reading.Headline, error)
	// ItemStates is as in reading.Headlines.
	ItemStates(ctx context.Context, ids []feed.EntryID) (map[feed.EntryID]reading.ItemState, error)
	// Subscriptions, Folders and IDs are as in reading.Items.
	Subscriptions(ctx context.Context) ([]reading.FollowedFeed, error)
	Folders(ctx context.Context) ([]reading.Folder, error)
	IDs(ctx context.Context, s reading.Stream, p reading.Page) ([]reading.ItemID, error)
	// Labels and LabelsOn are as in reading.LabelList.
	Labels(ctx context.Context) ([]reading.Label, error)
	Filters(ctx context.Context) ([]reading.NamedFilter, error)
	LabelsOn(ctx context.Context, ids []reading.ItemID) (map[reading.ItemID][]reading.Label, error)
	// Starred returns what neighbors starred of feeds whose stars the owner shares, what weighs most first; nothing for
	// others than the owner.
	Starred(ctx context.Context) ([]node.StarredEntry, error)
	// CountUnread is as in reading.Headlines.
	CountUnread(ctx context.Context, secret bool) (int, error)
	archive.Searcher
	reading.Editor
	// Follow has the person read the feeds of a list, and of those that they did not read before so much is unread.
	Follow(ctx context.Context, list []opml.Outline, unread archive.Backlog) (FollowedList, error)
	// FollowAt has the person read the feed at an address, or that which the web page there names. A page that names
	// several is followed until somebody who reads it has chosen.
	FollowAt(ctx context.Context, w FollowWish) (FollowedAt, error)
	// Unfollowed is as in reading.Shelf. Refollow has the person read such feeds again, as before.
	Unfollowed(ctx context.Context, since time.Time) ([]reading.Unfollowed, error)
	Refollow(ctx context.Context, list []reading.Unfollowed) error
	// TakeUp has the person read a feed, known by its number, that they read no more, or never did.
	TakeUp(ctx context.Context, number int64) error
	// ShowFullText says whether a full text that there is is shown. The error is ErrNone for who is not the owner.
	ShowFullText(ctx context.Context, id reading.ItemID, shown bool) error
	OwnKeys
	Saver
}

// A Saver has the service that one person saves entries to.
type Saver interface {
	// Service is that, without what lets the person in there; the zero Service is none, with an error where what was
	// kept of it cannot be read.
	Service(ctx context.Context) (saving.Service, error)
	// SaveTo keeps another, or none, and returns what brings back the one that was there.
	SaveTo(ctx context.Context, s saving.Service) (back func(context.Context) error, err error)
	// Save gives it an entry: the error says in words why it was not saved.
	Save(ctx context.Context, b saving.Bookmark) error
}

// OwnKeys are the app passwords of one person. Whoever is to make and remove them has shown one of reading.OwnerScope.
type OwnKeys interface {
	// OwnPasswords returns them, ordered by name.
	OwnPasswords(ctx context.Context) ([]reading.Password, error)
	// AddOwnPassword makes one for a feed reader, and returns it. The error may wrap reading.ErrName, reading.ErrTaken,
	// reading.ErrOwn or reading.ErrPasswords.
	AddOwnPassword(ctx context.Context, name string) (secret string, err error)
	// RemoveOwnPassword removes one for a feed reader, and returns what brings it back as it was, with the errors of
	// AddOwnPassword; ErrNone where they have none of that name.
	RemoveOwnPassword(ctx context.Context, name string) (back func(context.Context) error, err error)
}

// NetworkSearcher has the entries of others.
type NetworkSearcher interface {
	// Ask has neighbors searched. It calls each with what they tell, as it comes, and returns how it ended.
	Ask(ctx context.Context, f feed.Filter, each func([]RemoteEntry) error) (SearchOutcome, error)
}

// OwnerFilters has the filters that the owner keeps.
type OwnerFilters interface {
	// CountedFilters is as in reading.FilterList.
	CountedFilters(ctx context.Context) ([]reading.CountedFilter, error)
	// KeepFilter keeps a filter, or puts it into the place of one where id is not 0, and returns its ID. The error may
	// wrap one of reading.FilterWish.Checked or reading.Filters.
	KeepFilter(ctx context.Context, id reading.FilterID, w reading.FilterWish) (reading.FilterID, error)
	// KeepFilterAgain keeps a filter that was removed within UndoTime as it was, in the place of another, or in its own
	// where that is 0. Errors likewise.
	KeepFilterAgain(ctx context.Context, id, instead reading.FilterID) error
	// TryFilter says how many entries of those that are here a filter would catch, reading.MaxCaught at most, and on
	// how many of them each rule would act. The error may wrap archive.ErrSlow.
	TryFilter(ctx context.Context, m feed.Match) (caught int, rules map[reading.Rule]int, err error)
	// MoveFilter has a filter be before another.
	MoveFilter(ctx context.Context, id, before reading.FilterID) error
	// RemoveFilter removes a filter, which is there for UndoTime and longer.
	RemoveFilter(ctx context.Context, id reading.FilterID) error
	// ActOnPast has the rule of a filter act on what it has caught, and says at which moment. TakeBack reverses what
	// the rule did at a moment, or ever where that is zero, where nothing was marked since.
	ActOnPast(ctx context.Context, id reading.FilterID) (time.Time, error)
	TakeBack(ctx context.Context, id reading.FilterID, moment time.Time) error
}

// OwnerActions has the changes that the owner may make.
type OwnerActions interface {
	// Adjust follows a feed in another way, as far as the wish says so, which leaves out its Feeds. The error is
	// ErrNone where it is not followed.
	Adjust(ctx context.Context, number int64, wish node.Subscribe) error
	// Keep says how much is kept of a feed. The error is ErrNone where it is not followed.
	Keep(ctx context.Context, number int64, l archive.Limits) error
	// Unfollow follows a feed no more and keeps its entries.
	Unfollow(ctx context.Context, number int64) error
	// FollowAgain follows a feed, known by its number, that was followed before, as it was then. The error is ErrNone
	// where nothing is known of it any more.
	FollowAgain(ctx context.Context, number int64) error
	// Decline has a feed suggested no more, or again.
	Decline(ctx context.Context, u feed.URL, declined bool) error
	// UseDHT keeps the owner's answer to whether the node may find neighbors by BitTorrent's DHT.
	UseDHT(ctx context.Context, on bool) error
}

// FollowedList is the result of following a list.
type FollowedList struct {
	Added    int             // feeds that the person did not read before
	Kept     []node.Withheld // of these, those that stay on the node, where they are its owner
	Repeated []Repetition    // places in the list that brought nothing new
	Problems []opml.Problem  // folders that cannot be made, each in the line of the first feed that is followed there
}

// A Repetition is a place in a list that brought nothing new.
type Repetition struct {
	Line   int
	Feed   feed.URL
	Reason string // behind the address
}

// A FollowWish is to follow what is at an address.
type FollowWish struct {
	Tries   []feed.URL // the address, or what it may be, in the order in which it is tried
	Page    int64      // the number of the page which named the address, 0 for none
	Anyway  bool       // follow it also if it could not be read
	Backlog archive.Backlog
}

// FollowedAt is the result of following the feed or page at an address.
type FollowedAt struct {
	Number  int64 // of the feed that is followed, or of the page of whose feeds one is to choose; 0 for nothing
	New     bool  // the person did not read it before
	Choose  bool
	Problem string // why it could not be read
	Unread  bool   // that is why it is not followed
	// Kept is why it stays on the node, "" where it does not or others than the owner ask; Undecided says that the
	// owner may say otherwise and has not said anything.
	Kept      string
	Undecided bool
}

// Keys are the app passwords, and the people whose they are.
type Keys interface {
	// Visitor is who shows an app password, the zero Visitor if it is none. The error may be a reading.Slowed.
	Visitor(ctx context.Context, password string) (reading.Visitor, error)
	// Passwords returns the app passwords, ordered by name.
	Passwords(ctx context.Context) ([]reading.Password, error)
	// AddPassword makes one of a person, by their name, and returns it. The error may wrap reading.ErrTaken,
	// reading.ErrPasswords, reading.ErrName, reading.ErrScope or reading.ErrNobody.
	AddPassword(ctx context.Context, name, person string, scope reading.Scope) (secret string, err error)
	// RemovePassword removes one, and returns what brings it back as it was, with the errors of AddPassword; ErrNone
	// where there is none of that name.
	RemovePassword(ctx context.Context, name string) (back func(context.Context) error, err error)
	// EndSessions makes the Epoch of one another, so that no session that was begun by it goes on.
	EndSessions(ctx context.Context, name string) error
	// People returns who reads, the owner first, and Belongings what would go with one of them.
	People(ctx context.Context) ([]reading.Person, error)
	Belongings(ctx context.Context, id reading.PersonID) (reading.Belongings, error)
	// AddPerson adds one. The error may wrap reading.ErrName, reading.ErrPerson or reading.ErrPeople.
	AddPerson(ctx context.Context, name string) error
	// RemovePerson removes one and, once UndoTime is over, all that is theirs. What it returns brings them back, with
	// the errors of AddPerson and AddPassword. The error may wrap reading.ErrNobody or reading.ErrOwner.
	RemovePerson(ctx context.Context, name string) (back func(context.Context) error, err error)
}

// A Status is the node as a whole.
type Status struct {
	// The zero value where Storage says something: nothing of it is known then.
	node.Status
	Version string
	Data    string // its directory
	Storage string // why entries cannot be stored at present, "" while they can
	Entries int64  // that it keeps
	Bytes   int64  // that these take on the disk
	DHT     DHT
	Named   []string          // those of Sources that were named while the node ran, and not by the settings
	Reach   []reach.Diagnosis // how others reach it, in words
	At      string            // where, as host:port, "" while that is not known
}

// A DHT says whether the node finds neighbors by BitTorrent's DHT.
type DHT struct {
	On    bool
	Ask   bool // its owner has not answered yet
	Fixed bool // the settings say it, so that no answer changes it
}

// A FeedSummary is one that the node follows. Its Title is the owner's own, where there is one.
type FeedSummary struct {
	node.FeedStatus
	Number  int64 // in this archive, for good
	Icon    reading.IconRef
	Folders []string // that it is in
}

// A RecommendedFeed is a feed that is suggested. Number and Title are 0 and "" where nothing of it is in the archive.
type RecommendedFeed struct {
	recommend.Suggestion
	Title  string
	Number int64
}

// A KnownFeed is what is known of a feed, as one person has it.
type KnownFeed struct {
	archive.Feed
	Number  int64
	Name    string // their own title, "" for none
	Look    reading.FeedLook
	Folders []string // of theirs, that it is in
	Reads   bool     // it is followed, and they have not left it out
}

// FeedDetail is all that is known of a feed.
type FeedDetail struct {
	KnownFeed
	Host    archive.KnownHost // where it is asked for; the zero Host where nothing is kept of it
	Status  *node.FeedStatus  // nil where it is not followed, or nobody can tell at present
	Entries int               // that are kept, MaxCounted at most
	Limits  archive.Limits    // of what is kept of it
}

// MaxCounted is up to where a feed's entries are counted.
const MaxCounted = 100_000

// Happened is the history of a feed.
type Happened struct {
	Requests []grade.Request      // own ones to its publisher, in order
	Heard    []time.Time          // polls by other nodes, as neighbors told since the start: node.Node.PollsHeard
	Entries  []archive.Appearance // that came, the latest first
}

// An EntryDetail is one entry with all there is of it.
type EntryDetail struct {
	archive.Record
	Feed int64 // its number
	Item reading.ItemState
	Full reading.FullText // the zero FullText where its page was not asked for
}

// A RemoteEntry is an entry that others have.
type RemoteEntry struct {
	Feed    feed.URL
	Title   string
	Link    string
	Time    time.Time
	Holders int  // nodes that have it
	Here    bool // this node has it as well
}

// SearchOutcome is how a search of the network ended.
type SearchOutcome struct {
	Neighbors int      // that were asked
	Cut       []string // why there may be more; none where it is complete
	Problem   string   // why nobody was asked
}
