package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// A network is a world whose members are alike: each follows some of the feeds at random and polls them at
// one interval.
type network struct {
	Seed    lab.Seed
	Feeds   []trace.Timeline
	Start   time.Time
	Length  time.Duration    // what is published from Start for so long counts
	Each    int              // feeds a member, drawn at random
	Lists   trace.Lists      // in the place of these, where it is not nil: those of each member, as numbers of Feeds
	Every   time.Duration    // between polls
	Policy  polling.Policy   // in the place of polling at fixed intervals, where it is not nil
	Bound   int              // as incentive.Config has it
	Rules   *incentive.Rules // likewise
	Reach   int              // hops at which interests count, as node.Config.MaxSubsetHops has it
	Relayed int              // most feeds that a member relays, as node.Config.MaxRelayed has it
	Hosting int              // places for hosted neighbors, as node.Config.Hosted has it
	// Volunteer is how many feeds a member polls for others, as node.Config has it.
	Volunteer int
	Conditions
	NoEncoding bool
	Alone      bool    // as node.Config has it
	Earshot    float64 // share of the pairs whose calls arrive, where it is not 0
	// Alter returns what arrives in the place of a call, nil for the call itself. Where it is set all are in earshot.
	Alter      func(c protocol.Call) protocol.Call
	FirstPolls bool // members make all first polls: the lab fills in no past, which is what waived ones leave to it
}

// past is how far back members want what came out before they joined. Nobody measures that, but it lets them do without
// their first polls.
const past = 24 * time.Hour

// node is the configuration that all members have in common.
func (n network) node() node.Config {
	backfill := past
	if n.FirstPolls {
		backfill = 0
	}
	return node.Config{
		Trackers: []string{lab.TrackerURL}, Policy: cmp.Or[polling.Policy](n.Policy, polling.Fixed{Every: n.Every}),
		Incentive: incentive.Config{Bound: n.Bound, Rules: n.Rules}, MaxSubsetHops: n.Reach, MaxRelayed: n.Relayed,
		Backfill: backfill, Alone: n.Alone, Hosted: n.Hosting, Volunteer: n.Volunteer,
	}
}

// world makes the world, in which nobody is yet, of settings that were checked.
func (n network) world() *lab.World {
	w, err := lab.New(lab.Config{
		Seed: n.Seed, Start: n.Start, Until: n.Start.Add(n.Length), Feeds: n.Feeds,
		Links: n.Links, Conduct: n.Conduct, ReferenceDown: n.ReferenceDown,
		NoEncoding: n.NoEncoding, Node: n.node(), Fate: n.fate(),
	})
	if err != nil {
		panic(err)
	}
	return w
}

// fate is that of calls between members that are out of earshot of each other, nil where all are within.
func (n network) fate() func(from, to *lab.Host, c node.Call) lab.Fate {
	switch {
	case n.Alter != nil:
		return func(_, _ *lab.Host, c node.Call) lab.Fate { return lab.Fate{Call: n.Alter(c.Call)} }
	case n.Earshot == 0:
		return nil
	}
	return func(from, to *lab.Host, _ node.Call) lab.Fate {
		if to == nil {
			return lab.Fate{}
		}
		pair := fmt.Sprint("pair ", min(from.Name, to.Name), " ", max(from.Name, to.Name))
		return lab.Fate{Lost: n.Seed.Stream(pair).Float64() >= n.Earshot}
	}
}

// run runs the world to its end, and reports whether it came there.
func (n network) run(ctx context.Context, w *lab.World, tell Progress) bool {
	return advance(ctx, w, n.Start.Add(n.Length), tell)
}

// joinWithin is the time within which all members start.
const joinWithin = time.Minute

// member is member number i, with the stream that all else about it comes from.
func (n network) member(w *lab.World, i int) (lab.MemberConfig, *rand.Rand) {
	rng := n.Seed.Stream(fmt.Sprintf("machine %d", i))
	// The name, not the order of joining, decides about the chance of a member.
	m := lab.MemberConfig{Name: fmt.Sprintf("node %d", i), Feeds: n.follows(rng, w, i)}
	if n.Networks {
		m.ID = sharedNetwork(n.Seed, i)
	}
	m.NoPolls = n.Unable > 0 && n.Seed.Stream(m.Name+" polls").Float64() < n.Unable
	return m, rng
}

// follows are the feeds of member number i.
func (n network) follows(rng *rand.Rand, w *lab.World, i int) []feed.URL {
	if n.Lists == nil {
		return choose(rng, w, n.Each)
	}
	return picked(w, n.Lists[i])
}

