package polling

// A Help is the share of a feed's entries that neighbors bring before own polls do, from 0 to 1: the newer an
// entry, the more it counts. The zero value is that of a node alone.
type Help float64

// helpMemory is over about how many entries a Help goes back.
const helpMemory = 16

// After is the share once a poll has shown some entries first, and others that neighbors had brought since the
// poll before. Only what the publisher lists counts, so that nobody can keep a node from polling by inventing
// entries. With the first that neighbors brought, so many are taken to poll, this node included, as they say: else a
// feed that publishes rarely would show for weeks what it is worth to poll it in turn.
func (h Help) After(own, brought, pollers int) Help {
	const kept = 1 - 1.0/helpMemory
	h = min(max(h, 0), 1)
	if h == 0 && brought > 0 {
		h = 1 - 1/Help(max(pollers, 1))
	}
	for range min(brought, 8*helpMemory) {
		h = 1 - (1-h)*kept
	}
	for range min(own, 8*helpMemory) {
		h *= kept
	}
	return h
}
