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

func newNumbers() numbers { return numbers{byHolder: make(map[Holder]uint32)} }

// of is the number of h, which may be new.
func (n *numbers) of(h Holder) uint32 {
	if h == (Holder{}) {
		return nobody
	}
	number, known := n.byHolder[h]
	if !known {
		if len(n.byHolder) >= maxNumbered {
			clear(n.byHolder)
		}
		n.last++
		number = n.last
		n.byHolder[h] = number
	}
	return number
}

// known is the number of h, if it has one.
func (n *numbers) known(h Holder) (number uint32, ok bool) {
	number, ok = n.byHolder[h]
	return number, ok
}
