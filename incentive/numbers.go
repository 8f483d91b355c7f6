package incentive

import "feedex/internal/ordered"

// nobody is the number of no holder.
const nobody = 0

// numbers gives holders numbers, for lists of them that there are thousands of.
type numbers struct {
	byHolder ordered.Map[Holder, uint32]
	last     uint32
}

// maxNumbered is how many holders are remembered. Then all are forgotten and get new numbers: as many newcomers
// could do as much harm, each for itself.
const maxNumbered = 4 * maxAccounts

// of is the number of h, which may be new.
func (n *numbers) of(h Holder) uint32 {
	if h == (Holder{}) {
		return nobody
	}
	number := n.byHolder.Get(h)
	if number == nil {
		if n.byHolder.Len() >= maxNumbered {
			n.byHolder = ordered.Map[Holder, uint32]{}
		}
		n.last++
		number = n.byHolder.Put(h, n.last)
	}
	return *number
}

// known is the number of h, if it has one.
func (n *numbers) known(h Holder) (number uint32, ok bool) {
	if known := n.byHolder.Get(h); known != nil {
		return *known, true
	}
	return 0, false
}
