package daemon

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/control"
	"feedex/reading"
)

// stormsOf has the owner keep a filter of that name.
func stormsOf(t *testing.T, h *household) reading.FilterID {
	t.Helper()
	kept, err := h.host.AddFilter(t.Context(), control.FilterRequest{FilterWish: reading.FilterWish{Name: "Storms",
		Words: "storm"}})
	if err != nil {
		t.Fatal(err)
	}
	return kept.Filter
}

// A receiver is told of filters by their names, which are looked up before anything is written.
func TestReceiversOfFilters(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	storms := stormsOf(t, h)
	none := filing{view: h.store, write: func(context.Context, func(reading.Database) error) error {
		t.Error("something was written")
		return nil
	}}
	r := control.ReceiverRequest{ReceiverName: control.ReceiverName{Name: "phone"}, Kind: reading.Ntfy,
		Address: "https://ntfy.example/a-topic", Filters: &[]string{"Storms", "Calm"}}
	if err := none.AddReceiver(ctx, r); !errors.Is(err, reading.ErrNoFilter) {
		t.Errorf("of a filter that is not there: %v", err)
	}
	r.Person = "Nobody"
	if err := none.AddReceiver(ctx, r); err == nil {
		t.Error("nobody is told")
	}
	r.Person, r.Filters = "", &[]string{"Storms"}
	if err := h.host.AddReceiver(ctx, r); err != nil {
		t.Fatal(err)
	}
	list, err := h.store.Receivers(ctx)
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Only, []reading.FilterID{storms}) {
		t.Errorf("receivers %+v, %v", list, err)
	}
}

// What is not named of a receiver that is changed stays; what is for a server, as long as that does.
func TestReceiversAreChanged(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	storms := stormsOf(t, h)
	q := control.ReceiverRequest{ReceiverName: control.ReceiverName{Name: "phone"}, Kind: reading.Ntfy,
		Address: "https://ntfy.example/topic", Secret: new("tk_1"), Local: new(true), Commands: new("orders"),
		Word: reading.WordHash("abcd"), Filters: &[]string{"Storms"}, Quiet: &[2]reading.TimeOfDay{60, 90},
		Digest: &[]reading.TimeOfDay{480}, Most: new(7)}
	change := func(change func(*control.ReceiverRequest)) reading.Receiver {
		t.Helper()
		q := q
		change(&q)
		err := h.host.AddReceiver(ctx, q)
		list, failed := h.store.Receivers(ctx)
		if err != nil || failed != nil || len(list) != 1 {
			t.Fatalf("%d receivers, %v, %v", len(list), err, failed)
		}
		return list[0]
	}
	r := change(func(*control.ReceiverRequest) {})
	if err := h.host.write(ctx, func(d reading.Database) error {
		d.Heard(r, reading.Command{Message: "m1", Sent: time.Now()})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.Heard = "m1"
	q = control.ReceiverRequest{ReceiverName: q.ReceiverName, Kind: q.Kind, Address: "https://ntfy.example/other"}
	want := r
	want.Address = q.Address
	if got := change(func(*control.ReceiverRequest) {}); !reflect.DeepEqual(got, want) {
		t.Errorf("with another topic it is %+v, want %+v", got, want)
	}
	want.Only, want.Hours.Digest = nil, nil
	got := change(func(q *control.ReceiverRequest) { q.Filters, q.Digest = &[]string{}, new([]reading.TimeOfDay) })
	if !reflect.DeepEqual(got, want) {
		t.Errorf("for all filters and at once it is %+v, want %+v", got, want)
	}
	got = change(func(q *control.ReceiverRequest) {
		q.Address, q.Filters = "https://other.example/a", &[]string{"Storms"}
	})
	if got.Secret != "" || got.Local || got.Commands != "" || got.Hours.Most != 7 ||
		!slices.Equal(got.Only, []reading.FilterID{storms}) {
		t.Errorf("at another server it is %+v", got)
	}
	change(func(q *control.ReceiverRequest) {
		q.Kind, q.Address, q.Server = reading.Mail, "me@example.com", new("smtp://me@mail.example:587")
	})
	if got = change(func(*control.ReceiverRequest) {}); got.Kind != reading.Ntfy || got.Server != "" {
		t.Errorf("of another kind it is %+v", got)
	}
	push := func(host string, local *bool) reading.Receiver {
		return change(func(q *control.ReceiverRequest) {
			q.Kind, q.Local = reading.WebPush, local
			q.Address = `{"endpoint":"https://` + host + `/x","keys":{"auth":"DRvr6a1nlYgDCS1FRnbzlw","p256dh":"` +
				`BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}}`
		})
	}
	if !push("push.example", new(true)).Local || !push("push.example", nil).Local || push("other.example", nil).Local {
		t.Error("a push service is in the private network as another is, or the same is not")
	}
}

// Push services are told of the owner's page what they take as a contact.
func TestContactOfPushes(t *testing.T) {
	h := newHousehold(t)
	for about, contact := range map[string]string{
		"": "", "http://example.com/a": "", "https://example.com/a": "https://example.com/a",
	} {
		h.host.config.About = about
		teller, err := newTeller(h.host)
		if err != nil || teller.Sender.Contact != contact {
			t.Errorf("with the page %q it is %+v, %v", about, teller, err)
		}
	}
}

// Names that look the same are the same: of a receiver that is changed, added on the page and removed, and of whose it
// is.
func TestReceiversByNamesThatLookTheSame(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	if err := h.host.AddPerson(ctx, "Zo\u00e9"); err != nil {
		t.Fatal(err)
	}
	q := control.ReceiverRequest{ReceiverName: control.ReceiverName{Name: "caf\u00e9"}, Kind: reading.Ntfy,
		Address: "https://ntfy.example/topic", Secret: new("tk_1")}
	other := control.ReceiverName{Name: "cafe\u0301 \u200b"}
	for _, person := range []string{"", "Zoe\u0301"} {
		q.Person, other.Person = person, person
		if err := h.host.AddReceiver(ctx, q); err != nil {
			t.Fatal(err)
		}
		if err := h.host.AddReceiver(ctx, control.ReceiverRequest{ReceiverName: other, Kind: q.Kind,
			Address: q.Address}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := h.store.Receivers(ctx)
	if err != nil || len(list) != 2 || list[0].Secret != "tk_1" || list[1].Secret != "tk_1" {
		t.Errorf("receivers %+v, %v", list, err)
	}
	err = dashboard{View: h.store, host: h.host}.AddReceiver(ctx, reading.Receiver{Name: other.Name, Kind: q.Kind,
		Address: q.Address})
	if !errors.Is(err, reading.ErrTold) {
		t.Errorf("added on the page: %v", err)
	}
	if err := h.host.RemoveReceiver(ctx, other); err != nil {
		t.Error(err)
	}
	if list, err = h.store.Receivers(ctx); err != nil || len(list) != 1 || list[0].Person != reading.Owner {
		t.Errorf("receivers %+v, %v", list, err)
	}
}
