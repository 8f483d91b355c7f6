package daemon

import (
	"context"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Neighbors that have much to do, are far away, or search a large archive on a slow machine do not answer in time. A backfill
// asks again then, for less, with longer waits and longer pauses, and only so often: every query costs what any other does,
// and whoever is asked answers ten a minute.

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
func (b Backfill) askOthers(ctx context.Context, o Owner, r *Backfilled, each func(Backfilled)) error {
	until := b.Until
	for round := range maxRounds {
		if round >= briskRounds {
			if err := rest(ctx, b.Pause); err != nil {
				return err
			}
		}
		next, more, err := b.ask(ctx, o, until, r)
		if err != nil || r.Problem != "" {
			return err
		}
		if each(*r); !more {
			return nil
		}
		until = next
	}
	return nil
}

// ask asks for what others have of the time before until, which is open where it is zero, until all that were asked have
// answered or it has been asked often enough. It returns where to go on, and whether there may be more.
func (b Backfill) ask(ctx context.Context, o Owner, until time.Time, r *Backfilled) (next time.Time, more bool, err error) {
	var all reached
	answered := false
	for try := 0; ; try++ {
		page := r.page.next
		end, err := b.query(ctx, o, until, page, backfillWait<<try)
		if err != nil {
			return until, false, err
		}
		if r.Problem = end.Problem; r.Problem != "" {
			return until, false, nil
		}
		if err := b.pull(ctx, o, end.Found, r); err != nil {
			return until, false, err
		}
		r.Asked, answered = end.Asked, answered || tells(end)
		if now := reachedBy(end, until, page); try == 0 {
			all = now
		} else {
			all = all.with(now)
		}
		r.page = r.page.turn(end)
		if !worthAgain(end) || try+1 == maxTries || r.Again == maxAgain {
			r.note(end, answered)
			break
		}
		r.Again++
		if err := rest(ctx, b.Pause<<try); err != nil {
			return until, false, err
		}
	}
	if r.Unanswered {
		return until, false, nil
	}
	next, r.Back = all.back, all.back
	if after := next.Add(time.Second); until.IsZero() || after.Before(until) {
		next = after // others of that second may have been left out
	} else if all.more {
		r.lack("limit") // and still are
	}
	return next, all.more, nil
}

// query asks once.
func (b Backfill) query(ctx context.Context, o Owner, until time.Time, page int, wait time.Duration) (end *QueryEnd, err error) {
	yes := true
	q := Query{Network: &yes, Hops: b.Hops, Wait: wait, Filter: feed.Filter{Feed: b.Feed, Since: b.Since, Until: until, Limit: page}}
	err = o.Query(ctx, q, func(p QueryPart) error { end = p.End; return nil })
	return end, err
}

// cutTime is why an answer is not complete that somebody was too late for (protocol.CutTime).
const cutTime = "time"

// tells reports whether an answer says anything. That others have nothing is said by answers for which nobody was late.
func tells(end *QueryEnd) bool {
	return end.Answers > 0 && (toldOf(end) || !slices.Contains(end.Cut, cutTime))
}

// toldOf reports whether others told of anything that is not here.
func toldOf(end *QueryEnd) bool {
	return slices.ContainsFunc(end.Found, func(f Remote) bool { return !f.Here })
}

// worthAgain reports whether the same query may bring more a little later: somebody was late, or had been asked too often.
func worthAgain(end *QueryEnd) bool {
	return end.Answers == 0 && (end.Asked > 0 || len(end.Cut) > 0) || slices.Contains(end.Cut, cutTime)
}

// A pageSize is how many entries the next query is to bring, and how many a later one may.
type pageSize struct{ next, most int }

// turn chooses the size of the next page by how the last query ended.
func (p pageSize) turn(end *QueryEnd) pageSize {
	switch {
	case !slices.Contains(end.Cut, cutTime):
		return pageSize{min(2*p.next, p.most), p.most}
	case !toldOf(end):
		return pageSize{max(p.next/4, smallestPage), max(p.next/2, smallestPage)}
	}
	return p
}

// note notes how the last query for a range ended.
func (r *Backfilled) note(end *QueryEnd, answered bool) {
	if r.Unanswered = !answered; r.Unanswered {
		r.Problem = noneAnswered
		if end.Asked == 0 && len(end.Cut) == 0 {
			r.Problem = noneThere
		}
	}
	for _, why := range end.Cut {
		if why != "limit" {
			r.lack(why)
		}
	}
}

// lack notes why others may have more. That is the limit where more came out within a second than an answer lists.
func (r *Backfilled) lack(why string) {
	if !slices.Contains(r.Cut, why) {
		r.Cut = append(r.Cut, why)
	}
}

// A reached is how far back answers go, and whether there is more before that.
type reached struct {
	back time.Time // zero where there is no answer and nothing bounds the query
	more bool
}

func reachedBy(end *QueryEnd, until time.Time, page int) reached {
	x := reached{back: until}
	for i := range end.Found {
		x = x.with(reached{back: end.Found[i].Time()})
	}
	x.more = len(end.Found) > 0 && (slices.Contains(end.Cut, "limit") || len(end.Found) >= page)
	return x
}

// with is how far both answers go together: where there is more than they hold, as far as the shorter.
func (x reached) with(y reached) reached {
	switch {
	case x.more != y.more:
		if x.more {
			return x
		}
		return y
	case !x.back.IsZero() && (y.back.IsZero() || x.back.Before(y.back) != x.more):
		return x
	}
	return y
}
