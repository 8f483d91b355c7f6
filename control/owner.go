// Package control is how the owner of a node that runs commands it from another process: an Owner, what it is asked and
// what it answers; the handler that serves one as JSON over HTTP, on a Unix socket in the data directory; and a Client
// of that, which is an Owner again.
package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/discover"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/protocol"
	"feedex/reach"
	"feedex/reading"
	"feedex/recommend"
)

// An Owner is the set of requests that the owner of a running node may make of it. The daemon answers by itself; a
// Client asks it from another process, over the control socket.
type Owner interface {
	Status(ctx context.Context) (Report, error)
	Neighbors(ctx context.Context) ([]node.NeighborStatus, error)
	Feeds(ctx context.Context) ([]node.FeedStatus, error)
	// Numbered is the feed that the reader address has as /feeds/<number>, "" for none.
	Numbered(ctx context.Context, number int64) (feed.URL, error)
	// Recommend suggests feeds that neighbors with like interests follow and the node does not, the best first. Nobody
	// is asked for them.
	Recommend(ctx context.Context) ([]Recommendation, error)
	// Decline has a feed suggested no more.
	Decline(ctx context.Context, u feed.URL) error
	// Publishers grades the node by its latest requests, as each host that it asks for feeds would.
	Publishers(ctx context.Context) ([]grade.Assessment, error)
	// Subscribe follows feeds, or follows them in another way; repeating it changes nothing.
	Subscribe(ctx context.Context, s node.Subscribe) error
	// FollowAddress follows what is at one address: the feed there, or the one that the web page there names, and where
	// that names several or none it says so. It returns once that is known, or when it has waited long enough.
	FollowAddress(ctx context.Context, w FollowAddress) (FollowedAddress, error)
	// FirstPolls waits until each of the feeds was asked for since its owner subscribed to it, or is followed no more.
	// It calls each with how many of them wait yet, whenever that may have changed, and ends early with an error of
	// each.
	FirstPolls(ctx context.Context, list []feed.URL, each func(waiting int) error) error
	// SiteFeeds asks a site, as invitation.IsSite has its name, which feeds its nodes share, so that they may be
	// followed before a Join. The error says why it names no node.
	SiteFeeds(ctx context.Context, name string) ([]feed.URL, error)
	// Join makes a neighbor of the node at an address, if it proves a key. It returns its id once there is a link.
	Join(ctx context.Context, j JoinRequest) (protocol.NodeID, error)
	// NameSource has the node find neighbors by a tracker, or have a neighbor always, as ReadSource has its name: from
	// now on, and after each start. It waits a moment for what comes of that at first. The error is a BadRequest where
	// the name is none, or there are too many.
	NameSource(ctx context.Context, name string) (node.SourceStatus, error)
	// ForgetSource takes that back. The error is a BadRequest where the settings name it, or nobody did.
	ForgetSource(ctx context.Context, name string) error
	// UseDHT keeps the owner's answer to whether the node may meet others by the DHT. The error is a BadRequest where
	// the settings say it.
	UseDHT(ctx context.Context, on bool) error
	// Refresh has feeds polled now that are followed, all of them where none are named, each when it is its turn at its
	// host, and says of each whether it is.
	Refresh(ctx context.Context, feeds []feed.URL) ([]Refreshed, error)
	// Unsubscribe follows a feed no more and keeps its entries. It is no error if nobody followed it.
	Unsubscribe(ctx context.Context, u feed.URL) error
	// SetRetention changes what is kept of feeds.
	SetRetention(ctx context.Context, b RetentionChange) error
	// Arrange titles and files feeds. Those that nobody knows do not matter. It changes nothing where the error wraps
	// reading.ErrName or reading.ErrFolders.
	Arrange(ctx context.Context, list []reading.Arrangement) error
	// FollowList follows feeds as Subscribe does, and titles and files feeds as Arrange does, these or others: all in
	// one step. It says which folders cannot be made; feeds are not filed there.
	FollowList(ctx context.Context, s node.Subscribe, list []reading.Arrangement) ([]NoFolder, error)
	// Search finds entries in the node's archive, newest arrival first.
	Search(ctx context.Context, f feed.Filter) ([]archive.Record, error)
	Maintenance
	ReceiverTrials
	// Query finds entries in the node's archive and, where it is asked to, in those of others. It calls each
	// with what comes of it as it comes, and ends early with an error of each.
	Query(ctx context.Context, q QueryRequest, each func(QueryPart) error) error
	// Pull downloads entries that a Query found from their holders, at most node.MaxWishes. Where it returns an
	// error nobody was asked.
	Pull(ctx context.Context, list []Remote) (PullReport, error)
	// FetchArchive asks the publisher of feed u for one document of it, for its own where page is "", and stores as
	// entries of the past what was not there.
	FetchArchive(ctx context.Context, u, page feed.URL) (ArchiveDocument, error)
}

