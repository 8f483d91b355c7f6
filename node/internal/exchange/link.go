package exchange

import (
	"crypto/sha1"
	"encoding/binary"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// A link is what the exchange keeps of a core.Link: what goes on with one neighbor by way of entries.
type link struct {
	*core.Link

	// Offers of the neighbor.
	*outstanding
	Offered Offered // latest dids it offered, delivered or said that it has
	brought Offered // latest versions of entries that it delivered

	// Offers to the neighbor.
	Checking, putting bool               // an offer, a delivery is under way
	Waiting           []*protocol.Bundle // to be offered, oldest first
	waitingBytes      int                // of them on the wire
	Postponed         int                // bundles that were beyond its quota for us, to be offered again
	PutFailures       int                // failed deliveries in a row, whatever else it answered

	delivered, forwarded int64 // entries
	// given are the latest entries with which it earned, one of each bundle, and that no own poll has listed since.
	given []given

	// Polls of which it is to hear.
	notices    []notice
	noticesDue time.Time // when they are to be sent, zero for never
	// forgedUntil is until when nothing that others signed is heard of the neighbor.
	forgedUntil time.Time
	talks       map[feed.URL]time.Time

	stars starTalk

	// The account.
	toldBound bool               // it was told that it came to its bound, and has not left it since
	ours      protocol.Statement // how we stand with it, by its word
	OursAt    time.Time          // when it said so
	stated    time.Time          // when we told it how it stands with us
}

// Of is what the exchange keeps of a link.
func Of(l *core.Link) *link { return l.Exchange.(*link) }

// Offered are the latest dids that a neighbor offered or delivered, or said that it has, or the latest versions of
// entries that it delivered: it need not be offered them. A node has them for each neighbor, so that it keeps no more
// of each than its first eight bytes. An attacker that makes another did that begins alike makes both.
type Offered struct {
	latest []uint64
	next   int // the oldest, once there are offeredWindow
}

// offeredWindow is how many of a neighbor's are remembered.
const offeredWindow = 256

// Add notes that the neighbor has the bundle or the entry.
func (o *Offered) Add(sum [sha1.Size]byte) {
	switch {
	case o.has(sum):
	case len(o.latest) < offeredWindow:
		o.latest = append(o.latest, eightOf(sum))
	default:
		o.latest[o.next] = eightOf(sum)
		o.next = (o.next + 1) % offeredWindow
	}
}

// has reports whether the neighbor is known to have the bundle or the entry.
func (o *Offered) has(sum [sha1.Size]byte) bool { return slices.Contains(o.latest, eightOf(sum)) }

func eightOf(sum [sha1.Size]byte) uint64 { return binary.LittleEndian.Uint64(sum[:]) }

// versionOf is a version of an entry: by its digest alone it would be that of the same text in another feed, too.
func versionOf(i feed.Identity) (sum [sha1.Size]byte) {
	for k := range sum {
		sum[k] = i.ID[k] ^ i.Digest[k]
	}
	return sum
}
