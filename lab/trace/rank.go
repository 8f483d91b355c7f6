package trace

import (
	"math"
	"math/rand/v2"
	"slices"
)

// DrawByRank draws count different ones of n channels, 0 being the most popular: the channel of rank k at a
// chance in proportion to 1/sqrt(k), Zipf's law with the exponent 0.5. As nobody subscribes to a channel
// twice, what is drawn again is drawn anew, and the most popular get less than their share where count is a
// large part of n. Roots and sums are the same on every platform; other powers need not be.
func DrawByRank(rng *rand.Rand, n, count int) []int {
	upTo := make([]float64, n)
	sum := 0.0
	for k := range upTo {
		sum += 1 / math.Sqrt(float64(k+1))
		upTo[k] = sum
	}
	drawn := make([]bool, n)
	list := make([]int, 0, count)
	for len(list) < count {
		i, _ := slices.BinarySearch(upTo, rng.Float64()*sum)
		if i < n && !drawn[i] {
			drawn[i] = true
			list = append(list, i)
		}
	}
	return list
}
