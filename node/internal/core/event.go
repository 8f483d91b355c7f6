package core

import (
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/neighbors"
	"feedex/protocol"
	"feedex/search"
)

// An Event tells the node that something happened: one of the types below.
type Event interface{ event() }

// Wake says that the time that Next named has come.
type Wake struct{}

// Asked says that a peer called. The host answers it when a Respond with the same Tag comes, which
// may be many steps later.
type Asked struct {
	From    protocol.NodeID // address from the connection, port from nid
	Session string          // the token that came with the call, "" for none
	Call    protocol.Call
	Tag     uint64 // the host's, unique among its open calls
	// Reversed says that it came over a reverse link that we have opened, to From.
	Reversed bool
}

// Answered says how a Call of the node ended: with a Reply, or with Err.
type Answered struct {
	ID      uint64 // as in the Call
	Reply   protocol.Reply
	Session string          // the token that came with the reply, "" for none
	Peer    protocol.NodeID // the node that the host really spoke to; needed where the Call named a host
	Err     error           // *protocol.RemoteError where the peer answered with a fault
	Unsent  bool            // the call failed before it was written to the network
	Queued  bool            // that was because other calls had all connections to the peer
	// Key is the key by which the host was told to know the node there, where the Call named a site; zero for any.
	Key protocol.NodeKey
	RTT time.Duration // from request to answer
}

// Fetched says how a Fetch ended.
type Fetched struct {
	Feed feed.URL
	// Document is the parsed document, nil if nothing changed (HTTP 304, or the body is the one that the
	// node has) or Err is set.
	Document *feed.Document
	// Partial says that Document holds what is new since the node's version, not all that is listed
	// (RFC 3229).
	Partial bool
	// ETag and LastModified are the validators to send next time, byte for byte; Body is the SHA-1 of the
	// document that they came with.
	ETag, LastModified string
	Body               feed.Digest
	// Unusable says that Err is about that document.
	Unusable bool
	// Names are the feeds that the web page names that is there instead (discover.Text), none of them on a host that
	// the owner's leave for the feed does not reach; "" where there is none. Instead is the one that the page stands
	// for, "" where it names none or its owner is to choose; or that which Document is of, where the address of a
	// Fetch that was New has moved there.
	Names   string
	Instead feed.URL

	// Status is the HTTP status of the last answer, 0 where nobody answered.
	Status int
	// Unreached says that nobody answered who can be the publisher, and that our own network may be to blame.
	Unreached bool
	// Dialed says that nobody answered at an address of the public Internet: there is such a host, and it or
	// somebody on the way may keep us out.
	Dialed bool
	// From is the host that gave the last answer, in lower case and without a port.
	From string
	// Moved is where the feed's address redirects to for good (RFC 9110 §15.4.2, §15.4.9), "" for nowhere.
	Moved feed.URL
	// Named says that this is another spelling of the address that was asked for, by which the feed was read, and that
	// the entries of Document, if there is one, are the same ones by either.
	Named bool
	// RetryAfter is how long the publisher asks us to stay away, 0 where it does not.
	RetryAfter time.Duration
	// Freshness is how long the answer may be used without asking again.
	Freshness courtesy.Freshness
	// Unchanged is for how long the document had been as it is, by its Last-Modified, where Freshness says nothing;
	// 0 where it is not known.
	Unchanged time.Duration
	// Private says that the answer's header asks that the document not be passed on.
	Private bool
	// Secret says that it led to an address that looks like a secret, or is asked for at one.
	Secret bool
	// Local says that the feed was reached, or would have been reached, at an address that is not
	// public.
	Local bool
	// Located answers Fetch.Locate: nobody was asked, and Dialed says whether the name leads to the public Internet
	// alone.
	Located bool
	Err     error
	// Requests are those that the poll took, for the owner's log.
	Requests []grade.Request
}

// Searched says how a Search ended.
type Searched struct {
	ID      uint64 // as in the Search
	Records []archive.Record
	Took    time.Duration // how long the archive was busy with it, without the time that it waited for its turn
	Err     error
}

// Subscribe is the owner's wish to follow feeds, or to follow them in another way, in JSON as commands say it.
// Repeating it changes nothing.
type Subscribe struct {
	Feeds []feed.URL `json:"urls"`
	// Standing says that the wish was said before, as a config file does at each start: a page in whose place a feed is
	// followed need not be asked again.
	Standing bool `json:"-"`
	// Weight is the weight of preference for them, 1 to neighbors.MaxWeight (Paper §3.2). 0 leaves it as
	// it is, which is 1 for a feed that was never followed.
	Weight int `json:"weight,omitempty"`
	// Discreet says whether neighbors are not to learn that the interest is the node's own. Nil leaves
	// that as it is, which is false for a feed that was never followed.
	Discreet *bool `json:"discreet,omitempty"`
	// Policy is by which they are polled, as polling.Settings reads it, "" for the node's own. Nil leaves it as
	// it is, as does one that cannot be read.
	Policy *string `json:"policy,omitempty"`
	// Private says whether the feed and its entries must not leave the node, whatever its publisher says or, where it
	// is false, whatever its address looks like. Nil leaves that as it is: a feed of which its owner says nothing stays
	// on the node if its address may be a secret.
	Private *bool `json:"private,omitempty"`
	// Sharing is what of the owner's stars and labels of the feed is told to neighbors who tell theirs, once others may
	// know of it. Nil leaves that as it is, which is nothing for a feed that was never followed.
	Sharing *archive.Sharing `json:"sharing,omitempty"`
	// Backlog says how much of what there is of feeds that are not followed yet is unread to the person who wishes it,
	// BacklogOf by their number, 0 for the owner. Its zero value says nothing.
	Backlog   archive.Backlog `json:"unread,omitempty"`
	BacklogOf int64           `json:"-"`
}

