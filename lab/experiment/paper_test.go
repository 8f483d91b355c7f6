package experiment

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
)

// smallPaper is Paper §4 with few nodes and little time.
func smallPaper(t testing.TB) Paper {
	return Paper{
		Seed: 1, Traces: embedded(t), Nodes: 27, Each: 12, Length: 3 * time.Hour,
		Intervals: []time.Duration{30 * time.Minute, 2 * time.Hour},
	}
}

// A small version of the paper's evaluation gives the same tables and the same hash every time, on every
// machine. A change of what nodes do changes them: look at the difference before -update.
func TestPaperIsReproducible(t *testing.T) {
	t.Parallel()
	report, err := smallPaper(t).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	isGolden(t, "paper.golden", report)
	checkDrawings(t, report.All())
}

// Where a tenth of all messages is lost, honest nodes get as much as if nobody were held to a bound: within half a
// point.
func TestFinesUnderLoss(t *testing.T) {
	t.Parallel()
	coverage := func(bound int) float64 {
		p := Paper{Seed: 1, Traces: embedded(t), Nodes: 40, Length: 4 * time.Hour, NoEncoding: true, Bound: bound}
		p.Intervals, p.Links.Loss = []time.Duration{30 * time.Minute}, lossy
		report := ran(t, p.Run)
		return 1 - report.Result.(PaperResult).Rows[0].Exchange.Miss.Mean
	}
	if with, without := coverage(bound), coverage(-1); with < without-.005 {
		t.Errorf("%.2f%% come with a bound, %.2f%% without", 100*with, 100*without)
	}
}

// What the paper's abstract says of polls every 16 hours holds in a network of its size, on its day.
func TestPaperClaimsAtItsSize(t *testing.T) {
	if os.Getenv("FEEDEX_NIGHTLY") == "" {
		t.Skip("it takes a minute of processor time: make nightly runs it")
	}
	p := Paper{Seed: 1, Traces: embedded(t), Intervals: []time.Duration{every(16)}, NoEncoding: true}
	report := ran(t, p.Run)
	row := report.Result.(PaperResult).Rows[0]
	alone, exchange := row.Alone, row.Exchange
	if row.Nodes != 161 || row.Ran != 22*time.Hour {
		t.Errorf("%d nodes are left after %v", row.Nodes, row.Ran)
	}
	if exchange.Lag.Mean > 22*60 || exchange.Miss.Mean > .1 || 15.2*exchange.Lag.Mean > alone.Lag.Mean {
		t.Errorf("with neighbors entries are %.0f s late, and %.2f are missing; alone %.0f s", exchange.Lag.Mean,
			exchange.Miss.Mean, alone.Lag.Mean)
	}
	if alone.Lag.Mean < 4*3600 || alone.Miss.Mean < .5 {
		t.Errorf("alone entries are %.0f s late, and %.2f are missing", alone.Lag.Mean, alone.Miss.Mean)
	}
	if row.Checks.Mean > 6.3 || row.Puts.Mean > .9 {
		t.Errorf("a node receives %.1f checks and %.1f deliveries a minute", row.Checks.Mean, row.Puts.Mean)
	}
}

// At a small size neighbors bring entries much sooner, and more of them. TestPaperClaimsAtItsSize has the paper's.
func TestPaperClaims(t *testing.T) {
	t.Parallel()
	p := smallPaper(t)
	p.NoEncoding, p.Nodes, p.Feeds, p.Each, p.Length = true, 40, 20, 10, 8*time.Hour
	p.Intervals = []time.Duration{4 * time.Hour}
	report := ran(t, p.Run)
	row := report.Result.(PaperResult).Rows[0]
	if 4*row.Exchange.Lag.Mean > row.Alone.Lag.Mean {
		t.Errorf("the lag is %.0f s with neighbors and %.0f s without", row.Exchange.Lag.Mean, row.Alone.Lag.Mean)
	}
	if row.Exchange.Miss.Mean > .05 || row.Exchange.Miss.Mean > row.Alone.Miss.Mean/2 {
		t.Errorf("%.1f %% are missing with neighbors and %.1f %% without", 100*row.Exchange.Miss.Mean,
			100*row.Alone.Miss.Mean)
	}
	if row.Exchange.Lag.Mean < row.Staggered {
		t.Errorf("the lag of %.0f s is below what is possible, %.0f s", row.Exchange.Lag.Mean, row.Staggered)
	}
	if !(row.Shared <= row.Staggered && row.Staggered < row.Random) {
		t.Errorf("the limits are %.0f, %.0f and %.0f s; want them to rise", row.Shared, row.Staggered, row.Random)
	}
	if row.Nodes != 40-40*28/189 {
		t.Errorf("%d nodes are left of 40", row.Nodes)
	}
}