// join has member number i join within the first minute. joined, if it is not nil, is called once it did, with a
// stream of the member's own.
func (n network) join(w *lab.World, i int, joined func(h *lab.Host, rng *rand.Rand)) {
	m, rng := n.member(w, i)
	joinSoon(w, rng, m, joined)
}

// joinSoon has a member join within the first minute, at a time that rng says.
func joinSoon(w *lab.World, rng *rand.Rand, m lab.MemberConfig, joined func(h *lab.Host, rng *rand.Rand)) {
	w.At(w.Start().Add(within(rng, joinWithin)), func() {
		h := joinNow(w, m)
		if joined != nil {
			joined(h, rng)
		}
	})
}

// joinNow has a member join, of which the settings were checked.
func joinNow(w *lab.World, m lab.MemberConfig) *lab.Host {
	h, err := w.Join(m)
	if err != nil {
		panic(err)
	}
	return h
}

// comeBack has a host start again that started before.
func comeBack(h *lab.Host) {
	if err := h.Return(); err != nil {
		panic(err)
	}
}

// within is a random time of less than d.
func within(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d)))
}

// choose draws so many of a world's feeds.
func choose(rng *rand.Rand, w *lab.World, count int) []feed.URL {
	return picked(w, rng.Perm(len(w.Publishers()))[:count])
}

// picked are those of a world's feeds that have these numbers.
func picked(w *lab.World, numbers []int) []feed.URL {
	return each(numbers, func(i int) feed.URL { return w.Publishers()[i].URL })
}

// leastRate is how many entries a day a feed publishes at least. Paper §4.3: "we select 70 feeds [...] that
// publish at least 5 entries per day".
const leastRate = 5

// busiest are the feeds that publish at least leastRate, or so many of them at random.
func busiest(seed lab.Seed, s *trace.Set, most int) []trace.Timeline {
	feeds := s.Busy(leastRate)
	if len(feeds) > most {
		seed.Stream("feeds").Shuffle(len(feeds), func(i, j int) { feeds[i], feeds[j] = feeds[j], feeds[i] })
		feeds = feeds[:most]
	}
	return feeds
}

// maxNodes is how many nodes fit into the memory of an ordinary machine, with a wide margin.
const maxNodes = 100_000

// tooShort says that the traces are, if they cover less than an experiment takes.
func tooShort(s *trace.Set, least time.Duration) error {
	if span := s.To.Sub(s.From); span < least {
		return impossible("the traces cover %s; want traces of %s or more", when.Clock(span), when.Clock(least))
	}
	return nil
}

// errNoFeeds says that the traces are of no use to an experiment that wants feeds that publish.
var errNoFeeds = impossible("the traces have no feed of %d entries a day or more; want traces that have", leastRate)

// possible says what is wrong with the settings that all experiments have, and what would be possible.
func possible(s *trace.Set, feeds []trace.Timeline, nodes, each int, length, every time.Duration) error {
	span := s.To.Sub(s.From)
	switch {
	case nodes < 2 || nodes > maxNodes:
		return impossible("%d nodes; want 2 to %d", nodes, maxNodes)
	case len(feeds) == 0:
		return errNoFeeds
	case each < 1 || each > len(feeds):
		return impossible("%d feeds a node; there are %d of %d entries a day or more, so want 1 to %d", each,
			len(feeds), leastRate, len(feeds))
	case length < 10*time.Minute || length > span:
		return impossible("a run of %s; the traces cover %s, so want 10m to that", when.Clock(length),
			when.Clock(span))
	case every < time.Minute || every > length:
		return impossible("polling every %s in a run of %s; want 1m to %s", when.Clock(every), when.Clock(length),
			when.Clock(length))
	}
	return nil
}

// weekday is when a run of that length begins: at midnight UTC of the Wednesday that is nearest the middle
// of the traces, or with their begin where none fits. Paper §4.3: "about 22 hours on a weekday".
func weekday(s *trace.Set, length time.Duration) time.Time {
	day := s.From.Add(s.To.Sub(s.From) / 2).Truncate(24 * time.Hour)
	for i := range 7 {
		// The day itself, the one after, the one before, and so on.
		d := day.AddDate(0, 0, (i+1)/2*(1-2*((i+1)%2)))
		if d.Weekday() == time.Wednesday && !d.Before(s.From) && !d.Add(length).After(s.To) {
			return d
		}
	}
	return s.From
}
