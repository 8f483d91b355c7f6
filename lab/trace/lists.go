package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
)

// Lists are subscription lists: of each reader the feeds that it follows, as numbers from 0, ascending. A feed that
// nobody follows has no number.
type Lists [][]int

// LoadLists reads lists.csv.gz or lists.csv of a folder, one row a subscription with the columns list and feed, which
// are names. A row that cannot be right is an ErrRow.
func LoadLists(dir string) (Lists, error) {
	var l Lists
	readers, feeds := make(map[string]int), make(map[string]int)
	number := func(names map[string]int, name string) int {
		n, known := names[name]
		if !known {
			n = len(names)
			names[name] = n
		}
		return n
	}
	take := func(_ int, v []string) error {
		if v[0] == "" || v[1] == "" {
			return errors.New("list or feed is empty")
		}
		reader, f := number(readers, v[0]), number(feeds, v[1])
		if reader == len(l) {
			l = append(l, nil)
		}
		if slices.Contains(l[reader], f) {
			return fmt.Errorf("list %s has feed %s twice", v[0], v[1])
		}
		l[reader] = append(l[reader], f)
		return nil
	}
	err := readFile(filepath.Join(dir, "lists.csv.gz"), take, []string{"list", "feed"})
	if errors.Is(err, fs.ErrNotExist) {
		err = readFile(filepath.Join(dir, "lists.csv"), take, []string{"list", "feed"})
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; want a folder with lists.csv.gz or lists.csv", err)
	case err != nil:
		return nil, err
	case len(l) == 0:
		return nil, fmt.Errorf("read %s: no subscription in it", dir)
	}
	for _, list := range l {
		slices.Sort(list)
	}
	return l, nil
}

// The law of 251 subscription lists that their owners published, fitted in 2026: of a subscription, each other reader
// has the same feed with a chance that is distributed as Beta(othersA, othersB). The logarithm of a list's length is
// distributed as a normal one, within bounds. What goes together, as a hobby does, is left out: real lists have more in
// common.
const (
	othersA, othersB    = 0.153, 40.8
	medianList          = 46
	listSpread          = 1.35 // standard deviation of the logarithm
	leastList, mostList = 5, 1000
)

// SyntheticLists makes up so many lists. The same seed gives the same lists on every platform.
func SyntheticLists(seed uint64, readers int) Lists {
	r := rand.New(rand.NewPCG(seed, 0))
	free := make([]int, readers) // places in the list of each
	places := 0
	for i := range free {
		free[i] = min(max(int(medianList*exponential(listSpread*normal(r))), leastList), mostList)
		places += free[i]
	}
	l := make(Lists, readers)
	for f := 0; places > 0; {
		followers := 1 + binomial(r, readers-1, beta(r, othersA, othersB))
		if r.IntN(followers) > 0 {
			continue // each of its followers would have drawn it
		}
		for range followers {
			i, place := 0, r.IntN(places)
			for place >= free[i] {
				place -= free[i]
				i++
			}
			if n := len(l[i]); n > 0 && l[i][n-1] == f {
				continue // it has it already
			}
			l[i] = append(l[i], f)
			free[i]--
			if places--; places == 0 {
				break
			}
		}
		f++
	}
	return l
}

// binomial draws how many of n come true with a chance of p each.
func binomial(r *rand.Rand, n int, p float64) (count int) {
	for range n {
		if r.Float64() < p {
			count++
		}
	}
	return count
}

// beta draws from the distribution Beta(a, b), by Jöhnk's method: slow where both are large.
func beta(r *rand.Rand, a, b float64) float64 {
	for {
		x, y := power(1-r.Float64(), 1/a), power(1-r.Float64(), 1/b)
		if sum := x + y; sum > 0 && sum <= 1 {
			return x / sum
		}
	}
}

// normal draws from the standard normal distribution, by Marsaglia's polar method.
func normal(r *rand.Rand) float64 {
	for {
		x, y := 2*r.Float64()-1, 2*r.Float64()-1
		if s := float64(x*x) + float64(y*y); s > 0 && s < 1 {
			return x * math.Sqrt(-2*logarithm(s)/s)
		}
	}
}

// Of are those of the lists, with their feeds numbered anew.
func (l Lists) Of(which []int) Lists {
	numbers := make(map[int]int)
	list := make(Lists, len(which))
	for i, reader := range which {
		for _, f := range l[reader] {
			n, known := numbers[f]
			if !known {
				n = len(numbers)
				numbers[f] = n
			}
			list[i] = append(list[i], n)
		}
		slices.Sort(list[i])
	}
	return list
}

// Followers is how many lists each feed is on.
func (l Lists) Followers() []int {
	var count []int
	for _, list := range l {
		for _, f := range list {
			for f >= len(count) {
				count = append(count, 0)
			}
			count[f]++
		}
	}
	return count
}

// String names the lists in a line.
func (l Lists) String() string {
	subscriptions := 0
	for _, list := range l {
		subscriptions += len(list)
	}
	return strconv.Itoa(len(l)) + " lists, " + strconv.Itoa(len(l.Followers())) + " feeds, " +
		strconv.Itoa(subscriptions) + " subscriptions"
}
