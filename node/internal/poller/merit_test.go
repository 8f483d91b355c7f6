package poller

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// A scene is a feed that nodes say they poll, and a node that hears them and polls it itself each hour. Entries come
// out at random and are there after a few minutes.
type scene struct {
	rng    *rand.Rand
	now    time.Time
	merits merits
	chorus chorus
	offset time.Duration // by which dates are too early
}

func newScene() *scene {
	return &scene{
		rng: rand.New(rand.NewPCG(3, 4)), now: time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC),
		merits: merits{pollers: make(map[protocol.NodeID]merit), bearers: make(map[protocol.NodeID]merit)},
	}
}

// A teller is a bearer and those that it names.
type teller struct {
	via   protocol.NodeID
	names []protocol.NodeID
	lies  bool
}

// play is so many hours. In each two entries are unseen for minutes: nobody who polls is there in those, and liars may
// say that they were.
func (s *scene) play(hours, minutes int, tellers ...teller) {
	for range hours {
		var waits []entryWait
		for k := range 2 {
			from := s.now.Add(time.Duration(k*30+s.rng.IntN(30-minutes)) * time.Minute)
			waits = append(waits, entryWait{from, from.Add(time.Duration(minutes) * time.Minute)})
		}
		for _, of := range tellers {
			for _, name := range of.names {
				at := s.now
				for hit := true; hit; {
					at = s.now.Add(time.Duration(s.rng.IntN(3600)) * time.Second)
					hit = !of.lies && slices.ContainsFunc(waits, func(u entryWait) bool {
						return at.After(u.from) && at.Before(u.to)
					})
				}
				s.merits.judge(&s.chorus.others[s.chorus.others.hears(name, of.via, at)])
			}
		}
		s.now = s.now.Add(time.Hour)
		s.chorus.others.forget(s.now.Add(-67 * time.Minute))
		for i := range waits {
			waits[i].from = waits[i].from.Add(-s.offset)
		}
		s.weigh(waits, s.now.Add(-time.Hour))
	}
}

// weigh is what Machine.weigh does for the feed, which is polled now as it was then.
func (s *scene) weigh(waits []entryWait, since time.Time) {
	sub := &Subscription{chorus: s.chorus}
	sub.Interval = time.Hour
	m := &Machine{Core: &core.Core{Now: s.now}, Feeds: map[feed.URL]*Subscription{"": sub}, merits: s.merits}
	m.weigh(sub, &taken{since: since, waits: waits})
	s.chorus = sub.chorus
}

// disregarded are how many of those that a neighbor names are disregarded.
func (s *scene) disregarded(of teller) (n int) {
	for _, one := range s.chorus.others {
		if one.disregarded && slices.Contains(of.names, one.origin) {
			n++
		}
	}
	return n
}

func names(from, count int) (ids []protocol.NodeID) {
	for n := range count {
		ids = append(ids, nodeID(from+n))
	}
	return ids
}

// Who says that nodes polled that did not is found out, whether these are many that it made up, each of them new, or
// itself; who tells of polls that were made is not.
func TestWhosePollsMissWhatIsThereIsDisregarded(t *testing.T) {
	honest := teller{nodeID(1), append(names(1, 1), names(100, 4)...), false}
	var alone []teller // who say so of themselves
	for n := range 8 {
		alone = append(alone, teller{nodeID(10 + n), names(10+n, 1), true})
	}
	many := teller{nodeID(3), names(200, 30), true}
	s := newScene()
	s.play(48, 5, append(alone, honest, many)...)
	if n := s.disregarded(honest); n > 0 {
		t.Errorf("%d who polled are disregarded", n)
	}
	lone := 0
	for _, of := range alone {
		lone += s.disregarded(of)
	}
	if lone < 6 {
		t.Errorf("of 8 neighbors that never polled %d are disregarded", lone)
	}
	if n := s.disregarded(many); n < 20 {
		t.Errorf("of 30 who never polled %d are disregarded", n)
	}
	fresh := teller{many.via, names(300, 30), true}
	s.play(1, 5, honest, fresh)
	if n := s.disregarded(fresh); n < 20 {
		t.Errorf("of 30 new ones that the same neighbor names %d are disregarded", n)
	}
}

// Where own polls miss entries as well that are dated before them, dates are off and tell nothing of others.
func TestDatesThatAreOffCondemnNobody(t *testing.T) {
	for _, offset := range []time.Duration{10 * time.Minute, 20 * time.Minute, 3 * time.Hour} {
		honest := teller{nodeID(1), append(names(1, 1), names(100, 9)...), false}
		s := newScene()
		s.offset = offset
		if s.play(100, 5, honest); s.disregarded(honest) > 1 {
			t.Errorf("with dates %v too early %d of 10 who polled are disregarded", offset, s.disregarded(honest))
		}
	}
}

