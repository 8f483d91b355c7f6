package trace

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestLoadLists(t *testing.T) {
	for name, c := range map[string]struct {
		text, err string
		want      Lists
	}{
		"lists":         {"list,feed\na,x\nb,y\na,y\nb,x\nb,z\n", "", Lists{{0, 1}, {0, 1, 2}}},
		"other columns": {"era,feed,list\n1,x,a\n", "", Lists{{0}}},
		"twice":         {"list,feed\na,x\na,x\n", ":3: malformed row: list a has feed x twice", nil},
		"nobody":        {"list,feed\n,x\n", ":2: malformed row: list or feed is empty", nil},
		"no column":     {"list,url\na,x\n", "no column feed", nil},
		"nothing":       {"list,feed\n", "no subscription in it", nil},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "lists.csv"), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := LoadLists(dir)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v; want %v, %q", name, got, err, c.want, c.err)
		}
	}
	_, err := LoadLists(t.TempDir())
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "lists.csv") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Made-up lists are like the 251 that the law was fitted to: 28,030 subscriptions to 23,140 feeds, of which 20,607 have
// one follower, and 8 have 20 or more. They are the same on every platform.
func TestSyntheticLists(t *testing.T) {
	l := SyntheticLists(1, 251)
	one, many := 0, 0
	for _, followers := range l.Followers() {
		if followers == 1 {
			one++
		} else if followers >= 20 {
			many++
		}
	}
	const want = "251 lists, 22094 feeds, 26691 subscriptions"
	if l.String() != want || one < 18_000 || one > 23_000 || many < 1 || many > 20 {
		t.Errorf("%v, %d feeds of one follower and %d of 20 or more; want %s", l, one, many, want)
	}
}

// The lists of a few readers are what they were when places were counted one after the other.
func TestSyntheticListsStay(t *testing.T) {
	sum := fnv.New64a()
	fmt.Fprint(sum, SyntheticLists(1, 251), SyntheticLists(7, 40))
	if got := sum.Sum64(); got != 0xa927039ef9299bf3 {
		t.Errorf("lists of hash %#x", got)
	}
}

// However many there are, as many come true as the chance says, and vary as much.
func TestBinomial(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n int
		p float64
	}{{1000, .01}, {1001, .01}, {100_000, 1e-6}, {100_000, .0009}, {100_000, .01}, {100_000, 0}} {
		const draws = 4000
		var sum, squares float64
		for range draws {
			count := float64(binomial(r, c.n, c.p))
			sum, squares = sum+count, squares+count*count
		}
		mean, want := sum/draws, float64(c.n)*c.p
		variance, wanted := squares/draws-mean*mean, want*(1-c.p)
		if math.Abs(mean-want) > 5*math.Sqrt(wanted/draws) || math.Abs(variance-wanted) > .15*wanted {
			t.Errorf("of %d by %v come %.3f, variance %.3f; want %.3f, %.3f", c.n, c.p, mean, variance, want, wanted)
		}
	}
}

// Places are found as if one counted through them.
func TestVacancies(t *testing.T) {
	counts := []int{0, 3, 1, 0, 5, 2}
	p, n := newVacancies(len(counts)), 0
	for i, count := range counts {
		p.add(i, count)
	}
	for i, count := range counts {
		for range count {
			if got := p.find(n); got != i {
				t.Errorf("place %d is that of %d, want %d", n, got, i)
			}
			n++
		}
	}
	if p.add(4, -5); p.all != 6 || p.find(4) != 5 {
		t.Errorf("of %d places the fifth is that of %d", p.all, p.find(4))
	}
}

func TestListsOfSome(t *testing.T) {
	if got := (Lists{{0, 1}, {2, 3}, {1, 2}}).Of([]int{1, 2}); !reflect.DeepEqual(got, Lists{{0, 1}, {0, 2}}) {
		t.Errorf("of two readers: %v", got)
	}
}
