// Package archive is the contract of a node's memory: every entry it saw, the feeds and bundles it knows, the nodes it
// met, and its accounts of them. Memory implements what a node's core needs of it without I/O, archive/sqlite all of it
// on disk; archive/archivetest holds both to it. Other needs of hosts are in roles: Channels, Contents, Activity and
// their like here, and what the owner reads, marks and files in package reading, where reading.Database is all of them
// together.
//
// A Store belongs to one node's loop and is not safe for concurrent use, as does everything else that writes. Its
// methods return no errors, so that the node's core stays free of storage faults: a Store that meets one remembers it,
// does nothing more, and the host learns it when it commits, before anything was acknowledged. Methods with a context
// are apart: they may be slow, so hosts call them beside the loop, from several goroutines at once.
package archive

import (
	"context"
	"errors"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/protocol"
)

// A Store is a node's whole memory.
type Store interface {
	Entries
	Feeds
	Bundles
	Peers
	Accounts
	Hosts
	Requests
}

// Entries keeps the entries of all feeds, own and relayed.
type Entries interface {
	// Known returns, for each id, the version that is kept, for an entry that was purged when it came
	// (Seen) and that it is Purged, and the zero Version for one that never was here.
	Known(ids []feed.EntryID) []Version
	// Arrivals returns when the latest entries of a feed that own polls have listed were published and when they came,
	// n at most, in any order.
	Arrivals(u feed.URL, n int) []Arrival
	// Holds reports whether an entry of the feed is kept, whoever brought it, as the owner has it.
	Holds(u feed.URL) bool
	// Starred returns the entries of a feed that the owner starred, n at most, the latest arrival first, but for those
	// of which others know nothing (see Hide) and those that a rule starred.
	Starred(u feed.URL, n int) []feed.EntryID
	// Labelled returns which labels of at most so many bytes the owner gave entries of a feed, n at most, the latest
	// arrival first, likewise but for those that filters gave. It may leave out what came long ago.
	Labelled(u feed.URL, n, bytes int) []Labelled
	// Keep stores records in order, as newly arrived. Seq is assigned, whatever it holds. A record of an own poll,
	// which has no Source, is Confirmed and Polled. Where others know its entry apart from what the owner has (see
	// Shared), of a feed that is followed discreetly no more, they know it from then on as the poll showed it.
	//
	// A record whose ID is kept already replaces that version and leaves its Seq, Seen and Source alone, unless more
	// speaks for the version than for the record: what an own poll has shown is replaced by another own poll alone,
	// without exception, and what is Confirmed by nothing less. Nothing is said then; it is as if the record had
	// not come. Where the record is of the same version, whatever was known of that stays true, and its extras stay but
	// for those of an own poll.
	Keep(records []Record)
	// Looking returns how many filters look at each record that is kept, which takes the longer the more there are.
	Looking() int
	// Fill stores records of the past, the newest first: they came at that time, but were no news then. Each goes
	// behind everything that is kept, with a Seq below zero, and keeps its Seen; what is kept already stays as
	// it is. Fill reports for each record whether it was stored. A record without a Source is Polled if it is
	// Confirmed, as it is the publisher's; others are their owner's word.
	Fill(at time.Time, records []Record) []bool
	// Confirm notes at that time that more than one neighbor's word speaks for the entries, as they are kept.
	// Those that are not kept, or are confirmed already, do not matter.
	Confirm(at time.Time, ids []feed.EntryID)
	// MarkPolled notes that an own poll at that time has shown entries, as they are kept, that others had brought.
	// They are Confirmed and Polled from then on, and their owner sees how much earlier they came. It returns what
	// Unshown has no more of. Those that are not kept, or are Polled already, do not matter, but for those of a feed
	// that was followed discreetly and is not any more: others know these from then on as the owner has them.
	MarkPolled(at time.Time, ids []feed.EntryID) []Share
	// Unshown returns what neighbors have brought since then as news, in any order, and no own poll has listed, as far
	// as others may know: by source, feed and hour.
	Unshown(since time.Time) []Share
	// Hide has others know nothing of entries that are kept (see Shared).
	Hide(ids []feed.EntryID)
	// Purge drops entries at that time, but for those that somebody starred or labelled, and reports for each
	// whether it was dropped. Of each there remains that it was here: Keep and Fill pass over it from then on, but for
	// what that Admits.
	Purge(at time.Time, ids []feed.EntryID) []bool
	// Readmit forgets that entries were purged: they may be stored again. It does not bring them back.
	Readmit(ids []feed.EntryID)
	// Shared is the archive as others may know it.
	Shared() Shared
}

