package membership

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"time"

	"feedex/node/internal/core"
	"feedex/protocol"
)

// An openConnect is what is known of the connects to a node that are under way.
type openConnect struct {
	connects  int
	challenge string           // what it is to sign
	proved    protocol.NodeKey // the key that it proved by that when it called back
}

// key is the node's own key, the zero key for none.
func (m *Machine) key() protocol.NodeKey { return protocol.NodeKeyOf(m.Config.Key) }

// isOwn reports whether a key is the node's own.
func (m *Machine) isOwn(key protocol.NodeKey) bool { return !key.IsZero() && key == m.key() }

// challenge is what a node is to sign so that its key is believed: another one each time, which nobody foretells.
func (m *Machine) challenge(to protocol.NodeID) string {
	mac := hmac.New(sha256.New, m.Config.Secret)
	mac.Write([]byte("challenge " + to.String() + " " + m.Now.Format(time.RFC3339Nano)))
	return protocol.ChallengeOf([sha256.Size]byte(mac.Sum(nil)))
}

// dialled reports whether the maker of a proof dialled this node, as far as the node knows its own address. If it did
// not, the proof went through the hands of another node, which would pass for its maker.
func (m *Machine) dialled(from protocol.NodeID, p protocol.KeyProof) bool {
	self := m.SureSelf()
	return self.Dialled(from, p.Dialled)
}

// SureSelf are the node's own ids of which a neighbor says still that they are, because its address may have changed
// since, and those on its own networks.
func (m *Machine) SureSelf() core.Selves {
	sure := core.Selves{Here: m.here, Near: m.near.own, AllowLocal: m.Config.AllowLocal}
	for voter, id := range m.votes {
		if m.LinkTo(voter) != nil && m.Self.Has(id) {
			*sure.By(id) = id
		}
	}
	return sure
}

// ToldSelf is the one of the node's own ids that people are to hear of, zero for none: that at which others can dial
// it, as behind a carrier's router for IPv4 they can by IPv6 alone.
func (m *Machine) ToldSelf() protocol.NodeID {
	if by4, by6 := m.Self.By4, m.Self.By6; by4.IsZero() || m.reach.by6.dialled && !m.reach.by4.dialled {
		return cmp.Or(by6, by4)
	}
	return m.Self.By4
}

// sameKey reports whether the link to id, if there is one, is to the node that has the key. A neighbor that showed a
// key is not replaced by one that has none, or another, but asked whether it is still there.
func (m *Machine) sameKey(id protocol.NodeID, key protocol.NodeKey) bool {
	l := m.LinkTo(id)
	if l == nil || l.Key.IsZero() || l.Key == key {
		return true
	}
	if !Of(l).probing {
		m.knock(l)
	}
	return false
}

// alreadyAt is why there is to be no link to id with a node that proved the key: it is a neighbor by another address
// that it has beside that, on our own network or by the other version of IP, and would come and go by the two. One
// whose address changed has another of the same kind, and a link without a reverse one is better than one with it. It
// is nil where there is no such neighbor.
func (m *Machine) alreadyAt(id protocol.NodeID, key protocol.NodeKey, reverse bool) error {
	l := m.linkWithKey(key)
	switch {
	case l == nil || l.ID() == id, !reverse && (l.Dialling || l.ID().Hosted()):
		return nil
	case !m.Local(l.ID()) && l.ID().Addr().Is4() == id.Addr().Is4():
		return nil
	}
	if Of(l).alsoAt(id); !Of(l).probing {
		m.knock(l) // whether it is still there
	}
	return &linkedAt{l.ID()}
}

// linked reports whether a node is a neighbor, at that address or, as it proved, at another that it has beside it.
func (m *Machine) linked(id protocol.NodeID) bool {
	return m.LinkTo(id) != nil ||
		slices.ContainsFunc(m.Links, func(l *core.Link) bool { return slices.Contains(Of(l).also, id) })
}

// A linkedAt is the error of a connect to a node that is a neighbor already, by another id.
type linkedAt struct{ id protocol.NodeID }

func (e *linkedAt) Error() string { return "it is a neighbor already, at " + e.id.String() }

// linkWithKey is the link to the node that proved the key, nil where there is none.
func (m *Machine) linkWithKey(k protocol.NodeKey) *core.Link {
	for _, l := range m.Links {
		if !k.IsZero() && l.Key == k {
			return l
		}
	}
	return nil
}

// recognize gives neighbors that have given enough accounts of their own, and notes which of them are settled.
func (m *Machine) recognize() {
	for _, l := range m.Links {
		l.Peer.Settled = m.Ledger.Settled(m.Now, l.Holder)
		if m.Ledger.Recognize(m.Now, l.ID(), l.Key, l.Given, l.Got, l.Net) {
			l.Holder = m.Ledger.HolderOf(l.ID())
			m.noteShared()
			m.SaveAccounts()
		}
	}
}
