package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"

	"feedex/control"
	"feedex/reading"
)

// A receiver is told of filters by their names, which are looked up before anything is written.
func TestReceiversOfFilters(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	storms, err := h.host.AddFilter(ctx, control.FilterRequest{FilterWish: reading.FilterWish{Name: "Storms",
		Words: "storm"}})
	if err != nil {
		t.Fatal(err)
	}
	none := filing{h.store, func(context.Context, func(reading.Database) error) error {
		t.Error("something was written")
		return nil
	}}
	r := control.ReceiverRequest{ReceiverName: control.ReceiverName{Name: "phone"}, Kind: reading.Ntfy,
		Address: "https://ntfy.example/a-topic", Filters: []string{"Storms", "Calm"}}
	if err := addReceiver(ctx, none, r); !errors.Is(err, reading.ErrNoFilter) {
		t.Errorf("of a filter that is not there: %v", err)
	}
	r.Person = "Nobody"
	if err := addReceiver(ctx, none, r); err == nil {
		t.Error("nobody is told")
	}
	r.Person, r.Filters = "", r.Filters[:1]
	if err := h.host.AddReceiver(ctx, r); err != nil {
		t.Fatal(err)
	}
	list, err := h.store.Receivers(ctx)
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Only, []reading.FilterID{storms.Filter}) {
		t.Errorf("receivers %+v, %v", list, err)
	}
}
