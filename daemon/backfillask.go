package daemon

import (
	"context"
	"slices"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/protocol"
)

// Neighbors that have much to do, are far away, or search a large archive on a slow machine do not answer in time. A
// backfill asks again then, for less, with longer waits and longer pauses, and only so often: every query costs what
// any other does, and a neighbor answers ten a minute.

const (
	// backfillWait is how long a backfill waits for the answers to a query at first: longer than a person would. It
	// doubles with each time that the same is asked again, as does the pause before that.
	backfillWait = 10 * time.Second
	// maxTries is how often the same is asked at most, and maxAgain how many queries of a backfill may be repetitions.
	maxTries, maxAgain = 3, 12
	// largestPage is how many entries a query brings at most. Where somebody was late and others told of nothing the
	// next is for a quarter, and later ones for half at most.
	largestPage, smallestPage = protocol.MaxAnswerEntries, protocol.MaxAnswerEntries / 16
)

// What a Backfilled says where nobody answered.
const (
	noneThere    = "there is no neighbor that could be asked"
	noneAnswered = "no neighbor answered in time"
)

// askOthers asks for what others have, from the newest back, as much at a time as an answer holds.
func (b Backfill) askOthers(ctx context.Context, o control.Owner, r *BackfillReport, each func(BackfillReport)) error {
	until := b.Until
	for r.queries < maxRounds {
		next, more, err := b.ask(ctx, o, until, r)
		if err != nil || r.Problem != "" {
			return err
		}
		if each(*r); !more {
			return nil
		}
		until = next
	}
	r.lack(cutLimit)
	return nil
}

// ask asks for what others have of the time before until, which is open where it is zero. It returns where to go on,
// and whether there may be more. Of what lies between, others told all that they have, or r says why not.
//
// An answer that is full tells since when it is complete: it lists the latest, and the next query goes on from there.
// Where somebody does not know how to tell, or so much came out at a time that there is no way on, the part is asked
// for once more that the answer seems to hold, and a smaller one, until an answer is not full.
func (b Backfill) ask(ctx context.Context, o control.Owner, until time.Time, r *BackfillReport) (next time.Time,
	more bool, err error) {
	from := b.Since
	for part := 0; ; part++ {
		t, err := b.askRange(ctx, o, from, until, r)
		if err != nil || r.Problem != "" {
			return until, false, err
		}
		if !t.full {
			if part == 0 {
				from = t.oldest(until)
			}
			r.Back = from
			return from, part > 0, nil
		}
		if t.since.After(from) && (until.IsZero() || t.since.Before(until)) {
			r.Back = t.since
			return t.since, true, nil
		}
		begin, ok := t.part(part, from)
		if !ok || r.queries >= maxRounds {
			r.lack(cutLimit)
			if part == 0 {
				from = t.oldest(until)
			}
			r.Back = from
			return from, part > 0 || len(t.times) > 0, nil
		}
		from = begin
	}
}

// askRange asks for what others have of a range of time until all that were asked have answered, or it has been asked
// often enough.
func (b Backfill) askRange(ctx context.Context, o control.Owner, from, until time.Time, r *BackfillReport) (t told,
	err error) {
	answered, asked := false, 0
	var cut []string // of the queries since the last that went to as many neighbors as any before
	for try := 0; ; try++ {
		if r.queries++; r.queries > briskQueries && try == 0 {
			if err := rest(ctx, b.Pause); err != nil {
				return t, err
			}
		}
		page := r.page.next
		end, err := b.query(ctx, o, from, until, page, backfillWait<<try)
		if err != nil {
			return t, err
		}
		if r.Problem = end.Problem; r.Problem != "" {
			return t, nil
		}
		if err := b.pull(ctx, o, end.Found, r); err != nil {
			return t, err
		}
		t.add(end, page)
		answered = answered || tells(end)
		if end.Asked >= asked { // a neighbor that was late before was asked again
			asked, cut = end.Asked, nil
		}
		cut = append(cut, end.Cut...)
		r.page = r.page.turn(end)
		if !worthAgain(end) || try+1 == maxTries || r.Again == maxAgain {
			r.Asked = asked
			r.note(cut, asked, answered)
			return t, nil
		}
		r.Again++
		if err := rest(ctx, b.Pause<<try); err != nil {
			return t, err
		}
	}
}

// query asks once.
func (b Backfill) query(ctx context.Context, o control.Owner, from, until time.Time, page int,
	wait time.Duration) (end *control.QueryEnd, err error) {
	yes := true
	f := feed.Filter{Feed: b.Feed, Since: from, Until: until, Limit: page, Dated: true}
	q := control.QueryRequest{Network: &yes, Hops: b.Hops, Wait: wait, Filter: f}
	err = o.Query(ctx, q, func(p control.QueryPart) error { end = p.End; return nil })
	return end, err
}

// Why an answer is not complete that somebody was too late for (protocol.CutTime), or that is full (protocol.CutLimit).
const cutTime, cutLimit = "time", "limit"

// tells reports whether an answer says anything. That others have nothing is said by answers for which nobody was late.
func tells(end *control.QueryEnd) bool {
	return end.Answers > 0 && (toldOf(end) || !slices.Contains(end.Cut, cutTime))
}

// toldOf reports whether others told of anything. What nobody but our own archive has is no answer of theirs.
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
func (r *BackfillReport) note(cut []string, asked int, answered bool) {
	if r.Unanswered = !answered; r.Unanswered {
		r.Problem = noneAnswered
		if asked == 0 && len(cut) == 0 {
			r.Problem = noneThere
		}
	}
	for _, why := range cut {
		if why != cutLimit {
			r.lack(why)
		}
	}
}

// lack notes why others may have more. That is the limit where more came out within a second than an answer lists, or
// more than so many queries can list.
func (r *BackfillReport) lack(why string) {
	if !slices.Contains(r.Cut, why) {
		r.Cut = append(r.Cut, why)
	}
}

// A told is what answers for a range list.
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
