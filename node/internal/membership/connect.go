package membership

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// NeighborList names our neighbors to one of them: of more than a list holds some, by chance.
func (m *Machine) NeighborList(asker protocol.NodeID) protocol.NodeList {
	var list protocol.NodeList
	for _, p := range m.Table.All() {
		if p.ID != asker && !m.Secluded(p.ID) {
			list = append(list, p.ID)
		}
	}
	m.Rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), protocol.MaxNeighborList)]
}

const (
	// MaxVouching is how many callers are called back at a time before they are believed, and how many more that we
	// know already. A set of more feeds than introduce a node counts for several: it is kept meanwhile. Where there are
	// no more places for them, package admission says which network's caller waits in vain: one that did not vouch
	// within VouchPatience.
	MaxVouching   = 64
	VouchPatience = 2 * time.Second
	// connectTimeout leaves the other side time to call us back.
	connectTimeout = 15 * time.Second
)

// Token is the text that we send to a node so that it knows our calls from those of other nodes that share our address:
// a keyed hash, so nothing needs to be kept.
func (m *Machine) Token(to protocol.NodeID) string {
	mac := hmac.New(sha256.New, m.Config.Secret)
	mac.Write([]byte(to.String()))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// callable reports whether the node may call id at all: nobody must be able to send our calls to
// services on this machine, a private network, or below the ports of ordinary programs. On the networks that this
// machine is on, those nodes are called that the host discovered there.
func (m *Machine) callable(id protocol.NodeID) bool {
	return (id.Port() >= protocol.LowestPort || id.Hosted()) && !m.Self.Has(id) &&
		(m.Config.AllowLocal || feed.PublicAddr(id.Addr()) || m.near.has(id))
}

// connect is Connect where it is clear whether the node is to call us over a reverse link.
//
// Paper §3.1: "If the connected node Q decides to accept the connecting node P, Q returns its
// subscription set to P. [...] If Q decides not to accept P (for example, because Q's neighbor capacity
// is full), it returns an empty set."
func (m *Machine) connect(to protocol.NodeID, static string, key protocol.NodeKey, reverse bool,
	done func(err error)) {
	offered := m.Table.Introduction(to)
	token := m.Token(to)
	m.Boot.Connecting++
	asked := m.Boot.asked[token]
	if asked == nil {
		asked = &openConnect{challenge: m.challenge(to)}
		m.Boot.asked[token] = asked
	}
	asked.connects++
	call := protocol.Connect{Subset: offered, Away: m.Away(), Reverse: reverse}
	if call.Key = m.key(); !call.Key.IsZero() {
		call.Challenge = asked.challenge
	}
	m.Call(core.Target{Node: to}, token, call, connectTimeout,
		func(a core.Answered) {
			m.Boot.Connecting--
			if asked.connects--; asked.connects == 0 {
				delete(m.Boot.asked, token)
			}
			subset, ignored := answeredSet(a.Reply)
			already := m.alreadyAt(to, asked.proved, reverse)
			switch {
			case a.Err != nil:
				done(a.Err)
				return
			case len(subset) == 0 && already != nil && (key.IsZero() || key == asked.proved):
				done(already)
				return
			case len(subset) == 0:
				done(errDeclined)
				return
			}
			chosen := to != m.Boot.named
			holder := m.Ledger.Claimed(to, asked.proved)
			victim, ok := m.place(to, holder, chosen, subset)
			ok = ok && m.sameKey(to, asked.proved)
			why := errNoPlace
			switch {
			case !key.IsZero() && asked.proved != key:
				why, ok = ErrOtherKey, false
			case already != nil:
				why, ok = already, false
			}
			if !ok || m.Ledger.RefusedAt(m.Now, to, holder) || static == "" && m.banned(to, holder) {
				// Others came while we asked, or it lost its standing. It believes in a link: tell it.
				m.Call(core.Target{Node: to}, token, protocol.Disconnect{Reason: why.Error()}, core.CallTimeout,
					func(core.Answered) {})
				done(why)
				return
			}
			m.giveWay(victim)
			if old := m.LinkTo(to); old != nil && old.Dialling && !reverse {
				m.Do(core.Release{To: to})
			}
			m.Join(to, asked.proved, chosen, static, token, a.Session, subset, offered)
			l := m.LinkTo(to)
			l.Dialling = reverse
			if len(offered) == neighbors.MaxIntroduction {
				m.tellSoon(l) // the rest
			}
			m.JudgeSubset(l, len(subset), ignored) // which may end the link
			done(nil)
		})
}

// answeredSet is the set that answers a connect, and how much of it was left out because it makes no sense.
func answeredSet(r protocol.Reply) (subset protocol.Subset, ignored int) {
	if flawed, ok := r.(protocol.FlawedSubset); ok {
		return flawed.Subset, flawed.Ignored
	}
	subset, _ = r.(protocol.Subset)
	return subset, 0
}

// How a connect may end without a link, although everybody answered.
var (
	errDeclined = errors.New("it declined: it has no place for this node at present; try again later")
	errNoPlace  = errors.New("there is no place any more")
	ErrItself   = errors.New("that is this node itself")
	ErrRefused  = errors.New("it broke the rules too often and is refused for a while")
	ErrNoNode   = errors.New("no node answers there, but something else, as a tracker would; the address of a " +
		"tracker is its URL, such as http://tracker.example.net:7788/")
	ErrNoTracker = errors.New("a node answers there, and no tracker; a node is named by its host:port, without http://")
	ErrOtherKey  = errors.New("the node there did not show the key of the invitation; ask for a new link")
)

// AskedConnect decides about a node that wants to become a neighbor. The port in its call is only its
// word, so it is called back there before it is believed.
func (m *Machine) AskedConnect(ev core.Asked, c protocol.Connect) {
	seen := ev.From
	if c.Reverse {
		ev.From = protocol.HostedID(seen.Addr(), c.Key)
	}
	switch {
	case ev.From.IsZero():
		m.Refuse(ev, protocol.Faultf(protocol.NotVouched, "a reverse link belongs to a key"))
		return
	case ev.Session != "" && m.Boot.asked[ev.Session] != nil || !c.Key.IsZero() && c.Key == m.key():
		m.Refuse(ev, protocol.Faultf(protocol.NotVouched, "this is the node itself"))
		return
	case !m.callable(ev.From):
		m.Refuse(ev, protocol.Faultf(protocol.Unreachable,
			"%s is not a public address; it cannot be called back", seen))
		return
	case len(c.Subset) == 0:
		m.Refuse(ev, protocol.Faultf(protocol.BadSubset, "the subset names no feed"))
		return
	}
	claimed := m.Ledger.Claimed(ev.From, c.Key)
	switch {
	case !m.sameKey(ev.From, c.Key):
		m.Refuse(ev, otherKey(ev.From))
		return
	case m.Ledger.RefusedAt(m.Now, ev.From, claimed):
		m.Refuse(ev, refusal(ev.From))
		return
	}
	if _, ok := m.place(ev.From, claimed, m.asking(ev.From), c.Subset); !ok || m.banned(ev.From, claimed) ||
		m.Table.Silent(ev.From) {
		m.Respond(ev, protocol.Subset{})
		return
	}
	pool := m.Boot.Vouching
	if m.Book.Acquainted(ev.From) {
		pool = m.Boot.returning
	}
	place, gaveUp := pool.Enter(m.Now, ev.From.Addr(), 1+len(c.Subset)/(neighbors.MaxIntroduction+1), ev)
	for _, other := range gaveUp {
		m.refuseConnect(other.Of)
		other.Of = core.Asked{} // its set is kept no longer
	}
	if place == nil {
		m.refuseConnect(ev)
		return
	}
	vouch := protocol.Vouch{Session: ev.Session}
	if own := m.key(); !own.IsZero() && !c.Key.IsZero() {
		vouch.Key, vouch.Challenge = own, m.challenge(ev.From)
		vouch.Proof = protocol.ProveKey(m.Config.Key, protocol.ProvesLink, c.Key, c.Challenge, seen)
	}
	m.Call(core.Target{Node: ev.From}, m.Token(ev.From), vouch, core.CallTimeout, func(a core.Answered) {
		if pool.Leave(place) {
			m.vouched(place.Of, vouch.Challenge, a)
		}
	})
}

func (m *Machine) refuseConnect(ev core.Asked) {
	m.Refuse(ev, protocol.Faultf(protocol.Busy, "too many connects at once; try again later"))
}

// refusal is the answer to a caller that lost its standing.
func refusal(id protocol.NodeID) *protocol.Fault {
	return protocol.Faultf(protocol.Dropped, "%s broke the rules too often; come back another day", id.Addr())
}

// otherKey is the answer to a caller at the address and port of another.
func otherKey(id protocol.NodeID) *protocol.Fault {
	return protocol.Faultf(protocol.NotVouched, "%s was another node, by its key, a moment ago; try again", id)
}

// asking reports whether a connect of our own choice to id is under way.
func (m *Machine) asking(id protocol.NodeID) bool {
	return len(m.Boot.asked) > 0 && id != m.Boot.named && m.Boot.asked[m.Token(id)] != nil
}

// vouched admits the caller of a connect if the node at its address stands by the call. challenge is what its key was
// to sign.
func (m *Machine) vouched(ev core.Asked, challenge string, a core.Answered) {
	c, old := ev.Call.(protocol.Connect), m.LinkTo(ev.From)
	proof, proved := a.Reply.(protocol.KeyProof)
	switch {
	case !protocol.Spoke(a.Err):
		m.Refuse(ev, protocol.Faultf(protocol.Unreachable, "%s does not answer; check its port and firewall", ev.From))
		return
	case proved && !proof.Proves(protocol.ProvesLink, c.Key, m.key(), challenge):
		m.Refuse(ev, protocol.Faultf(protocol.NotVouched, "the node at %s has not the key that it names", ev.From))
		return
	case c.Reverse && (!proved || !m.dialled(ev.From, proof)):
		m.Refuse(ev, protocol.Faultf(protocol.NotVouched, "%s proved no key for a reverse link to this node", ev.From))
		return
	case !protocol.StandsBy(a.Reply) && !(isPlain(a.Err) && ev.Session == ""),
		ev.Session == "" && old != nil && old.Session != "":
		m.Refuse(ev, protocol.Faultf(protocol.NotVouched, "the node at %s did not send this connect", ev.From))
		return
	}
	var key protocol.NodeKey
	if proved && m.dialled(ev.From, proof) {
		key = c.Key
	}
	offered := m.Table.Offer(ev.From)
	holder := m.Ledger.Claimed(ev.From, key)
	if !m.sameKey(ev.From, key) {
		m.Refuse(ev, otherKey(ev.From))
		return
	}
	if m.alreadyAt(ev.From, key, c.Reverse) != nil {
		m.Respond(ev, protocol.Subset{})
		return
	}
	victim, ok := m.place(ev.From, holder, m.asking(ev.From), c.Subset)
	switch { // much may have happened meanwhile
	case m.Ledger.RefusedAt(m.Now, ev.From, holder):
		m.Refuse(ev, refusal(ev.From))
		return
	case !ok || len(offered) == 0 || m.banned(ev.From, holder):
		m.Respond(ev, protocol.Subset{})
		return
	}
	// Only now is it sure that the caller is the node that it says, and not somebody behind the same address. A caller
	// that is declined does not make a neighbor begin anew again and again.
	if m.Bans.countConnect(m.Now, m.party(ev.From, holder)) {
		m.Refuse(ev, protocol.Faultf(protocol.Busy, "more than %d connects within an hour; try again later",
			connectsAnHour))
		if !c.Reverse { // of others at its address it is no fault
			m.Punish(holder, incentive.ConnectStorm, 0)
		}
		return
	}
	m.giveWay(victim)
	token := m.Token(ev.From)
	m.Do(core.Respond{Tag: ev.Tag, Reply: offered, Session: token})
	m.Join(ev.From, key, m.asking(ev.From), "", token, ev.Session, c.Subset, offered)
	m.LinkTo(ev.From).Away = c.Away
	m.JudgeSubset(m.LinkTo(ev.From), len(c.Subset), c.Ignored)
}

// isPlain reports whether a call ended with a fault that shows a node of another make, which knows the
// paper's methods and no more. One of our own kind that is merely busy must not be taken for one.
func isPlain(err error) bool {
	var refused *protocol.RemoteError
	return errors.As(err, &refused) && refused.Code < protocol.UnknownNeighbor && refused.Code != protocol.Internal
}

// AskedVouch tells whether we sent the caller a connect with that token, or send it with our calls. To a caller that
// shows its key we show ours.
func (m *Machine) AskedVouch(ev core.Asked, c protocol.Vouch) {
	asked := m.Boot.asked[c.Session]
	switch ours := c.Session == m.Token(ev.From); {
	case !ours || asked == nil || c.Key.IsZero() || m.key().IsZero():
		m.Respond(ev, protocol.Vouched(ours && (asked != nil || m.LinkTo(ev.From) != nil)))
	case !c.Proof.Proves(protocol.ProvesLink, c.Key, m.key(), asked.challenge):
		m.Refuse(ev, protocol.Faultf(protocol.NotVouched, "the proof is not that of the key, or of another connect"))
	default:
		if m.dialled(ev.From, c.Proof) {
			asked.proved = c.Key
		}
		m.Respond(ev, protocol.ProveKey(m.Config.Key, protocol.ProvesLink, c.Key, c.Challenge, ev.From))
	}
}

// SayGoodbye tells all neighbors that the node goes.
func (m *Machine) SayGoodbye() {
	for _, l := range m.Links {
		l.Over = true
		m.Table.Remove(l.ID())
		m.Call(core.Target{Node: l.ID()}, l.Token, protocol.Disconnect{Reason: "the node stops"}, core.CallTimeout,
			func(core.Answered) {})
		m.keepParted(l)
	}
}

// minVoters is how many neighbors must have spoken, of those that we know by a version of IP, until we believe what
// more than half of them say: one or two may lie.
const minVoters = 3

// learnSelf counts a neighbor's word about our id. Hosted ones have none: one machine may be all of them. Nor
// have those on our own network, to which we are at another address.
func (m *Machine) learnSelf(l *core.Link, id protocol.NodeID) {
	of4 := id.Addr().Is4()
	if id.Port() != m.Config.Port || m.Secluded(l.ID()) || l.ID().Addr().Is4() != of4 {
		return
	}
	votes := m.votes
	votes[l.ID()] = id
	for voter := range votes {
		if m.LinkTo(voter) == nil {
			delete(votes, voter)
		}
	}
	agree, voters := make(map[protocol.NodeID]int), 0
	for _, vote := range votes { // the others may agree, whichever spoke last
		if vote.Addr().Is4() == of4 {
			agree[vote]++
			voters++
		}
	}
	for vote, n := range agree {
		if voters >= minVoters && 2*n > voters {
			*m.Self.By(vote) = vote
			m.Book.Forget(vote)
		}
	}
}

// NamedBy is our id by a neighbor's word, the zero id where it said nothing.
func (m *Machine) NamedBy(id protocol.NodeID) protocol.NodeID { return m.votes[id] }
