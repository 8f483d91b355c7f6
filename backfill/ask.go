package backfill

import (
	"context"
	"slices"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/protocol"
)

// Neighbors that have much to do, are far away, or search a large archive on a slow machine do not answer in time. A
// backfill asks again then, for less, with longer waits and longer pauses, and only so often: every query costs what
// any other does, and a neighbor answers ten a minute.

const (
	// briskQueries follow one another at once; those after them keep the pause of a Span between, for neighbors answer
	// ten queries a minute.
	briskQueries = 5
	// backfillWait is how long a backfill waits for the answers to a query at first: longer than a person would. It
	// doubles with each time that the same is asked again, as does the pause before that.
	backfillWait = 10 * time.Second
	// maxTries is how often the same is asked at most, and maxAgain how many queries of a backfill may be repetitions.
	maxTries, maxAgain = 3, 12
	// largestPage is how many entries a query brings at most. Where somebody was late and others told of nothing the
	// next is for a quarter, and later ones for half at most.
	largestPage, smallestPage = protocol.MaxAnswerEntries, protocol.MaxAnswerEntries / 16
)

// Phrases of a Report where nobody answered.
const (
	noneThere    = "there is no neighbor that could be asked"
	noneAnswered = "no neighbor answered in time"
)

// askBack asks for what others have of the time before until, which is open where it is zero. It returns where to go
// on, and whether there may be more. Of what lies between, others told all that they have, or the report says why not.
//
// An answer that is full tells since when it is complete: it lists the latest, and the next query goes on from there.
// Where somebody does not know how to tell, or so much came out at a time that there is no way on, the part is asked
// for once more that the answer seems to hold, and a smaller one, until an answer is not full.
func (f *filling) askBack(ctx context.Context, until time.Time) (next time.Time, more bool, err error) {
	from := f.Since
	for part := 0; ; part++ {
		t, err := f.askRange(ctx, from, until)
		if err != nil || f.Problem != "" {
			return until, false, err
		}
		begin, divisible := t.part(part, from)
		switch {
		case t.full && t.since.After(from) && (until.IsZero() || t.since.Before(until)):
			f.Back = t.since
			return t.since, true, nil
		case t.full && divisible && f.queries < maxRounds:
			from = begin
			continue
		}
		more = part > 0
		if part == 0 {
			from = t.oldest(until)
		}
		if t.full {
			f.Cut = with(f.Cut, cutLimit) // more came out within a second than an answer lists
			more = more || len(t.times) > 0
		}
		f.Back = from
		return from, more, nil
	}
}

// askRange asks for what others have of a range of time until all that were asked have answered, or it has been asked
// often enough.
func (f *filling) askRange(ctx context.Context, from, until time.Time) (t told, err error) {
	answered, asked := false, 0
	var cut []string // of the queries since the last that went to as many neighbors as any before
	for try := 0; ; try++ {
		if f.queries++; f.queries > briskQueries && try == 0 {
			if err := sleep.For(ctx, f.Pause); err != nil {
				return t, err
			}
		}
		page := f.page.next
		end, err := f.query(ctx, from, until, page, backfillWait<<try)
		if err != nil {
			return t, err
		}
		if f.Problem = end.Problem; f.Problem != "" {
			return t, nil
		}
		if err := f.pull(ctx, end.Found); err != nil {
			return t, err
		}
		t.add(end, page)
		answered = answered || tells(end)
		if end.Asked >= asked { // a neighbor that was late before was asked again
			asked, cut = end.Asked, nil
		}
		cut = append(cut, end.Cut...)
		f.page = f.page.turn(end)
		if !worthAgain(end) || try+1 == maxTries || f.Again == maxAgain {
			f.Asked = asked
			f.note(cut, asked, answered)
			return t, nil
		}
		f.Again++
		if err := sleep.For(ctx, f.Pause<<try); err != nil {
			return t, err
		}
	}
}

// query asks once.
func (f *filling) query(ctx context.Context, from, until time.Time, page int,
	wait time.Duration) (end *control.QueryEnd, err error) {
	q := control.QueryRequest{Network: new(true), Hops: f.Hops, Wait: wait,
		Filter: feed.Filter{Feed: f.Span.Feed, Since: from, Until: until, Limit: page, Dated: true}}
	err = f.node.Query(ctx, q, func(p control.QueryPart) error { end = p.End; return nil })
	return end, err
}

