package portmap

import (
	"slices"
	"testing"

	"feedex/reach"
)

// Whatever a router answers, what is told of it has an address and the port that was asked for, or a problem.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0, 129, 0, 1, 0, 0, 0, 9}, natPMPAnswer([]byte{0, 2, 0, 0, 0x1e, 0x6e, 0, 0, 0, 0, 0, 9}, 7790))
	f.Fuzz(func(t *testing.T, head, body []byte) {
		r := newFakeRouter(t, func(q []byte) [][]byte {
			a := slices.Clone(q)
			a[1] |= response
			copy(a[2:], head)
			return [][]byte{a, head, body}
		})
		var told []reach.Forwarding
		k := r.keeper(&told)
		k.wait = 1
		k.look(t.Context(), now)
		if len(told) != 1 || (told[0].Problem == "") != (told[0].External.IsValid() &&
			told[0].External.Port() == 7790) {
			t.Fatalf("told %+v", told)
		}
	})
}
