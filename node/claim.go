package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
	"feedex/trust"
)

const (
	// spotOneIn is how many first-hand claims of a neighbor on probation cause one spot poll.
	spotOneIn = 10
	// spotAfter is when a spot poll can tell: claims are not judged before.
	spotAfter = time.Hour
)

// hearsay is what neighbors say and no own poll has shown.
type hearsay struct {
	witnesses *trust.Witnesses
	claims    *trust.Claims
	versions  *trust.Versions
	held      []*protocol.Bundle // of nodes that are doubted, the latest last
}

func newHearsay() hearsay {
	w := new(trust.Witnesses)
	return hearsay{witnesses: w, claims: trust.NewClaims(w), versions: trust.NewVersions(w)}
}

// claimed remembers what a neighbor brought first, in a bundle whose path ends with it and of which so many entries
// earned, until an own poll shows whether the publisher has it. Those that were known count as the ones that earned:
// what was first is paid for when it is shown, if it was too much for a day.
func (n *Node) claimed(l *link, b *protocol.Bundle, fresh []feed.Entry, earned int) {
	via := n.gossip.trailOf(b.Path)
	c := trust.Claim{Feed: b.Feed, Via: via, At: n.now, Value: int32(n.valueHere(l, 1, b.Feed))}
	ids := b.Identities()
	earned -= incentive.Dated(n.now, b.Entries) - incentive.Dated(n.now, fresh)
	for i := range fresh {
		c.Earned, c.Held, c.Via = 0, 0, via
		if c.Entry = ids[i].ID; len(fresh) < len(ids) { // some of b were not new, and nobody knows which
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
		n.hearsay.claims.Add(&fresh[i], c)
	}
	if len(fresh) > 0 && len(b.Path) == 1 && n.accounts.ledger.OnProbation(l.holder) && n.rng.IntN(spotOneIn) == 0 {
		n.spotPoll(b.Feed)
	}
}

// corroborate confirms entries that somebody else brought first and no own poll has shown, where a neighbor that brings
// the same, and another that did before, are two witnesses.
func (n *Node) corroborate(l *link, b *protocol.Bundle, records []archive.Record, known []archive.Version) {
	via := b.Via(l.id()).Path
	var confirmed []archive.Record
	for i, v := range known {
		r := &records[i]
		if v.Confirmed || v.Digest != r.Digest {
			continue
		}
		c, open := n.hearsay.claims.Of(r.ID)
		again := trust.Version{Entry: r.ID, Digest: r.Digest, Kept: r.Digest, Via: via, DID: b.DID}
		if !n.hearsay.versions.Vouched(n.now, again, c.Via.Path()) {
			continue
		}
		confirmed = append(confirmed, *r)
		if open {
			n.accounts.earnings.Confirmed(n.now, c.Feed, n.accounts.ledger.HolderOf(c.Neighbor()), 1)
		}
	}
	n.shared.Confirm(n.now, idsOfRecords(confirmed))
	if n.discreetly(b.Feed) != nil {
		n.confirmForOwner(confirmed)
	}
}

// believe notes claims that turned out to be true. What nobody could date earns now, and what was too much for a day.
func (n *Node) believe(claims ...trust.Claim) {
	for _, c := range claims {
		for _, id := range c.Via.Path() {
			n.accounts.earnings.Confirmed(n.now, c.Feed, n.accounts.ledger.HolderOf(id), 1)
		}
		n.accounts.earnings.Shown(n.now, c.Entry)
		n.earnLate(n.accounts.ledger.HolderOf(c.Neighbor()), incentive.Credit(c.Held))
	}
	n.payArrears()
}

// spotPoll sees to it that an own feed is polled soon after a claim, to check it: a neighbor that nobody
// knows yet must not forge for as long as a feed sleeps.
//
// A publisher pays for it with a request that it would not have had. It is a conditional one like all others, there is
// at most one between two ordinary ones, only while newcomers or nodes that a witness speaks against claim to have
// polled the feed or a neighbor brings more of it than its quota allows, and never where the publisher asked for rest
// or fails. What was due falls due as it would have.
func (n *Node) spotPoll(u feed.URL) {
	s := n.openly(u)
	if s == nil || s.polling || s.Errors > 0 || s.LastSuccess.IsZero() || !s.ordinary.IsZero() {
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
	j := n.hearsay.claims.Judge(n.now, s.begun, s.URL, s.listed)
	n.status.Counters.Confirmed += int64(len(j.Shown))
	n.status.Counters.Forged += int64(len(j.Forged))
	n.believe(j.Shown...)
	for _, c := range j.Relayed {
		n.ofNoUse(c)
	}
	for _, c := range j.Genuine {
		n.hearsay.witnesses.Earned(n.now, c.Neighbor())
		n.hearsay.witnesses.Shown(n.now, c.Origin(), c.Feed)
	}
	for _, c := range j.Doubtful {
		n.hearsay.witnesses.Doubt(n.now, c.Origin(), c.Neighbor())
	}
	for _, c := range j.Excused {
		n.ofNoUse(c)
		n.accounts.ledger.Revoked(n.now, n.accounts.ledger.HolderOf(c.Neighbor()), incentive.Credit(c.Earned))
		n.saveAccounts()
	}
	for len(j.Forged) > 0 {
		h, value := n.accounts.ledger.HolderOf(j.Forged[0].Neighbor()), incentive.Credit(0)
		j.Forged = slices.DeleteFunc(j.Forged, func(c trust.Claim) bool {
			if n.accounts.ledger.HolderOf(c.Neighbor()) != h {
				return false
			}
			n.ofNoUse(c)
			n.hearsay.witnesses.Convicted(c.Neighbor())
			value += incentive.Credit(c.Value)
			return true
		})
		n.punish(h, incentive.ForgedEntry, value) // several are one offence, and are fined each
	}
}

// ofNoUse takes back what a claim did for the usefulness of the neighbor: one that keeps bringing what its publisher
// does not have ends as the least useful.
func (n *Node) ofNoUse(c trust.Claim) {
	if l := n.linkTo(c.Neighbor()); l != nil {
		n.table.Brought(n.now, l.peer, -neighbors.Usefulness(c.Earned))
	}
}
