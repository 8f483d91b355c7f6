package demo

import (
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

const (
	feedA feed.URL = "http://127.0.0.1:1/1.xml"
	feedB feed.URL = "http://127.0.0.1:1/2.xml"
)

var (
	start = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	peer  = protocol.NodeID{}
)

// at is so many seconds after the start.
func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// A scored is a score of two nodes, of which the first follows both feeds and the second one.
func scored(t *testing.T) (*score, feed.Entry, feed.Entry) {
	t.Helper()
	id, err := protocol.ParseNodeID("127.0.0.1:7790")
	if err != nil {
		t.Fatal(err)
	}
	peer = id
	s := newScore(2)
	s.join(0, "one", []feed.URL{feedA, feedB})
	s.join(1, "two", []feed.URL{feedA})
	s.begin(start)
	for i := range 2 { // both poll feed A at 0 s and are due again at 20 s
		s.observe(i, at(0), node.Polled{Feed: feedA, Next: at(20)})
	}
	s.observe(0, at(0), node.Polled{Feed: feedB, Next: at(20)})
	a := feed.Entry{Feed: feedA, ID: "a"}
	b := feed.Entry{Feed: feedB, ID: "b"}
	s.published(a, at(5))
	s.published(b, at(6))
	return s, a, b
}

func arrive(s *score, i int, seconds float64, source protocol.NodeID, e feed.Entry) {
	s.observe(i, at(seconds), node.Arrived{Feed: e.Feed, Source: source,
		Records: []archive.Record{archive.NewRecord(e, at(seconds), source)}})
}

func TestScoreCountsDeliveries(t *testing.T) {
	s, a, b := scored(t)
	if s.complete() {
		t.Error("complete before anything arrived")
	}
	arrive(s, 0, 8, protocol.NodeID{}, a) // by poll, 3 s late
	arrive(s, 1, 9, peer, a)              // from a neighbor, 4 s late
	if s.complete() {
		t.Error("complete although one entry did not arrive")
	}
	sum := s.summary(at(30))
	if sum.Expected != 3 || sum.Missed != 1 || sum.ByPoll != 1 || sum.ByPeer != 1 || sum.Published != 2 ||
		sum.Requests != 0 {
		t.Errorf("summary: %+v", sum)
	}
	if !strings.Contains(sum.String(), "1 deliveries did not come") {
		t.Errorf("in words:\n%s", sum)
	}
	arrive(s, 1, 10, peer, b) // passes through the second node, which does not follow it
	if s.complete() {
		t.Error("complete by what a node got that does not follow the feed")
	}
	arrive(s, 0, 8, peer, b) // 2 s late
	if !s.complete() {
		t.Error("not complete although everything arrived")
	}
	s.observe(0, at(20), node.Polled{Feed: feedA, Next: at(40)})
	s.observe(1, at(20), node.Polled{Feed: feedA, Next: at(40)})
	s.observe(0, at(20), node.Polled{Feed: feedB, Next: at(40)})
	sum = s.summary(at(30))
	if sum.Missed != 0 || sum.Lag != 3*time.Second {
		t.Errorf("mean lag %v, missed %d; want 3s, 0", sum.Lag, sum.Missed)
	}
	// Alone each would have waited for its poll at 20 s: 15, 15 and 14 s.
	if want := 44 * time.Second / 3; sum.AloneLag != want {
		t.Errorf("lag alone %v, want %v", sum.AloneLag, want)
	}
	// Alone three subscriptions are polled every 20 s for 30 s, and every 6 s to be as early.
	if sum.Requests != 3 || sum.AloneRequests != 4 || sum.AsSoonRequests != 15 {
		t.Errorf("requests %d, alone %d and %d; want 3, 4 and 15", sum.Requests, sum.AloneRequests, sum.AsSoonRequests)
	}
	for _, want := range []string{"No node missed an entry", "4.9 times sooner than by polling alone every 20 s",
		"alone: 4, to be as soon: 15", "5.0 times the requests"} {
		if !strings.Contains(sum.String(), want) {
			t.Errorf("in words, %q is missing:\n%s", want, sum)
		}
	}
}

// Who polls a feed after whom is told, but for the polls with which all begin, and how even the times between are.
func TestTurnsAreTold(t *testing.T) {
	s, _, _ := scored(t)
	tells := func(seconds float64, nodes, evenness string) {
		t.Helper()
		turns := s.summary(at(seconds)).Turns
		if turns.String() != "Harbor News"+nodes || turns.evenness() != evenness {
			t.Errorf("after %v s it tells %q and %q", seconds, turns, turns.evenness())
		}
	}
	tells(1, ": nobody's second turn has come", "")
	for i, seconds := range []float64{5, 15, 25, 35} {
		s.observe(i%2, at(seconds), node.Polled{Feed: feedA, Next: at(seconds + 20)})
		if i == 0 {
			tells(6, ", polled by node ------------------------------1-", "")
		}
	}
	tells(36, ", polled by node --------------1---------------2-, every 10.0 s",
		"10.0 s, give or take 0%; at random times 58%")
	s.observe(0, at(40), node.Polled{Feed: feedA, Next: at(60)})
	tells(41, ", polled by node ------1---------------2-------1-, every 8.3 s",
		" 8.3 s, give or take 28%; at random times 58%")
	if text := s.summary(at(41)).String(); !strings.Contains(text, "between polls      8.3 s, give or take 28%;") {
		t.Errorf("in words:\n%s", text)
	}
}

func TestPollsThatAreDueCountAlone(t *testing.T) {
	s, _, _ := scored(t)
	n := &s.nodes[0]
	for _, c := range []struct{ published, want float64 }{{5, 15}, {19, 1}, {20, 0}, {21, 19}, {45, 15}} {
		if got := s.aloneLag(n, feedA, at(c.published)); got != time.Duration(c.want*float64(time.Second)) {
			t.Errorf("published at %v s: %v alone, want %v s", c.published, got, c.want)
		}
	}
}

func TestScreenFitsATerminal(t *testing.T) {
	s, _, _ := scored(t)
	c := Config{For: time.Minute}
	for i := range s.nodes {
		s.nodes[i].name = "127.0.0.1:65535"
	}
	sc := &screen{config: c, score: s}
	for _, ran := range []time.Duration{0, c.For / 2, c.For, 2 * c.For} {
		sum := s.summary(start.Add(ran))
		sum.Requests = 1_000_000
		sum.Turns = Turns{Feed: titles[0], Line: strings.Repeat("1234", turnsWidth/4), Gap: 10 * time.Second}
		sum.Rider = RiderSummary{Got: 12345, Neighbors: 10, Held: true}
		var b strings.Builder
		sc.write(&b, sum)
		lines := strings.Split(b.String(), "\n")
		if len(lines) > Lines {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if n := len([]rune(line)); n >= Columns {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestTooShortToShowAnything(t *testing.T) {
	if _, err := Run(t.Context(), Config{For: time.Second}); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Errorf("a demonstration of a second: %v", err)
	}
}

// The fate of the free rider is told while the demonstration runs, where no terminal shows the picture too, and at its
// end, whatever became of the others.
func TestTheFreeRiderIsTold(t *testing.T) {
	s, _, _ := scored(t)
	var b strings.Builder
	sc := &screen{config: Config{For: time.Minute, Out: &b}, score: s}
	sc.draw(start)
	if !strings.Contains(b.String(), "free rider 0\n") || !strings.Contains(b.String(), "Harbor News") {
		t.Errorf("it shows %q", b.String())
	}
	for _, missed := range []int{0, 3} {
		sum := Summary{Missed: missed, Published: 30, Rider: RiderSummary{Got: 6, Held: true}}
		if text := sum.String(); !strings.Contains(text, "was held to 6 entries of 30.") {
			t.Errorf("with %d deliveries missed it ends with %q", missed, text)
		}
	}
}
