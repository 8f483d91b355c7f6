package incentive

// numbers gives holders numbers, for lists of them that there are thousands of. Nobody has 0.
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
		return 0
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
