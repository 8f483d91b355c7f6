package experiment

import (
	"errors"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Each sign of a feed is counted where it shows, and for the node that it tells of.
func TestSignsAreCounted(t *testing.T) {
	me, third, other := publicAddress(1), publicAddress(2), publicAddress(3)
	mine := protocol.NewBundle(public, []feed.Entry{{Feed: public, ID: "1"}})
	passed := protocol.NewBundle(public, []feed.Entry{{Feed: public, ID: "2"}})
	passed.Path = []protocol.NodeID{third}
	check := func(b *protocol.Bundle) protocol.Call { return protocol.CheckDID{DID: b.DID, Feed: public} }
	alone := false
	o := newObserver()
	see, seeThird := o.watch(me, func() bool { return false }), o.watch(third, func() bool { return false })
	seeOther := o.watch(other, func() bool { return alone })
	hear := func(call protocol.Call) { see(time.Time{}, node.Asked{From: other, Call: call}, nil) }
	ask := func(id uint64, call protocol.Call, reply protocol.Reply, err error) {
		see(time.Time{}, node.Wake{}, []node.Effect{node.Call{ID: id, To: node.Target{Node: other}, Call: call}})
		see(time.Time{}, node.Answered{ID: id, Peer: other, Reply: reply, Err: err}, nil)
	}
	advert := func(hops int) protocol.Subset { return protocol.Subset{{Feed: public, Hops: hops}} }

	hear(protocol.Connect{Subset: advert(0)})
	hear(protocol.UpdateSubset{Changes: advert(1)})
	hear(protocol.UpdateSubset{Changes: advert(3)})
	hear(protocol.UpdateSubset{Changes: advert(protocol.Withdrawn)})
	seeThird(time.Time{}, node.Wake{}, []node.Effect{node.Call{To: node.Target{Node: other}, Call: check(passed)}})
	hear(check(passed))
	hear(check(mine))
	hear(protocol.PutEntries{Bundle: mine})
	hear(protocol.PutEntries{Bundle: passed})
	ask(1, check(passed), protocol.Seen(true), nil)
	hear(check(passed))
	ask(2, protocol.CheckDIDs{DIDs: []protocol.DID{mine.DID, passed.DID}}, protocol.SeenList{false, true}, nil)
	ask(3, protocol.PutEntries{Bundle: mine}, nil, errors.New("refused"))
	query := protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: public}}}
	ask(4, query, protocol.Answer{Found: make([]protocol.Found, 3)}, nil)
	ask(5, query, nil, errors.New("refused"))
	ask(6, protocol.Connect{}, advert(0), nil)
	for _, alone = range []bool{true, false} {
		seeOther(time.Time{}, node.Wake{}, []node.Effect{node.Call{Call: protocol.Connect{Subset: advert(1)}},
			node.Respond{Reply: advert(2)}})
	}

	counts := func(seen signs) (list [signCount]float64) {
		for s := range list {
			list[s] = seen[shown{interestOf{other, public}, sign(s)}]
		}
		return list
	}
	want := [signCount]float64{
		hop0: 2, hop1: 1, further: 1, withdrawn: 1, offers: 3, unheard: 2, first: 1, delivered: 1,
		seen: 2, unseen: 1, found: 3, refused: 2,
	}
	if got := counts(o.allLinks()); got != want {
		t.Errorf("over all links %+v, want %+v", got, want)
	}
	want[first] = 0
	if got := counts(o.oneLink()); got != want {
		t.Errorf("over one link %+v, want %+v", got, want)
	}
	if got := counts(o.before); got != [signCount]float64{hop1: 1, further: 1} {
		t.Errorf("while it was alone %+v", got)
	}
}

// A sign that all nodes that follow a feed show, or that none of them does, gives them away; one that has nothing to do
// with it does not.
func TestGuesses(t *testing.T) {
	follows, seen, pairs := make(map[interestOf]bool), make(signs), []interestOf(nil)
	for i := range 400 {
		in := interestOf{publicAddress(i), public}
		pairs, follows[in], seen[shown{in, offers}] = append(pairs, in), i%2 == 0, float64(i/2)
	}
	if best, chance := guess(seen, pairs, follows); best > chance || chance > .61 {
		t.Errorf("nothing to see: right %v, by chance up to %v", best, chance)
	}
	for _, following := range []bool{true, false} {
		for _, in := range pairs {
			if seen[shown{in, refused}] = 0; follows[in] == following {
				seen[shown{in, refused}] = 1
			}
		}
		if best, chance := guess(seen, pairs, follows); best != 1 || chance > .61 {
			t.Errorf("all to see: right %v, by chance up to %v", best, chance)
		}
	}
	if right := rightGuesses([]float64{1, 2, 3, 3}, []float64{0, 2, 2, 9}); right != 9./16 {
		t.Errorf("right %v, want 9/16", right)
	}
}
