package protocol

import (
	"strings"

	"feedex/feed"
)

// The room that the parts of a message take beside their text, at most: tags, names of members, numbers.
const (
	checkMarkup     = 380 // check_did with the names of all that a hint holds: envelope, nid, did
	callMarkup      = 600 // put_entries with a bundle of no entries: envelope, nid, did, names
	entryMarkup     = 800 // an entry with every member but the next two, both times among them
	rightsMarkup    = 100 // that it has rights
	sourceMarkup    = 300 // that it has a source
	enclosureMarkup = 250 // an enclosure with its length
	extrasMarkup    = 450 // that it has extras, every member but its companions among them
	companionMarkup = 250 // chapters or a transcript
	interestMarkup  = 120 // one element of a subset with its hop count
	itemMarkup      = 32  // a string in an array
	nodeMarkup      = 80  // a node in a path, the node included
	noticeMarkup    = 60  // a notice with its numbers
	signedMarkup    = 145 // that it is signed
	archivedMarkup  = 160 // the feed and the time of an entry of a batch
)

// WireBytes is how long the put_entries that delivers b is at most, in bytes. It is no less than what
// EncodeCall gives, however much is escaped, and some 400 bytes an entry more than that where members
// are missing. The strings must be clean, as those of an Entry are.
func (b *Bundle) WireBytes() int {
	entries := 0
	if len(b.Entries) > 0 {
		c := b.contents()
		if entries = c.bytes; len(b.Path) == 0 {
			entries += c.extras
		}
	}
	return callMarkup + escapedBytes(string(b.Feed)) + pathBytes(b.Path) + entries
}

// WireBytes is how long one element of a subset is at most, in bytes: no less than what EncodeCall and
// EncodeReply give for it, however much of the URL is escaped.
func (in Interest) WireBytes() int { return interestMarkup + escapedBytes(string(in.Feed)) }

// WireBytes is how long a notice is at most, in bytes, however much of its URL is escaped.
func (n *Notice) WireBytes() int {
	size := noticeMarkup + escapedBytes(string(n.Feed)) + pathBytes(n.Path)
	if n.Signed() {
		size += signedMarkup
	}
	return size
}

// NoticeRoom is how long the notices may be that go along with c, by Notice.WireBytes: what its feed leaves of
// MaxCheckBytes.
func (c *CheckDID) NoticeRoom() int {
	return MaxCheckBytes - checkMarkup - escapedBytes(string(c.Feed))
}

// wireBytes is how long the entry is at most, but for its extras.
func wireBytes(e *feed.Entry) int {
	n := entryMarkup
	for _, s := range []string{e.ID, e.Title, e.Link, e.Summary, e.Content, e.CopiedFrom.ID, e.CopiedFrom.Title,
		e.CopiedFrom.URL} {
		n += escapedBytes(s)
	}
	for _, list := range [][]string{e.Authors, e.Categories, e.Rights} {
		for _, s := range list {
			n += itemMarkup + escapedBytes(s)
		}
	}
	if len(e.Rights) > 0 {
		n += rightsMarkup
	}
	if e.CopiedFrom != (feed.Original{}) {
		n += sourceMarkup
	}
	for _, enc := range e.Enclosures {
		n += enclosureMarkup + escapedBytes(enc.URL) + escapedBytes(enc.Type)
	}
	return n
}

// extrasBytes is how long the extras of an entry are at most.
func extrasBytes(x *feed.Extras) (n int) {
	if x.IsZero() {
		return 0
	}
	n = extrasMarkup + escapedBytes(string(x.Image)) + len(x.Language)
	if x.Chapters != (feed.Companion{}) {
		n += companionBytes(x.Chapters)
	}
	for _, c := range x.Transcripts {
		n += companionBytes(c)
	}
	return n
}

// companionBytes is how much chapters or a transcript take at most.
func companionBytes(c feed.Companion) int {
	return companionMarkup + escapedBytes(string(c.URL)) + escapedBytes(c.Type) + len(c.Language)
}

// escapedBytes is the length of the clean string s as XML text, where "&" takes the most.
func escapedBytes(s string) int {
	const longest = len("&amp;") - 1
	return len(s) + longest*(strings.Count(s, "&")+strings.Count(s, "<")+strings.Count(s, ">"))
}

// pathBytes is how much a path takes, at most.
func pathBytes(path []NodeID) int {
	n := nodeMarkup * len(path)
	for _, id := range path {
		if id.Named() {
			n += MaxNameBytes
		}
	}
	return n
}
