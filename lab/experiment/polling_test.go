package experiment

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/trace"
	"feedex/polling"
)

// A document of two entries, polled every ten minutes from 00:10 to 01:00: what each poll finds, by hand.
func TestRunFeed(t *testing.T) {
	begin := time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC)
	var times []int64
	for _, minute := range []int64{-60, -5, 10, 14, 15, 16, 16, 31, 50, 51, 52, 53, 61} {
		times = append(times, begin.Unix()+minute*60)
	}
	f := trace.Timeline{Name: "a", Window: 2, Times: times}
	p := &watched{}
	r := runFeed(&f, p, 0, feed.PollingHints{}, begin.Add(10*time.Minute), begin.Add(time.Hour))
	// Read: 00:10 what was there before; 00:20 the two of :16, not :14 and :15; 00:30 nothing; 00:40
	// that of :31; 00:50 that of :50. At the end :52 and :53 can still be read, :51 cannot.
	if r.published != 9 || r.found != 4 || r.missed != 3 || r.late != 2 {
		t.Errorf("%d published, %d found, %d missed, %d late; want 9, 4, 3, 2", r.published, r.found, r.missed, r.late)
	}
	if want := []float64{240, 240, 540, 0, 480, 420}; !slices.Equal(r.delays, want) {
		t.Errorf("delays %v, want %v", r.delays, want)
	}
	if want := []float64{240, 540, 0}; !slices.Equal(r.pollDelays, want) || r.lateDelay != 450 {
		t.Errorf("delays by poll %v and %v, want %v and 450", r.pollDelays, r.lateDelay, want)
	}
	if d, known := r.delay(); !known || d != (240+540+0+450)/4.0 {
		t.Errorf("mean delay %v", d)
	}
	if want := 4*lab.AnswerBytes(2) + lab.AnswerBytes(0); r.polls != 5 || r.notModified != 1 || r.bytes != want {
		t.Errorf("%d polls, %d not modified, %d bytes; want 5, 1, %d", r.polls, r.notModified, r.bytes, want)
	}
	if whole, fresh := 5*lab.AnswerBytes(2), int64(6*lab.EntryBytes); r.whole != whole || r.fresh != fresh {
		t.Errorf("%d bytes of whole documents, %d of new entries; want %d, %d", r.whole, r.fresh, whole, fresh)
	}
	if r.wanted != 600 || r.seconds != 3000 {
		t.Errorf("wanted %v s, ran %v s", r.wanted, r.seconds)
	}
	var seen [][3]int
	for _, q := range p.polls {
		seen = append(seen, [3]int{q.Listed, q.New, len(q.History.Times)})
	}
	// The history grows by what was read; what was missed is unknown to it.
	if want := [][3]int{{2, 2, 2}, {2, 2, 4}, {0, 0, 4}, {2, 1, 5}, {2, 1, 6}}; !slices.Equal(seen, want) {
		t.Errorf("listed, new, known by poll: %v, want %v", seen, want)
	}
	if q := p.polls[0]; q.Interval != 0 || !q.At.Equal(begin.Add(10*time.Minute)) ||
		p.polls[1].Interval != 10*time.Minute {
		t.Errorf("first polls %+v", p.polls[:2])
	}
	// A policy that remembers three knows of these, whatever the document lists.
	p = &watched{}
	runFeed(&f, p, 3, feed.PollingHints{}, begin.Add(10*time.Minute), begin.Add(time.Hour))
	for i, want := range []int{2, 3, 3, 3, 3} {
		if h := p.polls[i].History; len(h.Times) != want || h.Window != want {
			t.Errorf("at poll %d %d entries are remembered, and %d averaged; want %d", i, len(h.Times), h.Window, want)
		}
	}
	// What falls due in the hour after midnight, which is skipped, waits until one o'clock.
	p = &watched{}
	skips := feed.PollingHints{SkipHours: 1}
	r = runFeed(&f, p, 0, skips, begin.Add(10*time.Minute), begin.Add(80*time.Minute))
	if at := p.polls[1].At; r.polls != 3 || !at.Equal(begin.Add(time.Hour)) {
		t.Errorf("%d polls, the second at %v; want 3, at 01:00", r.polls, at)
	}
}