// Shared is an archive as neighbors may know it: through it goes what they bring and what they are told, and a Search
// for others (Filter.Shareable) finds it.
//
// It is the archive itself, but for entries that are hidden, and for feeds that are followed discreetly
// (Feed.Discreet). Of these it holds what was there before, and what neighbors brought since, apart from what their
// owner has of them. Nothing that Entries writes of such a feed changes anything of what is Shared: to neighbors the
// archive is that of a node that does not follow the feed.
//
// An entry that neighbors brought is one to its owner and to others, with one Seq, for as long as it is the same to
// both but for what own polls have shown: that only its owner knows. Where the two come to differ, each has its own:
// the owner's keeps the Seq, and others have the next one, which is free where the entry came since the feed is
// followed discreetly; else others keep the Seq, as they do where the owner's is purged.
type Shared interface {
	// Known, Keep and Confirm are as those of Entries. Keep takes what neighbors brought, which has a Source.
	Known(ids []feed.EntryID) []Version
	Keep(records []Record)
	Confirm(at time.Time, ids []feed.EntryID)
}

// A Version is the part of an entry that tells whether it changed.
type Version struct {
	Digest    feed.Digest
	Extras    feed.ExtrasSum // of the entry's extras, which the digest does not count
	Published time.Time      // as the publisher says; zero where it does not
	Updated   time.Time      // likewise
	Seen      time.Time      // see Record
	Confirmed bool           // likewise
	// an own poll has shown this version, or the publisher's archive; of what was purged, any version
	Polled bool
	// Purged says that the entry was here and is not to come back, as far as it does not Admit it. It is neither news
	// nor can it be served.
	Purged bool
	Gone   feed.Digest // the version that was Purged, where no own poll had shown any
}

// New reports whether nothing was ever known of the entry.
func (v *Version) New() bool { return *v == Version{} }

// Kept reports whether the entry is there.
func (v *Version) Kept() bool { return v.Digest != feed.Digest{} }

// Admits reports whether a record may be stored although the entry was purged: an own poll brings what none had shown,
// or neighbors another version of it. A neighbor that fills an archive must not keep away what is true.
func (v *Version) Admits(r *Record) bool {
	return v.Purged && !v.Polled && (r.Source.IsZero() || r.Digest != v.Gone)
}

// An Arrival is when an entry was published (Record.Time) and when it came (Record.Seen), in Unix seconds. They are
// the same where the publisher does not say.
type Arrival struct{ Time, Seen int64 }

// A Share is a part of what neighbors brought.
type Share struct {
	Source  protocol.NodeID // the node that brought it
	Feed    feed.URL
	At      time.Time // when it came, or the hour of that
	Entries int64
	Room    int64 // bytes on disk, see Room
}

// Feeds keeps what the node knows of each feed it polls or polled.
type Feeds interface {
	// LoadFeeds returns every feed that KeepFeed stored, ordered by URL. Entries alone make no feed.
	LoadFeeds() []Feed
	// LoadFeed returns what KeepFeed stored of a feed, the zero Feed for nothing.
	LoadFeed(u feed.URL) Feed
	// KeepFeed stores f in place of what was known of f.URL, its times to the millisecond. Entries
	// of a feed that nobody subscribes to any more stay.
	KeepFeed(f Feed)
	// Inherit gives a feed what the owner said of another one that is followed no more, as far as they said nothing
	// else of the feed itself: title, folders and limits; and who leaves it out, unless it was followed before that
	// one. It does nothing where there are none.
	Inherit(to, from feed.URL)
	// Rename gives a feed that is followed another name, at that time: its entries are those of the feed with that
	// name from then on, by new ids (see Record.Was), and stay what they are to who reads them. What neighbors brought
	// by that name joins them, as Fill would store it. The old name became the new one. Of what was purged it is known
	// by the new name that it was only if it is listed, as the feed's document lists it, by the old name.
	//
	// It reports false, and does nothing, where the feed is not followed; where what has that name is, or somebody
	// has read it; where others know of one of them what they do not of the other, see Shared; and where more is kept
	// than MaxRenamed, or of what has that name than MaxMerged.
	Rename(at time.Time, from, to feed.URL, listed []feed.Entry) bool
}

