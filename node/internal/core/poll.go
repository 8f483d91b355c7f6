package core

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// An AnnouncedPoll is a poll of a feed by the node itself, of which neighbors hear.
type AnnouncedPoll struct {
	Feed feed.URL
	At   time.Time // when it began
	New  int       // as in a protocol.Notice
}

// A PollHeard is a poll of a feed by another node.
type PollHeard struct {
	Feed    feed.URL
	Via     protocol.NodeID // the neighbor that told it
	Origin  protocol.NodeID // the node that polled
	At      time.Time       // by our clock
	Refused bool            // the publisher refused it
	Own     bool            // it is Via itself that polled, as the link shows
	// Notice is what told it, nil where a bundle did. Verify reports whether its signature holds, which takes a while.
	Notice *protocol.Notice
	Verify func() bool
}

// Signer is the name of the key with which it is signed, nobody where it is not.
func (h *PollHeard) Signer() protocol.NodeID {
	if h.Notice == nil {
		return protocol.NodeID{}
	}
	return protocol.NameOf(h.Notice.Signature.Key)
}

// Itself reports whether the node that polled tells of it: it signed, or is the neighbor that says so.
func (h *PollHeard) Itself() bool { return h.Own || h.Notice != nil }

// Proven reports whether it is signed by who polled, or says nothing of who signed.
func (h *PollHeard) Proven() bool { return h.Notice == nil || !h.Notice.Signed() || h.Verify() }
