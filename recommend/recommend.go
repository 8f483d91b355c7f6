package recommend

import (
	"cmp"
	"math"
	"slices"

	"feedex/feed"
	"feedex/protocol"
)

// A Voice is the interest of one neighbor, as it advertises it.
type Voice struct {
	Network protocol.Network
	Settled bool       // it has earned what shows that it is no stranger
	Follows []feed.URL // at hop count 0: what it follows, or polls for others, which nobody can tell apart
	Near    []feed.URL // at hop count 1: what its own neighbors follow
}

// A Profile is what a suggestion is made from.
type Profile struct {
	Own    []feed.URL // that the node follows, and says that it does
	Voices []Voice    // of the neighbors
}

// A Suggestion is a feed that others follow and the node does not, with the reason.
type Suggestion struct {
	Feed      feed.URL `json:"feed"`
	Followers int      `json:"followers"` // networks of neighbors with like interests that follow it
	Of        int      `json:"of"`        // such networks
	// Shared is how many of the node's own feeds its followers follow, of those that they have in common with it.
	Shared int `json:"shared"`
}

// corroborated is how many networks must follow a feed: what one alone says pushes nothing. Strangers among themselves
// push nothing either: one of them must be settled, unless nobody is yet.
const corroborated = 2

// A speaker is a network with its voice: several neighbors in it count once.
type speaker struct {
	settled       bool
	follows, near map[feed.URL]bool
	shared        []feed.URL // own feeds among those that it follows
	weight        int64
}

// Rank returns the most feeds that are worth most, the best first. Those that skip picks are left out, and so is
// another form of a feed that the node follows, or of a better one, and what strangers alone follow once any voice is
// settled.
//
// A feed is worth what the voices that follow it weigh, and .3 of that for those whose neighbors do, times the square
// of how many follow it. A speaker weighs the more, the larger the part of what it follows that is in common with the
// node: the square root of the cosine between the two. None weighs more than the second heaviest, or who repeats what
// the node follows would outweigh everybody, and one that has nothing in common weighs nothing.
func Rank(facts Profile, most int, skip func(feed.URL) bool) []Suggestion {
	voices := voicesOf(facts)
	own := setOf(facts.Own)
	worth := make(map[feed.URL]int64)
	followers := make(map[feed.URL]int)
	vouched := make(map[feed.URL]bool)
	nobodyIs := !slices.ContainsFunc(voices, func(v *speaker) bool { return v.settled })
	var feeds []feed.URL
	for _, v := range voices {
		for u := range v.follows {
			if followers[u]++; followers[u] == corroborated && !own[u] && !skip(u) {
				feeds = append(feeds, u)
			}
			worth[u] += 10 * v.weight
			vouched[u] = vouched[u] || v.settled || nobodyIs
		}
		for u := range v.near {
			if !v.follows[u] {
				worth[u] += 3 * v.weight
			}
		}
	}
	feeds = slices.DeleteFunc(feeds, func(u feed.URL) bool { return !vouched[u] })
	value := func(u feed.URL) int64 { return worth[u] * int64(followers[u]*followers[u]) }
	slices.SortFunc(feeds, func(a, b feed.URL) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a, b))
	})
	list := make([]Suggestion, 0, most)
	forms := make(map[string]bool)
	for _, u := range facts.Own {
		forms[FormOf(u)] = true
	}
	for _, u := range feeds {
		form := FormOf(u)
		if len(list) == most {
			break
		} else if forms[form] {
			continue
		}
		forms[form] = true
		s := Suggestion{Feed: u, Followers: followers[u], Of: len(voices)}
		shared := make(map[feed.URL]bool)
		for _, v := range voices {
			if v.follows[u] {
				for _, common := range v.shared {
					shared[common] = true
				}
			}
		}
		s.Shared = len(shared)
		list = append(list, s)
	}
	return list
}

// voicesOf are the networks that have anything in common with the node, weighed.
func voicesOf(facts Profile) (voices []*speaker) {
	by := make(map[protocol.Network]*speaker)
	for _, said := range facts.Voices {
		v := by[said.Network]
		if v == nil {
			v = &speaker{follows: make(map[feed.URL]bool), near: make(map[feed.URL]bool)}
			by[said.Network] = v
			voices = append(voices, v)
		}
		v.settled = v.settled || said.Settled
		add(v.follows, said.Follows)
		add(v.near, said.Near)
	}
	var heaviest, second int64
	for _, v := range voices {
		for u := range setOf(facts.Own) {
			if v.follows[u] {
				v.shared = append(v.shared, u)
			}
		}
		v.weight = weight(len(v.shared), len(v.follows))
		heaviest, second = max(heaviest, v.weight), max(second, min(heaviest, v.weight))
	}
	for _, v := range voices {
		v.weight = min(v.weight, second)
	}
	return slices.DeleteFunc(voices, func(v *speaker) bool { return v.weight == 0 })
}

// weight is an integer, because sums must come out the same in any order, and on every machine. How many feeds the node
// follows itself makes no difference between voices, and is left out of the cosine.
func weight(shared, follows int) int64 {
	return int64(1000 * math.Sqrt(float64(shared)/math.Sqrt(float64(max(1, follows)))))
}

func setOf(list []feed.URL) map[feed.URL]bool {
	set := make(map[feed.URL]bool, len(list))
	add(set, list)
	return set
}

func add(set map[feed.URL]bool, list []feed.URL) {
	for _, u := range list {
		set[u] = true
	}
}
