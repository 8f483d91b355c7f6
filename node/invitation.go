package node

import (
	"cmp"
	"errors"

	"feedex/invitation"
)

// Why a node has no invitation of its own. Owners may know an address of it all the same.
var (
	ErrNoKey = errors.New("the node has no key in this run, as its log says; mend that and start it again")
	// ErrUndialled says that others cannot dial the node.
	ErrUndialled = errors.New("others cannot dial this node, so its address leads nowhere: have your friend invite " +
		"you, or see in 'feedex doctor network' what would let others in")
	// ErrNoAddress says that the node does not know where others dial it.
	ErrNoAddress = errors.New("the node does not know its address yet, because neither its router nor three " +
		"neighbors have told it")
)

// Invitation is the invitation to the node, without feeds: by the host:port that its owner says, or else by the one
// that was found (reach.Facts.At), either "" for none. The error is ErrNoKey, ErrUndialled, ErrNoAddress or what is
// wrong with the host:port.
func (s *Status) Invitation(said, found string) (invitation.Invitation, error) {
	i := invitation.Invitation{Host: cmp.Or(said, found), Key: s.Key}
	switch {
	case s.Key.IsZero():
		return i, ErrNoKey
	case said == "" && s.Undialled:
		return i, ErrUndialled
	case i.Host == "":
		return i, ErrNoAddress
	}
	return i, i.Check()
}
