package node

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/polling"
	"feedex/protocol"
)

// What neighbors bring and no own poll has shown may take so much room and no more: see incentive.Quota. What is beyond
// it is refused, without a fine, since a neighbor cannot know: it may be an honest one that relays what others invent.
// It offers it again later, others may bring it, and own polls do. A poll of the feed comes sooner for that, and after
// it the neighbor may bring as much again.

// usualRoom is how much room an entry may always take of which the feed brings one: some three kilobytes of text.
const usualRoom = 20_000

// postponedFor is after what time a bundle is offered again that was beyond a quota.
const postponedFor = time.Hour

// errOverQuota refuses what is beyond the quota.
var errOverQuota = protocol.Faultf(protocol.OverQuota,
	"enough is stored of what you brought and no own poll has shown; offer the rest again in an hour")

// recallStored has the quotas know what the archive has of the last day.
func (n *Node) recallStored() {
	var list []incentive.Brought
	for _, x := range n.store.Unshown(n.now.Add(-incentive.Remembered)) {
		h := n.accounts.ledger.HolderOf(x.Source)
		list = append(list, incentive.Brought{Holder: h, Feed: x.Feed, At: x.At, Entries: x.Entries, Room: x.Room})
	}
	n.accounts.quota.Recall(n.now, list)
}

// volumeOf is how much a feed brings, as far as own polls have shown.
func (n *Node) volumeOf(u feed.URL) (v incentive.Volume) {
	if s := n.openly(u); s != nil && s.Volume.Text > 0 {
		v.Entries, v.Room = s.Volume.Daily, max(archive.Room(2*s.Volume.Text), usualRoom)
		v.Polled = s.LastSuccess
	}
	return v
}

// noteVolume notes how much a poll has shown that the feed brings.
func (s *subscription) noteVolume(doc *feed.Document) {
	if len(doc.Entries) == 0 {
		return
	}
	var text int64
	for i := range doc.Entries {
		text += archive.TextBytes(&doc.Entries[i])
	}
	s.Volume = archive.Volume{Daily: int64(polling.Busiest(s.history.Times, 24*time.Hour)),
		Text: max(1, text/int64(len(doc.Entries)))}
}

// storesAll reports whether there is no quota for a holder: the owner's own machines have none.
func (n *Node) storesAll(h incentive.Holder) bool {
	return n.trusted(h) || n.config.Incentive.Ablate.NoQuota
}

// allowanceOf is what of a feed a neighbor may still have stored, nil for anything.
func (n *Node) allowanceOf(l *link, u feed.URL) *incentive.Allowance {
	if n.storesAll(l.holder) {
		return nil
	}
	a := n.accounts.quota.Allowance(n.now, l.holder, u, n.volumeOf(u))
	return &a
}

// storedFrom notes what was stored of what a neighbor brought.
func (n *Node) storedFrom(l *link, u feed.URL, records []archive.Record) {
	if n.storesAll(l.holder) || len(records) == 0 {
		return
	}
	var room int64
	for i := range records {
		room += roomOf(&records[i])
	}
	n.accounts.quota.Store(n.now, l.holder, u, int64(len(records)), room)
	n.saveAccounts()
}

func roomOf(r *archive.Record) int64 { return archive.Room(archive.TextBytes(&r.Entry)) }

// shownOf notes that own polls have listed what neighbors had brought.
func (n *Node) shownOf(shares []archive.Share) {
	for _, x := range shares {
		n.accounts.quota.Shown(n.now, n.accounts.ledger.HolderOf(x.Source), x.Feed, x.At, x.Entries, x.Room)
	}
	if len(shares) > 0 {
		n.saveAccounts()
	}
}

// overQuota reports whether nothing of a feed, or of any where that is "", would be stored of what a neighbor brings.
func (n *Node) overQuota(l *link, u feed.URL) bool {
	if n.storesAll(l.holder) {
		return false
	}
	if u == "" {
		return n.accounts.quota.Left(n.now, l.holder) < archive.EntryRoom
	}
	a := n.allowanceOf(l, u)
	return !a.Take(archive.EntryRoom)
}

// postpone offers a bundle again in an hour or two, for as long as it may be news.
func (n *Node) postpone(l *link, b *protocol.Bundle) {
	if l.postponed >= maxWaiting || incentive.Young(n.now, b.Entries) == 0 {
		return
	}
	l.postponed++
	n.after(n.between(postponedFor, 2*postponedFor), func() {
		l.postponed--
		n.offer(l, b)
	})
}
