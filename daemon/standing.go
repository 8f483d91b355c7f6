package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/reading"
)

const (
	// standingPause is the time between two standing queries, and between two looks at whether one is due: what is due
	// after an absence is asked for by and by.
	standingPause = time.Minute
	// standingAlone is when a query is due again that there was nobody to ask for.
	standingAlone = 15 * time.Minute
	// standingBack is how far back the first query of a filter goes, and how much of what the last one went over the
	// next does again, as neighbors may have had it later.
	standingBack, standingAgain = 7 * 24 * time.Hour, 24 * time.Hour
	// standingLimit is how many entries a query asks for, the newest.
	standingLimit = 50
	// standingWait is how long what neighbors named is downloaded: some of the holders that they name may be silent.
	standingWait = 2 * time.Minute
)

// Why nothing came of a standing query.
var (
	errNobodyToAsk    = errors.New("there was no neighbor to ask")
	errNobodyAnswered = errors.New("no neighbor that was asked has answered")
	errNothingStored  = errors.New("of what neighbors named and was not here nothing could be had")
	errGuarded        = errors.New("no neighbor is asked where a feed is, or was, followed discreetly or kept to " +
		"this node, or private_host names hosts: which they are could be seen by what the node downloads")
)

// askStanding asks neighbors for the standing queries that are due until the context ends.
func (h *host) askStanding(ctx context.Context) {
	for sleep.For(ctx, cmp.Or(h.config.standingPause, standingPause)) == nil {
		f, asked, err := h.store.StandingDue(ctx, time.Now())
		if err == nil && f.ID != 0 {
			err = h.askFor(ctx, &f, asked)
		}
		if err != nil && ctx.Err() == nil {
			h.config.Log.Warn("neighbors are not asked for a filter", "err", err)
		}
	}
}

// askFor asks neighbors for a standing query, which was asked for before at a time, and keeps what fits. When the next
// is due is durable before anybody hears of this one: a node that ends meanwhile does not ask again as it starts.
func (h *host) askFor(ctx context.Context, f *reading.NamedFilter, before time.Time) error {
	now := time.Now()
	next := now.Add(reading.StandingEvery - reading.StandingEvery/8 + rand.N(reading.StandingEvery/4))
	if err := h.write(ctx, func(d reading.Database) error { d.Asking(before, f.ID, next); return nil }); err != nil {
		return err
	}
	var wanted feed.Filter
	_, m, problem := f.Checked() // it may be of a version that knew other rules
	if problem == nil {
		wanted = feed.Filter{Since: now.Add(-standingBack), Limit: standingLimit}
		if again := before.Add(-standingAgain); again.After(wanted.Since) {
			wanted.Since = again
		}
		wanted.Ask(m)
		wanted.IDs, problem = h.askNeighbors(ctx, wanted)
	}
	var found []feed.EntryID
	if len(wanted.IDs) > 0 {
		wanted.Limit = len(wanted.IDs)
		records, err := h.store.Search(ctx, wanted) // what neighbors say fits need not
		if err != nil {
			return fmt.Errorf("search the archive: %w", err)
		}
		found = archive.IDsOf(records)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := ""
	if problem != nil {
		text = problem.Error()
	}
	defer h.changes.Add(1)
	if len(found) > 0 && h.hub != nil {
		defer h.hub.Wake() // they arrived before they were found
	}
	return h.write(ctx, func(d reading.Database) error {
		d.Found(now, f.ID, found, text)
		switch {
		case problem == nil || errors.Is(problem, errNothingStored):
			d.Asking(now, f.ID, next)
		case errors.Is(problem, errNobodyToAsk):
			d.Asking(before, f.ID, now.Add(standingAlone))
		}
		return nil
	})
}

// guarded reports whether the node follows, or did, a feed of which neighbors must not know and could name entries: an
// answer may have any, and whether the node downloads one says whether it has it.
func (h *host) guarded(ctx context.Context) (bool, error) {
	feeds, err := h.store.Feeds(ctx)
	return len(h.config.Node.PrivateHosts) > 0 || slices.ContainsFunc(feeds, func(f archive.Feed) bool {
		return (f.Subscribed || !f.Since.IsZero()) && !f.URL.Secret() && !f.URL.Local() &&
			(f.Discreet || f.Private || f.Withheld || !f.Shared && (f.Leads || f.Led()))
	}), err
}

// askNeighbors has neighbors asked, and what they have stored here. It returns what may fit, of that and of what was
// here, and why nobody answered, if so.
func (h *host) askNeighbors(ctx context.Context, wanted feed.Filter) (ids []feed.EntryID, problem error) {
	if guarded, err := h.guarded(ctx); err != nil || guarded {
		return nil, cmp.Or(err, errGuarded)
	}
	var end control.QueryEnd
	err := h.Query(ctx, control.QueryRequest{Filter: wanted, Network: new(true)}, func(part control.QueryPart) error {
		if part.Here != nil {
			ids = append(ids, archive.IDsOf(part.Here.Records)...)
		}
		if part.End != nil {
			end = *part.End
		}
		return nil
	})
	switch {
	case err != nil:
		return ids, err
	case end.Problem != "":
		return ids, fmt.Errorf("no neighbor was asked: %s", end.Problem)
	case end.Asked == 0:
		return ids, errNobodyToAsk
	case end.Answers == 0:
		return ids, errNobodyAnswered
	}
	var missing []control.Remote
	for i := range end.Found {
		r := &end.Found[i]
		id, err := feed.ParseEntryID(r.ID)
		if err != nil {
			continue
		}
		if ids = append(ids, id); !r.Here {
			missing = append(missing, *r)
		}
	}
	if len(missing) == 0 {
		return ids, nil
	}
	pulling, cancel := context.WithTimeout(ctx, standingWait)
	defer cancel()
	got, err := unasked{h}.Pull(pulling, missing)
	switch {
	case pulling.Err() != nil: // what came until then is here
		return ids, nil
	case err == nil && len(got.Stored) == 0:
		return ids, errNothingStored
	}
	return ids, err
}
