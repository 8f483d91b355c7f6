package lab

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"feedex/node"
	"feedex/protocol"
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
					t.Fatalf("message %d from %d to %d took %v and was lost: %v; want %v to half as much again", n, a,
						b, d, lost, base)
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
	w.Split(far)
	w.Split(far[1:])
	if w.cut(far[0], w.Hosts()[0]) || !w.cut(far[1], w.Hosts()[0]) {
		t.Error("another cut did not replace the first")
	}
}

// An asker asks another host for its methods when it is woken, and keeps the answer.
type asker struct {
	sleeper
	to     protocol.NodeID
	answer *node.Answered
	at     time.Time // when the answer came
}

func (a *asker) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	dst = a.sleeper.Step(dst, now, ev)
	switch ev := ev.(type) {
	case node.Wake:
		dst = append(dst, node.Call{ID: 1, To: node.Target{Node: a.to}, Call: protocol.ListMethods{},
			Timeout: 10 * time.Second})
	case node.Answered:
		a.answer, a.at = &ev, now
	}
	return dst
}

// A call that is on its way when the network is cut arrives, and its answer does not; one in a whole network is
// answered.
func TestAnswersDoNotCrossACut(t *testing.T) {
	after := func(d time.Duration) time.Time { return wednesday.Add(d) }
	for _, cut := range []bool{false, true} {
		w := network(t, Config{Seed: 1, NoEncoding: true}, 0, 0)
		other, err := w.Join(MemberConfig{})
		if err != nil {
			t.Fatal(err)
		}
		a := &asker{sleeper: sleeper{next: after(time.Second)}, to: other.ID}
		if _, err := w.Join(acts(a)); err != nil {
			t.Fatal(err)
		}
		if cut {
			w.At(after(time.Second+time.Millisecond), func() { w.Split([]*Host{other}) })
		}
		w.Run(after(time.Minute))
		switch {
		case other.Received[ListMethods].Calls != 1 || a.answer == nil:
			t.Errorf("cut %v: %d calls arrived, and the answer is %v", cut, other.Received[ListMethods].Calls, a.answer)
		case cut && (!errors.Is(a.answer.Err, context.DeadlineExceeded) || a.answer.RTT != 10*time.Second):
			t.Errorf("over the cut came %v after %v", a.answer, a.answer.RTT)
		case !cut && (a.answer.Err != nil || a.answer.RTT > time.Second):
			t.Errorf("without a cut came %v after %v", a.answer, a.answer.RTT)
		}
	}
}

// A call or an answer that takes longer than the call may is lost, and time never goes back.
func TestLinksThatAreTooSlow(t *testing.T) {
	for _, delay := range []time.Duration{4 * time.Second, 8 * time.Second, time.Minute} {
		w := network(t, Config{Seed: 1, Links: Links{Delay: delay}, NoEncoding: true}, 0, 0)
		other, err := w.Join(MemberConfig{})
		if err != nil {
			t.Fatal(err)
		}
		a := &asker{sleeper: sleeper{next: wednesday.Add(time.Second)}, to: other.ID}
		if _, err := w.Join(acts(a)); err != nil {
			t.Fatal(err)
		}
		for last := w.Now(); a.answer == nil &&
			last.Before(wednesday.Add(10*time.Minute)); last = last.Add(time.Second) {
			w.Run(last.Add(time.Second))
			if a.answer != nil && !a.at.After(last) {
				t.Fatalf("at a delay of %v an answer came at %v, which was past by %v", delay, a.at, last.Sub(a.at))
			}
		}
		if a.answer == nil || !errors.Is(a.answer.Err, context.DeadlineExceeded) || a.answer.RTT != 10*time.Second {
			t.Errorf("at a delay of %v the answer is %v, want none within 10 s", delay, a.answer)
		}
	}
}
