package protocol

import (
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

// A Call is a request from one node to another: one of the types that have a row in the table of methods. Each knows
// the name of its XML-RPC method. The first parameter of every call is nid, the port at which the caller listens;
// transport adds it, so it is not a field.
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
	// Key is the caller's and Challenge what it drew for the called node, which proves a key of its own by it when it
	// calls back. Both are zero where the caller has no key.
	Key       NodeKey
	Challenge string
	// Reverse says that the caller cannot be dialled, and is to be called over the reverse link that it has opened
	// (HTTPUpgrade). It has a key then.
	Reverse bool
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
	// Feed is the bundle's, so that a node that does not want the feed can answer "seen"; "" where the caller did not
	// say.
	Feed    feed.URL
	Notices []Notice // as of Notify
}

// CheckDIDs offers up to MaxDIDs bundles at once. The reply is SeenList, in the same order. An
// extension.
type CheckDIDs struct {
	DIDs    []DID
	Notices []Notice // as of Notify
}

// PutEntries delivers a bundle. The reply is OK once its entries are stored for good. Paper §3.4.
type PutEntries struct {
	Bundle  *Bundle
	Notices []Notice // as of Notify
}

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
// token that came with the Connect ("" where none came). The reply is a Vouched; where the Connect had a key, and it is
// the node that called, a KeyProof. An extension.
type Vouch struct {
	Session string
	// Key is that of the node that calls back, and Proof shows it to the one that drew the challenge of the Connect.
	// Challenge is for the key of that one. All are zero where either has no key.
	Key       NodeKey
	Challenge string
	Proof     KeyProof
}

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

// StateAccount tells a neighbor how it stands with us; the reply, a Statement, is how we stand with it. An
// extension: "both sides can see the balance".
type StateAccount struct{ Account Statement }

