package query

import (
	"errors"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/search"
)

// ErrTooManyPulls is the error of Pulled where too many downloads run already, or one is for too much.
var ErrTooManyPulls = errors.New("too many downloads from the network at a time")

// A pull is one download while it goes on.
type pull struct {
	search.Wishes
	m       *Machine
	tag     uint64
	unasked bool // see core.Pull
	parked  bool // the owner was told that it ended, and what is left waits for an exchange
	over    bool
}

// Pull begins a download.
func (m *Machine) Pull(ev core.Pull) {
	p := &pull{m: m, tag: ev.Tag, unasked: ev.Unasked}
	switch {
	case m.Config.QueryNetwork == core.NeverNetwork:
		m.Do(core.Pulled{Tag: ev.Tag, Done: true, Err: core.ErrNeverNetwork})
		return
	case len(m.Queries.pulls) >= core.MaxPulls || len(ev.Wishes) > core.MaxWishes:
		m.Do(core.Pulled{Tag: ev.Tag, Done: true, Err: ErrTooManyPulls})
		return
	}
	ids := make([]feed.EntryID, len(ev.Wishes))
	for i := range ev.Wishes {
		ids[i] = ev.Wishes[i].ID
	}
	known, wished := m.Store.Known(ids), make(map[protocol.Wanted]bool)
	for i, w := range ev.Wishes {
		if !known[i].New() || w.Digest == (feed.Digest{}) {
			// what is here stays as it is, what was purged stays away, and what cannot be checked is not wanted
			continue
		}
		wished[w.Wanted] = true
		w.Holders = slices.DeleteFunc(slices.Clone(w.Holders),
			func(id protocol.NodeID) bool { return !m.pullable(id) || m.feeds.OwnersAlone(w.Feed) })
		p.Add(w)
	}
	if m.Queries.pulls == nil {
		m.Queries.pulls = make(map[uint64]*pull)
	}
	for _, parked := range m.Rings.Parked {
		parked.Drop(func(w protocol.Wanted) bool { return wished[w] })
	}
	m.Queries.pulls[ev.Tag] = p
	p.advance()
}

// EndPull forgets a download of the owner.
func (m *Machine) EndPull(tag uint64) {
	if p := m.Queries.pulls[tag]; p != nil {
		p.over = true
		delete(m.Queries.pulls, tag)
	}
}

// pullable reports whether we ask the node for entries: not ourselves, nobody at an address that is not public
// unless it is a neighbor, and nobody who lied or did not answer a short while ago.
func (m *Machine) pullable(id protocol.NodeID) bool {
	reachable := m.LinkTo(id) != nil || !id.Hosted() && (m.Config.AllowLocal || feed.PublicAddr(id.Addr()))
	return reachable && !id.IsZero() && !m.Self.Has(id) && (id.Port() >= protocol.LowestPort || id.Hosted()) &&
		!m.Queries.shunned.Has(m.Now, id)
}

// pullable reports whether the node is asked for entries of this download.
func (p *pull) pullable(id protocol.NodeID) bool {
	return p.m.pullable(id) &&
		(!p.bounded(id) || p.m.Quota.Left(p.m.Now, p.m.Ledger.HolderOf(id)) >= archive.EntryRoom)
}

// bounded reports whether there is a quota for what that node gives.
func (p *pull) bounded(id protocol.NodeID) bool {
	return p.unasked && !p.m.StoresAll(p.m.Ledger.HolderOf(id))
}

