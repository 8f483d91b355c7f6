package exchange

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// What neighbors bring and no own poll has shown may take so much room and no more: see incentive.Quota. What is beyond
// it is refused, without a fine, since a neighbor cannot know: it may be an honest one that relays what others invent.
// It offers it again later, others may bring it, and own polls do. A poll of the feed comes sooner for that, and after
// it the neighbor may bring as much again.

// UsualRoom is how much room an entry may always take of which the feed brings one: some three kilobytes of text.
const UsualRoom = 20_000

// postponedFor is after what time a bundle is offered again that was beyond a quota.
const postponedFor = time.Hour

// errOverQuota refuses what is beyond the quota.
var errOverQuota = protocol.Faultf(protocol.OverQuota,
	"enough is stored of what you brought and no own poll has shown; offer the rest again in an hour")

// allowanceOf is what of a feed a neighbor may still have stored, nil for anything.
func (m *Machine) allowanceOf(l *link, u feed.URL) *incentive.Allowance {
	if m.StoresAll(l.Holder) {
		return nil
	}
	a := m.Quota.Allowance(m.Now, l.Holder, u, m.feeds.Volume(u))
	return &a
}

// storedFrom notes what was stored of what a neighbor brought.
func (m *Machine) storedFrom(l *link, u feed.URL, records []archive.Record) {
	if m.StoresAll(l.Holder) || len(records) == 0 {
		return
	}
	var room int64
	for i := range records {
		room += core.RoomOf(&records[i])
	}
	m.Quota.Store(m.Now, l.Holder, u, int64(len(records)), room)
	m.SaveAccounts()
}

// ShownOf notes that own polls have listed what neighbors had brought.
func (m *Machine) ShownOf(shares []archive.Share) {
	for _, x := range shares {
		m.Quota.Shown(m.Now, m.Ledger.HolderOf(x.Source), x.Feed, x.At, x.Entries, x.Room)
	}
	if len(shares) > 0 {
		m.SaveAccounts()
	}
}

// OverQuota reports whether nothing of a feed, or of any where that is "", would be stored of what a neighbor brings.
func (m *Machine) OverQuota(l *link, u feed.URL) bool {
	if m.StoresAll(l.Holder) {
		return false
	}
	if u == "" {
		return m.Quota.Left(m.Now, l.Holder) < archive.EntryRoom
	}
	a := m.allowanceOf(l, u)
	return !a.Take(archive.EntryRoom)
}

// postpone offers a bundle again in an hour or two, for as long as it may be news.
func (m *Machine) postpone(l *link, b *protocol.Bundle) {
	if l.Postponed >= MaxWaiting || incentive.Young(m.Now, b.Entries) == 0 {
		return
	}
	l.Postponed++
	m.After(m.Between(postponedFor, 2*postponedFor), func() {
		l.Postponed--
		m.Offer(l, b)
	})
}