// A Statement is the record that one node keeps of another (Paper §3.5), in thousandths of an entry.
type Statement struct {
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

// A VouchReply is the reply to Vouch: Vouched or KeyProof.
type VouchReply interface{ standsBy() bool }

// Vouched says whether the node sent that Connect.
type Vouched bool

func (v Vouched) standsBy() bool { return bool(v) }
func (KeyProof) standsBy() bool  { return true }

// StandsBy reports whether the answer to a Vouch is that the node sent that Connect.
func StandsBy(r Reply) bool {
	v, is := r.(VouchReply)
	return is && v.standsBy()
}

// Methods is the reply to ListMethods: the names of all methods.
type Methods []string

// methods is the table of the protocol's methods, in the order in which system.listMethods names them. A call is its
// type and a row here, and what handles it. Of each there is its name, its help, the ways to call it, the bounds of a
// call's body and an answer's, and how its parameters after nid and its answer are written and read.
var methods = []MethodSpec{
	row("get_neighbors", "Nodes that this node is linked with. For neighbors only."+listOfNodes,
		"array int", smallBody, listBody,
		writeNothing[GetNeighbors], readNothing[GetNeighbors], encodeNodes, decodeNodes,
	).atTracker("Nodes that are running, at random, and registers the caller: its address from the connection, its " +
		"port from nid." + listOfNodes),
	row("connect", "Asks to become neighbors. subset: array of [url, hops], the caller's subscription set; optionally "+
		"a struct {away, key, challenge, reverse}: the seconds that the caller had no neighbors, its key, what the "+
		"called node is to sign, and whether the caller keeps a reverse link open. Answers the called node's own "+
		"subscription set; an empty one declines.",
		"array int array, array int array struct", subsetBody, subsetBody,
		encodeConnect, decodeConnect, encodeSubset, decodeAccepted),
	row("update_subset", "Advertises what changed in the caller's subscription set. changes: array of [url, hops], "+
		"hops -1 withdraws. Answers ok.",
		"string int array", subsetBody, smallBody,
		func(c UpdateSubset) xmlrpc.Array { return xmlrpc.Array{encodeSubset(c.Changes)} },
		func(p *params) (c UpdateSubset) { c.Changes, c.Ignored = p.subset("changes", Withdrawn); return c },
		encodeOK, decodeOK),
	row("check_did", "Offers a bundle by its identifier, 40 hexadecimal digits, with optionally a struct {feed, "+
		"polled}. Answers seen or unseen; unseen asks for put_entries.",
		"string int string, string int string struct", smallBody, smallBody,
		encodeCheckDID, decodeCheckDID,
		Seen.String, func(p *params) Seen { return p.seen("answer", p.next("answer").Value) }),
	row("check_dids", "Offers up to 64 bundles at once, with optionally a struct {polled}. Answers an array of seen "+
		"or unseen in the same order.",
		"array int array, array int array struct", listBody, listBody,
		func(c CheckDIDs) xmlrpc.Array { return withNotices(c.Notices, arrayOf(c.DIDs, DID.String)) },
		func(p *params) CheckDIDs { return CheckDIDs{p.dids("dids"), p.hint().notices()} },
		func(s SeenList) xmlrpc.Array { return arrayOf(s, Seen.String) }, decodeSeenList),
	row("put_entries", "Delivers a bundle: struct {did, feed, path, entries}, with optionally a struct {polled}. "+
		"Answers ok once its entries are stored.",
		"string int struct, string int struct struct", bundleBody, smallBody,
		func(c PutEntries) xmlrpc.Array { return withNotices(c.Notices, encodeBundle(c.Bundle)) },
		func(p *params) PutEntries { return PutEntries{decodeBundle(p), p.hint().notices()} },
		encodeOK, decodeOK),
	row("query_feed", "Searches the archive, and those of neighbors: struct {feed, words, title, match, since, until, "+
		"ids, limit, order, id, hops, budget, wait}, all optional. Answers {found, partial, cut, whole, left}.",
		"struct int struct", listBody, answerBody,
		func(c QueryFeed) xmlrpc.Array { return xmlrpc.Array{encodeQuery(c.Query)} },
		func(p *params) QueryFeed { return QueryFeed{decodeQuery(p)} },
		encodeAnswer, decodeAnswer),
	row("get_entries", "Downloads entries from the archive: array of up to 100 EntryIDs, with optionally a struct "+
		"{digests, askers} of the versions wanted and of nodes that wait for entries of the caller. Answers {entries, "+
		"left, owed, for}; left counts those at the end of the list to be asked for again, owed how many were served "+
		"in exchange, for whom.",
		"struct int array, struct int array struct", listBody, bundleBody,
		encodeGetEntries, decodeGetEntries, encodeBatch, decodeBatch),
	row("feedex.whoami", "The caller's address and port as this node sees them, ip:port.",
		"string int", smallBody, smallBody,
		writeNothing[WhoAmI], readNothing[WhoAmI], NodeID.String, decodeNodeID),
	row("feedex.get_bundle", "Asks for a bundle that this node offered to the caller, was asked for and has not "+
		"delivered. Answers a struct {did, feed, path, entries}, as put_entries carries it.",
		"struct int string", smallBody, bundleBody,
		func(c GetBundle) xmlrpc.Array { return xmlrpc.Array{c.DID.String()} },
		func(p *params) GetBundle { return GetBundle{p.did("did")} },
		encodeBundle, decodeBundle),
	row("feedex.vouch", "Whether this node sent the caller a connect with that session token, with optionally a "+
		"struct {key, challenge, dialled, proof} that shows the caller's key. Answers a boolean, or a struct "+
		"{dialled, proof} that shows this node's key.",
		"boolean int string, struct int string struct", smallBody, smallBody,
		encodeVouch, decodeVouch, encodeVouchReply, decodeVouchReply),
	row("feedex.account", "Tells how the called node stands with the caller: struct {given, got, deficit, bound, "+
		"waiting}, in thousandths of an entry. Answers how the caller stands with the called node.",
		"struct int struct", smallBody, smallBody,
		func(c StateAccount) xmlrpc.Array { return xmlrpc.Array{encodeAccount(c.Account)} },
		func(p *params) StateAccount { return StateAccount{decodeAccount(p)} },
		encodeAccount, decodeAccount),
	row("feedex.polled", "Tells of polls of feeds that both nodes follow: array of up to 64 strings of words, \"age "+
		"entries feed\", optionally \"at key signature\", and then the nodes of the path. Answers an array of such.",
		"array int array", listBody, listBody,
		func(c Notify) xmlrpc.Array { return xmlrpc.Array{encodeNotices(c.Notices)} },
		func(p *params) Notify { return Notify{decodeNotices(p.array("notices", MaxNotices))} },
		func(n Notices) xmlrpc.Array { return encodeNotices(n) },
		func(p *params) Notices { return decodeNotices(p.array("answer", MaxNotices)) }),
	row("feedex.starred", "Tells of which feeds the caller shares stars, and which entries are starred and "+
		"labelled: struct {feeds, signature}, feeds an array of [url, EntryID..., [label, EntryID...]...]. Answers "+
		"the called node's own.",
		"struct int struct", listBody, listBody,
		func(c TellStars) xmlrpc.Array { return xmlrpc.Array{encodeStars(c.Stars)} },
		func(p *params) TellStars { return TellStars{decodeStars(p.structure("stars"))} },
		encodeStars, func(p *params) Stars { return decodeStars(p.structure("answer")) }),
	row("feedex.disconnect", "Ends the link, with a reason in words. Answers ok.",
		"string int string", smallBody, smallBody,
		func(c Disconnect) xmlrpc.Array { return xmlrpc.Array{c.Reason} },
		decodeDisconnect,
		encodeOK, decodeOK),
	row("system.listMethods", "The names of all methods.", "array", smallBody, listBody,
		writeNothing[ListMethods], readNothing[ListMethods],
		func(m Methods) xmlrpc.Array { return arrayOfStrings(m) }, decodeMethods),
	described("system.methodHelp", "What the named method does, in words.", "string string", smallBody, smallBody),
	described("system.methodSignature", "The ways to call the named method: arrays of the answer's type and the "+
		"parameters' types.", "array string", smallBody, smallBody),
}

// listOfNodes ends what is said of get_neighbors.
const listOfNodes = " Answers an array of {ip, port}."
