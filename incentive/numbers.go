package incentive

// nobody is the number of no holder.
const nobody = 0

// numbers gives holders numbers, for lists of them that there are thousands of.
type numbers struct {
	byHolder map[Holder]uint32
	last     uint32
}

// maxNumbered is how many holders are remembered. Then all are forgotten and get new numbers: as many newcomers
// could do as much harm, each for itself.
const maxNumbered = 4 * maxAccounts

// of is the number of h, which may be new.
func (n *numbers) of(h Holder) uint32 {
	number, known := n.byHolder[h]
	if known || h == (Holder{}) {
		return number
	}
	if n.byHolder == nil || len(n.byHolder) >= maxNumbered {
		n.byHolder = make(map[Holder]uint32)
	}
	n.last++
	n.byHolder[h] = n.last
	return n.last
}