// withinQuota are as many of the records that a node gave as its quota allows.
func (p *pull) withinQuota(id protocol.NodeID, records []archive.Record) []archive.Record {
	if !p.bounded(id) {
		return records
	}
	left := p.m.Quota.Left(p.m.Now, p.m.Ledger.HolderOf(id))
	return slices.DeleteFunc(records, func(r archive.Record) bool {
		room := core.RoomOf(&r)
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
func (p *pull) ask(r search.HolderRequest) {
	id := r.Holder
	l, session := p.m.LinkTo(id), ""
	if l != nil {
		session = l.Token
	}
	p.m.Call(core.Target{Node: id}, session, protocol.GetEntries{Wanted: r.Wanted, Askers: p.m.AskersBut(id)},
		core.PullTimeout,
		func(a core.Answered) {
			if l != nil {
				p.m.AnsweredBy(l, a, func(core.Answered) {})
			}
			b, _ := a.Reply.(protocol.Batch)
			again := core.CodeOf(a.Err) == protocol.Busy && p.Busy(r)
			if !again {
				p.Answered(r, b.Left, core.CodeOf(a.Err) == protocol.Spent)
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
func (p *pull) take(r search.HolderRequest, l *core.Link, b protocol.Batch, err error) {
	m, id := p.m, r.Holder
	if err != nil {
		why := err.Error()
		if core.CodeOf(err) == 0 {
			m.Queries.shunned.Add(m.Now, id, shunSilent)
			why = "it did not answer: " + why
		}
		p.tell(core.Pulled{Refused: []core.HolderRefusal{{Holder: id, Why: why}}})
		return
	}
	records, lie := checked(m.Now, id, r.Wanted, b)
	if lie != "" {
		m.lied(id, l, lie)
		p.tell(core.Pulled{Refused: []core.HolderRefusal{{Holder: id, Lied: true, Why: lie}}})
		return
	}
	m.gave(id, b)
	p.keep(id, l, p.withinQuota(id, records))
}

// lied counts an answer against a holder, which has a link or has none, and asks it no more for a day.
func (m *Machine) lied(id protocol.NodeID, l *core.Link, lie string) {
	m.Queries.shunned.Add(m.Now, id, ShunLiar)
	if l != nil && !l.Over {
		m.membership.Punish(l.Holder, incentive.BadAnswer, 0)
	} else {
		m.Suspect(id, lie)
	}
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
func (p *pull) keep(id protocol.NodeID, l *core.Link, records []archive.Record) {
	m := p.m
	records = slices.DeleteFunc(records, func(r archive.Record) bool { return m.feeds.OwnersAlone(r.Entry.Feed) })
	slices.SortStableFunc(records, func(a, b archive.Record) int { return b.Time().Compare(a.Time()) })
	came := make(map[feed.EntryID]bool, len(records))
	var stored []feed.EntryID
	room := int64(0)
	byFeed := make(map[feed.URL][]archive.Record)
	for i, ok := range m.Store.Fill(m.Now, records) {
		r := records[i]
		if came[r.ID] = true; ok {
			stored = append(stored, r.ID)
			room += core.RoomOf(&r)
			byFeed[r.Entry.Feed] = append(byFeed[r.Entry.Feed], r)
		}
	}
	p.Drop(func(w protocol.Wanted) bool { return came[w.ID] })
	if len(stored) == 0 {
		return
	}
	if p.bounded(id) {
		m.Quota.Fill(m.Now, m.Ledger.HolderOf(id), room)
		m.SaveAccounts()
	}
	for i := range records {
		u := records[i].Entry.Feed
		if byFeed[u] != nil {
			m.feeds.Filled(u, byFeed[u])
		}
		delete(byFeed, u)
	}
	if l != nil && !l.Over {
		m.exchange.Earn(l, RelayPrice, true)
	}
	p.tell(core.Pulled{Stored: stored})
}

// tell passes on what came of the download so far, while somebody waits for it.
func (p *pull) tell(r core.Pulled) {
	if p.parked {
		return
	}
	r.Tag = p.tag
	p.m.Do(r)
}

// end says what did not come.
func (p *pull) end() {
	if p.parked {
		return
	}
	delete(p.m.Queries.pulls, p.tag)
	p.tell(core.Pulled{Done: true, Missing: p.IDs()})
	p.park()
}

const (
	// shunSilent and ShunLiar are for how long a holder that did not answer, or that lied, is not asked again.
	shunSilent, ShunLiar = 10 * time.Minute, 24 * time.Hour
	// MaxShunned bounds how many of them are remembered.
	MaxShunned = 256
)

// Shunned are the holders that are not asked at present, those first that are asked again first.
type Shunned []shun

type shun struct {
	holder incentive.Holder
	until  time.Time
}

// Add remembers a holder; where there is no more room, the one that would be asked again first is forgotten.
func (s *Shunned) Add(now time.Time, id protocol.NodeID, span time.Duration) {
	until := now.Add(span)
	h := incentive.HolderOf(id)
	*s = slices.DeleteFunc(*s, func(other shun) bool {
		if other.holder == h && other.until.After(until) {
			until = other.until
		}
		return other.holder == h || !other.until.After(now)
	})
	at, _ := slices.BinarySearchFunc(*s, until, func(a shun, t time.Time) int { return a.until.Compare(t) })
	*s = slices.Insert(*s, at, shun{h, until})
	if len(*s) > MaxShunned {
		*s = slices.Delete(*s, 0, 1)
	}
}

// Has reports whether the node is not to be asked at present.
func (s Shunned) Has(now time.Time, id protocol.NodeID) bool {
	h := incentive.HolderOf(id)
	return slices.ContainsFunc(s, func(other shun) bool { return other.holder == h && other.until.After(now) })
}