// A Report is a node's status as its owner sees it: the node's own, and its host's.
type Report struct {
	// Status is nil while nothing can be stored: the node rests, and tells nothing of itself.
	*node.Status
	Version string        `json:"version"`
	Uptime  time.Duration `json:"uptime_ns"` // since the process serves
	Data    string        `json:"data"`      // the data directory
	Listen  string        `json:"listen"`    // where it listens for other nodes, "host:port"; "none" for nowhere
	Reader  string        `json:"reader"`    // where feed readers reach it, "host:port"
	// ReaderHosts are the names under which they do so besides.
	ReaderHosts []string      `json:"reader_hosts,omitempty"`
	Archive     ArchiveReport `json:"archive"` // what it holds
	// Retention has the limits to what it may hold.
	Retention RetentionReport `json:"retention"`
	// Named are those of Sources that were named while the node ran, and not by the settings.
	Named   []string      `json:"named,omitempty"`
	DHT     DHTReport     `json:"dht"`
	Reach   reach.Facts   `json:"reach"` // how others reach it
	Traffic TrafficReport `json:"traffic"`
	Storage string        `json:"storage"` // why entries cannot be stored at present, "" while they can
}

// A TrafficReport is what passed between a node and others, trackers among them, since the process serves.
type TrafficReport struct {
	Made     int64 `json:"made"`     // calls to others that had an answer
	Answered int64 `json:"answered"` // calls of others
	Bytes    int64 `json:"bytes"`    // in both directions, with the headers of HTTP and without those of TCP
}

// A Recommendation is a suggested feed, with what the archive has of it.
type Recommendation struct {
	recommend.Suggestion
	Title  string `json:"title,omitempty"`  // "" where nothing is known of it
	Number int64  `json:"number,omitempty"` // in the archive, 0 where nothing is known of it
}

// Refreshed says of a feed whether it is polled now because its owner wants that.
type Refreshed struct {
	Feed feed.URL `json:"feed"`
	// NotBefore is when it may be, at the earliest, for its publisher's sake; zero where it is polled now.
	NotBefore time.Time `json:"not_before,omitzero"`
	Ended     bool      `json:"ended,omitempty"` // it is polled no more, as it is gone for good or a web page
	// Choices are the feeds that the web page names, where their owner is to say which they mean.
	Choices []discover.SiteFeed `json:"choices,omitempty"`
}

// DHTUse says whether a node meets others by BitTorrent's DHT, which tells whoever looks there that its address runs
// feedex.
type DHTUse string

// The values of DHTUse. Until its owner has answered, DHTAsk, a node does not.
const (
	DHTAsk DHTUse = "ask"
	DHTOn  DHTUse = "on"
	DHTOff DHTUse = "off"
)

// A DHTReport says how a node meets others by the DHT. Times are zero for never since the start.
type DHTReport struct {
	Use       DHTUse    `json:"use"`
	Fixed     bool      `json:"fixed"`              // by the settings, so that no answer changes it
	Met       time.Time `json:"met,omitzero"`       // when it last looked there
	Found     int       `json:"found"`              // addresses then
	Announced time.Time `json:"announced,omitzero"` // when it last said there that it is here
	Problem   string    `json:"problem,omitempty"`  // why it found nobody then
}

