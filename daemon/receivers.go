package daemon

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"feedex/control"
	"feedex/guard"
	"feedex/notify"
	"feedex/notify/webpush"
	"feedex/reading"
	"feedex/web"
)

// newTeller makes what tells people of what their filters catch.
func newTeller(h *host) (*notify.Teller, error) {
	sender, err := pushSender(h.config.Node.Key)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(h.config.About, "https://") { // nothing else may stand there (RFC 8292 §2.1)
		sender.Contact = h.config.About
	}
	outside := guard.Dialer(func(ap netip.AddrPort) error {
		if err := guard.Others(ap); err != nil {
			return fmt.Errorf("%w; --local permits it for a receiver of your own", err)
		}
		return nil
	})
	return notify.New(notify.Config{
		Store: receiverStore{h.store, h}, Dial: outside.DialContext, DialLocal: guard.Dialer(nil).DialContext,
		Sender: sender, Do: h.obey, Log: h.config.Log,
	}), nil
}

// pushSender is who sends by Web Push for a node with that key; nobody for a node that has none in this run.
func pushSender(key ed25519.PrivateKey) (webpush.Sender, error) {
	if key == nil {
		return webpush.Sender{}, nil
	}
	return webpush.NewSender(key.Seed())
}

// receiverStore has the archive keep what receivers are told.
type receiverStore struct {
	reading.ReceiverList
	host *host
}

var _ notify.Store = receiverStore{}

// Told implements notify.Store.
func (s receiverStore) Told(ctx context.Context, to reading.Receiver, at time.Time, messages []reading.MessageID,
	more int) error {
	return s.host.write(ctx, func(d reading.Database) error { d.Told(to, at, messages, more); return nil })
}

// NotTold implements notify.Store.
func (s receiverStore) NotTold(ctx context.Context, to reading.Receiver, problem string, next time.Time,
	ended bool) error {
	return s.host.write(ctx, func(d reading.Database) error { d.NotTold(to, problem, next, ended); return nil })
}

// Heard implements notify.Store.
func (s receiverStore) Heard(ctx context.Context, at reading.Receiver, c reading.Command) error {
	return s.host.write(ctx, func(d reading.Database) error { d.Heard(at, c); return nil })
}

// Answered implements notify.Store.
func (s receiverStore) Answered(ctx context.Context, at reading.Receiver, message string) error {
	return s.host.write(ctx, func(d reading.Database) error { d.Answered(at, message); return nil })
}

// Deaf implements notify.Store.
func (s receiverStore) Deaf(ctx context.Context, at reading.Receiver, problem string) error {
	return s.host.write(ctx, func(d reading.Database) error { d.Deaf(at, problem); return nil })
}

// keepReceiver has a person told at a receiver.
func (f filing) keepReceiver(ctx context.Context, r reading.Receiver) error {
	defer f.told()
	r.Created = time.Now()
	r, err := notify.Checked(r)
	if err != nil {
		return asked(err)
	}
	return f.pen(r.Person)(ctx, func(pen reading.Pen) error {
		_, err := pen.KeepReceiver(r)
		return asked(err)
	})
}

// dropReceiver has a person told there no more. It is no error if they were not.
func (f filing) dropReceiver(ctx context.Context, p reading.PersonID, name string) error {
	defer f.told() // what it commands is done no more
	return f.pen(p)(ctx, func(pen reading.Pen) error { pen.DropReceiver(name); return nil })
}

