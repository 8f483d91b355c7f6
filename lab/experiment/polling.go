package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/baseline"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/polling"
)

// Polling is the evaluation of Urbansky and others, "An Optimized Web Feed Aggregation Approach for Generic
// Feed Types", §4, with the policies of package polling and those of well-known readers: each polls every
// feed by itself, without neighbors. The zero value of each field means its default.
type Polling struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Length time.Duration // from the begin of the traces, a day at least; default all of them
	Least  float64       // leaves out feeds that publish fewer entries a day; default 0, none
}

// A contender is a policy that takes part.
type contender struct {
	name   string
	policy func(rng *rand.Rand) polling.Policy
	// stated is the policy's row in Urbansky's Table 1, by feeds and by polls; nil where it has none.
	stated *[2]Averages
	// remembers is over how many entries it takes its averages; 0 is what the policy does by itself.
	remembers int
	// heeds says that it does not poll in hours and on days that publishers would have skipped.
	heeds bool
}

// byFrequency is Miniflux with the scheduler that its owner must choose.
const byFrequency = "Miniflux, by frequency"

// always is a policy that leaves nothing to chance.
func always(p polling.Policy) func(*rand.Rand) polling.Policy {
	return func(*rand.Rand) polling.Policy { return p }
}

// contenders are the policies in the order of the tables.
func contenders() []contender {
	usual := polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax} // of the config file
	const m, h = 60, 3600                                                    // seconds
	return []contender{
		{name: "Fix 1h", policy: always(polling.Fixed{Every: time.Hour}),
			stated: &[2]Averages{{30 * m, 222.06, 6662}, {30 * m, 21.02, 179}}},
		{name: "Fix 1d", policy: always(polling.Fixed{Every: 24 * time.Hour}),
			stated: &[2]Averages{{12*h + 9*m, 9.52, 6931}, {12*h + 25*m, 1.91, 1423}}},
		{name: "Fix Learned", policy: always(polling.FixLearned{}),
			stated: &[2]Averages{{54*h + 33*m, 41.90, 137139}, {h + 14*m, 7.77, 570}}},
		{name: "Post Rate", policy: always(polling.PostRate{}),
			stated: &[2]Averages{{56*h + 51*m, 3.57, 12174}, {51 * m, 5.88, 300}}},
		{name: "Moving Average", policy: always(polling.MovingAverage{}),
			stated: &[2]Averages{{74*h + 37*m, 1.96, 8773}, {4 * m, 1.61, 6}}},
		{name: "Moving Average, 30m-16h", policy: always(polling.MovingAverage{Range: usual})},
		{name: "FeedEx", policy: always(polling.FeedEx{})},
		{name: "FeedEx, literal", policy: always(baseline.Literal{})},
		{name: "Auto", policy: always(polling.Auto{Range: usual})},
		{name: "Auto, target 15m", policy: always(polling.Auto{Range: usual, TargetDelay: 15 * time.Minute})},
		{name: "Miniflux", policy: always(baseline.Miniflux{})},
		{name: byFrequency, policy: always(baseline.Miniflux{EntryFrequency: true})},
		{name: "FreshRSS", policy: always(baseline.FreshRSS())},
		{name: "NewsBlur", policy: func(rng *rand.Rand) polling.Policy { return baseline.NewsBlur{Rand: rng} }},
		{name: "CommaFeed", policy: always(baseline.CommaFeed{})},
		{name: "newsboat", policy: always(baseline.Newsboat())},
		{name: "NetNewsWire", policy: always(baseline.NetNewsWire())},
		{name: "tt-rss", policy: always(baseline.TinyTinyRSS())},
	}
}

// crawler is the policy of Cobra's crawlers (§3.1).
const crawler = "Fix 15m"

// asides are policies of which single tables tell: Cobra's, and those that Urbansky would try with other sizes of the
// history (§6).
func asides() []contender {
	list := []contender{{name: crawler, policy: always(polling.Fixed{Every: 15 * time.Minute})}}
	for _, c := range []contender{{name: "Post Rate", policy: always(polling.PostRate{})},
		{name: "Moving Average", policy: always(polling.MovingAverage{})}} {
		for _, c.remembers = range []int{10, 30, 100, polling.HistoryLength} {
			list = append(list, c)
		}
	}
	return list
}

