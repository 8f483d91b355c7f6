package node

import "feedex/node/internal/core"

// Effects are the acts that a node wants done: see Node.Step.
type (
	// Effect is something the host must do for the node: one of the types below.
	Effect = core.Effect
	// Respond answers the Asked with the same Tag.
	Respond = core.Respond
	// Call asks a peer or a tracker.
	Call = core.Call
	// Reverse opens a reverse link.
	Reverse = core.Reverse
	// Release ends a reverse link.
	Release = core.Release
	// Target is where a Call goes.
	Target = core.Target
	// Fetch polls a feed with a conditional request.
	Fetch = core.Fetch
	// Search looks through the archive.
	Search = core.Search
	// QueryResults has the results of the OwnerQuery with the same Tag.
	QueryResults = core.QueryResults
	// Pulled has the entries that came of the owner's Pull with the same Tag.
	Pulled = core.Pulled
	// Joined says how the owner's Join with the same Tag ended.
	Joined = core.Joined
	// Tell is something that a person, a page or a test may want to know.
	Tell = core.Tell
)

// Notes are the contents of a Tell.
type (
	// Note is the content of a Tell: one of the types below.
	Note = core.Note
	// Arrived says that new entries of a feed were stored.
	Arrived = core.Arrived
	// Polled says how a poll of an own feed ended.
	Polled = core.Polled
	// Waived says that the first poll of a feed is left to neighbors.
	Waived = core.Waived
	// Slipped says that entries of a feed are missing.
	Slipped = core.Slipped
	// Filled says that as many entries came as were missing.
	Filled = core.Filled
	// Withheld says that a feed stays on the node that its owner has just begun to follow.
	Withheld = core.Withheld
	// Replaced says that an address was followed no more because it led to the feed that was meant, or is another name
	// of it now.
	Replaced = core.Replaced
	// Linked says that a neighbor was won.
	Linked = core.Linked
	// Unlinked says that a neighbor was lost, and why.
	Unlinked = core.Unlinked
	// SourceChanged says that it changed whether a tracker or a static neighbor is of use.
	SourceChanged = core.SourceChanged
	// Suspect says that a peer did what no honest node does.
	Suspect = core.Suspect
	// Warned says that something is wrong that the owner should know of.
	Warned = core.Warned
)

// BrokeRules is what Unlinked says of a neighbor that lost its standing.
const BrokeRules = core.BrokeRules
