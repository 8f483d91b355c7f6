package protocol

import "time"

// Limits of the wire. docs/PROTOCOL.md states each of them; a change of one changes both.
const (
	// MaxPath is the most forwarders a bundle's path may hold.
	MaxPath = 16
	// MaxBundleEntries is the most entries in a bundle.
	MaxBundleEntries = 100
	// MaxSubset is the most feeds in a subscription set or a set of changes.
	MaxSubset = 10_000
	// maxElements is the most elements of a set that are read. It is above MaxSubset so that a receiver sees that a
	// sender goes too far.
	maxElements = 12_000
	// MaxHops is the largest hop count that a subset may state.
	MaxHops = 16
	// maxAway is for how long a caller of connect may say that it was away, in seconds: a century.
	maxAway = 100 * 365 * 24 * 3600
	// MaxDIDs is the most dids in one check_dids.
	MaxDIDs = 64
	// MaxCheckBytes is the longest body of a check_did that is sure to fit, with the headers of HTTP, TCP and IP, into
	// the 1,280 bytes that every network carries whole (RFC 8200 §5).
	MaxCheckBytes = 900
	// MaxNotices is the most notices in one call.
	MaxNotices = 64
	// MaxNoticeBytes bounds the notices of one call, by Notice.WireBytes: what the longest bundle leaves of
	// put_entries.
	MaxNoticeBytes = 15 << 10
	// maxNoticeAge is how old a notice may be, in seconds: a day.
	maxNoticeAge = 24 * 3600
	// MaxStarFeeds is the most feeds of which a node tells another that it shares stars, MaxFeedStars the most stars of
	// one of them and MaxStars of all, and MaxStarBytes bounds them by FeedStars.WireBytes. As many entries may be
	// labelled, once for each label, of which MaxSharedLabel is the most bytes.
	MaxStarFeeds   = 64
	MaxFeedStars   = 32
	MaxStars       = 256
	MaxStarBytes   = 60 << 10
	MaxSharedLabel = 64
	// maxSignature is the longest signature: 64 bytes in base64url.
	maxSignature = 86
	// MaxNeighborList is the most addresses in an answer to get_neighbors.
	MaxNeighborList = 50
	// MaxAnswerEntries is the most entries in an answer to query_feed.
	MaxAnswerEntries = 200

	MaxIDBytes    = 2048    // an entry's id
	MaxTitleBytes = 4096    // an entry's title
	MaxTextBytes  = 1 << 20 // an entry's summary, and its content
	MaxLabelBytes = 256     // an author, a category, a media type, the text of a fault
	MaxAuthors    = 32      // authors of an entry
	MaxCategories = 128     // categories of an entry
	MaxEnclosures = 32      // enclosures of an entry
	MaxNameBytes  = 128     // of a node on a path that is named by something else than its address
	MaxRights     = 16      // statements of rights of an entry
	MaxRightBytes = 8192    // one of them

	// MaxSessionBytes is the longest session token.
	MaxSessionBytes = 64

	// DefaultPort is where a node listens unless told otherwise.
	DefaultPort = 7790
	// LowestPort is the lowest port at which a node may listen: lower ones belong to services that
	// a stranger's address must not make us call.
	LowestPort = 1024

	// HoldAnswer is how long the answer to a second offer of a promised bundle is held open.
	HoldAnswer = time.Second
	// PromiseTimeout is how long a neighbor may take to deliver what we asked it for.
	PromiseTimeout = 30 * time.Second
	// MaxPromises is how many deliveries a neighbor may owe at one time.
	MaxPromises = 64

	// maxBundleBytes bounds a bundle as it stands on the wire; the rest of the 4 MiB of put_entries
	// is for the envelope.
	maxBundleBytes = 4<<20 - 16<<10
)
