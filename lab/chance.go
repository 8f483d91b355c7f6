package lab

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// A Seed is where all chance of a World comes from.
type Seed uint64

// Stream is the stream of chance that belongs to name, which is unique in its world: "node 7", say. It
// depends on the seed and the name alone.
func (s Seed) Stream(name string) *rand.Rand {
	sum := s.digest(name)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])))
}

// Secret is 32 bytes that belong to name.
func (s Seed) Secret(name string) []byte {
	sum := s.digest("secret of " + name)
	return sum[:]
}

func (s Seed) digest(name string) [sha256.Size]byte {
	return sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(s)), name...))
}

// mix is a number that depends on all of its arguments, and looks random: what a stream of its own would
// be too much for. It is the finalizer of SplitMix64 after each of them.
func mix(h uint64, more ...uint64) uint64 {
	for _, m := range more {
		h += m + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// ByZipf is which of n draws a chance from 0 to 1: the k-th has 1/k of the share of the first.
func ByZipf(n int, chance float64) int {
	var all float64
	for k := range n {
		all += 1 / float64(k+1)
	}
	left := chance * all
	for k := range n {
		if left -= 1 / float64(k+1); left < 0 {
			return k
		}
	}
	return n - 1
}
