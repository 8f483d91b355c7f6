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

// pen has f write for a person.
func (f filing) pen(ctx context.Context, p reading.PersonID, do func(reading.Pen) error) error {
	return f.write(ctx, func(d reading.Database) error {
		pen := d.Pen(p)
		if pen == nil {
			return asked(reading.ErrNobody)
		}
		return do(pen)
	})
}

// person is who has a name, the owner where it is "".
func (f filing) person(ctx context.Context, name string) (reading.PersonID, error) {
	p, err := personNamed(ctx, f.view, name)
	if errors.Is(err, reading.ErrNobody) {
		err = asked(err)
	}
	return p.ID, err
}
