package node

import (
	"errors"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
	"feedex/search"
)

const (
	// maxPulls is how many downloads of the owner run at a time, MaxWishes how many entries one of them is for.
	maxPulls, MaxWishes = 16, 1000
	// pullTimeout is how long a holder may take for an answer: 4 MiB by a slow line.
	pullTimeout = 25 * time.Second
)

// ErrTooManyPulls is the error of Pulled where too many downloads run already, or one is for too much.
var ErrTooManyPulls = errors.New("too many downloads from the network at a time")

// Pull is the owner's wish to have entries that a Query found. Pulled with the same Tag follow, the last of them
// Done.
type Pull struct {
	Tag    uint64        // the host's, unique among the owner's downloads that run
	Wishes []search.Wish // MaxWishes at most
	// Unasked says that the owner did not ask for it by themselves: what comes of it is stored as far as the quotas of
	// the holders go.
	Unasked bool
}

// EndPull says that nobody waits for the download any more. What is under way is dropped.
type EndPull struct{ Tag uint64 }

// Recovered says that the host stored entries of a feed's past that came from its publisher, and which neighbors had
// brought others that its publisher has.
type Recovered struct {
	Feed    feed.URL
	Records []archive.Record
	Shown   []archive.Share
}

func (Pull) event()      {}
func (EndPull) event()   {}
func (Recovered) event() {}

// Pulled is what came of a Pull since the last Pulled, and at the end what did not come.
type Pulled struct {
	Tag     uint64
	Stored  []feed.EntryID // verified and stored
	Refused []Refusal      // holders that were asked in vain
	Done    bool
	Missing []feed.EntryID // at the end: what nobody gave
	Err     error          // at the end: why nobody was asked
}

// A Refusal is why nothing was taken from a holder.
type Refusal struct {
	Holder protocol.NodeID
	Lied   bool // it sent what was not asked for, or another version
	Why    string
}

func (Pulled) effect() {}

// A pull is one download while it goes on.
type pull struct {
	search.Wishes
	n       *Node
	tag     uint64
	unasked bool // see Pull
	parked  bool // the owner was told that it ended, and what is left waits for an exchange
	over    bool
}

// pull begins a download.
func (n *Node) pull(ev Pull) {
	p := &pull{n: n, tag: ev.Tag, unasked: ev.Unasked}
	switch {
	case n.config.QueryNetwork == NeverNetwork:
		n.do(Pulled{Tag: ev.Tag, Done: true, Err: ErrNeverNetwork})
		return
	case len(n.queries.pulls) >= maxPulls || len(ev.Wishes) > MaxWishes:
		n.do(Pulled{Tag: ev.Tag, Done: true, Err: ErrTooManyPulls})
		return
	}
	ids := make([]feed.EntryID, len(ev.Wishes))
	for i := range ev.Wishes {
		ids[i] = ev.Wishes[i].ID
	}
	known, wished := n.store.Known(ids), make(map[protocol.Wanted]bool)
	for i, w := range ev.Wishes {
		if !known[i].New() || wished[w.Wanted] || w.Digest == (feed.Digest{}) {
			// what is here stays as it is, what was purged stays away, and what cannot be checked is not wanted
			continue
		}
		wished[w.Wanted] = true
		w.Holders = slices.DeleteFunc(slices.Clone(w.Holders),
			func(id protocol.NodeID) bool { return !n.pullable(id) || n.ownersAlone(w.Feed) })
		p.Add(w)
	}
	if n.queries.pulls == nil {
		n.queries.pulls = make(map[uint64]*pull)
	}
	for _, parked := range n.rings.parked {
		parked.Drop(func(w protocol.Wanted) bool { return wished[w] })
	}
	n.queries.pulls[ev.Tag] = p
	p.advance()
}

// endPull forgets a download of the owner.
func (n *Node) endPull(tag uint64) {
	if p := n.queries.pulls[tag]; p != nil {
		p.over = true
		delete(n.queries.pulls, tag)
	}
}

// pullable reports whether we ask the node for entries: not ourselves, nobody at an address that is not public
// unless it is a neighbor, and nobody who lied or did not answer a short while ago.
func (n *Node) pullable(id protocol.NodeID) bool {
	reachable := n.linkTo(id) != nil || n.config.AllowLocal || feed.PublicAddr(id.Addr())
	return reachable && !id.IsZero() && id != n.self.id && id.Port() >= protocol.LowestPort &&
		!n.queries.shunned.has(n.now, id)
}

// pullable reports whether the node is asked for entries of this download.
func (p *pull) pullable(id protocol.NodeID) bool {
	return p.n.pullable(id) &&
		(!p.bounded(id) || p.n.accounts.quota.Left(p.n.now, p.n.accounts.ledger.HolderOf(id)) >= archive.EntryRoom)
}

// bounded reports whether there is a quota for what that node gives.
func (p *pull) bounded(id protocol.NodeID) bool {
	return p.unasked && !p.n.storesAll(p.n.accounts.ledger.HolderOf(id))
}

// withinQuota are as many of the records that a node gave as its quota allows.
func (p *pull) withinQuota(id protocol.NodeID, records []archive.Record) []archive.Record {
	if !p.bounded(id) {
		return records
	}
	left := p.n.accounts.quota.Left(p.n.now, p.n.accounts.ledger.HolderOf(id))
	return slices.DeleteFunc(records, func(r archive.Record) bool {
		room := roomOf(&r)
		if room > left {
			return true
		}
		left -= room
		return false
	})
}