// Unsubscribe is the owner's wish to follow feeds no more. Their entries stay in the archive.
type Unsubscribe struct{ Feeds []feed.URL }

// Refresh is the owner's wish to have feeds that are followed polled now, as far as their publishers allow it.
type Refresh struct{ Feeds []feed.URL }

// Leave says that the host is about to stop: the neighbors are told, and the node does no more.
type Leave struct{}

// OwnerFetched says how a request of the owner's at At, beside the polls, ended (see ReserveRequest).
type OwnerFetched struct {
	At     feed.URL
	Answer Fetched
}

// OwnerQuery is the owner's wish to search the archives of others. QueryResults with the same Tag follow, the
// last of them Done.
type OwnerQuery struct {
	Tag uint64 // the host's, unique among the owner's queries that run
	// Query says what is looked for, how far and for how long; 0 in Hops, Budget and Wait is the default. Its ID is set
	// by the node.
	Query protocol.Query
	// Own has the results from the own archive.
	Own []archive.Record
	// Explicit says that the owner asked for the network this time.
	Explicit bool
}

// EndQuery says that nobody waits for the owner's query with that Tag any more. It ends without
// QueryResults.
type EndQuery struct{ Tag uint64 }

// Backfilled says how far the past of a feed is filled in now, from how far it was when that began. Where it is
// somewhere else by now, as the owner had it read meanwhile, it stays there.
type Backfilled struct {
	Feed feed.URL
	From archive.Past
	Past archive.Past
}

const (
	// MaxPulls is how many downloads of the owner run at a time, MaxWishes how many entries one of them is for.
	MaxPulls, MaxWishes = 16, 1000
	// PullTimeout is how long a holder may take for an answer: 4 MiB by a slow line.
	PullTimeout = 25 * time.Second
)

// Pull is the owner's wish to have entries that an OwnerQuery found. Pulled with the same Tag follow, the last of them
// Done.
type Pull struct {
	Tag    uint64        // the host's, unique among the owner's downloads that run
	Wishes []search.Wish // MaxWishes at most
	// Unasked says that the owner did not ask for it by themselves: what comes of it is stored as far as the quotas of
	// the holders go.
	Unasked bool
}

// EndPull says that nobody waits for the download any more. Requests under way are dropped.
type EndPull struct{ Tag uint64 }

// Join is the owner's wish to become a neighbor of the node at Host, "host:port" or the name of a site, if it proves
// Key: where that is zero, the one that the host has of the site, if any. Joined with the same Tag follows.
type Join struct {
	Tag  uint64 // the host's, unique among the owner's requests that run
	Host string
	Key  protocol.NodeKey
}

// Sources is the owner's wish to find neighbors by these trackers and static neighbors from now on, in the place of
// those of Config and of earlier wishes.
type Sources struct{ Trackers, Peers []string }

// Recovered says that the host stored entries of a feed's past that came from its publisher, and which neighbors had
// brought others that its publisher has.
type Recovered struct {
	Feed    feed.URL
	Records []archive.Record
	Shown   []archive.Share
}

// Broke says that a reverse link to a node has ended that was not released.
type Broke struct{ To protocol.NodeID }

// Forwarded says that the router lets others in at the node's port since now, so that they may be able to dial it.
type Forwarded struct {
	IPv6 bool // by IPv6, and else by IPv4
}

// Addressed says at which public addresses of IPv6 this machine is now, with the node's port.
type Addressed struct{ At []protocol.NodeID }

// Discovered says that the host discovered nodes by other means than the node's calls.
type Discovered struct {
	By    neighbors.Origin
	Nodes []protocol.NodeID
	// With By Near, Nodes are all that are on this machine's networks now, and those that may be called at addresses
	// that are not public. Keys are theirs, by their own word, and Own the ids under which this node is known to them.
	Keys []protocol.NodeKey
	Own  []protocol.NodeID
}

func (Wake) event()         {}
func (Asked) event()        {}
func (Answered) event()     {}
func (Fetched) event()      {}
func (Searched) event()     {}
func (Subscribe) event()    {}
func (Unsubscribe) event()  {}
func (Refresh) event()      {}
func (Leave) event()        {}
func (OwnerFetched) event() {}
func (OwnerQuery) event()   {}
func (EndQuery) event()     {}
func (Backfilled) event()   {}
func (Pull) event()         {}
func (EndPull) event()      {}
func (Join) event()         {}
func (Sources) event()      {}
func (Recovered) event()    {}
func (Broke) event()        {}
func (Forwarded) event()    {}
func (Addressed) event()    {}
func (Discovered) event()   {}
