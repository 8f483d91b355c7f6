package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Paper §3.2, Neighbor Selection, sentence by sentence.

// Paper Table 2: at most 10 neighbors, and the search goes on below 8.
func TestNeighborhoodStaysWithinItsBounds(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(30, node.Config{}, news)
	w.run(time.Hour)
	for _, h := range hosts {
		if n := h.node.Status().Neighbors; n > 10 || n < 8 {
			t.Errorf("%s has %d neighbors", h.id, n)
		}
		for _, id := range h.node.LinkIDs() {
			if !linked(h, w.hosts[id]) {
				t.Errorf("%s counts on %s, which does not know it", h.id, id)
			}
		}
	}
}

// Paper §3.2: "Although having more neighbors may bring more information or bring it faster, it also causes higher
// overhead in communication and processing."
func TestMoreNeighborsAreFasterAndCostMore(t *testing.T) {
	t.Parallel()
	measure := func(most int) (s service, calls int) {
		o := newOverlayOf(t, 20, 0, node.Config{MaxNeighbors: most})
		o.run(10 * time.Minute)
		o.publishFor(3 * time.Hour)
		for _, h := range o.list {
			calls += len(h.calls)
		}
		return o.service(func(*testHost) bool { return true }, epoch), calls
	}
	few, fewCalls := measure(2)
	many, manyCalls := measure(10)
	t.Logf("2 neighbors: %.1f%% from neighbors, lag %v, %d calls; 10: %.1f%%, %v, %d", 100*few.fromPeer, few.lag,
		fewCalls, 100*many.fromPeer, many.lag, manyCalls)
	if many.fromPeer <= few.fromPeer || many.lag >= few.lag {
		t.Error("more neighbors bring no more, or not faster")
	}
	if manyCalls < 2*fewCalls {
		t.Error("five times the neighbors cost not even twice the calls")
	}
}

// wanted is the feed i of those that a node in a crowd follows.
func wanted(i int) feed.URL { return feed.URL(fmt.Sprintf("https://example.com/wanted/%d", i)) }

// wantedFeeds are the first n of them.
func wantedFeeds(n int) (urls []feed.URL) {
	for i := range n {
		urls = append(urls, wanted(i))
	}
	return urls
}

// wants is interest in the first n of them.
func wants(n int) (s protocol.Subset) {
	for i := range n {
		s = append(s, protocol.Interest{Feed: wanted(i)})
	}
	return s
}

// crowd puts a node that follows twelve feeds among ten neighbors. Five, which it chose, follow all of them; five
// that came by themselves follow ten, nine, and so on down to six. All of that was long ago.
func crowd(w *network) (q *testHost, came []*hearer) {
	q = w.add(node.Config{}, wantedFeeds(12)...)
	w.run(time.Second)
	for i := range 10 {
		p := q.hearer(stranger(i))
		if i < 5 {
			p.set = wants(12)
			q.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
		} else {
			p.connect(wants(15 - i))
			came = append(came, p)
		}
		w.run(time.Second)
	}
	w.run(3 * time.Hour)
	return q, came
}

// Paper §3.2: u(Q) = Σ w_i d^(-h_i), "where S_P ∩ S'_Q denotes the intersection of P's direct subscription set and Q's
// entire subscription set": what Q wants at a distance counts, what P does not want does not, and "a node P assigns
// a weight w_i of preference to each feed i in its direct subscription set".
func TestUsefulnessIsTheWeightedOverlap(t *testing.T) {
	w := newNetwork(t)
	q, came := crowd(w)
	p := came[0]
	p.connect(protocol.Subset{
		{Feed: wanted(0)}, {Feed: wanted(1), Hops: 1}, {Feed: wanted(2), Hops: 2}, {Feed: wanted(3), Hops: 3},
		{Feed: "https://example.com/other"},
	})
	if s := q.status(p.testHost); s.Claimed != 1+1./2+1./4+1./8 || s.Overlap != 4 || s.Feeds != 5 {
		t.Errorf("usefulness %v of an overlap of %d among %d feeds", s.Claimed, s.Overlap, s.Feeds)
	}
	q.step(node.Subscribe{Feeds: []feed.URL{wanted(1)}, Weight: 10})
	if s := q.status(p.testHost); s.Claimed != 1+10./2+1./4+1./8 {
		t.Errorf("with a weight of 10 for the second feed it is %v", s.Claimed)
	}
}

// Paper §3.2: "As a primary selection metric, we use the degree of overlap in subscription sets"; "A node may need to
// drop some of current neighbors, for example, [...] when a newly connecting node has a higher degree of
// usefulness."
func TestTheMoreUsefulNewcomerTakesThePlaceOfTheLeastUseful(t *testing.T) {
	w := newNetwork(t)
	q, came := crowd(w)
	poor, rich := q.hearer(stranger(20)), q.hearer(stranger(21))
	poor.connect(wants(6))
	if poor.linked || !came[4].linked {
		t.Error("one that is as useful as the least useful took its place")
	}
	rich.connect(wants(12))
	w.run(time.Second)
	if !rich.linked || came[4].linked || q.neighborOf(came[4].id) {
		t.Error("one that is more useful did not take the place of the least useful")
	}
	for _, p := range came[:4] {
		if !p.linked {
			t.Errorf("%s had to go as well", p.id)
		}
	}
	came[4].connect(wants(12))
	if came[4].linked {
		t.Error("one that was sent away is back at once")
	}
}

// Paper §3.2: "Periodically, P assigns each neighbor Q the degree of usefulness": as its set is now, not as it was
// when it came.
func TestUsefulnessIsThatOfNow(t *testing.T) {
	w := newNetwork(t)
	q, came := crowd(w)
	var gone protocol.Subset
	for i := range 8 {
		gone = append(gone, protocol.Interest{Feed: wanted(i), Hops: protocol.Withdrawn})
	}
	came[0].say(gone) // of ten feeds two are left
	newcomer := q.hearer(stranger(20))
	newcomer.connect(wants(12))
	w.run(time.Second)
	if came[0].linked || !came[4].linked || !newcomer.linked {
		t.Error("it was not the one that lost its usefulness that had to go")
	}
}

// Paper §3.2, footnote: "It can be supplemented with secondary metrics such as topological proximity and neighboring
// duration." Of those with an equal overlap the distant one has to go, or the one that came last.
func TestProximityAndDurationDecideBetweenEquals(t *testing.T) {
	for _, far := range []int{0, 3, 4} {
		w := newNetwork(t)
		w.lag = func(_, to *testHost) time.Duration {
			if to.id == stranger(5+far) {
				return 300 * time.Millisecond
			}
			return 0
		}
		q, came := crowd(w)
		for i, p := range came {
			if p.connect(wants(7)); i == 3 {
				q.answerTo(p.id, "token of "+p.id.String(), protocol.Disconnect{})
				w.run(4 * time.Hour)
				p.connect(wants(7))
			}
		}
		w.run(4 * time.Hour)
		newcomer := q.hearer(stranger(20))
		newcomer.connect(wants(12))
		w.run(time.Second)
		if came[far].linked || !newcomer.linked {
			t.Errorf("the distant one, %d, is kept", far)
		}
		another := q.hearer(stranger(21))
		another.connect(wants(12))
		w.run(time.Second)
		if came[3].linked || !another.linked && far != 3 {
			t.Errorf("with %d gone the one that came last is kept", far)
		}
	}
}
