package trust

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const blog feed.URL = "https://blog.example.com/feed"

func TestTwoWitnessesMakeADoubt(t *testing.T) {
	type word struct {
		ago         time.Duration
		against, by int
	}
	const hour = time.Hour
	for name, c := range map[string]struct {
		words []word
		want  bool
	}{
		"nobody speaks against it":          {nil, false},
		"one may be wrong":                  {[]word{{0, 11, 2}}, false},
		"one says it twice":                 {[]word{{hour, 11, 2}, {0, 11, 2}}, false},
		"two":                               {[]word{{hour, 11, 2}, {0, 11, 3}}, true},
		"the other speaks of somebody else": {[]word{{0, 11, 2}, {0, 12, 3}}, false},
		"itself":                            {[]word{{0, 11, 11}, {0, 11, 2}}, false},
		"one spoke half a day ago":          {[]word{{doubtFor, 11, 2}, {0, 11, 3}}, false},
		"and says it again":                 {[]word{{doubtFor, 11, 2}, {hour, 11, 3}, {0, 11, 2}}, false},
		"until the week is over":            {[]word{{week, 11, 2}, {hour, 11, 3}, {0, 11, 2}}, true},
		"the clock went back":               {[]word{{-14 * 24 * hour, 11, 2}, {0, 11, 3}}, false},
		"one who has earned nothing":        {[]word{{0, 11, 2}, {0, 11, 20}}, false},
		"one beside whom others have":       {[]word{{0, 11, 20}, {0, 11, 2}, {0, 11, 3}}, true},
	} {
		w := heard(9, 3)
		for _, said := range c.words {
			w.Doubt(now.Add(-said.ago), id(said.against), id(said.by))
		}
		if got := w.Doubted(now, id(11), news); got != c.want {
			t.Errorf("%s: doubted is %v", name, got)
		}
		if got := w.Doubted(now, beside(11), news); got != c.want {
			t.Errorf("%s: what is beside it is doubted: %v", name, got)
		}
	}
}

// A node that cannot be dialled is doubted by its key: others know nothing else of it, and many share its address.
func TestAHostedNodeIsDoubtedByItself(t *testing.T) {
	home := protocol.HostedID(id(11).Addr(), protocol.NodeKey{1})
	next := protocol.HostedID(id(11).Addr(), protocol.NodeKey{2})
	w := heard(9, 3)
	for range 2 {
		w.Earned(now, home)
	}
	w.Doubt(now, home.Name(), home)
	w.Doubt(now, home.Name(), id(2))
	if w.Doubted(now, home, news) {
		t.Error("one witness, or itself, makes a doubt")
	}
	w.Doubt(now, home, id(3))
	for _, named := range []protocol.NodeID{home, home.Name()} {
		if !w.Doubted(now, named, news) {
			t.Errorf("%s is not doubted", named)
		}
	}
	if w.Doubted(now, next, news) || w.Doubted(now, id(11), news) {
		t.Error("who shares its address is doubted")
	}
	w.Shown(now, home, news)
	if w.Doubted(now, home, news) || !w.Doubted(now, home.Name(), blog) {
		t.Error("an own poll does not end it in its feed, or in another")
	}
	w.Earned(now, home) // as much as the witnesses now
	w.Convicted(home)
	w.Doubt(now, home.Name(), id(2))
	w.Doubt(now, home.Name(), id(3))
	if w.Doubted(now, home, blog) {
		t.Error("it is doubted by those who have earned no more")
	}
}

// Two nodes of one network are one witness, and speak against nobody beside them.
func TestANetworkIsOneWitness(t *testing.T) {
	w := heard(9, 3)
	w.Doubt(now, id(11), id(2))
	w.Doubt(now, id(11), beside(2))
	w.Doubt(now, beside(11), id(2))
	w.Doubt(now, id(11), beside(11))
	if len(w.doubts) != 1 || w.Doubted(now, id(11), news) {
		t.Errorf("%d words are remembered", len(w.doubts))
	}
}

// A word against a node takes more than that has earned, and one against several more than all of them have.
func TestADoubtTakesMoreThanTheNodeHasEarned(t *testing.T) {
	for _, c := range []struct{ earned, witnesses, want int }{
		{0, 0, 0}, {0, 1, 1}, {0, 2, 2}, {1, 1, 0}, {1, 2, 1}, {5, 5, 0}, {5, 6, 1}, {5, 11, 1}, {5, 12, 2},
		{5, 100, 3},
	} {
		w := heard(2, c.witnesses)
		for i := 11; i <= 13; i++ {
			for range c.earned {
				w.Earned(now, id(i))
			}
		}
		doubted := 0
		for i := 11; i <= 13; i++ {
			w.Doubt(now, id(i), id(1))
			w.Doubt(now, id(i), id(2))
		}
		for i := 11; i <= 13; i++ {
			if w.Doubted(now, id(i), news) {
				doubted++
			}
		}
		if doubted != c.want {
			t.Errorf("the witnesses earned %d, the others %d: %d are doubted, want %d", c.witnesses, c.earned,
				doubted, c.want)
		}
	}
}

