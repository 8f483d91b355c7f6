package incentive

import (
	"math/rand/v2"
	"time"

	"feedex/protocol"
)

// Rules are those rules on which an experiment may have others, to show what each is good for. No setting of the
// program leads here.
type Rules struct {
	// HolderOf says who holds the account of a node.
	HolderOf func(id protocol.NodeID) Holder
	// StrangerLimit is the bound for an address never seen before.
	StrangerLimit Credit
	// SettledAfter is for how long a key must have held an account to be settled.
	SettledAfter time.Duration
	// SeenEarns is how many entries earn of an offered bundle that we have, where as many would of a delivery as earn
	// says.
	SeenEarns func(earn func() int) int
	// Audit draws one in so many offers.
	Audit func(rng *rand.Rand, oneIn int) bool
	// CapFree is how many entries of a feed earn in a day beyond twice those that it brings.
	CapFree int
	// Quantum is how many entries, by their Weight, anybody gets ahead of us in an exchange at most.
	Quantum int
	// StoresAll reports whether there is no quota for a holder, which may be anybody.
	StoresAll func(h Holder) bool
}

// DefaultRules are those of every node.
func DefaultRules() Rules {
	return Rules{
		HolderOf:      HolderOf,
		StrangerLimit: Entry,
		SettledAfter:  settledAfter,
		SeenEarns:     func(earn func() int) int { return earn() },
		Audit:         func(rng *rand.Rand, oneIn int) bool { return rng.IntN(oneIn) == 0 },
		CapFree:       capFree,
		Quantum:       Quantum,
		StoresAll:     func(Holder) bool { return false },
	}
}

// Altered are the rules of every node with a change.
func Altered(change func(r *Rules)) *Rules {
	r := DefaultRules()
	change(&r)
	return &r
}

// InForce are the rules that c chose, or the usual ones.
func (c Config) InForce() Rules {
	if c.Rules == nil {
		return DefaultRules()
	}
	return *c.Rules
}
