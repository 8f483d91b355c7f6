package daemon

import (
	"context"
	"errors"

	"feedex/control"
	"feedex/reading"
)

// A filing is an archive as people, passwords and filters are changed in it: a node's, or one on which none runs.
type filing struct {
	view  reading.View
	write func(context.Context, func(reading.Database) error) error
	data  string // the archive's directory
	told  func() // pages may want to show what was changed, and receivers be told otherwise
}

// asked is err as an error of the client.
func asked(err error) error {
	if err != nil {
		return control.BadRequest{Err: err}
	}
	return nil
}

// pen has what it is given write for a person.
func (f filing) pen(p reading.PersonID) func(context.Context, func(reading.Pen) error) error {
	return func(ctx context.Context, do func(reading.Pen) error) error {
		return f.write(ctx, func(d reading.Database) error {
			pen := d.Pen(p)
			if pen == nil {
				return asked(reading.ErrNobody)
			}
			return do(pen)
		})
	}
}

// inSteps has write make a step after the other while there are more. The loop goes on in between.
func inSteps[W any](ctx context.Context, write func(context.Context, func(W) error) error,
	step func(W) (more bool)) error {
	for more := true; more; {
		if err := write(ctx, func(w W) error { more = step(w); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// person is who has a name, the owner where it is "".
func (f filing) person(ctx context.Context, name string) (reading.PersonID, error) {
	p, err := personNamed(ctx, f.view, name)
	if errors.Is(err, reading.ErrNobody) {
		err = asked(err)
	}
	return p.ID, err
}
