package daemon

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/internal/when"
	"feedex/reading"
	"feedex/web"
)

// importTarget is the part of an archive that an import writes to.
type importTarget interface {
	archive.Entries
	Commit() error
}

// fill stores some lines durably.
func fill(store importTarget, now time.Time, lines []jsonl.Line) (added int, err error) {
	records := make([]archive.Record, len(lines))
	for i := range lines {
		records[i] = lines[i].Filling(now)
	}
	store.Readmit(archive.IDsOf(records)) // what was purged the owner wants back
	var hidden []feed.EntryID
	for i, stored := range store.Fill(now, records) {
		if stored {
			added++
			if lines[i].Hidden {
				hidden = append(hidden, records[i].ID)
			}
		}
	}
	store.Hide(hidden)
	if err := store.Commit(); err != nil {
		return 0, err
	}
	return added, nil
}

// Import implements control.Maintenance. The core knows nothing of it: what is filled in is no news. Between two steps
// the loop turns to whatever else is due.
func (h *host) Import(ctx context.Context, lines []jsonl.Line) (added int, err error) {
	for part := range portions(lines, lineWeight) {
		n, err := chore(ctx, h.loop, func() (int, error) { return fill(h.store, time.Now(), part) })
		added += n
		if err != nil {
			return added, err
		}
	}
	return added, nil
}

// reclaimStep is how many pages of the archive's file are given back at a time: about ten milliseconds.
const reclaimStep = 256

// Vacuum implements control.Maintenance.
func (h *host) Vacuum(ctx context.Context) error {
	for {
		left, err := insist(ctx, h, func() (int, error) { return h.housekeeper.Reclaim(ctx, reclaimStep) })
		switch {
		case errors.Is(err, archive.ErrRewrite):
			_, err := chore(ctx, h.loop, func() (struct{}, error) { return struct{}{}, h.rewrite(ctx) })
			return err
		case err != nil:
			return err
		case left == 0:
			return h.housekeeper.Shorten(ctx)
		}
	}
}

// personNamed is the person of a name, the owner for "".
func personNamed(ctx context.Context, v reading.PeopleList, name string) (reading.Person, error) {
	list, err := v.People(ctx)
	if err != nil {
		return reading.Person{}, err
	}
	return reading.Named(list, cmp.Or(name, list[0].Name))
}

// makePassword makes a password of a person and keeps its hashes.
func makePassword(d reading.Database, of reading.PersonID, p control.PasswordRequest) (secret string, err error) {
	if err := cmp.Or(reading.CheckPasswordName(p.Name), reading.CheckScope(p.Scope)); err != nil {
		return "", err
	}
	var chance [reading.SecretBytes]byte
	crand.Read(chance[:])
	secret = hex.EncodeToString(chance[:])
	return secret, d.KeepPassword(reading.NewPassword(p.Name, secret, of, p.Scope, time.Now()))
}

// AddPassword implements control.Maintenance.
func (f filing) AddPassword(ctx context.Context, p control.PasswordRequest) (secret string, err error) {
	err = f.write(ctx, func(d reading.Database) error {
		of, err := personNamed(ctx, d, p.Person)
		if err == nil {
			secret, err = makePassword(d, of.ID, p)
		}
		return asked(err)
	})
	return secret, err
}

// RemovePassword implements control.Maintenance.
func (f filing) RemovePassword(ctx context.Context, name string) error {
	return f.write(ctx, func(d reading.Database) error {
		if !d.DropPassword(name) {
			return asked(fmt.Errorf("remove password %q: %w", name, control.ErrNoPassword))
		}
		return nil
	})
}

// AddPerson implements control.Maintenance. An archive that was put back gives the number of one who came later to the
// next: where that one saved entries is not theirs.
func (f filing) AddPerson(ctx context.Context, raw string) error {
	name, err := reading.PersonName(raw)
	if err != nil {
		return asked(err)
	}
	return f.write(ctx, func(d reading.Database) error {
		id, err := d.AddPerson(time.Now(), name)
		if err == nil {
			err = forgetService(f.data, id)
		}
		return asked(err)
	})
}

// whoMayGo is the person of a name, who may be removed.
func whoMayGo(ctx context.Context, v reading.PeopleList, name string) (reading.Person, error) {
	list, err := v.People(ctx)
	if err != nil {
		return reading.Person{}, err
	}
	p, err := reading.Named(list, name)
	if err == nil && p.ID == reading.Owner {
		err = reading.ErrOwner
	}
	if err != nil {
		err = asked(fmt.Errorf("remove person %q: %w", name, err))
	}
	return p, err
}

// erasePerson erases a person, in steps between which the loop goes on, and where they saved entries.
func (f filing) erasePerson(ctx context.Context, id reading.PersonID) error {
	for more := true; more; {
		if err := f.write(ctx, func(d reading.Database) error {
			more = d.RemovePerson(id, markStep)
			return forgetService(f.data, id)
		}); err != nil {
			return err
		}
	}
	return forgetService(f.data, id) // what was on its way when the first step ended their sessions
}

// RemovePerson implements control.Maintenance.
func (f filing) RemovePerson(ctx context.Context, name string) error {
	defer f.told() // what they command is done no more
	p, err := whoMayGo(ctx, f.view, name)
	if err != nil {
		return err
	}
	return f.erasePerson(ctx, p.ID)
}

