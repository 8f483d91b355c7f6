package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
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
	free := newVacancies(readers) // in the list of each
	l := make(Lists, readers)
	for i := range l {
		length := min(max(int(medianList*exponential(listSpread*normal(r))), leastList), mostList)
		free.add(i, length)
		l[i] = make([]int, 0, length)
	}
	for f := 0; free.all > 0; {
		followers := 1 + binomial(r, readers-1, beta(r, othersA, othersB))
		if r.IntN(followers) > 0 {
			continue // each of its followers would have drawn it
		}
		for range followers {
			i := free.find(r.IntN(free.all))
			if n := len(l[i]); n > 0 && l[i][n-1] == f {
				continue // it has it already
			}
			l[i] = append(l[i], f)
			if free.add(i, -1); free.all == 0 {
				break
			}
		}
		f++
	}
	return l
}

// vacancies counts the places that each of many has, as a tree of sums (Fenwick, 1994): sums[i] is of the i & -i that
// end with the one before i.
type vacancies struct {
	sums []int
	all  int
}

func newVacancies(of int) *vacancies { return &vacancies{sums: make([]int, of+1)} }

// add gives i so many more.
func (p *vacancies) add(i, count int) {
	p.all += count
	for i++; i < len(p.sums); i += i & -i {
		p.sums[i] += count
	}
}

// find is whose a place is, counted from 0 through all of them in their order.
func (p *vacancies) find(place int) (i int) {
	for step := 1 << bits.Len(uint(len(p.sums)-1)); step > 0; step >>= 1 {
		if next := i + step; next < len(p.sums) && p.sums[next] <= place {
			i, place = next, place-p.sums[next]
		}
	}
	return i
}

// drawnEach is how many are drawn one by one, and many what is drawn as if it were distributed as a normal one is.
const drawnEach, many = 1000, 100

// binomial draws how many of n come true with a chance of p each. Above drawnEach it draws how far it is from one to
// the next, or, of many, from the normal distribution that comes near.
func binomial(r *rand.Rand, n int, p float64) (count int) {
	if mean := float64(float64(n) * p); n > drawnEach && mean >= many {
		return min(max(int(math.Round(mean+float64(math.Sqrt(float64(mean*(1-p)))*normal(r)))), 0), n)
	}
	if n > drawnEach {
		none := logarithm(1 - p) // that one comes not true
		for at := 0.0; none < 0; count++ {
			if at += 1 + math.Floor(logarithm(1-r.Float64())/none); at > float64(n) {
				break
			}
		}
		return count
	}
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
