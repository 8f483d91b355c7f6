package core

import (
	"cmp"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

// An Effect is something the host must do for the node: one of the types below. The host carries
// them out in order, after the archive's changes are committed.
type Effect interface{ effect() }

// Respond answers the Asked with the same Tag: with a Reply, or with Fault where that is not nil. A
// caller that has gone by then loses nothing.
type Respond struct {
	Tag     uint64
	Reply   protocol.Reply
	Session string // token to send along, "" for none
	Fault   *protocol.Fault
}

// Call asks a peer or a tracker. Exactly one Answered with the same ID must follow, at the latest when
// Timeout is over; where it goes to a site, a minute later.
type Call struct {
	ID      uint64
	To      Target
	Call    protocol.Call
	Session string // token to send along, "" for none
	Timeout time.Duration
}

// Reverse opens a reverse link to a node, over which that calls us, where none is open. Exactly one Answered with the
// same ID must follow, at the latest when Timeout is over: with Err where there is none. Broke follows when a link ends
// that was open.
type Reverse struct {
	ID      uint64
	To      protocol.NodeID
	Timeout time.Duration
}

// Release ends the reverse link to a node, if one is open. No Broke follows.
type Release struct{ To protocol.NodeID }

// A Target is where a Call goes: a node by its id or, where the owner named it so, by host and port, or by the site
// that names it; or a tracker by its URL. Exactly one of the fields is set.
type Target struct {
	Node    protocol.NodeID
	Host    string // "host:port", or a site's name
	Tracker string // URL
}

// String is the target as a person would write it.
func (t Target) String() string {
	switch {
	case t.Tracker != "":
		return t.Tracker
	case t.Host != "":
		return t.Host
	}
	return t.Node.String()
}

// Fetch polls a feed with a conditional request. Exactly one Fetched must follow.
type Fetch struct {
	Feed feed.URL
	// Address is where to ask, "" for Feed itself: it may have moved.
	Address feed.URL
	// Page is the document of the publisher's archive to ask for (RFC 5005 §4), "" for the feed's own. Relative
	// addresses in it are relative to where it comes from.
	Page feed.URL
	// ETag and LastModified are the validators from the last document, "" for none; Body is its SHA-1,
	// zero for none.
	ETag, LastModified string
	Body               feed.Digest
	// Reader says that the owner follows what is asked for: its publisher may count one subscriber.
	Reader bool
	// New says that nothing was ever read by that name: where the address leads for good, the document is of the feed
	// there (Fetched.Instead).
	New bool
	// SameHost says that redirects to other hosts are not followed: others than the owner named the feed.
	SameHost bool
	// Locate says that nobody is to be asked: the host only looks up where the name leads. Fetched then is Located.
	Locate bool
}

// At is where to ask.
func (f Fetch) At() feed.URL {
	return cmp.Or(f.Page, f.Address, f.Feed)
}

// Search looks through the archive. Exactly one Searched with the same ID must follow.
type Search struct {
	ID     uint64
	Filter feed.Filter
	Time   time.Duration // how long it may keep the archive busy; after that Searched has an Err
}

// Tell is something that a person, a page or a test may want to know; hosts may drop it.
type Tell struct{ Note Note }

// QueryResults has the results of the OwnerQuery with the same Tag: what is new since the last QueryResults and, at the
// end, the best of all, in order.
type QueryResults struct {
	Tag   uint64
	Hits  []search.Hit
	Done  bool
	Cut   protocol.Cut // at the end: why there may be more
	Asked int          // at the end: neighbors that were asked
	// Answers is, at the end, how many of them gave an answer, also one that lists nothing.
	Answers int
	// CompleteSince is, at the end, since when nothing was left out for lack of room (protocol.Answer.CompleteSince).
	CompleteSince time.Time
	Err           error // at the end: why nobody was asked
}

// Pulled has the entries that came of a Pull since the last Pulled, and at the end what did not come.
type Pulled struct {
	Tag     uint64
	Stored  []feed.EntryID  // verified and stored
	Refused []HolderRefusal // holders that were asked in vain
	Done    bool
	Missing []feed.EntryID // at the end: what nobody gave
	Err     error          // at the end: why nobody was asked
}

// A HolderRefusal is why nothing was taken from a holder.
type HolderRefusal struct {
	Holder protocol.NodeID
	Lied   bool // it sent what was not asked for, or another version
	Why    string
}

// Joined says how a Join ended: with the id of the neighbor, or why there is none.
type Joined struct {
	Tag  uint64
	Peer protocol.NodeID
	Err  error
}

func (Respond) effect()      {}
func (Call) effect()         {}
func (Reverse) effect()      {}
func (Release) effect()      {}
func (Fetch) effect()        {}
func (Search) effect()       {}
func (Tell) effect()         {}
func (QueryResults) effect() {}
func (Pulled) effect()       {}
func (Joined) effect()       {}

// A Note is the content of a Tell: one of the types below.
type Note interface{ note() }

// Arrived says that new entries of a feed were stored.
type Arrived struct {
	Feed    feed.URL
	Source  protocol.NodeID // zero for an own poll
	Records []archive.Record
}

// Polled says how a poll of an own feed ended.
type Polled struct {
	Feed    feed.URL
	New     int // entries not known before
	Listed  int // entries in the document, 0 for "not modified"
	Next    time.Time
	Problem string // "" for success
}

// Waived says that the first poll of a feed is left to neighbors that follow it.
type Waived struct {
	Feed feed.URL
	Next time.Time
}

// Slipped says that entries of a feed are missing: its document holds none that was known before.
type Slipped struct {
	Feed feed.URL
	Gap  archive.Gap
}

// Filled says that as many entries came as were missing.
type Filled struct {
	Feed feed.URL
	Gap  archive.Gap
}

// Linked says that a neighbor was won.
type Linked struct {
	Peer   protocol.NodeID
	Chosen bool // we asked; otherwise they did
}

// BrokeRules stands in the reason why a link ended that its neighbor had broken the rules too often for.
const BrokeRules = "broke the rules"

// Unlinked says that a neighbor was lost, and why.
type Unlinked struct {
	Peer   protocol.NodeID
	Reason string
}

// SourceChanged says that it changed whether a tracker or a static neighbor is of use.
type SourceChanged struct {
	Name    string // as the owner wrote it
	Problem string // "" where it is of use again
}

// Suspect says that a peer did what no honest node does.
type Suspect struct {
	Peer protocol.NodeID
	What string
}

// Warned says that something is wrong that the owner should know of.
type Warned struct{ Warning string }

// Withheld says that a feed stays on the node that its owner has just begun to follow: neither it nor its entries are
// told to anybody. Where nothing but the look of an address speaks for that, the owner is to say.
type Withheld struct {
	Feed      feed.URL
	Why       string
	Undecided bool // its owner may say otherwise, and has not said anything
}

// Replaced says that an address was followed no more because it led to the feed that was meant: a web page that named
// it, or one that has moved there for good.
type Replaced struct{ Page, Feed feed.URL }

func (Arrived) note()       {}
func (Polled) note()        {}
func (Waived) note()        {}
func (Slipped) note()       {}
func (Filled) note()        {}
func (Linked) note()        {}
func (Unlinked) note()      {}
func (SourceChanged) note() {}
func (Suspect) note()       {}
func (Warned) note()        {}
func (Withheld) note()      {}
func (Replaced) note()      {}