// hidePerson removes a person of whom everything is there until the removal can be undone no more, and returns what
// brings them back, with their passwords. These are in memory alone.
func (h *host) hidePerson(ctx context.Context, name string) (back func(context.Context) error, err error) {
	p, err := whoMayGo(ctx, h.store, name)
	if err != nil {
		return nil, err
	}
	var keys []reading.Password
	err = h.write(ctx, func(d reading.Database) error {
		all, err := d.Passwords(ctx)
		keys = slices.DeleteFunc(all, func(k reading.Password) bool { return k.Person != p.ID })
		if err == nil {
			d.HidePerson(time.Now(), p.ID)
		}
		return err
	})
	h.wakeTeller()
	return func(ctx context.Context) error {
		defer h.wakeTeller()
		return plain(h.write(ctx, func(d reading.Database) error {
			err := d.ShowPerson(p)
			for i := 0; i < len(keys) && err == nil; i++ {
				if err = d.KeepPassword(keys[i]); err != nil {
					err = fmt.Errorf("%s is there again, but not the password %s: %w", p.Name, keys[i].Name, err)
				}
			}
			return asked(err)
		}))
	}, err
}

// eraseHidden erases who was removed so long ago that it can be undone no more, and such filters.
func (h *host) eraseHidden(ctx context.Context, now time.Time) error {
	upTo := now.Add(-web.UndoTime - time.Minute)
	ids, err := h.store.HiddenPeople(ctx, upTo)
	for i := 0; i < len(ids) && err == nil; i++ {
		err = h.erasePerson(ctx, ids[i])
	}
	return cmp.Or(err, h.filing.sweep(ctx, upTo))
}

func (h *host) wakeTeller() {
	if h.teller != nil {
		h.teller.Wake()
	}
}

// asked is err as an error of the client.
func asked(err error) error {
	if err != nil {
		return control.BadRequest{Err: err}
	}
	return nil
}

// Entries are brought into the full-text index when there is time. Nothing waits for that: a search looks
// through what is not indexed yet. But it takes the longer the more there is of it, so the index must
// not fall behind for good where there never is time.
const (
	// housekeepingIdle is how long after something was stored the first step is made, so that entries that come one by
	// one share a step.
	housekeepingIdle = 10 * time.Second
	// housekeepingShare is how many times as long as a step the pause after it is where the loop had to wait for that.
	// Else it is as long as the step, so that half of a processor is left to others.
	housekeepingShare = 20
	// shortestPause is the shortest pause.
	shortestPause = 5 * time.Millisecond
	// firstHousekeepingRetry is the wait after a step that failed; it doubles up to longestWait.
	firstHousekeepingRetry = time.Second
)

// stir has the housekeeping look whether there is something to do.
func (h *host) stir() {
	select {
	case h.stirred <- struct{}{}:
	default:
	}
}

// housekeep brings what is stored into the index, and the log into the file, until ctx ends. The core knows nothing of
// it, so a failure concerns nobody else.
func (h *host) housekeep(ctx context.Context) {
	failures := 0 // in a row
	for {
		if sleep.For(ctx, housekeepingIdle) != nil {
			return
		}
		for more := true; more; {
			begun := time.Now()
			var err error
			more, err = h.housekeepStep(ctx)
			took := time.Since(begun)
			contended := h.housekeeper.Contended()
			pause := max(took, shortestPause)
			switch {
			case ctx.Err() != nil:
				return
			case errors.Is(err, archive.ErrGaveWay):
				contended, more = true, true
			case err != nil:
				if failures == 0 {
					h.config.Log.Warn("entries cannot be indexed; searches find them all the same, but take longer",
						"err", err)
				}
				pause, contended, more = when.Doubled(firstHousekeepingRetry, longestWait, failures), false, true
				failures++
			case failures > 0:
				failures = 0
				h.config.Log.Info("entries can be indexed again")
			}
			if contended {
				pause *= housekeepingShare
			}
			if sleep.For(ctx, pause) != nil {
				return
			}
		}
		select {
		case <-h.stirred:
		case <-ctx.Done():
			return
		}
	}
}

// housekeepStep makes a step of each kind that is due.
func (h *host) housekeepStep(ctx context.Context) (more bool, err error) {
	if err := h.housekeeper.Log(ctx); err != nil {
		return false, err
	}
	more, err = h.housekeeper.Index(ctx)
	if err != nil {
		return more, err
	}
	parts, err := h.housekeeper.Tidy(ctx)
	return more || parts, err
}

// insist makes a step again for as long as it has to give way to the loop, with the pauses that leave most of the time
// to that.
func insist[T any](ctx context.Context, h *host, step func() (T, error)) (T, error) {
	for {
		begun := time.Now()
		value, err := step()
		if !errors.Is(err, archive.ErrGaveWay) {
			return value, err
		}
		if err := sleep.For(ctx, housekeepingShare*max(time.Since(begun), shortestPause)); err != nil {
			return value, err
		}
	}
}

// rewrite has the archive rewrite its file. The rewriting may take minutes and has a time of its own: the loop counts
// as turning meanwhile.
func (h *host) rewrite(ctx context.Context) error {
	turning, end := context.WithCancel(ctx)
	var ticks sync.WaitGroup
	ticks.Go(func() {
		tick := time.NewTicker(longestNap)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.config.Turned()
			case <-turning.Done():
				return
			}
		}
	})
	err := h.store.Vacuum(ctx)
	end()
	ticks.Wait()
	return err
}
