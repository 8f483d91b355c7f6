package node_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/protocol"
)

// The more filters look at what is stored, the less of a document is stored in a step.
func TestManyFiltersMakePortionsSmall(t *testing.T) {
	store := filtered{archive.NewMemory()}
	n, err := node.New(epoch, node.Config{Secret: []byte("secret of a node")}, store, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	n.Step(nil, epoch, node.Subscribe{Feeds: []feed.URL{news}})
	polled := listing(news, 200)
	polled.Feed = news
	n.Step(nil, epoch, polled)
	stored := func() int {
		found, err := store.Search(t.Context(), feed.Filter{Feed: news, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if n := stored(); n < 10 || n > 40 {
		t.Errorf("%d entries are stored in one step", n)
	}
	for range 20 {
		n.Step(nil, n.Next(), node.Wake{})
	}
	if n := stored(); n != 200 {
		t.Errorf("%d entries are stored of 200", n)
	}
}

// A filtered archive has many filters.
type filtered struct{ *archive.Memory }

func (filtered) Looking() int { return 1000 }

// A document that lists very much is stored in several steps, between which neighbors are answered. It is one poll, its
// entries are offered as always, and if the node is killed meanwhile it asks for the whole of it again.
func TestALargeDocumentIsStoredInPortions(t *testing.T) {
	for _, killed := range []bool{false, true} {
		w := newNetwork(t)
		var c node.Config
		c.Incentive.Rules = noQuota
		list := w.full(2, c, news)
		a, b := list[0], list[1]
		b.blocked[news] = true
		w.publish(news)
		a.poll(news)
		w.run(time.Minute)
		p := w.feed(news)
		p.window = 2_000
		var ids []feed.EntryID
		for range 1_500 {
			ids = append(ids, w.publish(news))
			p.entries[len(p.entries)-1].Content = strings.Repeat("text ", 1_000)
		}
		stored := func() (n int) {
			for _, v := range a.store.Known(ids) {
				if v.Kept() {
					n++
				}
			}
			return n
		}
		polls := a.node.Status().Counters.Polls
		a.notes = nil
		a.poll(news)
		if n := stored(); n == 0 || n*10_000 > 2*poller.PortionWeight {
			t.Fatalf("%d entries are stored in one step", n)
		}
		answered := false
		a.askedBy(b, protocol.CheckDID{DID: protocol.DID{1}}, func(node.Respond) { answered = true })
		if n := stored(); !answered || n == len(ids) {
			t.Errorf("a neighbor is answered: %v, when %d entries are stored", answered, n)
		}
		if killed {
			// for some other reason
			a.inside(func(n *node.Node) { n.Keep(news) })
			a.kill()
			a.start()
			w.run(3 * time.Hour)
			if n := stored(); n != len(ids) {
				t.Errorf("after a restart %d entries are stored of %d", n, len(ids))
			}
			continue
		}
		w.run(time.Minute)
		if n := stored(); n != len(ids) {
			t.Errorf("%d entries are stored of %d", n, len(ids))
		}
		told := slices.IndexFunc(a.notes, func(n node.Note) bool {
			p, ok := n.(node.Polled)
			return ok &&
				p.New == len(ids) && p.Problem == ""
		})
		if got := a.node.Status().Counters.Polls; got != polls+1 || told < 0 || len(a.arrived) != len(ids)+1 {
			t.Errorf("it counts as %d polls, told of at %d, of %d entries that arrived", got-polls, told,
				len(a.arrived))
		}
		w.run(2 * time.Hour)
		if !b.has(ids[len(ids)-1]) {
			t.Error("the latest was not offered")
		}
		for i, v := range a.store.Known(ids) {
			if want := (archive.Version{}); v == want || !v.Polled {
				t.Fatalf("entry %d is %+v", i, v)
			}
		}
		if a.stored(news).ETag == "" {
			t.Error("its validators are not kept")
		}
	}
}
