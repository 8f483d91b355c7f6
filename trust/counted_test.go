package trust

import (
	"testing"

	"pgregory.net/rapid"
)

// Keys that something has have numbers of their own, from 0 up, and no more numbers are made than there were keys at a
// time.
func TestNumbersAreGivenAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c counted[string]
		counts, most := make(map[string]int), 0
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			k := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key")
			if number, known := c.find(k); known && rapid.Bool().Draw(t, "drop") {
				c.drop(number)
				counts[k]--
			} else {
				c.take(k)
				counts[k]++
			}
			keys := 0
			for k, count := range counts {
				number, known := c.find(k)
				if known != (count > 0) || known && (c.key(number) != k || c.list[number].count != count) {
					t.Fatalf("%d have %s: its number is %d, %t, of %v", count, k, number, known, c.list)
				}
				if known {
					keys++
				}
			}
			if most = max(most, keys); len(c.list) > most {
				t.Fatalf("%d numbers for %d keys", len(c.list), most)
			}
		}
	})
}