// advance asks the holders that can be asked now, and ends the download where none can.
func (p *pull) advance() {
	if p.over {
		return
	}
	for _, r := range p.Next(p.pullable) {
		p.ask(r)
	}
	if !p.Waiting() {
		p.end()
	}
}

// ask has a holder send some entries.
func (p *pull) ask(r search.Request) {
	id := r.Holder
	l, session := p.n.linkTo(id), ""
	if l != nil {
		session = l.token
	}
	p.n.call(Target{Node: id}, session, protocol.GetEntries{Wanted: r.Wanted, Askers: p.n.askersBut(id)}, pullTimeout,
		func(a Answered) {
			if l != nil {
				p.n.answeredBy(l, a, func(Answered) {})
			}
			b, _ := a.Reply.(protocol.Batch)
			again := codeOf(a.Err) == protocol.Busy && p.Busy(r)
			if !again {
				p.Answered(r, b.Left, codeOf(a.Err) == protocol.Spent)
			}
			if p.over {
				return
			}
			if !again {
				p.take(r, l, b, a.Err)
			}
			p.advance()
		})
}

// take keeps what a holder sent, if all of it is what it was asked for.
func (p *pull) take(r search.Request, l *link, b protocol.Batch, err error) {
	n, id := p.n, r.Holder
	if err != nil {
		why := err.Error()
		if codeOf(err) == 0 {
			n.queries.shunned.add(n.now, id, shunSilent)
			why = "it did not answer: " + why
		}
		p.tell(Pulled{Refused: []Refusal{{Holder: id, Why: why}}})
		return
	}
	records, lie := checked(n.now, id, r.Wanted, b)
	if lie != "" {
		n.queries.shunned.add(n.now, id, shunLiar)
		if l != nil && !l.over {
			n.punish(l.holder, incentive.BadAnswer, 0)
		} else {
			n.suspect(id, lie)
		}
		p.tell(Pulled{Refused: []Refusal{{Holder: id, Lied: true, Why: lie}}})
		return
	}
	n.gave(id, b)
	p.keep(id, l, p.withinQuota(id, records))
}

// checked are the records that an answer makes, or how the holder lied. It was told what versions are wanted, so the
// neighbor that named it as a holder is not to blame for what it sends.
func checked(now time.Time, id protocol.NodeID, wishes []protocol.Wanted, b protocol.Batch) (records []archive.Record,
	lie string) {
	if b.Left > len(wishes) {
		return nil, "it left more entries than it was asked for"
	}
	open := make(map[feed.EntryID]feed.Digest, len(wishes))
	for _, w := range wishes {
		open[w.ID] = w.Digest
	}
	for i := range b.Entries {
		a := &b.Entries[i]
		seen := a.Seen
		if seen.IsZero() || seen.After(now) {
			seen = now
		}
		r := archive.NewRecord(a.Entry, seen, id)
		digest, wanted := open[r.ID]
		switch {
		case !wanted:
			return nil, "it sent an entry that it was not asked for"
		case digest != r.Digest:
			return nil, "it sent another version of an entry than it was asked for"
		case protocol.CheckEntry(&a.Entry) != nil:
			return nil, "it sent an entry that may not travel"
		}
		delete(open, r.ID)
		records = append(records, r)
	}
	return records, ""
}

// keep stores entries of the past: no news, and one holder's word.
func (p *pull) keep(id protocol.NodeID, l *link, records []archive.Record) {
	n := p.n
	records = slices.DeleteFunc(records, func(r archive.Record) bool { return n.ownersAlone(r.Entry.Feed) })
	slices.SortStableFunc(records, func(a, b archive.Record) int { return b.Time().Compare(a.Time()) })
	came := make(map[feed.EntryID]bool, len(records))
	var stored []feed.EntryID
	room := int64(0)
	byFeed := make(map[feed.URL][]archive.Record)
	for i, ok := range n.store.Fill(n.now, records) {
		r := records[i]
		if came[r.ID] = true; ok {
			stored = append(stored, r.ID)
			room += roomOf(&r)
			byFeed[r.Entry.Feed] = append(byFeed[r.Entry.Feed], r)
		}
	}
	p.Drop(func(w protocol.Wanted) bool { return came[w.ID] })
	if len(stored) == 0 {
		return
	}
	if p.bounded(id) {
		n.accounts.quota.Fill(n.now, n.accounts.ledger.HolderOf(id), room)
		n.saveAccounts()
	}
	for i := range records {
		u := records[i].Entry.Feed
		if s := n.feeds[u]; s != nil && byFeed[u] != nil {
			n.fill(s, byFeed[u])
		}
		delete(byFeed, u)
	}
	if l != nil && !l.over {
		n.earnValue(l, relayPrice)
	}
	p.tell(Pulled{Stored: stored})
}

// tell passes on what came of the download so far, while somebody waits for it.
func (p *pull) tell(r Pulled) {
	if p.parked {
		return
	}
	r.Tag = p.tag
	p.n.do(r)
}

// end says what did not come.
func (p *pull) end() {
	if p.parked {
		return
	}
	delete(p.n.queries.pulls, p.tag)
	p.tell(Pulled{Done: true, Missing: p.IDs()})
	p.park()
}
