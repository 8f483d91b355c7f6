package protocol

import (
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

const (
	// MaxBatch is the most entries that one get_entries asks for.
	MaxBatch = 100
	// MaxBatchBytes is how long the entries of one answer are at most, as WireBytes counts.
	MaxBatchBytes = maxBundleBytes
	// OwedBytes is how long an entry is in an answer that counts twice in an exchange, and MaxOwed the most that an
	// answer counts.
	OwedBytes = 16 << 10
	MaxOwed   = MaxBatch + MaxBatchBytes/OwedBytes
	// MaxAskers is how many nodes one get_entries names that wait for entries of the caller.
	MaxAskers = 64
)

// GetEntries downloads entries from the archive of a node that an Answer named as a holder, neighbor or not. The
// reply is a Batch. An extension.
//
// Paper §3.6: "because of potentially large traffic, C and S make a direct connection to retrieve entries".
type GetEntries struct {
	Wanted []Wanted
	// Askers are nodes that wait for entries of the caller: where the called node wishes for something that one of
	// them has, the three can serve each other in a ring (Paper §3.6).
	Askers []NodeID
}

// Wanted names one version of an entry. A zero Digest stands for whatever version the holder has.
type Wanted struct {
	ID     feed.EntryID
	Digest feed.Digest
}

// A Batch is the part that a holder has of the entries that were wanted, in that order.
type Batch struct {
	Entries []Archived
	// Left is how many entries at the end of the list were not looked at, because the answer is full: ask for
	// them again.
	Left int
	// Owed is the charge for the entries that were served in exchange, one for each and one more for each whole
	// OwedBytes that it takes: as much is owed to the node For, the zero id being the holder itself.
	Owed int
	For  NodeID
}

// An Archived is an entry as a holder keeps it.
type Archived struct {
	Entry feed.Entry
	Seen  time.Time // when it arrived there, whole seconds
}

// Method implements Call.
func (GetEntries) Method() string { return "get_entries" }

// WireBytes is how long the entry is on the wire at most, in bytes.
func (a *Archived) WireBytes() int {
	return wireBytes(&a.Entry) + escapedBytes(string(a.Entry.Feed)) + archivedMarkup
}

func encodeGetEntries(c GetEntries) xmlrpc.Array {
	ids, digests, versions := make(xmlrpc.Array, len(c.Wanted)), make(xmlrpc.Array, len(c.Wanted)), false
	for i, w := range c.Wanted {
		ids[i], digests[i] = w.ID.String(), ""
		if w.Digest != (feed.Digest{}) {
			digests[i], versions = w.Digest.String(), true
		}
	}
	var hint xmlrpc.Struct
	if versions {
		hint = append(hint, xmlrpc.Member{Name: "digests", Value: digests})
	}
	if len(c.Askers) > 0 {
		hint = append(hint, xmlrpc.Member{Name: "askers", Value: arrayOf(c.Askers, NodeID.String)})
	}
	if hint == nil {
		return xmlrpc.Array{ids}
	}
	return xmlrpc.Array{ids, hint}
}

func decodeGetEntries(p *params) GetEntries {
	list := p.array("ids", MaxBatch)
	c := GetEntries{Wanted: make([]Wanted, len(list))}
	for i, v := range list {
		text, _ := v.(string)
		id, err := feed.ParseEntryID(text)
		if err != nil {
			p.fail("ids", "want 40 hexadecimal digits each")
		}
		c.Wanted[i].ID = id
	}
	m := p.hint()
	for i, v := range m.array("digests", len(list)) {
		text, _ := v.(string)
		if d, err := feed.ParseEntryID(text); err == nil {
			c.Wanted[i].Digest = feed.Digest(d)
		}
	}
	c.Askers = m.nodes("askers", MaxAskers)
	return c
}

// encodeBatch writes {entries, left, owed, for}, the latter two where something is owed.
func encodeBatch(b Batch) xmlrpc.Struct {
	entries := make(xmlrpc.Array, len(b.Entries))
	for i := range b.Entries {
		a := &b.Entries[i]
		s := append(encodeEntry(&a.Entry), xmlrpc.Member{Name: "feed", Value: string(a.Entry.Feed)})
		if !a.Seen.IsZero() {
			s = append(s, xmlrpc.Member{Name: "seen", Value: a.Seen.Unix()})
		}
		entries[i] = s
	}
	s := xmlrpc.Struct{{Name: "entries", Value: entries}, {Name: "left", Value: int64(b.Left)}}
	if b.Owed > 0 {
		s = append(s, xmlrpc.Member{Name: "owed", Value: int64(b.Owed)},
			xmlrpc.Member{Name: "for", Value: b.For.String()})
	}
	return s
}

func decodeBatch(p *params) Batch {
	m := p.structure("answer")
	b := Batch{Left: int(m.int("left", 0, MaxBatch)), Owed: int(m.int("owed", 0, MaxOwed))}
	if err := b.For.UnmarshalText([]byte(m.string("for", MaxLabelBytes))); err != nil {
		m.fail("for", "want ip:port")
	}
	for em := range m.structs("entries", "entry", MaxBatch) {
		a := Archived{Entry: decodeEntry(em), Seen: em.time("seen")}
		if a.Entry.Feed = em.feed(); a.Entry.Feed == "" {
			em.fail("feed", "missing")
		}
		if m.failed() {
			return b
		}
		b.Entries = append(b.Entries, a)
	}
	return b
}
