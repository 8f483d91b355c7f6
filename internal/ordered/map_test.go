package ordered

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A Map knows what a list knows that is looked through from the beginning, whatever is done to both. It keeps no
// more room than it needs, and nothing that was deleted alive.
func TestMapIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Map[[20]byte, int]
		type pair struct {
			key   [20]byte
			value int
		}
		var list []pair
		for step := range rapid.IntRange(0, 400).Draw(t, "steps") {
			key := [20]byte{byte(rapid.IntRange(0, 60).Draw(t, "key"))}
			at := slices.IndexFunc(list, func(p pair) bool { return p.key == key })
			switch v := m.Get(key); {
			case at < 0 && v != nil || at >= 0 && (v == nil || *v != list[at].value):
				t.Fatalf("step %d: the value of %x is %v, of %v", step, key[0], v, list)
			}
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 6 && at < 0:
				list = append(list, pair{key, step})
				if v := m.Put(key, step); *v != step {
					t.Fatalf("put %d, got %d", step, *v)
				}
			case what < 9:
				m.Delete(key)
				list = slices.DeleteFunc(list, func(p pair) bool { return p.key == key })
			default:
				low := [20]byte{byte(rapid.IntRange(0, 60).Draw(t, "low"))}
				m.DeleteFunc(func(k [20]byte, v *int) bool { return k[0] < low[0] && *v%2 == 0 })
				list = slices.DeleteFunc(list, func(p pair) bool { return p.key[0] < low[0] && p.value%2 == 0 })
			}
			var all []pair
			m.All(func(k [20]byte, v *int) bool { all = append(all, pair{k, *v}); return true })
			if !slices.Equal(all, list) || m.Len() != len(list) {
				t.Fatalf("step %d: %d are there, %v, want %v", step, m.Len(), all, list)
			}
			if k, v := m.Oldest(); len(list) == 0 && v != nil || len(list) > 0 &&
				(v == nil || k != list[0].key || *v != list[0].value) {
				t.Fatalf("the oldest is %x, of %v", k, list)
			}
			if room := len(m.items); room > len(list)+len(list)/8+9 {
				t.Fatalf("%d places for %d keys", room, len(list))
			}
			for _, it := range m.items[len(m.items):cap(m.items)] {
				if it != (item[[20]byte, int]{}) {
					t.Fatalf("%x was deleted, and is held on to", it.key[0])
				}
			}
		}
	})
}

func TestAllEndsEarly(t *testing.T) {
	var m Map[[20]byte, int]
	for i := range 10 {
		m.Put([20]byte{byte(i)}, i)
	}
	seen := 0
	m.All(func(_ [20]byte, v *int) bool { seen++; return *v < 3 })
	if seen != 4 {
		t.Errorf("saw %d, want 4", seen)
	}
}
