package control

import (
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

// A QueryRequest is a search of the owner, here and in the network (Paper §3.6).
type QueryRequest struct {
	Filter feed.Filter
	// Network says whether neighbors are asked; nil leaves it to the setting query.network.
	Network *bool
	Hops    int           // how far it goes; 0 is protocol.DefaultQueryHops
	Wait    time.Duration // how long it takes at most; 0 is protocol.DefaultWait
}

// A QueryPart is a part of what comes of a query; of its fields one is set. First comes what is here, then,
// if neighbors are asked, what they tell as it arrives, and at last the end.
type QueryPart struct {
	Here  *Local   // what the node's own archive has
	Found []Remote // what neighbors told, and is new
	End   *QueryEnd
}

// Local holds the results from the own archive.
type Local struct {
	Records []archive.Record // newest arrival first, or the best where that was asked for
	More    bool             // there are more than the limit lets through
	Cut     bool             // not everything was ranked in time (archive.ErrCut)
}

// QueryEnd says how a query ended.
type QueryEnd struct {
	Network bool     `json:"network"`           // neighbors were to be asked
	Asked   int      `json:"asked"`             // how many were
	Answers int      `json:"answers"`           // how many of them answered
	Cut     []string `json:"cut,omitempty"`     // why there may be more (protocol.Cut); none where it is complete
	Problem string   `json:"problem,omitempty"` // why nobody was asked
	// CompleteSince is since when nothing was left out for lack of room, where Cut says that something was and the
	// latest by their time were asked for (protocol.Answer.CompleteSince).
	CompleteSince time.Time `json:"whole,omitzero"`
	Found         []Remote  `json:"found"` // the best, in order, those among them that are here too
}

// A Remote is an entry that others have, in JSON. Members are only ever added.
type Remote struct {
	ID        string            `json:"id"`     // the EntryID, 40 hexadecimal digits
	Digest    string            `json:"digest"` // of this version, likewise
	Feed      feed.URL          `json:"feed"`
	Title     string            `json:"title"`
	Link      string            `json:"link,omitempty"`
	Published time.Time         `json:"published,omitzero"`
	Updated   time.Time         `json:"updated,omitzero"`
	Seen      time.Time         `json:"seen"`           // when a holder stored it
	Here      bool              `json:"here,omitempty"` // our own archive has the entry, in this version or another
	Holders   []protocol.NodeID `json:"holders"`        // the nodes that have it, besides this one
	Told      int               `json:"told"`           // how many neighbors told of it
}

func newRemote(h *search.Hit) Remote {
	r := Remote{
		ID: h.ID.String(), Digest: h.Digest.String(), Feed: h.Feed, Title: h.Title, Link: h.Link,
		Published: h.Published, Updated: h.Updated, Seen: h.Seen, Told: h.Told(), Holders: h.Holders,
		Here: h.Here,
	}
	if len(r.Holders) > 0 && r.Holders[0].IsZero() {
		r.Holders, r.Told = r.Holders[1:], r.Told-1
	}
	if r.Holders == nil {
		r.Holders = []protocol.NodeID{}
	}
	return r
}

// RemotesOf are hits as their owner is told of them.
func RemotesOf(hits []search.Hit) []Remote {
	out := make([]Remote, len(hits))
	for i := range hits {
		out[i] = newRemote(&hits[i])
	}
	return out
}

// Time is when the entry was published, as far as that is known; see search.Time.
func (r *Remote) Time() time.Time {
	return search.Time(&protocol.Found{Published: r.Published, Updated: r.Updated, Seen: r.Seen})
}

// A PullReport says what came of a download of entries that others have, in JSON.
type PullReport struct {
	// EntryIDs that were verified and stored, 40 hexadecimal digits each
	Stored  []string       `json:"stored"`
	Missing []string       `json:"missing,omitempty"` // likewise: what nobody gave
	Refused []RefusedFetch `json:"refused,omitempty"` // nodes asked in vain
}

// A RefusedFetch is why nothing was taken from a holder, in JSON.
type RefusedFetch struct {
	Holder protocol.NodeID `json:"holder"`
	Lied   bool            `json:"lied,omitempty"` // it sent what was not asked for, or another version
	Why    string          `json:"why"`
}

// Wish is the wish for the entry.
func (r *Remote) Wish() (search.Wish, error) {
	id, err := feed.ParseEntryID(r.ID)
	if err != nil {
		return search.Wish{}, BadRequest{fmt.Errorf("id: %w", err)}
	}
	digest, err := feed.ParseEntryID(r.Digest)
	if err != nil {
		return search.Wish{}, BadRequest{fmt.Errorf("digest: %w", err)}
	}
	if len(r.Holders) > protocol.MaxHolders {
		return search.Wish{}, BadRequest{fmt.Errorf("%d holders, want at most %d", len(r.Holders), protocol.MaxHolders)}
	}
	return search.Wish{Wanted: protocol.Wanted{ID: id, Digest: feed.Digest(digest)}, Feed: r.Feed,
		Holders: r.Holders}, nil
}

// An ArchiveDocument says what one document of a feed held, and where the publisher keeps what came before, in JSON.
type ArchiveDocument struct {
	Listed      int       `json:"listed"` // entries of the document
	Stored      int       `json:"stored"` // of them, those that were not here yet
	Bytes       int64     `json:"bytes"`  // text of those that it lists
	Newest      time.Time `json:"newest,omitzero"`
	Oldest      time.Time `json:"oldest,omitzero"`
	PrevArchive feed.URL  `json:"older,omitempty"` // the document with what came before, "" for none (RFC 5005 §4)
}
