package neighbors

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Usefulness is how much a node is worth as a neighbor. Its unit is 2^-16 of one feed of weight 1 that
// the node itself is interested in: an integer, because decisions must come out the same everywhere.
type Usefulness int64

const (
	// One is the usefulness of one feed of weight 1 at hop count 0.
	One Usefulness = 1 << 16
	// MaxWeight is the largest weight of a feed.
	MaxWeight = 100
	// lonely and scarce multiply the weight of a feed that nobody else offers, and of one that a
	// single other neighbor offers: every own feed should be offered twice before the sum counts.
	lonely, scarce = 4, 2
	// provenAfter is when what a neighbor brought counts for as much as it can.
	provenAfter = time.Hour
	// slowestPoll is within what time an honest neighbor has something to bring if others have: it may poll as
	// seldom as every four hours. liesAfter is when one that brought next to nothing can be told.
	slowestPoll = 4 * time.Hour
	liesAfter   = slowestPoll + time.Hour
	// uselessAfter is how many own polls in a row find what one should have brought that is of no use.
	uselessAfter = 7
	// provenBy is how much all neighbors must have brought within a day until that says anything.
	provenBy = 20 * One
)

// Weigh sets the weight w_i of preference for a feed, 1 to MaxWeight. Default 1. Paper §3.2.
func (t *RoutingTable) Weigh(u feed.URL, weight int) {
	if weight <= 1 {
		delete(t.weights, u)
		return
	}
	t.weights[u] = Usefulness(min(weight, MaxWeight))
}

// Claimed is the usefulness of a node whose subscription set is subset, by its own word:
//
//	u(Q) = Σ w_i·2^(−h_i)
//
// over the feeds of our own interest in its set, those that few others offer from as near counting more. id may be a
// neighbor or a stranger; neighbors know their set already and may pass nil.
//
// Paper §3.2, with d = 2. "The purpose of a factor d^(−h_i) is to depreciate the value of overlap in
// inverse proportion to the hop count because a feed with a large hop count is more prone to disappear."
func (t *RoutingTable) Claimed(id protocol.NodeID, subset protocol.Subset) Usefulness {
	var sum Usefulness
	n := t.byID[id]
	if subset == nil && n != nil {
		for _, i := range t.own {
			if hops, ok := t.routes.heard(i, n); ok {
				sum += t.worth(i, hops, n)
			}
		}
		return sum
	}
	for _, in := range subset {
		sum += t.worth(t.routes.find(in.Feed), in.Hops, n)
	}
	return sum
}

// worth is the value of an offer of the feed at hops by n, which may be nil for a stranger. It may have no route.
func (t *RoutingTable) worth(i row, hops int, n *Neighbor) Usefulness {
	if i == nowhere || t.routes.list[i].marks&isOwn == 0 || hops > t.config.MaxHops {
		return 0
	}
	w, ok := t.weights[t.routes.list[i].url]
	if !ok {
		w = 1
	}
	switch t.nearBeside(i, n, hops) {
	case 0:
		w *= lonely
	case 1:
		w *= scarce
	}
	return w * One >> hops
}

// offersBeside counts the neighbors other than n that offer the feed within reach.
func (t *RoutingTable) offersBeside(i row, n *Neighbor) (count int) {
	slot := n.place()
	for k, c := range t.routes.of(i) {
		if k != slot && t.reaches(c) {
			count++
		}
	}
	return count
}

// nearBeside counts the neighbors other than n that offer the feed as near as at hops, or nearly: one to which
// it comes by two hops more is no match for n.
func (t *RoutingTable) nearBeside(i row, n *Neighbor, hops int) (count int) {
	slot := n.place()
	for k, c := range t.routes.of(i) {
		if k != slot && t.reaches(c) && int(c.heard)-1 <= hops+1 {
			count++
		}
	}
	return count
}

