package experiment

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"feedex/feed"
	"feedex/recommend"
)

// A ranking is a way to choose suggestions.
type ranking struct {
	name string
	of   func(r *seeker) []feed.URL
}

// A seeker is what is known of a reader whose suggestions are to be ranked.
type seeker struct {
	facts   recommend.Profile
	own     map[feed.URL]bool // that are not hidden
	hidden  map[feed.URL]bool
	all     *followCounts
	follows []map[feed.URL]bool // of each voice
	shared  []float64           // of each voice, feeds in common
	rng     *rand.Rand
}

// followCounts are how many follow each feed, of those that are not hidden.
type followCounts struct {
	count   map[feed.URL]int
	popular []feed.URL // the most popular first
}

// rankings are those that are compared.
func rankings() []ranking {
	cosine := func(r *seeker, k int) float64 { return r.shared[k] / math.Sqrt(float64(max(1, len(r.follows[k])))) }
	return []ranking{
		{"by chance, of the adverts", func(r *seeker) []feed.URL {
			list := r.candidates()
			r.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return list[:min(suggested, len(list))]
		}},
		{"popularity, all lists", func(r *seeker) (list []feed.URL) {
			for _, u := range r.all.popular {
				if len(list) < suggested && !r.own[u] {
					list = append(list, u)
				}
			}
			return list
		}},
		{"popularity, the adverts", weighed(func(*seeker, int) float64 { return 1 })},
		{"overlap", weighed(func(r *seeker, k int) float64 { return r.shared[k] })},
		{"Jaccard", weighed(func(r *seeker, k int) float64 {
			return r.shared[k] / max(1, float64(len(r.own)+len(r.follows[k]))-r.shared[k])
		})},
		{"cosine", weighed(cosine)},
		{"root of the cosine", weighed(func(r *seeker, k int) float64 { return math.Sqrt(cosine(r, k)) })},
		{"cosine, rare feeds count more", byRarity},
		{"item by item", itemwise},
		{"log-likelihood", likelihood},
		{"feedex", func(r *seeker) []feed.URL {
			return each(recommend.Rank(r.facts, suggested, func(feed.URL) bool { return false }),
				func(s recommend.Suggestion) feed.URL { return s.Feed })
		}},
		{"feedex, were it known what three follow", func(r *seeker) []feed.URL {
			few := func(u feed.URL) bool { return r.all.count[u] < enoughVolunteer }
			return each(recommend.Rank(r.facts, suggested, few),
				func(s recommend.Suggestion) feed.URL { return s.Feed })
		}},
		{"the most that adverts hold", func(r *seeker) (list []feed.URL) {
			for _, u := range r.candidates() {
				if r.hidden[u] && len(list) < suggested {
					list = append(list, u)
				}
			}
			return list
		}},
	}
}

// candidates are the feeds that neighbors follow and the reader does not, in the order of their addresses.
func (r *seeker) candidates() (list []feed.URL) {
	for _, v := range r.facts.Voices {
		for _, u := range v.Follows {
			if !r.own[u] {
				list = append(list, u)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// followers counts the voices that follow a feed.
func (r *seeker) followers(u feed.URL) (n float64) {
	for _, follows := range r.follows {
		if follows[u] {
			n++
		}
	}
	return n
}

// best are the candidates that score most; chance decides between equal ones.
func (r *seeker) best(score func(feed.URL) float64) []feed.URL {
	list := r.candidates()
	r.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	scores := make(map[feed.URL]float64, len(list))
	for _, u := range list {
		scores[u] = score(u)
	}
	slices.SortStableFunc(list, func(a, b feed.URL) int { return cmp.Compare(scores[b], scores[a]) })
	return list[:min(suggested, len(list))]
}

// weighed adds up the weights of the voices that follow a feed.
func weighed(weight func(r *seeker, k int) float64) func(r *seeker) []feed.URL {
	return func(r *seeker) []feed.URL {
		weights := make([]float64, len(r.follows))
		for k := range weights {
			weights[k] = math.Round(1e6 * weight(r, k))
		}
		return r.best(func(u feed.URL) (sum float64) {
			for k, follows := range r.follows {
				if follows[u] {
					sum += weights[k]
				}
			}
			return sum
		})
	}
}

// byRarity weighs voices by what they have in common, each feed the less the more voices follow it.
func byRarity(r *seeker) []feed.URL {
	return weighed(func(r *seeker, k int) float64 {
		sum := 0.0
		for _, u := range r.facts.Own {
			if r.follows[k][u] {
				sum += math.Round(1e6 / (1 + math.Log(1+r.followers(u))))
			}
		}
		return sum / 1e6 / math.Sqrt(float64(max(1, len(r.follows[k]))))
	})(r)
}

// itemwise has each own feed recommend those that the same voices follow, by the cosine between the two feeds.
func itemwise(r *seeker) []feed.URL {
	return r.best(func(u feed.URL) (sum float64) {
		for k, follows := range r.follows {
			if follows[u] {
				sum += r.shared[k]
			}
		}
		return math.Round(1e6 * sum / math.Sqrt(r.followers(u)))
	})
}

// likelihood asks whether those who follow a feed have more in common with the reader than the others have: Dunning's
// ratio over what voices follow.
func likelihood(r *seeker) []feed.URL {
	var shared, total float64
	for k, follows := range r.follows {
		shared += r.shared[k]
		total += float64(len(follows))
	}
	entropy := func(k, n float64) float64 {
		if k <= 0 || k >= n {
			return 0
		}
		return k*math.Log(k/n) + float64((n-k)*math.Log(1-k/n))
	}
	return r.best(func(u feed.URL) float64 {
		var k, n float64
		for i, follows := range r.follows {
			if follows[u] {
				k += r.shared[i]
				n += float64(len(follows))
			}
		}
		if k*total <= n*shared {
			return 0
		}
		return math.Round(1e3 * (entropy(k, n) + entropy(shared-k, total-n) - entropy(shared, total)))
	})
}