// A publisher that knows when it will publish skips the other hours and days; one that hardly publishes says nothing.
func TestSkips(t *testing.T) {
	p := Polling{Traces: &trace.Set{From: time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC)}, Length: 48 * time.Hour}
	at := p.Traces.From.Add(5 * time.Hour).Unix()
	f := trace.Timeline{Times: []int64{at - 86_400, at, at + 60, at + 9*3600, at + 2*86_400}}
	want := feed.PollingHints{SkipHours: 1<<24 - 1 - 1<<5 - 1<<14, SkipDays: 1<<7 - 1 - 1<<time.Saturday}
	if got := p.skips(&f); got != want {
		t.Errorf("skips %+v, want %+v", got, want)
	}
	f.Times = f.Times[:2]
	if got := p.skips(&f); got != (feed.PollingHints{}) {
		t.Errorf("of one entry in two days %+v", got)
	}
}

// Of 100 documents of 20,000 bytes ninety are not modified; whoever cannot say so sends all of them.
func TestCascade(t *testing.T) {
	const head = 350
	table := cascadeTable([]PollingRow{{Policy: crawler, Requests: 100, NotModified: 90, Bytes: 10*20_000_000 + 90*head,
		whole: 100 * 20_000_000, fresh: 500_000}, {Policy: "FeedEx"}})
	want := [][]string{{"0%", "2000", "200", "90.0%", "200", "90.0%", "0.5", "100.0%"},
		{"17%", "2000", "506", "74.7%", "200", "90.0%", "0.5", "100.0%"},
		{"35%", "2000", "838", "58.1%", "200", "90.0%", "0.5", "100.0%"}}
	if len(table.Rows) != len(want)+1 {
		t.Fatalf("rows %v", table.Rows)
	}
	for i := range want {
		if !slices.Equal(table.Rows[i][1:], want[i]) {
			t.Errorf("row %v, want %v", table.Rows[i], want[i])
		}
	}
}

// A watched policy polls every ten minutes and remembers what it was told.
type watched struct{ polls []polling.Poll }

func (w *watched) Interval(p polling.Poll) time.Duration {
	w.polls = append(w.polls, p)
	return 10 * time.Minute
}
func (w *watched) First() time.Duration   { return 10 * time.Minute }
func (w *watched) Longest() time.Duration { return 10 * time.Minute }

func smallPolling() Polling {
	// from busy ones to quiet ones
	return Polling{Seed: 1, Traces: trace.Synthetic(1, trace.Synthesis{Feeds: 24, Days: 7, Shift: -1})}
}

func TestPollingReport(t *testing.T) {
	report := ran(t, smallPolling().Run)
	isGolden(t, "polling.golden", report)
	other := smallPolling()
	other.Seed = 2
	if changed, err := other.Run(t.Context(), nil); err != nil || changed.Hash == report.Hash {
		t.Errorf("another seed gave hash %s, %v", changed.Hash, err)
	}
}