// pull downloads what was found, and notes what could not be had.
func (f *filling) pull(ctx context.Context, found []control.Remote) error {
	var wanted []control.Remote
	for i := range found {
		if r := &found[i]; r.Feed == f.Span.Feed && !r.Here && len(r.Holders) > 0 {
			wanted = append(wanted, *r)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	p, err := f.node.Pull(ctx, wanted)
	if err != nil {
		return err
	}
	f.Report.Network += len(p.Stored)
	f.Missing = slices.DeleteFunc(f.Missing, func(m control.Remote) bool { return slices.Contains(p.Stored, m.ID) })
	for _, why := range p.Refused {
		if len(f.Refused) < maxListed && !slices.Contains(f.Refused, why) {
			f.Refused = append(f.Refused, why)
		}
	}
	for i := range wanted {
		w := &wanted[i]
		known := func(m control.Remote) bool { return m.ID == w.ID }
		if slices.Contains(p.Missing, w.ID) && len(f.Missing) < maxListed && !slices.ContainsFunc(f.Missing, known) {
			f.Missing = append(f.Missing, *w)
		}
	}
	return nil
}

// Why an answer is not complete: somebody was too late for it (protocol.CutTime), it is full (protocol.CutLimit), or
// entries are missing that others told of (protocol.CutRefused).
const cutTime, cutLimit, cutRefused = "time", "limit", "refused"

// tells reports whether an answer says anything. Only answers for which nobody was late say that others have nothing.
func tells(end *control.QueryEnd) bool {
	return end.Answers > 0 && (toldOf(end) || !slices.Contains(end.Cut, cutTime))
}

// toldOf reports whether others told of anything. Entries that nobody but our own archive has are no answer of theirs.
func toldOf(end *control.QueryEnd) bool {
	return slices.ContainsFunc(end.Found, func(f control.Remote) bool { return len(f.Holders) > 0 })
}

// worthAgain reports whether the same query may bring more a little later: somebody was late, or had been asked too
// often.
func worthAgain(end *control.QueryEnd) bool {
	return end.Answers == 0 && (end.Asked > 0 || len(end.Cut) > 0) || slices.Contains(end.Cut, cutTime)
}

// A pageSize is how many entries the next query is to bring, and how many a later one may.
type pageSize struct{ next, most int }

// turn chooses the size of the next page by how the last query ended.
func (p pageSize) turn(end *control.QueryEnd) pageSize {
	switch {
	case !slices.Contains(end.Cut, cutTime):
		return pageSize{min(2*p.next, p.most), p.most}
	case !toldOf(end):
		return pageSize{max(p.next/4, smallestPage), max(p.next/2, smallestPage)}
	}
	return p
}

// note notes how the queries for a range ended.
func (r *Report) note(cut []string, asked int, answered bool) {
	if r.Unanswered = !answered; r.Unanswered {
		r.Problem = noneAnswered
		if asked == 0 && len(cut) == 0 {
			r.Problem = noneThere
		}
	}
	r.Cut = with(r.Cut, slices.DeleteFunc(cut, func(why string) bool { return why == cutLimit })...)
}

// with is a list of reasons with some more, each of which stands there once.
func with(reasons []string, more ...string) []string {
	for _, why := range more {
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return reasons
}

// A told is the sum of the answers for a range list.
type told struct {
	times   []time.Time // of the entries
	full    bool        // there is more than is listed
	since   time.Time   // where it is full: of this time and later all is listed
	unknown bool        // somebody did not tell since when
}

func (t *told) add(end *control.QueryEnd, page int) {
	for i := range end.Found {
		t.times = append(t.times, end.Found[i].Time())
	}
	if !slices.Contains(end.Cut, cutLimit) && len(end.Found) < page {
		return
	}
	t.full = true
	if t.unknown = t.unknown || end.CompleteSince.IsZero(); t.unknown {
		t.since = time.Time{}
	} else if end.CompleteSince.After(t.since) {
		t.since = end.CompleteSince
	}
}

// oldest is the time of the oldest entry, until where there is none.
func (t *told) oldest(until time.Time) time.Time {
	if len(t.times) == 0 {
		return until
	}
	return slices.MinFunc(t.times, time.Time.Compare)
}

// part is where the later part of a range begins of which one answer may list all: at first that down to the oldest
// entry that is listed, then half of what is, and a second at least. It reports false where the range cannot be
// divided.
func (t *told) part(nth int, from time.Time) (begin time.Time, ok bool) {
	if len(t.times) == 0 {
		return from, false
	}
	slices.SortFunc(t.times, time.Time.Compare)
	last, newest := t.times[0], t.times[len(t.times)-1]
	if nth > 0 {
		last = t.times[len(t.times)/2]
	}
	begin = last.Truncate(time.Second).Add(time.Second) // others of that second may have been left out
	if begin.After(newest) {
		begin = newest.Truncate(time.Second)
	}
	return begin, begin.After(from)
}
