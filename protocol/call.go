package protocol

import (
	"time"

	"feedex/feed"
)

// A Call is a request from one node to another: one of the types of this file. Each knows the name
// of its XML-RPC method. The first parameter of every call is nid, the port at which the caller
// listens; transport adds it, so it is not a field.
type Call interface{ Method() string }

// A Reply is the answer to a Call: the type that the Call's comment names.
type Reply any

// GetNeighbors asks a tracker, or a neighbor, for nodes that are running, and registers the caller
// with a tracker. The reply is NodeList. Paper §3.1.
type GetNeighbors struct{}

// Connect asks to become neighbors and carries the caller's subscription set. The reply is a Subset, empty
// where the called node declines; or a FlawedSubset. Paper §3.1.
type Connect struct {
	Subset Subset
	// Away is for how long the caller had no neighbors, in whole seconds: it would like to be offered what went
	// round meanwhile. 0 where it does not say.
	Away time.Duration
	// Ignored is how many elements were left out on the way in, because they make no sense. It is not
	// sent.
	Ignored int
}

// UpdateSubset advertises what changed in the caller's subscription set since the last time. The
// reply is OK. Paper §3.1.
type UpdateSubset struct {
	Changes Subset
	Ignored int // as in Connect
}

// CheckDID offers a bundle. The reply is Seen: whether the called node needs it no more. Paper §3.4.
type CheckDID struct {
	DID DID
	// Feed and Entries say what the bundle holds, so that a node that does not want the feed can
	// answer "seen". Both are optional: "" and 0 where the caller did not say.
	Feed    feed.URL
	Entries int
}

// CheckDIDs offers up to MaxDIDs bundles at once. The reply is SeenList, in the same order. An
// extension.
type CheckDIDs struct{ DIDs []DID }

// PutEntries delivers a bundle. The reply is OK once its entries are stored for good. Paper §3.4.
type PutEntries struct{ Bundle *Bundle }

// GetBundle asks for a bundle that the called node offered and the caller waits for. The reply is a *Bundle. An
// extension: the caller sees whether it got through, where a delivery that does not come may have been lost, or never
// made.
type GetBundle struct{ DID DID }

// QueryFeed searches the called node's archive, and those of its neighbors on the caller's behalf. The reply is an
// Answer. Paper §3.6.
type QueryFeed struct{ Query Query }

// WhoAmI asks under which id the called node knows the caller. The reply is a NodeID. An extension:
// a node does not know its own outside address.
type WhoAmI struct{}

// Vouch asks the node at the other end of a Connect whether it is the one that called, by the session
// token that came with the Connect ("" where none came). The reply is a Vouched. An extension.
type Vouch struct{ Session string }

// ListMethods asks which methods the called node has. The reply is Methods.
type ListMethods struct{}

// Disconnect tells a neighbor that the link is over. The reply is OK. An extension.
type Disconnect struct{ Reason string }

func (GetNeighbors) Method() string { return "get_neighbors" }
func (Connect) Method() string      { return "connect" }
func (UpdateSubset) Method() string { return "update_subset" }
func (CheckDID) Method() string     { return "check_did" }
func (CheckDIDs) Method() string    { return "check_dids" }
func (PutEntries) Method() string   { return "put_entries" }
func (GetBundle) Method() string    { return "feedex.get_bundle" }
func (QueryFeed) Method() string    { return "query_feed" }
func (WhoAmI) Method() string       { return "feedex.whoami" }
func (Vouch) Method() string        { return "feedex.vouch" }
func (ListMethods) Method() string  { return "system.listMethods" }
func (Disconnect) Method() string   { return "feedex.disconnect" }
func (StateAccount) Method() string { return "feedex.account" }

// StateAccount tells a neighbor how it stands with us; the reply, an Account, is how we stand with it. An
// extension: "both sides can see the balance".
type StateAccount struct{ Account Account }

// An Account is what one node keeps of another (Paper §3.5), in thousandths of an entry.
type Account struct {
	Given   int64 // what it got from the node that keeps the account
	Got     int64 // what it gave
	Deficit int64 // what it owes; below zero what it is owed
	Bound   int64 // the most that it may owe; -1 for no bound
	Waiting int64 // bundles that wait for it
}

// OK is the reply that says no more than that a call was carried out.
type OK struct{}

// Seen is the reply to CheckDID: true for "seen", false for "unseen", which asks for delivery.
type Seen bool

// SeenList is the reply to CheckDIDs.
type SeenList []Seen

// NodeList is the reply to GetNeighbors: at most MaxNeighborList nodes, never the asker.
type NodeList []NodeID

// Vouched is the reply to Vouch: whether the node sent that Connect.
type Vouched bool

// Methods is the reply to ListMethods: the names of all methods.
type Methods []string
