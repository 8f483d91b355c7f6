package experiment

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
	"feedex/protocol"
)

// smallCrowd is ten nodes that poll every hour, for five.
func smallCrowd(t *testing.T) crowd {
	c, err := newCrowd(1, embedded(t), 10, 8, 5, time.Hour, 5*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c.Alike, c.Bad = true, 2
	return c
}

// A conduct counts the acts that the dishonest of a crowd were seen to do.
type conduct struct {
	offers, late int // dids offered, and these more than half a minute after they were heard of
	unheard      int // offered without having been heard of
	puts, own    int // bundles delivered, and these as their own polls
	forged, old  int // bundles delivered with such entries
	altered      int
	victim       int // bundles delivered with the victim on the path
	refused      int // deliveries, as by way of a forger
	named        protocol.NodeList
	afterHalf    int // dids offered in the second half of the run
}

// conductOf runs a crowd and watches its dishonest members.
func conductOf(t *testing.T, c crowd) (*conduct, *gathering) {
	seen := &conduct{}
	half := c.Start.Add(c.Length/2 + time.Minute)
	victim := publicAddress(99)
	c.Watch = func(_ int, isBad bool) func(time.Time, node.Event, []node.Effect) {
		if !isBad {
			return nil
		}
		heard := make(map[protocol.DID]time.Time)
		return func(now time.Time, ev node.Event, effects []node.Effect) {
			if asked, ok := ev.(node.Asked); ok {
				for _, did := range actor.Offered(asked.Call) {
					if _, known := heard[did]; !known {
						heard[did] = now
					}
				}
			}
			for _, e := range effects {
				switch e := e.(type) {
				case node.Respond:
					if e.Fault != nil && e.Fault.Code == protocol.ForgedSource {
						seen.refused++
					}
					if list, ok := e.Reply.(protocol.NodeList); ok {
						seen.named = append(seen.named, list...)
					}
				case node.Call:
					for _, did := range actor.Offered(e.Call) {
						seen.offers++
						if now.After(half) {
							seen.afterHalf++
						}
						switch at, known := heard[did]; {
						case !known:
							seen.unheard++
						case now.Sub(at) > 30*time.Second:
							seen.late++
						}
					}
					if put, ok := e.Call.(protocol.PutEntries); ok {
						seen.delivered(now, put.Bundle, victim)
					}
				}
			}
		}
	}
	g := c.gather()
	g.w.Run(c.Start.Add(c.Length))
	return seen, g
}

// stolen is the key in whose name impostors forge.
var stolen = protocol.NodeKey{1, 2, 3}

func (s *conduct) delivered(now time.Time, b *protocol.Bundle, victim protocol.NodeID) {
	s.puts++
	if len(b.Path) == 0 {
		s.own++
	}
	if slices.Contains(b.Path, victim) || slices.Contains(b.Path, protocol.NameOf(stolen)) {
		s.victim++
	}
	is := func(f func(*feed.Entry) bool) int {
		for i := range b.Entries {
			if f(&b.Entries[i]) {
				return 1
			}
		}
		return 0
	}
	s.forged += is(actor.Forged)
	s.altered += is(actor.Altered)
	s.old += is(func(e *feed.Entry) bool { return now.Sub(e.Published) > 48*time.Hour })
}

// Each actor does its misdeed, and an honest node in its place does not.
func TestHabits(t *testing.T) {
	t.Parallel()
	acting := func(f func(n *node.Node, rng *rand.Rand) actor.Participant) kind {
		return kind{act: func(_ int, n *node.Node, rng *rand.Rand) actor.Participant { return f(n, rng) }}
	}
	base := smallCrowd(t)
	half := base.Start.Add(base.Length / 2)
	victim := publicAddress(99)
	named := []protocol.NodeID{publicAddress(77), publicAddress(78)}
	for _, x := range []struct {
		name  string
		kind  kind
		habit func(s *conduct) bool
	}{
		{"honest nodes, who offer and deliver, relay with the path, and answer with their neighbors", kind{},
			func(s *conduct) bool {
				return s.offers > 0 && s.puts > s.own && s.own > 0 && s.afterHalf > 0 && s.late < s.offers/2 &&
					s.forged+s.altered+s.victim == 0 &&
					!slices.Equal(s.named[:1], named[:1])
			}},
		{"free riders", freeRiders, func(s *conduct) bool { return s.offers+s.puts == 0 }},
		{"recutters", recutters, func(s *conduct) bool {
			return s.offers == 0 && s.puts > 0 && s.own == s.puts && s.old == s.puts
		}},
		{"inventors", inventors, func(s *conduct) bool {
			return s.offers+s.own == 0 && s.puts > 0 && s.forged == s.puts
		}},
		{"rejoiners", keyRejoiners, func(s *conduct) bool { return s.offers+s.puts == 0 }},
		{"liars", liars, func(s *conduct) bool { return s.offers+s.puts == 0 }},
		{"echoers", echoers, func(s *conduct) bool {
			return s.offers > 0 && s.late == s.offers &&
				s.unheard+s.puts == 0
		}},
		{"breakers", breakers, func(s *conduct) bool { return s.offers > 0 && s.late+s.unheard+s.puts == 0 }},
		{"forgers", forgers(5, base.Start), func(s *conduct) bool { return s.forged > 0 }},
		{"alterers", acting(func(n *node.Node, _ *rand.Rand) actor.Participant { return actor.Alterer(n, "one") }),
			func(s *conduct) bool { return s.altered > 0 && s.altered < s.puts }},
		{"tamperers", acting(func(n *node.Node, _ *rand.Rand) actor.Participant { return actor.Tamperer(n, victim) }),
			func(s *conduct) bool { return s.puts > 0 && s.victim == s.puts }},
		{"tamperers who cut", acting(func(n *node.Node,
			_ *rand.Rand) actor.Participant {
			return actor.Tamperer(n, protocol.NodeID{})
		}), func(s *conduct) bool { return s.puts > 0 && s.own == s.puts }},
		{"replayers", acting(func(n *node.Node, _ *rand.Rand) actor.Participant { return actor.Replayer(n) }),
			func(s *conduct) bool { return s.offers > 0 && s.puts > 0 && s.old == s.puts }},
		{"traitors", acting(func(n *node.Node, _ *rand.Rand) actor.Participant { return actor.Traitor(n, half) }),
			func(s *conduct) bool { return s.offers > 0 && s.afterHalf == 0 }},
		{"colluders", acting(func(n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Colluder(n,
				"all", half, victim)
		}), func(s *conduct) bool {
			return s.altered > 0 && s.forged > 0 && s.victim > 0 && s.victim < s.puts && s.own > 0
		}},
		{"slanderers", acting(func(n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Slanderer(n, "one", 5, base.Start, nil)
		}), func(s *conduct) bool {
			return s.refused > 0 && s.forged > 0 && s.own > 0
		}},
		{"withholders", withholders, func(s *conduct) bool { return s.puts > 0 && s.own == s.puts && s.unheard > 0 }},
		{"flooders", acting(func(n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Flooder(n, 60, half)
		}), func(s *conduct) bool { return s.own > 0 && s.afterHalf > 1000 }},
		{"impostors", acting(func(n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Impostor(n, "one", 5, base.Start, func() protocol.NodeKey { return stolen })
		}), func(s *conduct) bool { return s.forged > 0 && s.victim >= s.forged && s.own > 0 }},
		{"eclipsers", acting(func(n *node.Node, rng *rand.Rand) actor.Participant {
			return actor.Eclipser(n,
				rng, named)
		}), func(s *conduct) bool {
			return s.offers == 0 && len(s.named) > 0 &&
				!slices.ContainsFunc(s.named, func(id protocol.NodeID) bool { return !slices.Contains(named, id) })
		}},
	} {
		c := base
		c.Kind = x.kind
		seen, g := conductOf(t, c)
		if !x.habit(seen) {
			t.Errorf("%s: %+v", x.name, *seen)
		}
		switch x.name {
		case "rejoiners":
			for i, h := range g.hosts {
				if g.class[i] == bad && h.ID.Port() < protocol.DefaultPort+3 {
					t.Errorf("after five hours a rejoiner is at %s", h.ID)
				}
			}
		case "liars":
			if !claimsAll(g, c) {
				t.Error("no honest node hears a liar claim every feed")
			}
		}
	}
}

// claimsAll reports whether an honest host has a dishonest neighbor that claims all feeds at hop 0.
func claimsAll(g *gathering, c crowd) bool {
	enemies := c.enemies()
	return slices.ContainsFunc(g.honest(), func(h *lab.Host) bool {
		return slices.ContainsFunc(h.Node().Neighbors(), func(s node.NeighborStatus) bool {
			return enemies[s.ID] && s.Feeds == len(c.Feeds) && s.Nearest[0] == c.Each
		})
	})
}

// Who repeats what it heard of polls tells others who do so as well: what they tell does not grow with every round.
func TestRepeatersTellNoMoreWithEveryRound(t *testing.T) {
	c := smallCrowd(t)
	c.Bad, c.Kind, c.Length = 5, repeating(&c), 4*time.Hour
	told := make([]int, c.Length/time.Hour+1)
	c.Watch = func(_ int, isBad bool) watch {
		if !isBad {
			return nil
		}
		return func(now time.Time, _ node.Event, effects []node.Effect) {
			for _, e := range effects {
				if call, ok := e.(node.Call); ok {
					if n, ok := call.Call.(protocol.Notify); ok {
						told[now.Sub(c.Start)/time.Hour] += len(n.Notices)
					}
				}
			}
		}
	}
	c.run(t.Context(), c.gather().w, func(float64) {})
	if told[1] == 0 || told[3] > 3*told[1] {
		t.Errorf("repeaters told %v notices an hour; want in the fourth at most three times those of the second", told)
	}
}

// Shadows tell of polls in other names right after one that no shadow invented: they never answer each other.
func TestShadowsTellAfterPollsOfOthers(t *testing.T) {
	c := smallCrowd(t)
	c.Kind = shadowing(2)(&c)
	liars := c.enemies()
	for i := range c.Nodes {
		for _, id := range inventedNodes(i, c.namesEach(2)) {
			liars[id] = true
		}
	}
	told := 0
	c.Watch = func(i int, isBad bool) watch {
		if !isBad {
			return nil
		}
		own := inventedNodes(i, c.namesEach(2))
		polled := make(map[feed.URL]time.Time)
		return func(now time.Time, ev node.Event, effects []node.Effect) {
			if asked, ok := ev.(node.Asked); ok {
				if call, ok := asked.Call.(protocol.Notify); ok {
					for _, n := range call.Notices {
						if !liars[n.Origin(asked.From)] {
							polled[n.Feed] = now.Add(-n.Age)
						}
					}
				}
			}
			for _, e := range effects {
				call, _ := e.(node.Call)
				notify, _ := call.Call.(protocol.Notify)
				for _, n := range notify.Notices {
					if len(n.Path) != 1 || !slices.Contains(own, n.Path[0]) {
						continue
					}
					if told++; now.Sub(polled[n.Feed]) > 2*time.Minute {
						t.Fatalf("%s is told of %v after it was polled", n.Feed, now.Sub(polled[n.Feed]))
					}
				}
			}
		}
	}
	c.run(t.Context(), c.gather().w, func(float64) {})
	if told == 0 {
		t.Error("shadows told of nothing")
	}
}