// outlook are the policies of the rest of Urbansky's outlook (§6). They have no part in the hash of a run, which so
// stays that of the policies before them.
func outlook() []contender {
	both := func(of func(a, b time.Duration) time.Duration) func(*rand.Rand) polling.Policy {
		return always(baseline.Both{A: polling.MovingAverage{}, B: polling.PostRate{}, Of: of})
	}
	list := []contender{
		{name: "Moving Average, weighted", policy: always(baseline.Weighted{})},
		{name: "Moving Average or Post Rate, the sooner",
			policy: both(func(a, b time.Duration) time.Duration { return min(a, b) })},
		{name: "Moving Average or Post Rate, the later",
			policy: both(func(a, b time.Duration) time.Duration { return max(a, b) })},
		{name: "Moving Average and Post Rate, the mean",
			policy: both(func(a, b time.Duration) time.Duration { return (a + b) / 2 })},
	}
	for _, c := range contenders() {
		switch c.name {
		case "Fix 1h", "Moving Average", "Post Rate", "Auto":
			list = append(list, contender{name: c.name + heeding, policy: c.policy, heeds: true})
		}
	}
	return list
}

// heeding is what the names of policies end with that heed skipHours and skipDays.
const heeding = ", skipHours"

// entrants are all policies in the order of the rows.
func entrants() []contender { return slices.Concat(contenders(), asides(), outlook()) }

// withDefaults is p with each zero field at its default and the feeds that take part, or what is
// impossible.
func (p Polling) withDefaults() (Polling, []trace.Timeline, error) {
	span := p.Traces.To.Sub(p.Traces.From)
	p.Length = cmp.Or(p.Length, span)
	feeds := p.Traces.Busy(p.Least)
	switch {
	case !(p.Least >= 0):
		return p, nil, impossible("feeds of %v entries a day; want 0 or more", p.Least)
	case p.Length < 24*time.Hour || p.Length > span:
		return p, nil, impossible("a run of %s; the traces cover %s, so want 24h to that", when.Clock(p.Length),
			when.Clock(span))
	case len(p.Traces.Feeds) == 0:
		return p, nil, impossible("no feeds in the traces; want one or more")
	case len(feeds) == 0:
		most := p.Traces.Busy(0)[0]
		return p, nil, impossible("no feed publishes %v entries a day; the most active one has %.1f", p.Least,
			float64(most.Count(p.Traces.From, p.Traces.To))/(span.Hours()/24))
	}
	return p, feeds, nil
}

// Run polls every feed by every policy. If ctx ends before it is done, the Report says so and shows what
// there was by then. The error wraps ErrSetting.
func (p Polling) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	p, feeds, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	policies := entrants()
	costs := each(feeds, func(f trace.Timeline) float64 { return 50 + float64(len(f.Times)) })
	// By feed, then by policy.
	runs := together(newMeter(progress, costs), func(i int, tell Progress) []feedRun {
		if ctx.Err() != nil {
			return nil
		}
		defer tell(1)
		return p.runFeed(&feeds[i], policies)
	})
	return p.report(feeds, runs), nil
}

// runFeed polls one feed by every policy. The first poll is the same for all, at some time of the first day:
// a policy must not gain or lose by when it begins.
func (p Polling) runFeed(f *trace.Timeline, policies []contender) []feedRun {
	first := p.Traces.From.Add(within(p.Seed.Stream("first poll of "+f.Name), min(24*time.Hour, p.Length/2)))
	first = first.Truncate(time.Second)
	runs := make([]feedRun, len(policies))
	skips := p.skips(f)
	for i, c := range policies {
		policy := c.policy(p.Seed.Stream(c.name + " polls " + f.Name))
		heeded := feed.PollingHints{}
		if c.heeds {
			heeded = skips
		}
		runs[i] = runFeed(f, policy, c.remembers, heeded, first, p.Traces.From.Add(p.Length))
	}
	return runs
}