// Where entries come at once there is nothing to miss.
func TestWhatIsThereAtOnceCondemnsNobody(t *testing.T) {
	liar := teller{nodeID(3), names(200, 30), true}
	s := newScene()
	if s.play(100, 2, liar); len(s.merits.pollers) > 0 {
		t.Errorf("%d are judged by entries that came within two minutes", len(s.merits.pollers))
	}
}

// Entries that are unseen at the same time count once.
func TestBlindingTimesAreMerged(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2025, 3, 1, 8, minute, 0, 0, time.UTC) }
	got := blinding([]entryWait{{at(30), at(40)}, {at(0), at(10)}, {at(5), at(8)}, {at(9), at(20)}, {at(50), at(52)}})
	want := []entryWait{{at(1), at(9)}, {at(10), at(19)}, {at(31), at(39)}}
	if !slices.Equal(got, want) {
		t.Errorf("blind from %v, want %v", got, want)
	}
}

// Of no more nodes merits are known than there is room for, and what was long ago counts less and less.
func TestMeritsAreBounded(t *testing.T) {
	of := make(map[protocol.NodeID]merit)
	note(of, nodeID(0), 3, 3)
	for n := range maxMerits + 10 {
		note(of, nodeID(1+n), .1, .1)
	}
	if len(of) > maxMerits {
		t.Errorf("%d are known", len(of))
	}
	if of[nodeID(0)].blind != 3 {
		t.Error("one of whom much was known is forgotten")
	}
	for range 100 {
		note(of, nodeID(1), 2, 1)
	}
	if got := of[nodeID(1)]; got.chance > mostChance || got.blind > 2*mostChance {
		t.Errorf("what is remembered of one is %v", got)
	}
}

// Whoever polls after all what it said that it polled is heard again.
func TestWhoTurnsOutBetterIsHeardAgain(t *testing.T) {
	of := teller{nodeID(3), names(200, 10), true}
	s := newScene()
	if s.play(72, 5, of); s.disregarded(of) < 5 {
		t.Fatalf("of 10 who never polled %d are disregarded", s.disregarded(of))
	}
	of.lies = false
	if s.play(240, 5, of); s.disregarded(of) > 0 {
		t.Errorf("%d are disregarded that polled for ten days", s.disregarded(of))
	}
}

// An own poll after a day in which there was none tells little of those who were heard in the last hour.
func TestAGapClearsNobody(t *testing.T) {
	of := teller{nodeID(3), names(200, 30), true}
	s := newScene()
	s.play(72, 5, of)
	before := s.disregarded(of)
	s.weigh([]entryWait{{s.now.Add(-20 * time.Hour), s.now}}, s.now.Add(-24*time.Hour))
	if after := s.disregarded(of); after < before*3/4 {
		t.Errorf("of %d who are disregarded %d are left", before, after)
	}
}

// A feed whose dates turn out to be off has all merits forgotten, once.
func TestMeritsAreForgottenOnce(t *testing.T) {
	s := newScene()
	off := func() {
		for range 10 {
			s.weigh([]entryWait{{s.now.Add(-80 * time.Minute), s.now}}, s.now.Add(-time.Hour))
		}
	}
	s.weigh([]entryWait{{s.now.Add(-10 * time.Minute), s.now}}, s.now.Add(-time.Hour))
	for n, want := range []int{0, 1} {
		note(s.merits.pollers, nodeID(1), 1, 1)
		if off(); len(s.merits.pollers) != want {
			t.Errorf("the merits of %d are known after dates were off for time %d, want %d", len(s.merits.pollers), n+1,
				want)
		}
		for range 200 {
			s.weigh([]entryWait{{s.now.Add(-30 * time.Minute), s.now}}, s.now.Add(-time.Hour))
		}
	}
}

// Of both latest polls of a node it counts whether they were blind, for the node and for who named it. What a neighbor
// says of itself is not held against those that it names.
func TestWhatIsHeldAgainstWhom(t *testing.T) {
	s := newScene()
	neighbor, named, at := nodeID(1), nodeID(2), s.now
	s.chorus.others.hears(neighbor, neighbor, at.Add(30*time.Minute))
	s.chorus.others.hears(named, neighbor, at.Add(30*time.Minute))
	s.chorus.others.hears(named, neighbor, at.Add(75*time.Minute))
	s.now = at.Add(80 * time.Minute)
	s.weigh([]entryWait{{at.Add(20 * time.Minute), at.Add(40 * time.Minute)}}, at.Add(15*time.Minute))
	of := []float64{s.merits.pollers[neighbor].blind, s.merits.pollers[named].blind, s.merits.bearers[neighbor].blind}
	if !slices.Equal(of, []float64{1, 1, 1}) {
		t.Errorf("%v polls were blind of a neighbor, of one that it names, and of all that it names; want 1 each", of)
	}
}
