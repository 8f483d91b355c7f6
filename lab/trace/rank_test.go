package trace

import (
	"math/rand/v2"
	"testing"
)

// Popular channels are drawn more often, by the root of their rank, and none twice.
func TestDrawByRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var count [101]int
	for range 20_000 {
		count[1+DrawByRank(rng, 100, 1)[0]]++
	}
	if ratio := float64(count[1]) / float64(count[16]); ratio < 3.3 || ratio > 4.8 {
		t.Errorf("rank 1 is drawn %.2f times as often as rank 16, want about 4", ratio)
	}
	seen := make(map[int]bool)
	for _, i := range DrawByRank(rng, 30, 30) {
		seen[i] = true
	}
	if len(seen) != 30 {
		t.Errorf("30 draws of 30 are %d different ones", len(seen))
	}
}
