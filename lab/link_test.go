package lab

import (
	"math"
	"testing"
	"time"
)

// The table of delays is that of a log-normal distribution.
func TestSpreadIsLogNormal(t *testing.T) {
	const sigma = .5
	for i, got := range spread {
		share := (float64(i) + .5) / float64(len(spread))
		z := math.Sqrt2 * math.Erfinv(2*share-1)
		if want := 1000 * math.Exp(sigma*z); math.Abs(want-float64(got)) > 1 {
			t.Errorf("quantile %.3f is %d, want %.0f", share, got, want)
		}
	}
}

// A link is as slow one way as the other, but for the jitter, and keeps its pace.
func TestDelays(t *testing.T) {
	w := network(t, Config{Seed: 1, Links: Links{Delay: 100 * time.Millisecond, Jitter: .5}}, 0, 0)
	differ := false
	for a := range 20 {
		for b := range a {
			base := w.base(a, b)
			if base != w.base(b, a) {
				t.Fatalf("the way from %d to %d takes %v, and back %v", a, b, base, w.base(b, a))
			}
			differ = differ || base != w.base(0, 1)
			for n := range uint64(50) {
				d, lost := w.delay(a, b, n)
				if d < base || d > base+base/2 || lost {
					t.Fatalf("message %d from %d to %d took %v and was lost: %v; want %v to half as much again", n, a, b, d, lost, base)
				}
				if again, _ := w.delay(a, b, n); again != d {
					t.Fatalf("message %d met another fate the second time", n)
				}
			}
		}
	}
	if !differ {
		t.Error("all links are alike")
	}
}

func TestLoss(t *testing.T) {
	w := network(t, Config{Seed: 1, Links: Links{Loss: .1}}, 0, 0)
	gone := 0
	for n := range uint64(10_000) {
		if _, lost := w.delay(1, 2, n); lost {
			gone++
		}
	}
	if gone < 900 || gone > 1100 {
		t.Errorf("%d of 10,000 messages were lost, want about 1,000", gone)
	}
}

// A network that is cut in two becomes two networks, and nothing passes between them.
func TestSplit(t *testing.T) {
	t.Parallel()
	w := run(t, Config{Seed: 1, Feeds: feeds(12, 48), NoEncoding: true}, 20, 30*time.Minute)
	far := w.Hosts()[10:]
	side := func(id string) (isFar bool) {
		for _, h := range far {
			isFar = isFar || h.ID.String() == id
		}
		return isFar
	}
	cross := func() (links int) {
		for i, h := range w.Hosts() {
			for _, n := range h.Node().Neighbors() {
				if side(n.ID.String()) != (i >= 10) {
					links++
				}
			}
		}
		return links
	}
	if cross() == 0 {
		t.Fatal("the halves have nothing to do with each other before the cut")
	}
	w.Split(far)
	w.Run(w.Now().Add(10 * time.Minute))
	if n := cross(); n > 0 {
		t.Errorf("ten minutes after the cut %d links lead across it", n)
	}
	before := far[0].Received.Total().Calls
	w.Run(w.Now().Add(10 * time.Minute))
	if far[0].Received.Total().Calls == before {
		t.Error("the far half fell silent within itself")
	}
	w.Heal()
	if w.cut(far[0], w.Hosts()[0]) {
		t.Error("the cut did not heal")
	}
}
