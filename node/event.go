package node

import "feedex/node/internal/core"

// Events are the things that happen to a node: see Node.Step.
type (
	// Event tells the node that something happened: one of the types below.
	Event = core.Event
	// Wake says that the time that Next named has come.
	Wake = core.Wake
	// Asked says that a peer called.
	Asked = core.Asked
	// Answered says how a Call of the node ended.
	Answered = core.Answered
	// Fetched says how a Fetch ended.
	Fetched = core.Fetched
	// Searched says how a Search ended.
	Searched = core.Searched
	// OwnerFetched says how a request of the owner's, beside the polls, ended.
	OwnerFetched = core.OwnerFetched
	// Subscribe is the owner's wish to follow feeds, or to follow them in another way.
	Subscribe = core.Subscribe
	// Unsubscribe is the owner's wish to follow feeds no more.
	Unsubscribe = core.Unsubscribe
	// Refresh is the owner's wish to have feeds polled now.
	Refresh = core.Refresh
	// OwnerQuery is the owner's wish to search the archives of others.
	OwnerQuery = core.OwnerQuery
	// EndQuery says that nobody waits for an OwnerQuery any more.
	EndQuery = core.EndQuery
	// Pull is the owner's wish to have entries that an OwnerQuery found.
	Pull = core.Pull
	// EndPull says that nobody waits for a Pull any more.
	EndPull = core.EndPull
	// Join is the owner's wish to become a neighbor of a node.
	Join = core.Join
	// Sources is the owner's wish to find neighbors by other trackers and static neighbors.
	Sources = core.Sources
	// Broke says that a reverse link broke.
	Broke = core.Broke
	// Forwarded says that the router lets others in at the node's port since now.
	Forwarded = core.Forwarded
	// Addressed says at which public addresses of IPv6 this machine is now.
	Addressed = core.Addressed
	// Discovered says that the host discovered nodes by other means than the node's calls.
	Discovered = core.Discovered
	// Recovered says that the host stored entries of a feed's past that came from its publisher.
	Recovered = core.Recovered
	// Backfilled says how far the past of a feed is filled in now.
	Backfilled = core.Backfilled
	// Leave says that the host is about to stop.
	Leave = core.Leave
)

// MaxWishes is how many entries one Pull may be for.
const MaxWishes = core.MaxWishes
