package lab

import (
	"fmt"

	"feedex/protocol"
)

// Move gives a member that is gone another address, with which it is to Return. It keeps its archive. Nobody
// is at the old address any more. The error wraps ErrConfig.
func (h *Host) Move(id protocol.NodeID) error {
	switch {
	case h.Running():
		return fmt.Errorf("%w: %s is to move while it runs", ErrConfig, h.Name)
	case h.world.byID[id] != nil:
		return fmt.Errorf("%w: two members have the address %s", ErrConfig, id)
	}
	delete(h.world.byID, h.ID)
	h.ID, h.seen, h.addressBytes = id, id, len(id.String())
	h.world.byID[id] = h
	return nil
}

// NewKey has a host that does not run begin under another key.
func (h *Host) NewKey() { h.keys++ }
