package exchange

import (
	"reflect"
	"slices"
	"testing"

	"feedex/feed"
)

const starred = feed.URL("https://news.example.com/feed")

// votersOf are voters that starred entries: "a" to "z" of those that the owner has not starred, and before each that
// the owner starred later a "+".
func votersOf(records ...string) (list []*voter) {
	for _, text := range records {
		v := &voter{standing: 100, stars: make(map[vote]bool), tips: make(map[feed.EntryID]bool)}
		taken := false
		for _, c := range text {
			if c == '+' {
				taken = true
				continue
			}
			id := feed.EntryID{byte(c)}
			v.stars[vote{starred, id}], v.tips[id] = true, taken
			taken = false
		}
		list = append(list, v)
	}
	return list
}

// weights are the weights of entries by their letters.
func weights(voters []*voter) map[string]int {
	w := make(map[string]int)
	for _, e := range weigh(voters) {
		w[string(e.Entry[:1])] = e.Weight
	}
	return w
}

func TestWeigh(t *testing.T) {
	honest := []string{"+a+b+cz", "+a+b+dz", "+c+d+ex"}
	for _, tc := range []struct {
		name          string
		others        []string
		more, less    string // entries
		lessIsNothing bool
	}{
		{"who star together what the owner never does", []string{"uvw", "uvw", "uvw", "uvw"}, "z", "u", true},
		{"pairs in turn", []string{"uvw", "uxy", "vxs", "wys"}, "z", "u", true},
		{"each was right about others", []string{"+funvw", "+gunvw", "+hunvw", "+iunvw"}, "z", "u", false},
		{"one alone", []string{"+a+b+c+d+eq"}, "z", "q", true},
	} {
		w := weights(votersOf(slices.Concat(honest, tc.others)...))
		if w[tc.more] <= w[tc.less] || tc.lessIsNothing && w[tc.less] != 0 {
			t.Errorf("%s: %s weighs %d, %s weighs %d", tc.name, tc.more, w[tc.more], tc.less, w[tc.less])
		}
	}
	w := weights(votersOf("+a+b+cyz", "+a+b+cyz", "+a+b+cz"))
	if w["z"] <= w["y"] || w["y"] == 0 {
		t.Errorf("with three of a kind %d, with two %d", w["z"], w["y"])
	}
	for _, worthless := range []string{"z", "zuvw", "+sz"} {
		if more := weights(votersOf("+a+b+cyz", "+a+b+cyz", "+a+b+cz", worthless, worthless)); more["z"] < w["z"] {
			t.Errorf("with %q it weighs %d, and %d without", worthless, more["z"], w["z"])
		}
	}
	if w := weights(votersOf("z", "z")); w["z"] != 0 {
		t.Errorf("of whom nothing is known weighs %d", w["z"])
	}
}

// The order of voters makes no difference.
func TestWeighInAnyOrder(t *testing.T) {
	voters := votersOf("+a+b+cyz", "+a+bz", "+cz", "yz", "+aq")
	want := weigh(voters)
	slices.Reverse(voters)
	if got := weigh(voters); !reflect.DeepEqual(got, want) {
		t.Errorf("weighs %v, the other way round %v", want, got)
	}
}

// Nor does it make one to what is labelled alone, which follows what is starred.
func TestLabelsInOneOrder(t *testing.T) {
	v := &voter{stars: map[vote]bool{{entry: feed.EntryID{9}}: true}, labels: make(map[labelVote]bool)}
	want := []feed.EntryID{{9}}
	for i := range byte(8) {
		want = append(want, feed.EntryID{i})
		v.labels[labelVote{vote{entry: feed.EntryID{i}}, "recipes"}] = true
	}
	var got []feed.EntryID
	for _, s := range withLabels(weigh([]*voter{v}), []*voter{v}) {
		got = append(got, s.Entry)
	}
	if !slices.Equal(got, want) {
		t.Errorf("come as %v, want %v", got, want)
	}
}