// AddReceiver implements control.ReceiverChanges. Names are looked up before anything is written.
func (f filing) AddReceiver(ctx context.Context, q control.ReceiverRequest) error {
	old, err := f.receiver(ctx, q.ReceiverName)
	if err != nil && !errors.Is(err, control.ErrNoReceiver) {
		return err
	}
	r := reading.Receiver{
		Person: old.Person, Name: q.Name, Kind: q.Kind, Address: q.Address, Only: old.Only, Hours: old.Hours,
	}
	if r.Kind == old.Kind {
		r.Server = old.Server
	}
	replace(&r.Server, q.Server)
	if serverOf(&r) == serverOf(&old) {
		r.Secret, r.Local, r.Commands, r.Word, r.Heard = old.Secret, old.Local, old.Commands, old.Word, old.Heard
	}
	replace(&r.Secret, q.Secret)
	replace(&r.Local, q.Local)
	replace(&r.Hours.Digest, q.Digest)
	replace(&r.Hours.Most, q.Most)
	if q.Quiet != nil {
		r.Hours.QuietFrom, r.Hours.QuietTo = q.Quiet[0], q.Quiet[1]
	}
	if q.Commands != nil {
		r.Commands, r.Word, r.Heard = *q.Commands, q.Word, ""
	}
	if q.Filters != nil {
		r.Only = nil
		for _, name := range *q.Filters {
			x, err := f.named(ctx, r.Person, name)
			if err != nil {
				return err
			}
			r.Only = append(r.Only, x.ID)
		}
	}
	return f.keepReceiver(ctx, r)
}

// RemoveReceiver implements control.ReceiverChanges.
func (f filing) RemoveReceiver(ctx context.Context, name control.ReceiverName) error {
	r, err := f.receiver(ctx, name)
	if err != nil {
		return err
	}
	return f.dropReceiver(ctx, r.Person, r.Name)
}

// receiver is a receiver of a person by its name. Where there is none the error is control.ErrNoReceiver, and the
// receiver has but the person.
func (f filing) receiver(ctx context.Context, name control.ReceiverName) (reading.Receiver, error) {
	p, err := f.person(ctx, name.Person)
	if err != nil {
		return reading.Receiver{}, err
	}
	list, err := f.view.Receivers(ctx)
	r, found := reading.ReceiverNamed(list, p, name.Name)
	if err == nil && !found {
		r.Person, err = p, asked(control.ErrNoReceiver)
	}
	return r, err
}

// replace has something be what it is to be, or stay.
func replace[T any](x *T, by *T) {
	if by != nil {
		*x = *by
	}
}

// serverOf tells the server that takes what a receiver is told from others, which its secret is for.
func serverOf(r *reading.Receiver) string {
	at, address := r.Server, strings.TrimSpace(r.Address)
	if r.Kind == reading.WebPush {
		to, _ := webpush.ParseSubscription([]byte(address)) // what is none is refused later
		address = to.Endpoint
	}
	if u, err := url.Parse(address); err == nil && r.Kind != reading.Mail {
		at = u.Scheme + "://" + u.Host
	}
	return string(r.Kind) + " " + at
}

// TryReceiver implements control.ReceiverTrials.
func (h *host) TryReceiver(ctx context.Context, name control.ReceiverName) error {
	r, err := h.receiver(ctx, name)
	if err != nil {
		return err
	}
	return h.teller.Try(ctx, r)
}

// Receivers implements web.Notifications.
func (d dashboard) Receivers(ctx context.Context) (states []web.ReceiverState, err error) {
	list, err := d.View.Receivers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Person != reading.Owner {
			continue
		}
		waiting, err := d.CountWaiting(ctx, list[i].ID)
		if err != nil {
			return nil, err
		}
		states = append(states, web.ReceiverState{Receiver: list[i], Shown: notify.Shown(&list[i]), Waiting: waiting})
	}
	return states, nil
}

// AddReceiver implements web.Notifications.
func (d dashboard) AddReceiver(ctx context.Context, r reading.Receiver) error {
	r.Person = reading.Owner
	list, err := d.View.Receivers(ctx)
	if err != nil {
		return err
	}
	if _, found := reading.ReceiverNamed(list, r.Person, r.Name); found {
		return reading.ErrTold
	}
	return plain(d.host.keepReceiver(ctx, r))
}

// RemoveReceiver implements web.Notifications.
func (d dashboard) RemoveReceiver(ctx context.Context, name string) error {
	return d.host.dropReceiver(ctx, reading.Owner, name)
}

// TryReceiver implements web.Notifications.
func (d dashboard) TryReceiver(ctx context.Context, name string) error {
	return plain(d.host.TryReceiver(ctx, control.ReceiverName{Name: name}))
}

// PushKey implements web.Notifications.
func (d dashboard) PushKey() string { return d.host.teller.Sender.PublicKey() }

func (h *host) wakeTeller() {
	if h.teller != nil {
		h.teller.Wake()
	}
}
