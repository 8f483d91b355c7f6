package node

import (
	"encoding/json"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

const (
	// saveAccountsAfter is how long accounts that changed wait to be kept: they change with every delivery.
	saveAccountsAfter = 5 * time.Second
)

// accounts are what neighbors give and get (Paper §3.5).
type accounts struct {
	ledger   *incentive.Ledger
	earnings *incentive.Earnings
	quota    *incentive.Quota

	saving bool   // keepAccounts is to be called
	text   []byte // a buffer for the account that is written
}

// newAccounts takes up the accounts that the archive keeps. One that cannot be read starts anew.
func (n *Node) newAccounts() error {
	ledger, err := incentive.NewLedger(n.config.Incentive)
	if err != nil {
		return err
	}
	var list []incentive.Account
	for _, kept := range n.store.LoadAccounts() {
		var a incentive.Account
		if json.Unmarshal(kept.Text, &a) == nil {
			list = append(list, a)
		}
	}
	ledger.Load(n.now, list)
	n.accounts = accounts{
		ledger: ledger, earnings: incentive.NewEarnings(n.config.Incentive.Ablate),
		quota: incentive.NewQuota(ledger, n.config.MaxNeighbors),
	}
	n.recallStored()
	return nil
}

// saveAccounts keeps what changed in the accounts, in a moment.
func (n *Node) saveAccounts() {
	if n.accounts.saving {
		return
	}
	n.accounts.saving = true
	n.after(saveAccountsAfter, n.keepAccounts)
}

// keepAccounts keeps what changed in the accounts.
func (n *Node) keepAccounts() {
	n.accounts.saving = false
	n.accounts.ledger.Expire(n.now)
	dropped, changed := n.accounts.ledger.Changed()
	for _, h := range dropped {
		n.store.DropAccount(h.String())
	}
	for _, a := range changed {
		n.accounts.text = a.AppendJSON(n.accounts.text[:0])
		n.store.KeepAccount(archive.Account{Holder: a.Holder.String(), Text: n.accounts.text})
	}
}

// earn books what a neighbor gave us: c_{j,i} of Paper §3.5. It may be sent more now.
func (n *Node) earn(l *link, entries int, u feed.URL) {
	n.earnValue(l, n.valueHere(l, entries, u))
}

// valueHere is what so many entries of the feed are worth to us, coming from that neighbor: nothing, if we
// do not want them from it.
func (n *Node) valueHere(l *link, entries int, u feed.URL) incentive.Credit {
	hops := n.table.Hops(u, l.peer)
	if hops < 0 {
		return 0
	}
	return incentive.Value(entries, hops)
}

func (n *Node) earnValue(l *link, v incentive.Credit) {
	if v <= 0 {
		return
	}
	n.accounts.ledger.Got(n.now, l.holder, v)
	n.table.Brought(n.now, l.peer, neighbors.Usefulness(v))
	n.saveAccounts()
	n.pumpHolder(l)
}

// pumpHolder goes on with every neighbor that has the account of l, because there is room in it.
func (n *Node) pumpHolder(l *link) {
	if !l.over && !l.shared {
		n.pump(l)
		return
	}
	for _, other := range n.linked {
		if other.holder == l.holder {
			n.pump(other)
		}
	}
}

// stored notes what a bundle, whose entries are all here now, earns for the neighbor that brought it, nil
// for an own poll. polled are those of its young entries that stood in one before.
func (n *Node) stored(b *protocol.Bundle, fresh []feed.Entry, from *link, polled ...feed.EntryID) {
	if from == nil {
		n.accounts.earnings.Stored(n.now, b, fresh, incentive.Holder{})
		return
	}
	earned := n.accounts.earnings.Stored(n.now, b, fresh, from.holder, polled...)
	n.claimed(from, b, fresh, earned)
	n.earn(from, earned, b.Feed)
	n.payArrears()
}

// payArrears books what neighbors earned later than they brought it.
func (n *Node) payArrears() {
	for _, a := range n.accounts.earnings.Arrears() {
		var from *neighbors.Neighbor
		if l := n.linkHeldBy(a.Holder); l != nil {
			from = l.peer
		}
		if hops := n.table.Hops(a.Feed, from); hops >= 0 {
			n.earnLate(a.Holder, incentive.Value(a.Entries, hops))
		}
	}
}

// earnLate books what the holder, who may be gone, earned with something that it brought before.
func (n *Node) earnLate(h incentive.Holder, v incentive.Credit) {
	if v <= 0 {
		return
	}
	if l := n.linkHeldBy(h); l != nil {
		n.earnValue(l, v)
		return
	}
	n.accounts.ledger.Got(n.now, h, v)
	n.saveAccounts()
}

// linkHeldBy is a link with the account of h, nil where there is none.
func (n *Node) linkHeldBy(h incentive.Holder) *link {
	if i := slices.IndexFunc(n.linked, func(l *link) bool { return l.holder == h }); i >= 0 {
		return n.linked[i]
	}
	return nil
}

// offeredSeen answers the offer of a bundle that we have. It earns as a delivery would have: it would have
// served us as well, only later. Now and then we say "unseen" to find out whether it is true.
func (n *Node) offeredSeen(l *link, did protocol.DID) protocol.Seen {
	u, entries := n.accounts.earnings.Offered(n.now, l.holder, did)
	n.payArrears()
	value := n.valueHere(l, entries, u)
	switch {
	case value <= 0:
	case l.mustShow():
		l.pending += value
	case len(l.owed) < protocol.MaxPromises && n.accounts.ledger.Audit(n.rng, l.holder):
		n.status.Counters.Audits++
		n.owe(l, did, value)
		return false
	default:
		n.earnValue(l, value)
	}
	return true
}

// deliveredAgain takes in the delivery of a bundle that is here already: it ends an audit, or earns what
// was promised before another way was faster.
func (n *Node) deliveredAgain(l *link, b *protocol.Bundle) {
	o, asked := n.strike(l, b.DID)
	switch {
	case !asked:
		return
	case b.Verify() != nil:
		l.pending = 0
		n.punish(l.holder, incentive.WrongDID, o.audit)
		return
	}
	records, ids := n.recordsOf(l, b)
	n.corroborate(l, b, records, n.shared.Known(ids))
	if n.shown(l, o.audit); o.audit == 0 {
		u, entries := n.accounts.earnings.Offered(n.now, l.holder, b.DID)
		n.earn(l, entries, u)
		n.payArrears()
	}
}

// forgive goes on with a neighbor where neither side gives anything any more, because each stands at the other's bound.
func (n *Node) forgive(l *link) {
	if !l.over && len(l.waiting) > 0 && n.keptShort(l) && n.accounts.ledger.Forgive(n.now, l.holder) {
		n.saveAccounts()
		n.pumpHolder(l)
	}
}

// offences are what it means that a bundle was refused for this reason.
var offences = map[protocol.Code]incentive.Offence{
	protocol.BadDID:       incentive.WrongDID,
	protocol.BadBundle:    incentive.MalformedBundle,
	protocol.TooLong:      incentive.MalformedBundle,
	protocol.UnwantedFeed: incentive.UnwantedFeed,
}

// punish counts an offence. A holder without standing left loses every link, and is refused for a while.
func (n *Node) punish(h incentive.Holder, o incentive.Offence, value incentive.Credit) {
	ended := n.accounts.ledger.Punish(n.now, h, o, value)
	n.saveAccounts()
	for _, l := range slices.Clone(n.linked) {
		if l.holder != h {
			continue
		}
		n.suspect(l.id(), o.String())
		if ended {
			n.dismiss(l, "it broke the rules too often, last: "+o.String())
		}
	}
}

// dismiss ends a link from our side, and says so.
func (n *Node) dismiss(l *link, reason string) {
	n.call(Target{Node: l.id()}, l.token, protocol.Disconnect{Reason: reason}, callTimeout, func(Answered) {})
	n.part(l, reason)
	n.book.Failed(n.now, l.id())
}

// refused reports whether the node wants no link with id at present.
func (n *Node) refused(id protocol.NodeID) bool {
	_, refused := n.accounts.ledger.Refused(n.now, n.accounts.ledger.HolderOf(id))
	return refused
}

// worth is what a bundle is worth to the neighbor: its own hop count of interest counts, and old entries
// are worth nothing to anybody.
func (n *Node) worth(l *link, b *protocol.Bundle) incentive.Credit {
	hops, _ := l.peer.Hops(b.Feed)
	return incentive.Value(incentive.Young(n.now, b.Entries), hops)
}

// allowance is how much may still be offered to the neighbor: what its account allows, less what it, or
// another node of the same holder, was offered already.
func (n *Node) allowance(l *link) incentive.Credit {
	left := n.accounts.ledger.Allowance(l.holder)
	if left == incentive.MaxCredit {
		return left
	}
	if !l.shared {
		return left - l.promised()
	}
	for _, other := range n.linked {
		if other.holder == l.holder {
			left -= other.promised()
		}
	}
	return left
}

// promised is what the neighbor was offered and may still get.
func (l *link) promised() (sum incentive.Credit) {
	for _, o := range l.offers {
		if !o.paid {
			sum += o.value
		}
	}
	return sum
}

// fit is the part of a bundle that may be sent for so much: the bundle itself, or as many of its first
// entries as a bundle of their own and the rest as another; nil where not even one entry fits.
func (n *Node) fit(l *link, b *protocol.Bundle, allowance incentive.Credit) (now, rest *protocol.Bundle) {
	if n.worth(l, b) <= allowance {
		return b, nil
	}
	hops, _ := l.peer.Hops(b.Feed)
	room, count := int(max(allowance, 0)/incentive.Value(1, hops)), 0
	for young := 0; count < len(b.Entries); count++ {
		if young += incentive.Young(n.now, b.Entries[count:count+1]); young > room {
			break
		}
	}
	if count == 0 {
		return nil, b
	}
	now, rest = protocol.NewBundle(b.Feed, b.Entries[:count]), protocol.NewBundle(b.Feed, b.Entries[count:])
	now.Path, rest.Path = b.Path, b.Path
	n.gossip.seen.add(now.DID) // its entries are stored
	n.stored(now, nil, nil)
	return now, rest
}