// Brought notes that n gave us something of that worth: entries of own feeds that it delivered first, or truly had when
// it offered them. Of others nobody here would notice that they are made up. A negative worth takes back what turned
// out to be worth nothing.
func (t *RoutingTable) Brought(now time.Time, n *Neighbor, worth Usefulness) {
	n.brought.add(now, worth)
}

// Relayed notes that n gave us something else of that worth, as of feeds that others want: it makes n no better a
// neighbor, and no liar.
func (t *RoutingTable) Relayed(now time.Time, n *Neighbor, worth Usefulness) {
	n.relayed.add(now, worth)
}

// Shown notes that an own poll lists what n delivered, or had when it offered it, after so many Misses.
func (n *Neighbor) Shown(misses int) { n.excused = max(n.excused, misses) }

// Useless reports whether n brought nothing while many own polls, one after the other, were first to bring what it
// offers. What others bring first is no evidence: only against us has n the same chance as any that polls as often, and
// fails so by one in 128.
func (n *Neighbor) Useless() bool { return n.Misses-n.excused >= uselessAfter }

// Scores returns the worth of each neighbor, all things considered, in the order of All: its word at first, and more
// and more what it really brought within a day, as its part of what all brought. A neighbor that only claims ends at
// nothing. Where that leaves little between two, age, round trip and reliability decide.
func (t *RoutingTable) Scores(now time.Time) []Usefulness {
	scores := t.claims()
	observed := t.observed(now, scores)
	var brought Usefulness
	for _, n := range t.list {
		brought += n.brought.sum(now)
	}
	const full = int64(provenAfter / time.Second)
	for i, n := range t.list {
		age := int64(min(now.Sub(n.Since), provenAfter) / time.Second)
		trust := scaled(age, int64(min(brought, provenBy)), int64(provenBy))
		scores[i] = Usefulness(scaled(int64(scores[i]), full-trust, full) + scaled(int64(observed[i]), trust, full))
		scores[i] += scores[i] * n.bonus(now) / 1000
	}
	return scores
}

// Observed is the usefulness of each neighbor by what it really brought within a day, in the order of All: all
// that they claim together, shared out among them as each brought it.
func (t *RoutingTable) Observed(now time.Time) []Usefulness { return t.observed(now, t.claims()) }

// observed is Observed of neighbors that claim so much.
func (t *RoutingTable) observed(now time.Time, claimed []Usefulness) []Usefulness {
	observed := make([]Usefulness, len(t.list))
	var allClaimed, allRates Usefulness
	for i, n := range t.list {
		allClaimed += claimed[i]
		allRates += n.rate(now)
	}
	if allRates == 0 {
		return observed
	}
	for i, n := range t.list {
		observed[i] = Usefulness(scaled(int64(allClaimed), int64(n.rate(now)), int64(allRates)))
	}
	return observed
}

// claims returns the worth that each neighbor claims, in the order of All.
func (t *RoutingTable) claims() []Usefulness {
	claimed := make([]Usefulness, len(t.list))
	for i, n := range t.list {
		claimed[i] = t.Claimed(n.ID, nil)
	}
	return claimed
}

// rate is the worth of what n brings in an hour, over the last day or as long as it is here: nobody is worth less for
// having come later.
func (n *Neighbor) rate(now time.Time) Usefulness {
	return n.brought.sum(now) * Usefulness(time.Hour/time.Second) / n.seconds(now)
}

// seconds is for how long n has been here of the last day, an hour at least.
func (n *Neighbor) seconds(now time.Time) Usefulness {
	return Usefulness(min(max(now.Sub(n.Since), time.Hour), 24*time.Hour) / time.Second)
}

