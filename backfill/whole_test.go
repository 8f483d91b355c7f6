package backfill

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

// A mood is how a neighbor takes a query.
type mood int

const (
	prompt  mood = iota
	tardy        // it does not answer in time
	hurried      // it had not the time to find all
	loaded       // it refuses, or was asked too much to be asked
	empty        // it had not the time to find anything
	away         // it is no neighbor when it is asked; one that comes back is asked again
	moods
)

// A holder is a neighbor that has entries of a feed, in the order in which they arrived, the latest first.
type holder struct {
	id    protocol.NodeID
	has   []protocol.Found
	plain bool // it knows no other order than that
	mood  func(query int) mood
}

// answer returns the entries that it tells of, as a node does: the latest, or what arrived last where it is plain, and
// whether there is more.
func (h *holder) answer(f feed.Filter, limit int, m mood) (a protocol.Answer) {
	has := slices.Clone(h.has)
	if !h.plain {
		slices.SortStableFunc(has, func(a, b protocol.Found) int { return search.Time(&b).Compare(search.Time(&a)) })
	}
	for i, e := range has {
		if at := search.Time(&e); at.Before(f.Since) || !f.Until.IsZero() && !at.Before(f.Until) || m == hurried &&
			i%3 == 0 || m == empty {
			continue
		}
		if len(a.Found) == limit {
			a.Cut |= protocol.CutLimit
			if !h.plain {
				a.CompleteSince = search.After(search.Time(&e))
			}
			break
		}
		a.Found = append(a.Found, e)
	}
	if m == hurried || m == empty {
		a.Cut |= protocol.CutTime
	}
	return a
}

// A neighborhood is a network of holders, the answers of which are put together as a node does.
type neighborhood struct {
	fakeNode
	holders  []holder
	limit    int // of an answer
	queries  int
	last     feed.Filter
	asked    int
	here     map[string]protocol.Found
	withheld func(id string) bool
}

func (o *neighborhood) Query(_ context.Context, q control.QueryRequest, each func(control.QueryPart) error) error {
	f, limit := q.Filter, min(q.Filter.Limit, o.limit)
	r := search.NewResults(limit, false)
	for _, id := range slices.Sorted(maps.Keys(o.here)) {
		if e := o.here[id]; !e.Published.Before(f.Since) && (f.Until.IsZero() || e.Published.Before(f.Until)) {
			r.Add(protocol.NodeID{}, e, 0)
		}
	}
	r.Trim(pastBegun)
	again := f.Since.Equal(o.last.Since) && f.Until.Equal(o.last.Until) && o.queries > 0
	end, cut, unknown := &control.QueryEnd{Network: true}, protocol.Cut(0), false
	for i := range o.holders {
		h := &o.holders[i]
		m := h.mood(o.queries)
		switch {
		case m == away && again && o.asked == len(o.holders): // it was there a moment ago
			continue
		case m == loaded, m == away:
			cut |= protocol.CutRefused
			end.Asked++
			continue
		case m == tardy:
			cut |= protocol.CutTime
			end.Asked++
			continue
		}
		end.Asked++
		end.Answers++
		a := h.answer(f, limit, m)
		cut |= a.Cut
		if a.Cut&protocol.CutLimit != 0 {
			unknown = unknown || a.CompleteSince.IsZero()
			end.CompleteSince = slices.MaxFunc([]time.Time{a.CompleteSince, end.CompleteSince}, time.Time.Compare)
		}
		for _, e := range a.Found {
			r.Add(h.id, e, 0)
		}
		r.Trim(pastBegun)
	}
	o.queries, o.last, o.asked = o.queries+1, f, end.Asked
	hits, more := r.Hits(pastBegun)
	if more {
		cut |= protocol.CutLimit
		end.CompleteSince = slices.MaxFunc([]time.Time{r.CompleteSince(), end.CompleteSince}, time.Time.Compare)
	}
	if unknown {
		end.CompleteSince = time.Time{}
	}
	end.Cut = cut.Reasons()
	for _, h := range hits {
		end.Found = append(end.Found, control.RemotesOf([]search.Hit{*h})...)
	}
	return each(control.QueryPart{End: end})
}

func (o *neighborhood) Pull(_ context.Context, list []control.Remote) (p control.PullReport, err error) {
	for _, r := range list {
		if _, here := o.here[r.ID]; here {
			continue
		}
		if o.withheld != nil && o.withheld(r.ID) {
			p.Missing = append(p.Missing, r.ID)
			continue
		}
		id, _ := feed.ParseEntryID(r.ID)
		o.here[r.ID] = protocol.Found{ID: id, Feed: r.Feed, Published: r.Published, Seen: r.Seen}
		p.Stored = append(p.Stored, r.ID)
	}
	return p, nil
}