// skipsFrom is how many entries a day a feed publishes whose publisher might say when nobody needs to come.
const skipsFrom = 1

// skips is what the publisher of a feed would say that knew when it will publish: the hours of the day and the days of
// the week on which none of its entries comes out. Of feeds with less than an entry a day nothing is said: all that
// they leave out is chance.
func (p Polling) skips(f *trace.Timeline) (hints feed.PollingHints) {
	to := p.Traces.From.Add(p.Length)
	if float64(f.Count(p.Traces.From, to)) < skipsFrom*p.Length.Hours()/24 {
		return hints
	}
	hints = feed.PollingHints{SkipHours: 1<<24 - 1, SkipDays: 1<<7 - 1}
	for _, unix := range f.Times {
		if t := time.Unix(unix, 0).UTC(); !t.Before(p.Traces.From) && t.Before(to) {
			hints.SkipHours &^= 1 << t.Hour()
			hints.SkipDays &^= 1 << t.Weekday()
		}
	}
	return hints
}

// report makes the Report of the runs, of which those that did not take place are nil.
func (p Polling) report(feeds []trace.Timeline, runs [][]feedRun) *report.Report {
	var done [][]feedRun
	var of []trace.Timeline
	sum := sha256.New()
	summed := len(contenders()) + len(asides())
	r := newReport("Polling policies, each by itself (Urbansky and others, §4)", p.Seed, p.Traces)
	for i := range runs {
		if runs[i] == nil {
			continue
		}
		done, of = append(done, runs[i]), append(of, feeds[i])
		for j := range runs[i][:summed] {
			sum.Write(runs[i][j].sum[:])
			r.Steps += int64(runs[i][j].polls)
		}
	}
	r.Hash = hex.EncodeToString(sum.Sum(nil)[:8])
	if len(done) < len(runs) {
		r.Partial = fmt.Sprintf("%d of %d feeds", len(done), len(runs))
	}
	silent, hasty, bare := 0, 0, 0
	for i := range of {
		if of[i].Count(p.Traces.From, p.Traces.From.Add(p.Length)) == 0 {
			silent++
		}
		if of[i].Count(time.Unix(0, 0), p.Traces.From) < 2 {
			bare++
		}
		hasty += unseeable(&of[i], p.Traces.From, p.Traces.From.Add(p.Length))
	}
	r.Setting = []string{
		fmt.Sprintf("%d feeds, %d of them silent, from %s for %.1f days", len(of), silent,
			p.Traces.From.Format("2006-01-02 15:04"), p.Length.Hours()/24),
		fmt.Sprintf("%d entries come and go within a second and are missed by everybody", hasty),
		fmt.Sprintf("%d feeds begin with less than two entries, as no older ones are recorded: what learns from "+
			"documents waits an hour there", bare),
	}
	all := pollingRows(entrants(), done)
	r.Result = all
	rows := all[:len(contenders())]
	saying := 0
	for i := range of {
		if p.skips(&of[i]) != (feed.PollingHints{}) {
			saying++
		}
	}
	r.Tables = append(pollingTables(rows), historyTable(all[len(rows):]), outlookTable(all, saying), cascadeTable(all))
	r.Plots = pollingFigures(rows)
	return r
}

// unseeable is how many entries of a span left the document in the second in which they came.
func unseeable(f *trace.Timeline, from, to time.Time) int {
	n := 0
	for i, t := range f.Times {
		if t >= from.Unix() && t < to.Unix() && i+f.Window < len(f.Times) && f.Times[i+f.Window] == t {
			n++
		}
	}
	return n
}

// A feedRun is one feed, polled by one policy from a first poll on: what was seen of what was published
// since then.
type feedRun struct {
	published int // entries after the first poll
	found     int // of these, read
	missed    int // gone from the document before they were read
	late      int // still in the document at the end, but not read

	seconds            float64 // since the first poll
	polls, notModified int
	bytes              int64
	whole, fresh       int64   // bytes, if no poll were conditional, and of the entries that were new
	wanted             float64 // mean of the intervals that the policy chose, in seconds

	delays     []float64 // of each entry found, and of each that is late by then, in seconds
	pollDelays []float64 // of each poll that found entries: the mean of their delays
	lateDelay  float64   // the mean over those that are late
	sum        [sha256.Size]byte
}

