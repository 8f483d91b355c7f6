package membership

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"feedex/guard"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// ErrNothingToOffer says why a node that follows nothing has no neighbors: whoever asks for a link names its feeds. One
// that was not read yet is not told of.
var ErrNothingToOffer = errors.New("the node has read no feed yet that neighbors may know of: follow one, and see in " +
	"'feedex feeds' that it was read")

// JoinHost makes a neighbor of the node that the owner was invited by.
func (m *Machine) JoinHost(ev core.Join) {
	end := func(peer protocol.NodeID, err error) { m.Do(core.Joined{Tag: ev.Tag, Peer: peer, Err: err}) }
	switch {
	case m.isOwn(ev.Key):
		end(protocol.NodeID{}, ErrItself)
		return
	case m.Table.Silent(protocol.NodeID{}):
		end(protocol.NodeID{}, ErrNothingToOffer)
		return
	}
	m.Call(core.Target{Host: ev.Host}, "", protocol.WhoAmI{}, core.CallTimeout, func(a core.Answered) {
		key := cmp.Or(ev.Key, a.Key)
		switch l := m.LinkTo(a.Peer); {
		case m.isOwn(key):
			end(a.Peer, ErrItself)
		case errors.Is(a.Err, guard.ErrForbidden):
			end(a.Peer, a.Err)
		case a.Peer.IsZero() || !protocol.Spoke(a.Err):
			end(a.Peer, fmt.Errorf("no node answers there; ask whether it runs and can be reached: %w", a.Err))
		case l != nil && (l.Key == key || key.IsZero()):
			end(a.Peer, nil)
		case l != nil:
			end(a.Peer, ErrOtherKey)
		case m.Refused(a.Peer):
			end(a.Peer, ErrRefused)
		default:
			m.Connect(a.Peer, "", key, func(err error) {
				if already, is := errors.AsType[*linkedAt](err); is {
					end(already.id, nil)
					return
				}
				end(a.Peer, noNode(err))
			})
		}
	})
}

// noNode is ErrNoNode in place of the error of a connect that who answers does not know, or has no place for the
// parameters of: a tracker, which tells whoever asks who they are, too.
func noNode(err error) error {
	if refusedFor(err, protocol.UnknownMethod, protocol.TooLong) {
		return ErrNoNode
	}
	return err
}

// noTracker is ErrNoTracker in place of the error of who is asked for nodes and tells them to neighbors alone: a node.
func noTracker(err error) error {
	if refusedFor(err, protocol.UnknownNeighbor, protocol.NotVouched) {
		return ErrNoTracker
	}
	return err
}

// refusedFor reports whether a call was refused by one of the codes.
func refusedFor(err error, codes ...protocol.Code) bool {
	var refused *protocol.RemoteError
	return errors.As(err, &refused) && slices.Contains(codes, refused.Code)
}