// An ArchiveReport counts what an archive holds.
type ArchiveReport struct {
	Entries   int64 `json:"entries"`
	Feeds     int64 `json:"feeds"`     // of which an entry or a setting is kept, subscribed or not
	Bytes     int64 `json:"bytes"`     // on disk
	Free      int64 `json:"free"`      // of these that hold nothing, and what comes will take first
	InSteps   bool  `json:"in_steps"`  // these are given back to the disk while the node works
	Unindexed int64 `json:"unindexed"` // entries that the full-text index lacks; searches find them, but take longer
}

// A RetentionReport says what an archive may hold, and what was purged so that it does not hold more. A limit that is
// not set is 0.
type RetentionReport struct {
	Bytes   int64         `json:"bytes"` // on disk, without what is free
	Age     time.Duration `json:"age_ns"`
	Count   int64         `json:"count"`   // entries
	Relayed int64         `json:"relayed"` // bytes of what neighbors brought of feeds that were never followed
	Feeds   int           `json:"feeds"`   // that have limits of their own
	Last    archive.Purge `json:"last"`    // what was purged last
}

// NoFolder is a folder that cannot be made.
type NoFolder struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// A BadRequest is an error of the client.
type BadRequest struct{ Err error }

// Error says what is wrong with the request.
func (e BadRequest) Error() string { return e.Err.Error() }

// Unwrap is the error underneath.
func (e BadRequest) Unwrap() error { return e.Err }

// A Maintenance changes an archive as a whole. An Owner does so while the node runs, commands by themselves while none
// does.
type Maintenance interface {
	ReceiverChanges
	// Import fills in entries of an export, the newest first, and returns how many were not there yet. Stored entries
	// are durable when it returns, also where it returns an error; a repetition stores the rest. Entries that were
	// purged come back by it, and by nothing else.
	Import(ctx context.Context, lines []jsonl.Line) (added int, err error)
	// Vacuum gives back the room that holds nothing in the archive's file. A node does so in steps between which it
	// works, unless an older feedex made the file: that is rewritten, and the node can do nothing else meanwhile.
	Vacuum(ctx context.Context) error
	// AddPassword makes a password for a program of a person, or for the owner, which is kept nowhere else. The error
	// wraps reading.ErrName, ErrScope, ErrTaken, ErrPasswords or ErrNobody where that is the reason.
	AddPassword(ctx context.Context, p PasswordRequest) (secret string, err error)
	// RemovePassword ends a password. The error wraps ErrNoPassword where there is none of that name.
	RemovePassword(ctx context.Context, name string) error
	// AddPerson adds a person who reads. The error wraps reading.ErrName, reading.ErrPerson or reading.ErrPeople where
	// that is the reason.
	AddPerson(ctx context.Context, name string) error
	// RemovePerson removes a person with their passwords, marks, folders and titles, which may take some seconds: who
	// asks again goes on where it ended. The error wraps reading.ErrNobody or ErrOwner where that is the reason.
	RemovePerson(ctx context.Context, name string) error
	// AddFilter keeps a filter for a person, and has it catch the latest of what came before. The error wraps
	// reading.ErrNobody, ErrName, ErrWords, ErrRule, ErrStanding, ErrFilterName, ErrFilters, ErrFolders or ErrLabels
	// where that is the reason.
	AddFilter(ctx context.Context, r FilterRequest) (FilterReport, error)
	// StandFilter has neighbors asked for a filter of the owner, or no more. The error wraps reading.ErrNoFilter or
	// ErrStanding where that is the reason.
	StandFilter(ctx context.Context, s FilterStanding) error
	// RemoveFilter removes a filter of a person, and returns the rule that it had. The error wraps reading.ErrNobody or
	// ErrNoFilter where that is the reason.
	RemoveFilter(ctx context.Context, r FilterRemoval) (reading.Rule, error)
}

// A FilterRemoval says which filter of a person goes.
type FilterRemoval struct {
	Person string `json:"person,omitempty"` // whose it is, "" for the owner
	Name   string `json:"name"`
	// TakeBack has what its rule did taken back, also where it was removed not long ago.
	TakeBack bool `json:"takeBack,omitempty"`
}

