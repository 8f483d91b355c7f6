package experiment

import (
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/polling"
)

// A network is a world whose members are alike: each follows some of the feeds at random and polls them at
// one interval.
type network struct {
	Seed       lab.Seed
	Feeds      []trace.Feed
	Start      time.Time
	Length     time.Duration // what is published from Start for so long counts
	Each       int           // feeds a member
	Every      time.Duration // between polls
	Bound      int           // as incentive.Config has it
	Reach      int           // hops at which interests count, as node.Config.MaxSubsetHops has it
	Relayed    int           // most feeds that a member relays, as node.Config.MaxRelayed has it
	Links      lab.Links
	NoEncoding bool
}

// world makes the world, in which nobody is yet.
func (n network) world() (*lab.World, error) {
	return lab.New(lab.Config{
		Seed: n.Seed, Start: n.Start, Until: n.Start.Add(n.Length), Feeds: n.Feeds, Links: n.Links,
		NoEncoding: n.NoEncoding,
		Node: node.Config{Policy: polling.Fixed{Every: n.Every}, Incentive: incentive.Config{Bound: n.Bound},
			MaxSubsetHops: n.Reach, MaxRelayed: n.Relayed},
	})
}

// joinWithin is the time within which all members start.
const joinWithin = time.Minute

// join has member number i join within the first minute. then is called once it did, with a stream of the
// member's own.
func (n network) join(w *lab.World, i int, then func(h *lab.Host, rng *rand.Rand)) {
	rng := n.Seed.Stream(fmt.Sprintf("machine %d", i))
	// The name, not the order of joining, decides about the chance of a member.
	m := lab.Member{Name: fmt.Sprintf("node %d", i), Feeds: choose(rng, w, n.Each)}
	joinSoon(w, rng, m, func(h *lab.Host) {
		if then != nil {
			then(h, rng)
		}
	})
}

// joinSoon has a member join within the first minute, at a time that rng says. joined is called once it did.
func joinSoon(w *lab.World, rng *rand.Rand, m lab.Member, joined func(h *lab.Host)) {
	w.At(w.Start().Add(within(rng, joinWithin)), func() {
		h, err := w.Join(m)
		if err != nil {
			panic(err) // the settings were checked
		}
		joined(h)
	})
}

// within is a random time of less than d.
func within(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d)))
}

// choose draws so many of a world's feeds.
func choose(rng *rand.Rand, w *lab.World, count int) []feed.URL {
	var urls []feed.URL
	for _, i := range rng.Perm(len(w.Publishers()))[:count] {
		urls = append(urls, w.Publishers()[i].URL)
	}
	return urls
}