// Properties that must hold whatever the traces are: every entry is found, missed or late, a day of hours costs what it
// costs, and the rule of the paper, to the letter, is the worse one.
func TestPollingRows(t *testing.T) {
	report := ran(t, smallPolling().Run)
	rows := make(map[string]PollingRow)
	for _, r := range report.Result.([]PollingRow) {
		rows[r.Policy] = r
		if r.Published != r.Found+r.Missed+r.Late || r.Entries.Count != r.Found+r.Late {
			t.Errorf("%s: %d published, %d found, %d missed, %d late, %d delays", r.Policy, r.Published, r.Found,
				r.Missed, r.Late, r.Entries.Count)
		}
		if r.Published != rows["Fix 1h"].Published {
			t.Errorf("%s began at another time: %d published", r.Policy, r.Published)
		}
		if math.Abs(r.Polls.Error-r.Polls.Delay/60*r.Polls.Polls) > 1e-9 {
			t.Errorf("%s: error %v", r.Policy, r.Polls.Error)
		}
	}
	hourly, daily := rows["Fix 1h"], rows["Fix 1d"]
	if math.Abs(hourly.perDay-24) > 0.2 || math.Abs(daily.perDay-1) > 0.2 {
		t.Errorf("%v and %v requests at a feed a day", hourly.perDay, daily.perDay)
	}
	if math.Abs(hourly.Feeds.Delay/60-30) > 3 || math.Abs(hourly.Polls.Delay/60-30) > 2 {
		t.Errorf("hourly, the delay is %v and %v s", hourly.Feeds.Delay, hourly.Polls.Delay)
	}
	ours, literal := rows["FeedEx"], rows["FeedEx, literal"]
	if literal.Requests < 5*ours.Requests || literal.Missed < 2*ours.Missed {
		t.Errorf("to the letter: %d requests, %d missed; in its sense: %d, %d", literal.Requests, literal.Missed,
			ours.Requests, ours.Missed)
	}
}

func TestPollingRefusesTheImpossible(t *testing.T) {
	for _, tc := range []struct {
		change func(*Polling)
		want   string
	}{
		{func(p *Polling) { p.Length = time.Hour }, "the traces cover 168h, so want 24h to that"},
		{func(p *Polling) { p.Length = 169 * time.Hour }, "the traces cover 168h"},
		{func(p *Polling) { p.Least = 1e6 }, "the most active one has "},
		{func(p *Polling) { p.Traces = &trace.Set{From: p.Traces.From, To: p.Traces.To} }, "no feeds"},
	} {
		p := smallPolling()
		tc.change(&p)
		if _, err := p.Run(t.Context(), nil); !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}

func TestPollingFigures(t *testing.T) {
	report := ran(t, smallPolling().Run)
	if len(report.All()) != 10 {
		t.Errorf("%d figures", len(report.All()))
	}
	checkDrawings(t, report.All())
}

// The whole run on the recorded traces is what docs/evaluation/polling.md shows, and Auto is better than Moving
// Average in every way: in both modes, for delay and for polls.
func TestPollingIsAsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds: go test without it runs it")
	}
	set := embedded(t)
	report := ran(t, Polling{Seed: 1, Traces: set}.Run)
	wantPage(t, "polling", report)
	rows := make(map[string]PollingRow)
	for _, r := range report.Result.([]PollingRow) {
		if r.remembers == 0 {
			rows[r.Policy] = r
		}
	}
	auto := rows["Auto"]
	for _, name := range []string{"Moving Average", "Moving Average, 30m-16h"} {
		other := rows[name]
		if auto.Feeds.Delay >= other.Feeds.Delay || auto.Feeds.Polls >= other.Feeds.Polls ||
			auto.Polls.Delay >= other.Polls.Delay || auto.Polls.Polls >= other.Polls.Polls {
			t.Errorf("Auto: %+v and %+v; %s: %+v and %+v", auto.Feeds, auto.Polls, name, other.Feeds, other.Polls)
		}
		if auto.Missed >= other.Missed || auto.Requests >= other.Requests || auto.Bytes >= other.Bytes {
			t.Errorf("Auto missed %d with %d requests; %s %d with %d", auto.Missed, auto.Requests, name, other.Missed,
				other.Requests)
		}
	}
	// Nothing of Urbansky's outlook has a smaller error than Auto, and heeding skipHours makes everybody's greater.
	for _, c := range outlook() {
		plain := rows[strings.TrimSuffix(c.name, heeding)]
		if r := rows[c.name]; r.Polls.Error <= auto.Polls.Error || r.Polls.Error < plain.Polls.Error ||
			r.Requests > plain.Requests {
			t.Errorf("%s: %+v and %d requests, without skipHours %+v and %d", c.name, r.Polls, r.Requests, plain.Polls,
				plain.Requests)
		}
	}
}