// runFeed polls a feed from first to end. The document is the newest entries at each time, as many as its
// window says; nothing takes time, and every poll is conditional. The policy knows of so many entries, if it is not 0,
// whatever the document lists. What falls due when the publisher skips waits for the end of that.
func runFeed(f *trace.Timeline, p polling.Policy, remembers int, skips feed.PollingHints,
	first, end time.Time) feedRun {
	var r feedRun
	sum := sha256.New()
	stop := end.Unix()
	shown := -1 // entries published when the document was read last, -1 before
	begin, out := 0, 0
	known := make([]int64, 0, len(f.Times))
	intervals := 0.0
	poll := polling.Poll{At: first}
	for at := first; at.Before(end); at = skips.Allowed(at.Add(poll.Interval)) {
		now := at.Unix()
		for out < len(f.Times) && f.Times[out] <= now {
			out++
		}
		poll.At, poll.Listed, poll.New = at, 0, 0
		if out != shown {
			oldest := max(0, out-f.Window)
			poll.Listed = out - oldest
			from := max(oldest, shown)
			poll.New = out - from
			known = append(known, f.Times[from:out]...)
			poll.History = polling.History{Times: known[max(0, len(known)-polling.HistoryLength):],
				Window: min(poll.Listed, len(known))}
			if remembers > 0 {
				newest := known[max(0, len(known)-remembers):]
				poll.History = polling.History{Times: newest, Window: len(newest)}
			}
			if shown < 0 {
				begin = out
			} else {
				r.missed += from - shown
				r.read(f.Times[from:out], now)
			}
			shown = out
		} else {
			r.notModified++
		}
		r.polls++
		r.bytes += lab.AnswerBytes(poll.Listed)
		r.whole += lab.AnswerBytes(min(out, f.Window))
		r.fresh += lab.EntryBytes * int64(poll.New)
		poll.Interval = p.Interval(poll)
		intervals += poll.Interval.Seconds()
		sum.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(at.UnixNano())),
			uint64(poll.New)))
	}
	r.seconds = end.Sub(first).Seconds()
	r.wanted = intervals / float64(max(1, r.polls))
	r.close(f, begin, shown, stop)
	sum.Sum(r.sum[:0])
	return r
}

// read counts the entries that a poll found.
func (r *feedRun) read(times []int64, now int64) {
	total := 0.0
	for _, t := range times {
		r.delays = append(r.delays, float64(now-t))
		total += float64(now - t)
	}
	r.found += len(times)
	r.pollDelays = append(r.pollDelays, total/float64(len(times)))
}

// close counts the entries that nobody has read when the run ends. One that could still be read has
// waited that long already: that is its delay, at least. Otherwise a policy that never polls again would
// be prompt.
func (r *feedRun) close(f *trace.Timeline, begin, shown int, stop int64) {
	end := shown
	for end < len(f.Times) && f.Times[end] < stop {
		end++
	}
	r.published = end - begin
	gone := max(shown, min(end-f.Window, end))
	r.missed += gone - shown
	r.late = end - gone
	for _, t := range f.Times[gone:end] {
		r.delays = append(r.delays, float64(stop-t))
		r.lateDelay += float64(stop-t) / float64(r.late)
	}
}

// delay is the mean over the polls that found entries, those that are late counting as one poll more, and
// whether there was any.
func (r *feedRun) delay() (seconds float64, known bool) {
	delays := r.pollDelays
	if r.late > 0 {
		delays = append(delays[:len(delays):len(delays)], r.lateDelay)
	}
	return report.Mean(delays), len(delays) > 0
}

// Averages are the figures of Urbansky's Table 1 for a policy, in one of its two modes (§4.4).
type Averages struct {
	Delay float64 `json:"delay_seconds"`  // from an entry's publication until it is read
	Polls float64 `json:"polls_per_item"` // to discover one entry
	Error float64 `json:"error"`          // Equation 4: delay in minutes * polls per item
}