// A removedFilter is what the control socket tells of it.
type removedFilter struct {
	Rule reading.Rule `json:"rule"`
}

// A FilterStanding says whether neighbors are asked for a filter of the owner.
type FilterStanding struct {
	Name     string `json:"name"`
	Standing bool   `json:"standing"`
}

// A FilterRequest says which filter is to be kept.
type FilterRequest struct {
	Person string `json:"person,omitempty"` // whose it is, "" for the owner
	reading.FilterWish
}

// A FilterReport says what came of one.
type FilterReport struct {
	Filter     reading.FilterID `json:"filter"`
	Caught     int              `json:"caught"`               // of what came before
	Everything bool             `json:"everything,omitempty"` // it catches what has none of its words
}

// A PasswordRequest says which password is to be made.
type PasswordRequest struct {
	Name   string        `json:"name"`
	Person string        `json:"person,omitempty"` // whose it is, "" for the owner
	Scope  reading.Scope `json:"scope"`
}

// ErrNoPassword means that there is no password of that name.
var ErrNoPassword = errors.New("there is no such password")

// A FollowAddress is the wish to follow what is at one address, which may be that of a web page.
type FollowAddress struct {
	// Subscribe has the feed, or addresses that are tried one after another until there is something to follow.
	node.Subscribe
	// Wait is how long to wait for what the first poll shows, a minute at most; 0 not at all.
	Wait time.Duration `json:"wait_ns,omitempty"`
	// Keep has a page that names several feeds followed until its owner has chosen. Otherwise it is not.
	Keep bool `json:"keep,omitempty"`
	// Anyway has followed also what could not be read. Otherwise that is followed only if nobody waits long enough to
	// know.
	Anyway bool `json:"anyway,omitempty"`
}

// FollowedAddress is the outcome of a FollowAddress, in JSON.
type FollowedAddress struct {
	Feed  feed.URL `json:"feed,omitempty"` // what is followed now, "" for nothing
	Title string   `json:"title,omitempty"`
	New   bool     `json:"new"` // it was not followed before
	// Page is the address, where there is a web page or where it has moved from there for good; else "".
	Page feed.URL `json:"page,omitempty"`
	// Choices are the feeds that the page names, where their owner is to say which they mean.
	Choices []discover.SiteFeed `json:"choices,omitempty"`
	Problem string              `json:"problem,omitempty"` // why it could not be read
	Unread  bool                `json:"unread,omitempty"`  // that is why it is not followed: it would be with Anyway
	// Kept is why it stays on the node, "" where it is exchanged with neighbors; Undecided says that its owner may say
	// otherwise and has not said anything.
	Kept      string `json:"kept,omitempty"`
	Undecided bool   `json:"undecided,omitempty"`
	Waiting   bool   `json:"waiting,omitempty"` // it was not asked for yet
}

// A RetentionChange changes what is kept of feeds. Limits that are nil stay as they are, and 0 is no limit.
type RetentionChange struct {
	Feeds []feed.URL     `json:"feeds"`
	Bytes *int64         `json:"bytes,omitempty"`  // of texts
	Age   *time.Duration `json:"age_ns,omitempty"` // since an entry came
	Count *int64         `json:"count,omitempty"`  // entries
}

// IsZero reports whether nothing is to change.
func (b *RetentionChange) IsZero() bool { return b.Bytes == nil && b.Age == nil && b.Count == nil }

// Check says what is wrong with a RetentionChange.
func (b *RetentionChange) Check() error {
	switch {
	case b.Bytes != nil && *b.Bytes < 0:
		return fmt.Errorf("bytes are %d, want none below 0", *b.Bytes)
	case b.Age != nil && *b.Age < 0:
		return fmt.Errorf("age is %s, want none below 0", *b.Age)
	case b.Count != nil && *b.Count < 0:
		return fmt.Errorf("count is %d, want none below 0", *b.Count)
	}
	return nil
}

// A JoinRequest names the node to become a neighbor of.
type JoinRequest struct {
	Host string           `json:"host"` // "host:port", or the name of a site
	Key  protocol.NodeKey `json:"key"`  // that it must prove; zero for the one that the site has of it, if any
}