// Impossible settings are refused, with what would be possible.
func TestImpossiblePapers(t *testing.T) {
	for want, change := range map[string]func(*Paper){
		"want 2 to 100000": func(p *Paper) { p.Nodes = 1 },
		"want 0 to 26":     func(p *Paper) { p.Failing = 27 },
		"want 1 to 70":     func(p *Paper) { p.Each = 71 },
		"840h":             func(p *Paper) { p.Length = 10_000 * time.Hour },
		"1m to 3h":         func(p *Paper) { p.Intervals = []time.Duration{4 * time.Hour} },
		"1m to 3h; ":       func(p *Paper) { p.Intervals = []time.Duration{time.Second} },
		"30m or more":      func(p *Paper) { p.Intervals, p.Length = nil, 20*time.Minute },
	} {
		p := smallPaper(t)
		change(&p)
		want = strings.TrimSuffix(want, "; ")
		if _, err := p.Run(t.Context(), nil); !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %q", err, want)
		}
	}
}

// Each node's entries are counted by whether they came, with what did not come and is still listed apart.
func TestModes(t *testing.T) {
	const minute = time.Minute
	sights := []lab.Sight{
		{Published: 0, Reference: 1 * minute, Any: 3 * minute},
		{Published: 0, Reference: lab.Never, Any: 1 * minute},
		{Published: 0, Reference: 1 * minute, Any: lab.Never},
		{Published: 0, Reference: 1 * minute, Any: lab.Never, Listed: true},
		{Published: 0, Reference: 1 * minute, Any: 2 * minute, Listed: true},
	}
	var m modes
	m.add(sights, func(s lab.Sight) time.Duration { return s.Any })
	m.add(nil, func(s lab.Sight) time.Duration { return s.Any }) // nothing came out in its feeds
	one := func(v float64) report.Spread { return report.Spread{Count: 1, Mean: v, P5: v, Median: v, P95: v} }
	if got, want := m.mode(), (Mode{one(120), one(90), one(1 - 3./5), one(1. / 5), one(2. / 4),
		one(1. / 4)}); got != want {
		t.Errorf("five entries sum up to %+v, want %+v", got, want)
	}
}

// The day is a Wednesday within the traces, near their middle.
func TestWeekday(t *testing.T) {
	set := embedded(t)
	if got, want := weekday(set, 22*time.Hour), time.Date(2026, 7, 22, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("the run begins at %v, want %v", got, want)
	}
	short := &trace.Set{From: set.From, To: set.From.Add(48 * time.Hour)}
	if got := weekday(short, 22*time.Hour); got.Before(short.From) || got.Add(22*time.Hour).After(short.To) {
		t.Errorf("the run begins at %v, outside of the traces", got)
	}
}

// Where everybody follows everything, the limits are those of the formulas for all 27 subscribers.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := smallPaper(t)
	p.Failing, p.NoEncoding, p.Intervals = -1, true, []time.Duration{time.Hour}
	p.Feeds, p.Each, p.Length = 20, 20, time.Hour
	report := ran(t, p.Run)
	row := report.Result.(PaperResult).Rows[0]
	if want := 3600. / 28; math.Abs(row.Random-want) > 1e-9 {
		t.Errorf("the limit at random phases is %v s, want %v", row.Random, want)
	}
	if want := 3600. / 54; math.Abs(row.Staggered-want) > 1e-9 {
		t.Errorf("the staggered limit is %v s, want %v", row.Staggered, want)
	}
	// Polls that are shared out by demand are never worse, and here the feeds publish at different rates.
	if row.Shared >= row.Staggered || row.Shared < row.Staggered/4 {
		t.Errorf("shared out by demand the limit is %v s, staggered %v", row.Shared, row.Staggered)
	}
}

// Nodes that vanish poll until then, and so count for a part of one each.
func TestLimitsOfThoseThatVanish(t *testing.T) {
	t.Parallel()
	p := smallPaper(t)
	p.Failing, p.NoEncoding, p.Intervals = 9, true, []time.Duration{time.Hour}
	p.Feeds, p.Each, p.Length = 20, 20, time.Hour
	report := ran(t, p.Run)
	row := report.Result.(PaperResult).Rows[0]
	if most, least := 3600/float64(row.Nodes+1), 3600/float64(row.Nodes+1+9); row.Random >= most ||
		row.Random <= least {
		t.Errorf("the limit at random phases is %v s, want it between %v and %v", row.Random, least, most)
	}
}

// BenchmarkPaper runs one network of Paper §4.3 for two hours, at full size.
func BenchmarkPaper(b *testing.B) {
	for _, noEncoding := range []bool{false, true} {
		name := "encoded"
		if noEncoding {
			name = "plain"
		}
		b.Run(name, func(b *testing.B) {
			set, steps := embedded(b), int64(0)
			for b.Loop() {
				p := Paper{Seed: 1, Traces: set, Length: 2 * time.Hour, Intervals: []time.Duration{time.Hour},
					NoEncoding: noEncoding}
				report, err := p.Run(b.Context(), nil)
				if err != nil {
					b.Fatal(err)
				}
				steps += report.Steps
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
