package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/reading"
)

// keep keeps a filter, in the place of one where id is not 0, and has it catch the past where that caught by other
// words.
func (f filing) keep(ctx context.Context, p reading.PersonID, id reading.FilterID,
	w reading.FilterWish) (r control.FilterReport, err error) {
	w, m, err := w.Checked()
	if err != nil {
		return r, asked(err)
	}
	if err := f.pen(p)(ctx, func(pen reading.Pen) error {
		if id == 0 {
			r.Filter, err = pen.AddFilter(time.Now(), w)
		} else {
			r.Filter, err = pen.ChangeFilter(time.Now(), id, w)
		}
		return asked(err)
	}); err != nil || r.Filter == id {
		return r, err
	}
	r.Everything = reading.HoldsOfNothing(m)
	if r.Caught, err = f.catchPast(ctx, p, r.Filter, m); err != nil {
		err = fmt.Errorf("the filter is kept, but what came before could not be gone through: %w", err)
	}
	return r, err
}

// keepAgain has a filter back that was removed, in the place of another, and has it catch what came meanwhile.
func (f filing) keepAgain(ctx context.Context, p reading.PersonID, id, instead reading.FilterID) error {
	if err := f.pen(p)(ctx, func(pen reading.Pen) error {
		return asked(pen.KeepFilterAgain(time.Now(), id, instead))
	}); err != nil {
		return err
	}
	return f.catchUp(ctx, p, id)
}

// catchPast has a filter catch the latest of what came before, in steps between which the loop goes on. What takes too
// long is not tried again.
func (f filing) catchPast(ctx context.Context, p reading.PersonID, id reading.FilterID,
	m feed.Match) (caught int, err error) {
	items, err := f.view.Shelf(p).Find(ctx, m, nil, reading.MaxCaught)
	if err != nil && !errors.Is(err, archive.ErrSlow) {
		return 0, err
	}
	for part := range slices.Chunk(items, markStep) {
		err := f.pen(p)(ctx, func(pen reading.Pen) error { pen.Catch(time.Now(), id, part); return nil })
		if err != nil {
			return caught, err
		}
		caught += len(part)
	}
	return caught, cmp.Or(f.pen(p)(ctx, func(pen reading.Pen) error { pen.CaughtUp(id); return nil }), err)
}

// catchUp has a filter catch the past that is known by its ID.
func (f filing) catchUp(ctx context.Context, p reading.PersonID, id reading.FilterID) error {
	all, err := f.view.Shelf(p).Filters(ctx)
	for _, x := range all {
		if x.ID == id {
			_, m, e := x.Checked()
			if e == nil {
				_, e = f.catchPast(ctx, p, id, m)
			}
			err = cmp.Or(err, e)
		}
	}
	return err
}

// remove removes a filter. What it caught is there until that can be undone no more (host.eraseHidden).
func (f filing) remove(ctx context.Context, p reading.PersonID, id reading.FilterID) error {
	return f.pen(p)(ctx, func(pen reading.Pen) error {
		if !pen.RemoveFilter(time.Now(), id) {
			return asked(reading.ErrNoFilter)
		}
		return nil
	})
}

// takeBack reverses what the rule of a filter did at a moment, or ever where that is zero.
func (f filing) takeBack(ctx context.Context, p reading.PersonID, id reading.FilterID, moment time.Time) error {
	return inSteps(ctx, f.pen(p), func(pen reading.Pen) bool { return pen.TakeBack(time.Now(), id, moment, markStep) })
}

// sweep forgets what filters caught that were removed then or before.
func (f filing) sweep(ctx context.Context, upTo time.Time) error {
	return inSteps(ctx, f.write, func(d reading.Database) bool { return d.Sweep(upTo, markStep) })
}

// named is a person's filter of a name.
func (f filing) named(ctx context.Context, p reading.PersonID, name string) (reading.NamedFilter, error) {
	all, err := f.view.Shelf(p).Filters(ctx)
	if err != nil {
		return reading.NamedFilter{}, err
	}
	x, err := reading.FilterNamed(all, name)
	return x, asked(err)
}

// AddFilter implements control.Maintenance.
func (f filing) AddFilter(ctx context.Context, r control.FilterRequest) (control.FilterReport, error) {
	defer f.told()
	p, err := f.person(ctx, r.Person)
	if err != nil {
		return control.FilterReport{}, err
	}
	return f.keep(ctx, p, 0, r.FilterWish)
}

// StandFilter implements control.Maintenance.
func (f filing) StandFilter(ctx context.Context, s control.FilterStanding) error {
	defer f.told()
	x, err := f.named(ctx, reading.Owner, s.Name)
	if err != nil {
		return err
	}
	x.Standing = s.Standing
	_, err = f.keep(ctx, reading.Owner, x.ID, x.FilterWish)
	return err
}

// RemoveFilter implements control.Maintenance. Where what its rule did is to be taken back, it may be one that was
// removed before.
func (f filing) RemoveFilter(ctx context.Context, r control.FilterRemoval) (reading.Rule, error) {
	defer f.told()
	p, err := f.person(ctx, r.Person)
	if err != nil {
		return "", err
	}
	x, err := f.named(ctx, p, r.Name)
	if err == nil {
		err = f.remove(ctx, p, x.ID)
	} else if r.TakeBack && errors.Is(err, reading.ErrNoFilter) {
		removed, e := f.view.Shelf(p).RemovedFilters(ctx)
		if x, err = reading.FilterNamed(removed, r.Name); err != nil {
			err = cmp.Or(e, asked(err))
		}
	}
	if err == nil && r.TakeBack {
		err = f.takeBack(ctx, p, x.ID, time.Time{})
	}
	return x.Rule, err
}

// resumeFilters goes on with what a process that ended had begun: the past of new filters.
func (h *host) resumeFilters(ctx context.Context) {
	behind, err := h.store.Behind(ctx)
	for _, k := range behind {
		err = cmp.Or(err, h.filing.catchUp(ctx, k.Person, k.Filter))
	}
	if err != nil && ctx.Err() == nil {
		h.config.Log.Warn("filters have not gone through the past; they do at the next start", "err", err)
	}
}
