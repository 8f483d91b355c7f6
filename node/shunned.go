package node

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/protocol"
)

const (
	// shunSilent and shunLiar are for how long a holder that did not answer, or that lied, is not asked again.
	shunSilent, shunLiar = 10 * time.Minute, 24 * time.Hour
	// maxShunned bounds how many of them are remembered.
	maxShunned = 256
)

// shunned are the holders that are not asked at present, those first that are asked again first.
type shunned []shun

type shun struct {
	holder incentive.Holder
	until  time.Time
}

// add remembers a holder; where there is no more room, the one that would be asked again first is forgotten.
func (s *shunned) add(now time.Time, id protocol.NodeID, span time.Duration) {
	until := now.Add(span)
	h := incentive.HolderOf(id)
	*s = slices.DeleteFunc(*s, func(other shun) bool {
		if other.holder == h && other.until.After(until) {
			until = other.until
		}
		return other.holder == h || !other.until.After(now)
	})
	at, _ := slices.BinarySearchFunc(*s, until, func(a shun, t time.Time) int { return a.until.Compare(t) })
	*s = slices.Insert(*s, at, shun{h, until})
	if len(*s) > maxShunned {
		*s = slices.Delete(*s, 0, 1)
	}
}

// has reports whether the node is not to be asked at present.
func (s shunned) has(now time.Time, id protocol.NodeID) bool {
	h := incentive.HolderOf(id)
	return slices.ContainsFunc(s, func(other shun) bool { return other.holder == h && other.until.After(now) })
}
