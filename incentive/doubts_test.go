package incentive

import (
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

func TestTwoNeighborsMakeADoubt(t *testing.T) {
	type word struct {
		ago         time.Duration
		against, by int
	}
	for name, c := range map[string]struct {
		words []word
		want  bool
	}{
		"nobody speaks against it":          {nil, false},
		"one may be wrong":                  {[]word{{0, 1, 2}}, false},
		"one says it twice":                 {[]word{{time.Hour, 1, 2}, {0, 1, 2}}, false},
		"two":                               {[]word{{time.Hour, 1, 2}, {0, 1, 3}}, true},
		"the other speaks of somebody else": {[]word{{0, 1, 2}, {0, 4, 3}}, false},
		"itself":                            {[]word{{0, 1, 1}, {0, 1, 2}}, false},
		"one spoke a week ago":              {[]word{{7 * 24 * time.Hour, 1, 2}, {0, 1, 3}}, false},
		"and says it again":                 {[]word{{7 * 24 * time.Hour, 1, 2}, {time.Hour, 1, 3}, {0, 1, 2}}, true},
		"the clock went back":               {[]word{{-14 * 24 * time.Hour, 1, 2}, {0, 1, 3}}, false},
	} {
		var d Doubts
		for _, w := range c.words {
			d.Testify(now.Add(-w.ago), numbered(w.against), numbered(w.by))
		}
		if got := d.Doubted(now, numbered(1)); got != c.want {
			t.Errorf("%s: doubted is %v", name, got)
		}
	}
}

// numbered is a holder at an address of its own.
func numbered(i int) Holder {
	return HolderOf(protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 7}), 7790))
}

func TestTestimoniesAreBounded(t *testing.T) {
	var d Doubts
	for i := range 2 * maxTestimonies {
		d.Testify(now, numbered(i), numbered(5000))
	}
	if len(d.list) != maxTestimonies {
		t.Errorf("%d testimonies are remembered, want %d", len(d.list), maxTestimonies)
	}
	d.Testify(now, numbered(2*maxTestimonies-1), numbered(5001))
	if !d.Doubted(now, numbered(2*maxTestimonies-1)) {
		t.Error("the latest is forgotten")
	}
}
