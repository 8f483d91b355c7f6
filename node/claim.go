package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

const (
	// spotOneIn is how many first-hand claims of a neighbor on probation cause one spot poll.
	spotOneIn = 10
	// spotAfter is when a spot poll can tell: claims are not judged before.
	spotAfter = time.Hour
)

// claimed remembers what a neighbor brought first, in a bundle whose path ends with it and of which so many entries
// earned, until an own poll shows whether the publisher has it. Those that were known count as the ones that earned:
// what was first is paid for when it is shown, if it was too much for a day.
func (n *Node) claimed(l *link, b *protocol.Bundle, fresh []feed.Entry, earned int) {
	via := n.gossip.trailOf(b.Path)
	c := incentive.Claim{Feed: b.Feed, Holder: l.holder, Via: via, At: n.now, Value: n.valueHere(l, 1, b.Feed)}
	ids := b.Identities()
	earned -= incentive.Dated(n.now, b.Entries) - incentive.Dated(n.now, fresh)
	for i := range fresh {
		c.Earned, c.Held, c.Via = 0, 0, via
		if c.Entry = ids[i].ID; len(fresh) < len(ids) { // some of b were not new, and who knows which
			c.Entry = fresh[i].EntryID()
		}
		if c.FirstHand() && n.absence.covers(&fresh[i]) {
			// It may have polled that long ago, and the publisher have taken it back since: as if it were a relay.
			c.Via = protocol.TrailOf(append(slices.Clip(b.Path), l.id()))
		}
		switch dated := incentive.Dated(n.now, fresh[i:i+1]) > 0; {
		case dated && earned > 0:
			earned--
			c.Earned = c.Value
		case dated:
			c.Held = c.Value
		}
		n.dues.claims.Add(&fresh[i], c)
	}
	if len(fresh) > 0 && len(b.Path) == 1 && n.dues.ledger.OnProbation(l.holder) && n.rng.IntN(spotOneIn) == 0 {
		n.spotPoll(b.Feed)
	}
}

// confirm notes that an own poll had shown these entries already: whoever brought them did not invent them.
func (n *Node) confirm(ids []feed.EntryID) {
	for _, id := range ids {
		if c, ok := n.dues.claims.End(id); ok {
			n.believe(c)
		}
	}
}

// corroborate confirms entries that somebody else brought first, by a way that has nobody in common with the
// one by which this bundle came.
func (n *Node) corroborate(l *link, b *protocol.Bundle, records []archive.Record, known []archive.Version) {
	via := b.Via(l.id()).Path
	var confirmed []feed.EntryID
	for i, v := range known {
		if v.Confirmed || v.Digest != records[i].Digest {
			continue
		}
		if c, ok := n.dues.claims.Of(records[i].ID); ok && incentive.Apart(c.Via.Path(), via) {
			confirmed = append(confirmed, records[i].ID)
			n.dues.earnings.Confirmed(n.now, c.Feed, c.Holder, 1)
		}
	}
	n.store.Confirm(n.now, confirmed)
}

// believe notes claims that turned out to be true. What nobody could date earns now, and what was too much for a day.
func (n *Node) believe(claims ...incentive.Claim) {
	for _, c := range claims {
		for _, id := range c.Via.Path() {
			n.dues.earnings.Confirmed(n.now, c.Feed, n.dues.ledger.HolderOf(id), 1)
		}
		n.dues.earnings.Shown(n.now, c.Entry)
		n.earnLate(c.Holder, c.Held)
	}
	n.payArrears()
}

// spotPoll sees to it that an own feed is polled soon after a claim, to check it: a neighbor that nobody
// knows yet must not forge for as long as a feed sleeps.
//
// A publisher pays for it with a request that it would not have had. It is a conditional one like all
// others, there is at most one between two ordinary ones, only while newcomers claim to have polled the
// feed, and never where the publisher asked for rest or fails. What was due falls due as it would have.
func (n *Node) spotPoll(u feed.URL) {
	s := n.feeds[u]
	if s == nil || s.polling || s.Discreet || s.Errors > 0 || s.LastSuccess.IsZero() || !s.ordinary.IsZero() {
		return
	}
	at := later(n.now.Add(spotAfter+n.between(0, spotAfter/10)), s.NotBefore)
	if at.Before(s.NextPoll) {
		s.ordinary = s.NextPoll
		n.pollAt(s, at)
	}
}

// judge ends what neighbors claimed about a feed and the poll that just ended can tell of.
func (n *Node) judge(s *subscription) {
	j := n.dues.claims.Judge(n.now, s.begun, s.URL, s.listed)
	if s.Discreet {
		// Whom we fine for what a publisher does not list learns that we asked it.
		j = incentive.Judgement{Shown: j.Shown, Relayed: slices.Concat(j.Relayed, j.Excused, j.Forged)}
	}
	n.status.Counters.Confirmed += int64(len(j.Shown))
	n.status.Counters.Forged += int64(len(j.Forged))
	n.believe(j.Shown...)
	for _, c := range j.Relayed {
		n.ofNoUse(c)
	}
	for _, c := range j.Doubtful {
		n.dues.doubts.Testify(n.now, n.dues.ledger.HolderOf(c.Via.Path()[0]), c.Holder)
	}
	for _, c := range j.Excused {
		n.ofNoUse(c)
		n.dues.ledger.Revoked(n.now, c.Holder, c.Earned)
		n.saveAccounts()
	}
	for len(j.Forged) > 0 {
		h, value := j.Forged[0].Holder, incentive.Credit(0)
		j.Forged = slices.DeleteFunc(j.Forged, func(c incentive.Claim) bool {
			if c.Holder != h {
				return false
			}
			n.ofNoUse(c)
			value += c.Value
			return true
		})
		n.punish(h, incentive.ForgedEntry, value) // several are one offence, and are fined each
	}
}

// ofNoUse takes back what a claim did for the usefulness of the neighbor: who keeps bringing what its
// publisher does not have ends as the least useful.
func (n *Node) ofNoUse(c incentive.Claim) {
	via := c.Via.Path()
	if l := n.linkTo(via[len(via)-1]); l != nil {
		n.table.Brought(n.now, l.peer, -neighbors.Usefulness(c.Earned))
	}
}
