package poller

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
		var unseen []wait
		for k := range 2 {
			from := s.now.Add(time.Duration(k*30+s.rng.IntN(30-minutes)) * time.Minute)
			unseen = append(unseen, wait{from, from.Add(time.Duration(minutes) * time.Minute)})
		}
		for _, of := range tellers {
			for _, name := range of.names {
				at := s.now
				for hit := true; hit; {
					at = s.now.Add(time.Duration(s.rng.IntN(3600)) * time.Second)
					hit = !of.lies && slices.ContainsFunc(unseen, func(u wait) bool {
						return at.After(u.from) && at.Before(u.to)
					})
				}
				s.merits.doubt(&s.chorus.others[s.chorus.others.hears(name, of.via, at)])
			}
		}
		s.now = s.now.Add(time.Hour)
		s.chorus.others.forget(s.now.Add(-67 * time.Minute))
		for i := range unseen {
			unseen[i].from = unseen[i].from.Add(-s.offset)
		}
		s.merits.weigh(&s.chorus, unseen, s.now.Add(-time.Hour), time.Hour)
	}
}

// doubted are how many of those that a neighbor names are doubted.
func (s *scene) doubted(of teller) (n int) {
	for _, one := range s.chorus.others {
		if one.doubted && slices.Contains(of.names, one.origin) {
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
func TestWhosePollsMissWhatIsThereIsDoubted(t *testing.T) {
	honest := teller{nodeID(1), append(names(1, 1), names(100, 4)...), false}
	var alone []teller // who say so of themselves
	for n := range 8 {
		alone = append(alone, teller{nodeID(10 + n), names(10+n, 1), true})
	}
	many := teller{nodeID(3), names(200, 30), true}
	s := newScene()
	s.play(48, 5, append(alone, honest, many)...)
	if n := s.doubted(honest); n > 0 {
		t.Errorf("%d who polled are doubted", n)
	}
	lone := 0
	for _, of := range alone {
		lone += s.doubted(of)
	}
	if lone < 6 {
		t.Errorf("of 8 neighbors that never polled %d are doubted", lone)
	}
	if n := s.doubted(many); n < 20 {
		t.Errorf("of 30 who never polled %d are doubted", n)
	}
	fresh := teller{many.via, names(300, 30), true}
	s.play(1, 5, honest, fresh)
	if n := s.doubted(fresh); n < 20 {
		t.Errorf("of 30 new ones that the same neighbor names %d are doubted", n)
	}
}

// Where own polls miss entries as well that are dated before them, dates are off and tell nothing of others.
func TestDatesThatAreOffDoubtNobody(t *testing.T) {
	for _, offset := range []time.Duration{10 * time.Minute, 20 * time.Minute, 3 * time.Hour} {
		honest := teller{nodeID(1), append(names(1, 1), names(100, 9)...), false}
		s := newScene()
		s.offset = offset
		if s.play(100, 5, honest); s.doubted(honest) > 1 {
			t.Errorf("with dates %v too early %d of 10 who polled are doubted", offset, s.doubted(honest))
		}
	}
}

// Where entries come at once there is nothing to miss.
func TestWhatIsThereAtOnceDoubtsNobody(t *testing.T) {
	liar := teller{nodeID(3), names(200, 30), true}
	s := newScene()
	if s.play(100, 2, liar); len(s.merits.pollers) > 0 {
		t.Errorf("%d are judged by entries that came within two minutes", len(s.merits.pollers))
	}
}

// Entries that are unseen at the same time count once.
func TestBlindingTimesAreMerged(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2025, 3, 1, 8, minute, 0, 0, time.UTC) }
	got := blinding([]wait{{at(30), at(40)}, {at(0), at(10)}, {at(5), at(8)}, {at(9), at(20)}, {at(50), at(52)}})
	want := []wait{{at(1), at(9)}, {at(10), at(19)}, {at(31), at(39)}}
	if !slices.Equal(got, want) {
		t.Errorf("blind from %v, want %v", got, want)
	}
}

// Of no more nodes merits are known than there is room for, and what was long ago counts less and less.
func TestMeritsAreBounded(t *testing.T) {
	of := make(map[protocol.NodeID]merit)
	for n := range maxMerits + 10 {
		note(of, nodeID(n), 1, 1)
	}
	if len(of) > maxMerits {
		t.Errorf("%d are known", len(of))
	}
	for range 100 {
		note(of, nodeID(1), 2, 1)
	}
	if got := of[nodeID(1)]; got.chance > mostChance || got.blind > 2*mostChance {
		t.Errorf("what is remembered of one is %v", got)
	}
}