var pastBegun = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// newNeighborhood has so many holders of entries of the same feed, some of which several have, some of the same second,
// and that arrived in any order. Some are here already. In every second one some holders are plain.
func newNeighborhood(rng *rand.Rand, holders int) *neighborhood {
	o := &neighborhood{limit: 8, here: make(map[string]protocol.Found)}
	if rng.IntN(3) == 0 {
		o.limit = 100 // all at once
	}
	for i := range holders {
		o.holders = append(o.holders,
			holder{id: protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}), 7790)})
	}
	at, together := pastBegun, 0
	for i := range 60 {
		if together++; together == o.limit || rng.IntN(4) > 0 {
			together = 0
			at = at.Add(-time.Duration(1+rng.IntN(100)) * time.Second)
		}
		e := protocol.Found{ID: (&feed.Entry{Feed: exampleFeed, ID: fmt.Sprint(i)}).EntryID(), Feed: exampleFeed,
			Published: at, Seen: pastBegun}
		for k := range o.holders {
			if h := &o.holders[k]; rng.IntN(3) > 0 {
				h.has = append(h.has, e)
			}
		}
		if rng.IntN(5) == 0 {
			o.here[e.ID.String()] = e
		}
	}
	for k, mixed := 0, rng.IntN(2) > 0; k < holders; k++ {
		o.holders[k].plain = mixed && rng.IntN(2) > 0
	}
	for k := range o.holders {
		if has := o.holders[k].has; rng.IntN(2) > 0 {
			rng.Shuffle(len(has), func(a, b int) { has[a], has[b] = has[b], has[a] })
		}
	}
	return o
}

// check fills in the past and fails where an entry is neither here nor said to be missing, though all is said to be
// told.
func (o *neighborhood) check(t *testing.T, name string) (whole bool) {
	t.Helper()
	got, err := Span{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o,
		func(Report) {})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	whole = !got.Unanswered && len(got.Cut) == 0
	for _, h := range o.holders {
		for _, e := range h.has {
			id := e.ID.String()
			_, here := o.here[id]
			missing := slices.ContainsFunc(got.Missing, func(m control.Remote) bool { return m.ID == id })
			if here && missing {
				t.Fatalf("%s: an entry of %v is here and said to be missing", name, e.Published)
			}
			if whole && !here && !missing {
				t.Fatalf("%s: nothing is said of an entry of %v: %+v", name, e.Published, got)
			}
		}
	}
	return whole
}

// Two neighbors may do anything at the first queries: their entries are here at the end, or the backfill says that it
// is not whole.
func TestBackfillIsWholeOrSaysSo(t *testing.T) {
	const first = 2
	all := int(moods * moods)
	for run := range all * all {
		o := newNeighborhood(rand.New(rand.NewPCG(uint64(run%7), 1)), 2)
		for k := range o.holders {
			o.holders[k].mood = func(query int) mood {
				if query >= first {
					return prompt
				}
				both := run
				for range query {
					both /= all
				}
				return mood(both % all / cmp.Or(k*int(moods), 1) % int(moods))
			}
		}
		o.check(t, fmt.Sprintf("run %d", run))
	}
}

// The same of several neighbors in any mood, that do not give all. Where all are prompt it is whole.
func TestBackfillOfMoodyNeighbors(t *testing.T) {
	wholes := 0
	for run := range 500 {
		rng := rand.New(rand.NewPCG(uint64(run), 2))
		o := newNeighborhood(rng, 1+rng.IntN(4))
		calm := rng.IntN(30)
		for k := range o.holders {
			o.holders[k].mood = func(int) mood {
				if rng.IntN(30) < calm {
					return prompt
				}
				return mood(rng.IntN(int(moods)))
			}
		}
		o.withheld = func(string) bool { return rng.IntN(20) == 0 }
		if o.check(t, fmt.Sprintf("run %d", run)) {
			wholes++
		}
	}
	if wholes < 25 {
		t.Errorf("%d runs are whole, too few to tell anything", wholes)
	}
	for run := range 200 {
		o := newNeighborhood(rand.New(rand.NewPCG(uint64(run), 3)), 1+run%4)
		for k := range o.holders {
			o.holders[k].mood = func(int) mood { return prompt }
		}
		if !o.check(t, fmt.Sprintf("prompt run %d", run)) {
			t.Errorf("run %d: all are prompt, and it is not whole; %d queries", run, o.queries)
		}
	}
}