// MaxRenamed is how much a feed has at most that is renamed, and MaxMerged how much is kept by its new name: bytes of
// text, and RenamedEntry for each entry. A step must not keep neighbors waiting.
const (
	MaxRenamed   = 64 << 20
	MaxMerged    = MaxRenamed / 128
	RenamedEntry = 1 << 10
)

// Bundles keeps which bundles were stored, by their identifiers (Paper §3.4: "nodes store the bundle
// identifiers did that have been seen recently"). A Store keeps at least the latest KeptDIDs of them.
type Bundles interface {
	// HasDID reports whether the bundle is among those kept.
	HasDID(did protocol.DID) bool
	// KeepDID records that every entry of the bundle is stored. A did that is kept already stays
	// where it is.
	KeepDID(did protocol.DID)
	// LatestDIDs returns at most n dids, the latest last.
	LatestDIDs(n int) []protocol.DID
}

// Peers keeps the nodes that were neighbors once (Paper §3.1: "it may reuse some of its earlier
// neighbors").
type Peers interface {
	// LoadPeers returns every peer, ordered by ID.
	LoadPeers() []protocol.FormerNeighbor
	// KeepPeer stores p in place of what was known of p.ID, its times to the millisecond.
	KeepPeer(p protocol.FormerNeighbor)
	// DropPeer forgets the peer; it is no error if there is none.
	DropPeer(id protocol.NodeID)
}

// Accounts keeps what the node wrote about what its neighbors gave and got (Paper §3.5), one text for
// each holder of an account. The archive does not look into it.
type Accounts interface {
	// LoadAccounts returns every account, ordered by holder, byte by byte.
	LoadAccounts() []KeptAccount
	// KeepAccount stores a in place of what was kept for a.Holder. It leaves a.Text to the caller,
	// who may write to it afterwards.
	KeepAccount(a KeptAccount)
	// DropAccount forgets the account; it is no error if there is none.
	DropAccount(holder string)
}

// Hosts keeps how many requests hosts of publishers take.
type Hosts interface {
	// LoadHosts returns every host, ordered by name, byte by byte.
	LoadHosts() []KnownHost
	// KeepHost stores h in place of what was kept for h.Name, its times to the millisecond.
	KeepHost(h KnownHost)
	// DropHost forgets the host; it is no error if there is none.
	DropHost(name string)
}

// Requests keeps the node's own requests to publishers, so that its owner can see how it treats them. A Store keeps
// the latest KeptRequests of them at least.
type Requests interface {
	// LoadRequests returns the latest n requests at most, in the order in which they were kept.
	LoadRequests(n int) []grade.Request
	// KeepRequests adds to them, their times to the millisecond.
	KeepRequests(list []grade.Request)
	// KeepSpared notes how many polls what neighbors bring has made needless, in parts of one, as an interval between
	// polls that begins then is longer for it.
	KeepSpared(at time.Time, polls float64)
}

// A Searcher finds entries. Unlike a Store it may be used by several goroutines at once.
type Searcher interface {
	// Search returns at most f.Limit records that match f, newest arrival first, or the best first if that
	// is asked for (see RankCandidates); it may then return ErrCut with them. It ends early with ctx's error. Of an
	// address that became another feed, and is not followed, it finds what that has, unless it is for others.
	// It sees everything committed before it began.
	Search(ctx context.Context, f feed.Filter) ([]Record, error)
}

// KeptRequests is how many requests a Store keeps at least: those of a week, of a node that polls a hundred feeds
// hourly.
const KeptRequests = 20_000

// ErrSlow means that a Search took longer than any may.
var ErrSlow = errors.New("it takes too long: look for rarer words, or in less time")

// KeptDIDs is how many dids a Store keeps at least.
const KeptDIDs = 100_000

