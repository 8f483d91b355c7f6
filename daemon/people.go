package daemon

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"feedex/control"
	"feedex/reading"
	"feedex/web"
)

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
