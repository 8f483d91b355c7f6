package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Unfit is the fit of a neighbor of which nothing says that it knows more than others.
const Unfit = -1

// Order returns the indices of neighbors in the order in which they are asked. Each fit is the hop count at
// which the neighbor advertises the feed that is looked for, or Unfit; the smallest goes first, and among
// equals it is chance.
func Order(fits []int, rng *rand.Rand) []int {
	order := rng.Perm(len(fits))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(fits[a]), rank(fits[b])) })
	return order
}

// rank puts the unfit after all others.
func rank(fit int) int {
	if fit == Unfit {
		return 1 << 10
	}
	return fit
}

// Split says how many of the neighbors, whose fits are given in the order of Order, are asked, and how many
// messages each may cause beyond the one that asks it. All in all that is no more than budget.
//
// A query that may go hops far is asked of as many as have it reach that far: were everybody asked at once, nothing
// would be left for those behind them. The rest is shared out by fit: a hop halves it.
func Split(budget, hops int, fits []int) []int {
	asked := min(width(budget, hops), budget, len(fits))
	if asked <= 0 || hops <= 0 {
		return nil
	}
	shares := make([]int, asked)
	if hops == 1 {
		return shares // they ask nobody
	}
	total := 0
	for _, fit := range fits[:asked] {
		total += weight(fit)
	}
	rest := budget - asked
	left := rest
	for i, fit := range fits[:asked] {
		shares[i] = rest * weight(fit) / total
		left -= shares[i]
	}
	for i := 0; i < left; i++ { // less than one each
		shares[i]++
	}
	return shares
}

// weight is how much more a neighbor of that fit gets of the budget than one that is unfit.
func weight(fit int) int {
	const most = 3
	if fit == Unfit {
		return 1
	}
	return 1 << max(most-fit, 0)
}

// width is the least number of neighbors that each node asks if the budget is to be used up in so many hops.
func width(budget, hops int) int {
	for w := 1; w < budget; w++ {
		sum, level := 0, 1
		for range hops {
			level *= w
			sum += level
		}
		if sum >= budget {
			return w
		}
	}
	return budget
}