// A Record is an entry as the archive keeps it.
type Record struct {
	// Seq is the order of arrival, from 1, never reused. Entries that were filled in go back from -1.
	Seq    int64
	ID     feed.EntryID
	Was    feed.EntryID // the ID before its feed was first renamed, by which programs know it; zero where it was not
	Digest feed.Digest
	Entry  feed.Entry
	Seen   time.Time       // when it arrived, whole seconds; where it was filled in, when it did at its source
	Source protocol.NodeID // the neighbor that brought it; zero for an own poll
	// Confirmed says that an own poll has shown it, or that two witnesses stand by it (package trust). Of anything
	// else there is one neighbor's word.
	Confirmed bool
}

// NewRecord is the record of a clean entry that arrived at seen from source.
func NewRecord(e feed.Entry, seen time.Time, source protocol.NodeID) Record {
	return RecordOf(e, e.Identity(), seen, source)
}

// RecordOf is NewRecord where the identity of the entry is known.
func RecordOf(e feed.Entry, i feed.Identity, seen time.Time, source protocol.NodeID) Record {
	return Record{
		ID: i.ID, Digest: i.Digest, Entry: e, Seen: Second(seen), Source: source,
		Confirmed: source.IsZero(),
	}
}

// IDsOf are the ids of records.
func IDsOf(records []Record) []feed.EntryID {
	ids := make([]feed.EntryID, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	return ids
}

// Second is t as records have it: in whole seconds.
func Second(t time.Time) time.Time { return time.Unix(t.Unix(), 0).UTC() }

// Time is when the entry was published or, where the publisher does not say, when it was last changed or,
// without a date, or with one more than an hour later than that, when it arrived. Filters go by it.
func (r *Record) Time() time.Time { return TimeOf(&r.Entry, r.Seen) }

// TimeOf is the Time of an entry that arrived at seen.
func TimeOf(e *feed.Entry, seen time.Time) time.Time {
	return feed.TimeOf(e.Published, e.Updated, seen)
}

// A Feed is the node's knowledge of one feed.
type Feed struct {
	URL        feed.URL
	Title      string
	Link       string    // the site it belongs to
	Icon       feed.URL  // the picture that its publisher has for it, "" for none
	About      string    // what its publisher says of it, as published
	Language   string    // that it is in, a tag of BCP 47; "" where it does not say
	Format     string    // of the document that was read last (feed.Document), "" before one was
	Subscribed bool      // in the node's own interest; false where only entries remain
	Private    bool      // its publisher does not want it passed on, or its address is not public
	Leads      bool      // it leads to an address that looks like a secret
	Withheld   bool      // its owner does not want it passed on
	Shared     bool      // its owner lets others know of it, although an address may look like a secret
	Since      time.Time // when the owner subscribed
	Backlog    Backlog   // how much of what there was then is unread to who began to follow it
	BacklogOf  int64     // who that is, by their number (reading.PersonID); 0 for the owner
	Ended      bool      // polled no more: the publisher says that it is gone for good

	Weight   int     // of preference, w_i of Paper §3.2: 1 to 100, and 0 is 1
	Discreet bool    // neighbors are not to learn that the interest is the node's own
	Barred   bool    // where it is Discreet: it was Confidential before, and to neighbors it stays so
	Sharing  Sharing // of stars and labels

	Policy string  // by which it is polled, as polling.Settings reads it; "" is the node's own
	Helped float64 // share of its entries that neighbors bring before own polls do (polling.Help)
	Listed int     // entries in the last document
	Volume         // of what own polls have shown
	Gap    Gap     // entries that no poll has seen
	Past   Past    // entries of the time before it was followed

	// The polling state: what the next conditional request needs, and when it is due.
	ETag         string // validator as the publisher sent it, byte for byte
	LastModified string // likewise
	Interval     time.Duration
	NextPoll     time.Time
	LastPoll     time.Time // last answer or failure; zero before the first
	LastSuccess  time.Time // last 200 or 304
	Errors       int       // failures in a row
	LastError    string    // "" after a success

	// Body is the SHA-1 of the document that the validators came with, zero where there is none.
	Body          feed.Digest
	Unread        bool      // that document could not be used, for LastError
	Unconditional time.Time // the last request that was not conditional

	courtesy.Move
	Lands string // the host that its redirects lead to, "" where they lead to no other than is asked
	courtesy.Terms

	Volunteering

	// Where it came from.
	// Page is the address that the owner said, which led to it: a web page that named it, or one that has moved there
	// for good; "" where that is its own.
	Page feed.URL
	// Became is the feed that is followed in its place, since this address led to it, "" for none.
	Became feed.URL
	Names  string // the feeds that the web page names that is there instead (discover.Text), "" where there is none
}

// Volunteering is what is known of a feed as one that the node polls for neighbors who want it, and not for its owner.
type Volunteering struct {
	Volunteered time.Time // since when it does, zero where it does not
	Tried       time.Time // when it first asked for it so, zero for never
	Patrons     string    // the ids of the neighbors for whom it does, with blanks between them
	Rests       time.Time // until when it does not do so again
	// Refused is when the publisher last refused a poll, whomever that was for, or wanted fewer.
	Refused time.Time
}

// Confidential reports whether the feed and its entries never leave the node, whatever is at its URL. Of one that is
// Discreet that is what it was before: what polls have shown since, and its owner has said, shows to nobody.
func (f *Feed) Confidential() bool {
	if f.Discreet {
		return f.Barred
	}
	return f.Private || f.Withheld || f.Led() && !f.Shared
}

// Led reports whether the feed leads to an address that looks like a secret, or was named by a page with such an
// address.
func (f *Feed) Led() bool {
	secrecy, _ := f.Page.Secrecy()
	return f.Leads || f.Page != "" && secrecy != feed.Open
}

// Secret reports whether others may not know the feed's URL: its owner cannot share a password.
func (f *Feed) Secret() bool {
	s, _ := f.URL.Secrecy()
	return s == feed.Credentials || s != feed.Open && !f.Shared
}

// A Volume is how much a feed publishes, as far as own polls have shown. The zero Volume is that of a feed that was not
// polled yet.
type Volume struct {
	Daily int64 // entries within a day, at most
	Text  int64 // bytes of one of them, on average
}

// A KnownHost is how many requests a host takes, as its answers have shown.
type KnownHost = courtesy.KnownHost

// A Gap is a span of time of which entries are missing: a feed published more between two polls than its
// document lists. The zero Gap is none.
type Gap struct {
	After   time.Time `json:"after"`   // they were published after that
	Before  time.Time `json:"before"`  // and before that
	Missing int       `json:"missing"` // about how many there are, 1 at least
	Filled  int       `json:"filled"`  // how many of them came since, by any way
}

// Open reports whether entries are missing.
func (g *Gap) Open() bool { return g.Missing > g.Filled }

// A Past is how far the node has come that fills in what a feed published before it was followed. The zero Past is
// none to fill in.
type Past struct {
	Stage  PastStage `json:"stage"`
	Since  time.Time `json:"since,omitzero"` // what came out before is not wanted; zero is open
	Page   feed.URL  `json:"page,omitempty"` // at PastPublisher: the document to read next
	Steps  int       `json:"steps"`          // made at this stage; one unasked is several where it is large
	Back   time.Time `json:"back,omitzero"`  // what came out since is done, at this stage; zero for nothing yet
	Filled int       `json:"filled"`         // entries that were stored

	Lack  string    `json:"lack,omitempty"`  // why others may have more: reasons of a protocol.Cut, with spaces between
	Left  time.Time `json:"left,omitzero"`   // where Lack says something: what came out before is lacking in part
	Tries int       `json:"tries,omitempty"` // how often in a row it was left for later, and brought nothing
	Again time.Time `json:"again,omitzero"`  // nobody is asked before; zero is now
}

// A PastStage is the next step towards a feed's past.
type PastStage string

// The stages, in order.
const (
	PastPoll      PastStage = "poll"      // to wait for the first poll
	PastPublisher PastStage = "publisher" // to read the publisher's archive
	PastNetwork   PastStage = "network"   // to ask neighbors
	PastDone      PastStage = "done"
)

// A KeptAccount is the node's record of one holder.
type KeptAccount struct {
	Holder string
	Text   []byte // nil and empty are the same
}
