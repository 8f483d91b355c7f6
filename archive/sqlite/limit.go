package sqlite

import (
	"context"
	"errors"
	"time"

	modernc "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

const (
	// statementTime is how long a statement may take whose caller has set no deadline.
	statementTime = time.Minute
	// graceTime is how long a statement may take to notice that its time is over.
	graceTime = 5 * time.Second
)

// A limit is until when something may take.
type limit struct {
	ctx context.Context
	end time.Time // where ctx has no deadline
	// deaf says that no interrupt reaches what is limited, because the connection comes or goes.
	deaf bool
}

// newLimit is what the context says, and statementTime from now where it says nothing.
func newLimit(ctx context.Context) limit {
	if _, ok := ctx.Deadline(); ok {
		return limit{ctx: ctx}
	}
	return limit{ctx: ctx, end: time.Now().Add(statementTime)}
}

// deafLimit is the same for what no interrupt reaches.
func deafLimit(ctx context.Context) limit {
	l := newLimit(ctx)
	l.deaf = true
	return l
}

// over goes off when the time is over, unless the context says so.
func (l limit) over() *time.Timer {
	if l.end.IsZero() {
		over := time.NewTimer(time.Hour)
		over.Stop()
		return over
	}
	return time.NewTimer(time.Until(l.end))
}

// pass has the driver do work on the connection behind d, within the limit. Work that does not come back is left to
// itself: when it does, undo is called with what came of it, the zero value where that is an error.
func pass[T any](l limit, d *interruptible, work func() (T, error), undo func(T)) (value T, err error) {
	if err := l.ctx.Err(); err != nil {
		return value, err
	}
	select {
	case <-d.free:
	default:
		return value, ErrStalled // what went through before has not come back
	}
	type result struct {
		value T
		err   error
	}
	back := make(chan result, 1)
	go func() {
		v, err := work()
		back <- result{v, err}
	}()
	over := l.over()
	defer over.Stop()
	select {
	case r := <-back:
		d.free <- struct{}{}
		return r.value, r.err
	case <-l.ctx.Done():
		err = l.ctx.Err()
	case <-over.C:
		err = ErrStalled
	}
	if !l.deaf {
		d.interrupt()
	}
	over.Reset(graceTime)
	select {
	case r := <-back:
		d.free <- struct{}{}
		if interrupted(r.err) {
			return r.value, err
		}
		return r.value, r.err // it was ready just then
	case <-over.C:
	}
	d.away.Add(1)
	go func() {
		r := <-back
		d.away.Add(-1)
		undo(r.value)
		d.free <- struct{}{}
		d.closeLeft()
	}()
	return value, err
}

// interrupt has SQLite stop at the next opportunity. It only sets a mark in the connection, which goes out by itself
// (https://sqlite.org/c3ref/interrupt.html).
func (d *interruptible) interrupt() { codes.Xsqlite3_interrupt(nil, d.handle) }

// interrupted reports whether the error says that SQLite was.
func interrupted(err error) bool {
	var e *modernc.Error
	return errors.As(err, &e) && e.Code()&0xff == codes.SQLITE_INTERRUPT
}