// Lies reports whether n claims as much as others, of what two others offer as well, and brought less than a tenth of
// what they brought on average since it came, although they brought enough to tell, and some of it so long ago that n
// has had its turn since. What n brought of other feeds counts for it, and what they did not against it. A feed that
// hardly anybody else offers is no evidence: it may be silent. Nor does it excuse: or it would do to claim all that we
// follow. What with brought in that time counts for n as well: they are those whose deliveries are booked as if one
// node made them.
func (t *RoutingTable) Lies(now time.Time, n *Neighbor, with ...*Neighbor) bool {
	others := Usefulness(len(t.list) - 1)
	if others < 2 || now.Sub(n.Since) < liesAfter {
		return false
	}
	var brought, early, claimed Usefulness
	for _, other := range t.list {
		if other != n {
			brought += other.brought.between(now, n.Since, now)
		}
	}
	own := n.brought.sum(now) + n.relayed.sum(now)
	for _, other := range with {
		own += other.brought.between(now, n.Since, now) + other.relayed.between(now, n.Since, now)
	}
	if brought < provenBy || own*10*others >= brought {
		return false
	}
	for _, other := range t.list {
		if other != n {
			early += other.brought.between(now, n.Since, now.Add(-slowestPoll))
			claimed += t.shared(other)
		}
	}
	if early < provenBy/4 {
		return false
	}
	shared := t.shared(n)
	return shared > 0 && shared*others >= claimed
}

// shared is the sum of n's claims of own feeds that enough others offer as well, each counting the same.
func (t *RoutingTable) shared(n *Neighbor) (sum Usefulness) {
	for _, i := range t.own {
		if hops, ok := t.routes.heard(i, n); ok && hops <= t.config.MaxHops && t.offersBeside(i, n) >= covered {
			sum += One >> hops
		}
	}
	return sum
}

// scaled is x·a/b without overflow for the sizes that occur here.
func scaled(x, a, b int64) int64 {
	return x/b*a + x%b*a/b
}

// bonus is how much, in thousandths, the secondary metrics move a score. Paper §3.2, footnote: "It can be
// supplemented with secondary metrics such as topological proximity and neighboring duration."
func (n *Neighbor) bonus(now time.Time) Usefulness {
	bonus := Usefulness(min(now.Sub(n.Since)/time.Hour, 48)) // a day together: 2.4 %
	switch {
	case n.RTT == 0:
	case n.RTT < 50*time.Millisecond:
		bonus += 30
	case n.RTT < 200*time.Millisecond:
		bonus += 15
	}
	return bonus - 50*Usefulness(min(n.Failures, 4))
}

// A tally adds up what happened within the last day, hour by hour.
type tally struct {
	hours [24]Usefulness
	last  int64 // the hour of the latest entry, since 1970
}

func (y *tally) add(now time.Time, v Usefulness) {
	y.rollOver(now)
	if v >= 0 {
		y.hours[y.last%24] += v
		return
	}
	// Out of the hours themselves, the latest first: or they would be forgotten before the debt is.
	for i := range int64(24) {
		hour := &y.hours[(y.last+24-i)%24]
		less := min(-v, *hour)
		*hour -= less
		v += less
	}
}

func (y *tally) sum(now time.Time) (sum Usefulness) {
	y.rollOver(now)
	for _, v := range y.hours {
		sum += v
	}
	return sum
}

// between adds up the whole hours after from, and up to that of to, as far as they are not forgotten.
func (y *tally) between(now, from, to time.Time) (sum Usefulness) {
	y.rollOver(now)
	for h := max(from.Unix()/3600+1, y.last-23); h <= min(to.Unix()/3600, y.last); h++ {
		sum += y.hours[h%24]
	}
	return sum
}

// rollOver empties the hours that are over.
func (y *tally) rollOver(now time.Time) { y.last = rollOver(y.hours[:], y.last, now.Unix()/3600) }

// rollOver empties the counts of a ring that are over, one for each hour or day, and returns the latest of these.
func rollOver[T any](ring []T, last, now int64) int64 {
	length := int64(len(ring))
	for i := max(last+1, now-length+1); i <= now; i++ {
		clear(ring[i%length : i%length+1])
	}
	return max(last, now)
}
