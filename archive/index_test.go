package archive

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An index finds what was added to it, wherever its number lies, and nothing else.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		want := make(map[int32]int)
		for i, number := range rapid.SliceOf(rapid.Int32Range(0, 60)).Draw(t, "numbers") {
			if _, there := want[number]; there {
				x.remove(number)
				delete(want, number)
			} else {
				x.add(number, i)
				want[number] = i
			}
		}
		if len(x) != len(want) {
			t.Fatalf("it holds %d, want %d", len(x), len(want))
		}
		for number := range int32(61) {
			seq, found := x.find(number)
			if there, ok := want[number]; found != ok || seq != there {
				t.Errorf("%d is at %d, %t; want %v", number, seq, found, slices.Sorted(maps.Keys(want)))
			}
		}
	})
}
