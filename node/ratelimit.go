package node

import (
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// overLimit refuses a call that is beyond what its caller may cause. l is the link that it came over, nil for
// none.
func (n *Node) overLimit(ev Asked, l *core.Link) bool {
	if l == nil {
		if n.core.Trusted(n.core.Ledger.HolderOf(ev.From)) || !n.core.Limits.Stranger(n.core.Now, ev.From.Addr()) {
			return false
		}
		n.core.Refuse(ev, protocol.Faultf(protocol.Busy,
			"too many calls within a minute from nodes that are not linked with this one; try again later"))
		return true
	}
	over, first := l.Usage.Call(n.core.Now, ev.Call)
	if !over || n.core.Trusted(l.Holder) {
		return false
	}
	n.core.Refuse(ev, core.ErrExhausted)
	if first {
		n.membership.Punish(l.Holder, incentive.CallFlood, 0)
	}
	return true
}
