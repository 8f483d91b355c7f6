package node

import (
	"errors"

	"feedex/invitation"
)

// Why a node has no invitation of its own. Owners may know an address of it all the same.
var (
	ErrNoKey = errors.New("the node has no key in this run, as its log says; mend that and start it again")
	// ErrUndialled says that others cannot dial the node.
	ErrUndialled = errors.New("others cannot dial this node, so its address leads nowhere: forward its port on your " +
		"router, or have your friend invite you")
	// ErrNoAddress says that the node does not know where others dial it.
	ErrNoAddress = errors.New("the node does not know its address yet, because fewer than three neighbors have told it")
)

// Invitation is the invitation to the node, without feeds: by the address at which neighbors see it. The error is
// ErrNoKey, ErrUndialled or ErrNoAddress.
func (s *Status) Invitation() (i invitation.Invitation, err error) {
	switch i.Key = s.Key; {
	case s.Key.IsZero():
		return i, ErrNoKey
	case s.Undialled:
		return i, ErrUndialled
	case s.Self.IsZero():
		return i, ErrNoAddress
	}
	i.Host = s.Self.String()
	return i, nil
}