// A word that came before it was earned counts once it is.
func TestADoubtMayBeEarnedLater(t *testing.T) {
	w := heard(1, 1)
	w.Doubt(now, id(11), id(1))
	w.Doubt(now, id(11), id(2))
	if w.Doubted(now, id(11), news) {
		t.Error("a stranger is a witness")
	}
	w.Earned(now.Add(time.Hour), id(2))
	if !w.Doubted(now.Add(time.Hour), id(11), news) {
		t.Error("it has earned something, and is none")
	}
}

// An own poll that shows what a node claims ends the doubt in that feed, and proves the witnesses wrong once their word
// has had its time.
func TestOwnPollsEndADoubt(t *testing.T) {
	w := heard(9, 3)
	w.Doubt(now, id(11), id(2))
	w.Doubt(now, id(11), id(3))
	w.Doubt(now, id(11), id(4))
	w.Shown(now, id(9), news)
	if !w.Doubted(now, id(11), news) || !w.Doubted(now, id(11), blog) {
		t.Fatal("it is not doubted")
	}
	w.Shown(now.Add(time.Hour), id(11), news)
	at := now.Add(time.Hour)
	if w.Doubted(at, id(11), news) || !w.Doubted(at, id(11), blog) {
		t.Errorf("after a poll it is doubted in the feed that was polled: %v, and in another %v",
			w.Doubted(at, id(11), news), w.Doubted(at, id(11), blog))
	}
	for by := 2; by <= 4; by++ { // it may yet be found forging
		if !w.counts(at, id(by).Network()) {
			t.Errorf("%d has no voice any more", by)
		}
	}
	at = now.Add(doubtFor)
	for by := 2; by <= 5; by++ {
		if got := w.counts(at, id(by).Network()); got != (by == 5) {
			t.Errorf("it is over, and %d has a voice: %v", by, got)
		}
	}
	w.Doubt(at, id(8), id(2))
	w.Doubt(at, id(8), id(5))
	if w.Doubted(at, id(8), news) {
		t.Error("a witness that was wrong speaks against another")
	}
	if v := newVersions(w); v.Vouched(at, brought(2, 2), way(5)) {
		t.Error("a witness that was wrong vouches for a version")
	}
	w.Earned(at, id(2))
	if w.counts(now.Add(week-time.Second), id(2).Network()) || !w.counts(now.Add(week), id(2).Network()) {
		t.Error("it has no voice for another time than a week")
	}
}

// Where an own poll finds the node forging, witnesses that said so were right.
func TestAConvictionProvesWitnessesRight(t *testing.T) {
	w := heard(9, 3)
	w.Doubt(now, id(11), id(2))
	w.Doubt(now, id(11), id(3))
	w.Shown(now, id(11), news)
	w.Convicted(id(11))
	if w.Doubted(now, id(11), blog) {
		t.Error("it is doubted, and not refused")
	}
	for by := 2; by <= 3; by++ {
		if !w.counts(now.Add(doubtFor), id(by).Network()) {
			t.Errorf("%d has no voice any more", by)
		}
	}
}

// A flood pushes out no word of a network with a voice.
func TestDoubtsAreBounded(t *testing.T) {
	w := heard(2, 1000)
	w.Doubt(now, id(11), id(2))
	for i := range 2 * maxDoubts {
		w.Doubt(now, id(100+i), id(1))
	}
	if len(w.doubts) != 1+maxDoubtsEach {
		t.Errorf("%d words are remembered, want %d", len(w.doubts), 1+maxDoubtsEach)
	}
	for i := range 2 * maxDoubts {
		w.Doubt(now, id(11), id(100+i))
	}
	if len(w.doubts) != maxDoubts {
		t.Errorf("%d words are remembered, want %d", len(w.doubts), maxDoubts)
	}
	for range 9 {
		w.Earned(now, id(3))
	}
	if w.Doubt(now, id(11), id(3)); !w.Doubted(now, id(11), news) {
		t.Error("the word of a witness is forgotten")
	}
}
