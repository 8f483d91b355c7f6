package exchange

import (
	"cmp"
	"slices"

	"feedex/feed"
)

// A voter is a network of neighbors whose stars count: several in it count once.
type voter struct {
	standing int // the best in it, 100 at most
	stars    map[vote]bool
	labels   map[labelVote]bool
	tips     map[feed.EntryID]bool // whether the owner starred them later (incentive.Tip)
}

// A vote is a star, of an entry of a feed.
type vote struct {
	feed  feed.URL
	entry feed.EntryID
}

func (v vote) compare(o vote) int {
	return cmp.Or(v.entry.Compare(o.entry), cmp.Compare(v.feed, o.feed))
}

// A labelVote is a label of an entry.
type labelVote struct {
	vote

	name string
}

// What is thought of voters, and of pairs of them, before they have shown anything: as if the owner had left so many
// tips of a voter, and as if a pair had starred so many entries together with the luck of its worse half.
const (
	tipsBefore     = 4
	togetherBefore = 2
	surely         = 1000
)

// A tipCount counts tips: those that the owner starred later, and all of them.
type tipCount struct{ taken, all int }

// weigh counts the votes of entries, and weighs them. Those with most weight come first, however voters come.
//
// Nobody can tell a vote that is bought from another, but the owner's own stars are not for sale. So it is asked how
// often the owner starred, later, what two voters had both starred: an entry weighs the sum over the pairs of its
// voters, shared out so that n of them weigh n/2 pairs, or that of some of them where it is more: a vote of no worth
// takes nothing away. Who stars together what the owner never does has no weight, though each of them alone had been
// right; who was never right has none either. It is in thousandths.
func weigh(voters []*voter) (list []StarredEntry) {
	by, tippers := make(map[vote][]int), make(map[feed.EntryID][]int)
	for i, v := range voters {
		for s := range v.stars {
			by[s] = append(by[s], i)
		}
		for id := range v.tips {
			tippers[id] = append(tippers[id], i)
		}
	}
	shown := make([][]tipCount, len(voters)) // what pairs tipped, and in the diagonal each by itself
	for i := range shown {
		shown[i] = make([]tipCount, len(voters))
	}
	for id, who := range tippers {
		for n, i := range who {
			for _, j := range who[:n+1] {
				r := &shown[i][j] // i >= j
				if r.all++; voters[i].tips[id] && voters[j].tips[id] {
					r.taken++
				}
			}
		}
	}
	alone := func(i int) int { return surely * shown[i][i].taken / (shown[i][i].all + tipsBefore) }
	pairs := make([][]int, len(voters)) // what pairs weigh
	for i := range pairs {
		pairs[i] = make([]int, len(voters))
		for j := range i {
			r := shown[i][j]
			luck := (surely*r.taken + togetherBefore*min(alone(i), alone(j))) / (r.all + togetherBefore)
			pairs[i][j] = luck * min(voters[i].standing, voters[j].standing) / 100
			pairs[j][i] = pairs[i][j]
		}
	}
	for s, who := range by {
		list = append(list, StarredEntry{Feed: s.feed, Entry: s.entry, Votes: len(who), Weight: densest(pairs, who)})
	}
	slices.SortFunc(list, func(a, b StarredEntry) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Votes, a.Votes),
			vote{a.Feed, a.Entry}.compare(vote{b.Feed, b.Entry}))
	})
	return list
}

// densest is the most that voters weigh, all or some: without those that add least to the others, time after time,
// which is at least half of what the best choice of some would weigh (Charikar, Greedy approximation algorithms for
// finding dense components in a graph, 2000).
func densest(pairs [][]int, who []int) (most int) {
	for len(who) > 1 {
		adds := make(map[int]int, len(who)) // what each voter adds
		sum, least := 0, 0
		for n, i := range who {
			for _, j := range who {
				adds[i] += pairs[i][j]
			}
			if sum += adds[i]; n == 0 || adds[i] < least {
				least = adds[i]
			}
		}
		most = max(most, sum/2/(len(who)-1))
		who = slices.DeleteFunc(slices.Clone(who), func(i int) bool { return adds[i] == least })
	}
	return most
}
