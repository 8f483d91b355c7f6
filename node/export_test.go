package node

import (
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/node/internal/membership"
	"feedex/node/internal/poller"
	"feedex/node/internal/query"
	"time"
)

func (n *Node) Core() *core.Core                { return n.core }
func (n *Node) Poller() *poller.Machine         { return n.poller }
func (n *Node) Exchange() *exchange.Machine     { return n.exchange }
func (n *Node) Membership() *membership.Machine { return n.membership }
func (n *Node) Query() *query.Machine           { return n.query }

// Within has f act on the node as a step of its own would.
func (n *Node) Within(dst []Effect, now time.Time, f func(*Node)) []Effect {
	n.core.Begin(dst, now)
	f(n)
	return n.core.End()
}