// averages is with the error that follows from both.
func averages(delay, polls float64) Averages {
	return Averages{Delay: delay, Polls: polls, Error: delay / 60 * polls}
}

// A PollingRow is the outcome of one policy.
//
// The unit of both modes is the poll that found something, at the mean delay of what it found; what is
// unread at the end counts as found then, without a poll. "In the Feeds averaging mode we averaged the
// measures for all polls that each strategy made for each feed and averaged them per strategy. In the Poll
// averaging mode, we averaged over all polls of all feeds so feeds with many polls dominate the final
// result."
type PollingRow struct {
	Policy string `json:"policy"`
	// Feeds is the mean over feeds, for polls per item those of which an entry was found.
	Feeds Averages `json:"feeds"`
	// Polls is over all feeds, those without entries included.
	Polls Averages `json:"polls"`
	// Entries are the delays of entries, in seconds, each counting once.
	Entries report.Spread `json:"entries"`

	Published   int   `json:"published"` // after the first poll
	Found       int   `json:"found"`
	Missed      int   `json:"missed"` // gone before they were read
	Late        int   `json:"late"`   // unread at the end, but still there
	Requests    int   `json:"requests"`
	NotModified int   `json:"not_modified"` // of these
	Bytes       int64 `json:"bytes"`        // of all answers

	whole, fresh int64 // see feedRun
	remembers    int   // see contender

	perDay    float64 // requests at a feed
	stated    *[2]Averages
	real      []float64 // by feed with an entry: the mean seconds between its entries
	predicted []float64 // likewise: the mean interval
	lively    int       // feeds of timelyPolls entries and more
	timely    []float64 // Figure 3, in seconds; as far as there are polls that found something
}

// Figure 3 is over so many polls, of feeds with at least as many updates.
const timelyPolls = 300

// pollingRows sums up the runs, by feed and policy, for each policy.
func pollingRows(policies []contender, runs [][]feedRun) []PollingRow {
	var rows []PollingRow
	for i, c := range policies {
		row := PollingRow{Policy: c.name, stated: c.stated, remembers: c.remembers}
		var feedDelays, feedPolls, pollDelays, entryDelays []float64
		var timely [timelyPolls][]float64
		days := 0.0 // of all feeds
		for f := range runs {
			r := &runs[f][i]
			row.Published += r.published
			row.Found += r.found
			row.Missed += r.missed
			row.Late += r.late
			row.Requests += r.polls
			row.NotModified += r.notModified
			row.Bytes += r.bytes
			row.whole += r.whole
			row.fresh += r.fresh
			days += r.seconds / (24 * 60 * 60)
			if d, known := r.delay(); known {
				feedDelays = append(feedDelays, d)
			}
			if r.found > 0 {
				feedPolls = append(feedPolls, float64(r.polls)/float64(r.found))
			}
			pollDelays = append(pollDelays, r.pollDelays...)
			if r.late > 0 {
				pollDelays = append(pollDelays, r.lateDelay)
			}
			entryDelays = append(entryDelays, r.delays...)
			if r.published > 0 {
				row.real = append(row.real, r.seconds/float64(r.published))
				row.predicted = append(row.predicted, r.wanted)
			}
			if r.published >= timelyPolls {
				row.lively++
				for k, d := range r.pollDelays[:min(timelyPolls, len(r.pollDelays))] {
					timely[k] = append(timely[k], d)
				}
			}
		}
		row.Feeds = averages(report.Mean(feedDelays), report.Mean(feedPolls))
		row.Polls = averages(report.Mean(pollDelays), float64(row.Requests)/float64(max(1, row.Found)))
		row.Entries = report.SpreadOf(entryDelays)
		row.perDay = float64(row.Requests) / max(1, days)
		for _, d := range timely {
			if len(d) == 0 {
				break
			}
			row.timely = append(row.timely, report.Mean(d))
		}
		rows = append(rows, row)
	}
	return rows
}
