package control

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"feedex/reading"
)

// A fakeTeller is the part of a fakeOwner that has receivers.
type fakeTeller struct {
	added   []ReceiverRequest
	removed []ReceiverName
	tried   []ReceiverName
	problem error
}

func (f *fakeTeller) AddReceiver(_ context.Context, r ReceiverRequest) error {
	f.added = append(f.added, r)
	return f.problem
}

func (f *fakeTeller) RemoveReceiver(_ context.Context, r ReceiverName) error {
	f.removed = append(f.removed, r)
	return f.problem
}

func (f *fakeTeller) TryReceiver(_ context.Context, r ReceiverName) error {
	f.tried = append(f.tried, r)
	return f.problem
}

// What is asked of receivers arrives as it was, and so does what is wrong with it.
func TestReceivers(t *testing.T) {
	o := &fakeOwner{}
	c := serve(t, o)
	r := ReceiverRequest{
		ReceiverName: ReceiverName{"Ann", "phone"}, Kind: reading.Ntfy, Address: "https://ntfy.example/x",
		Secret: new("s3cret"), Server: new("smtp://mail.example"), Local: new(true), Filters: &[]string{},
		Quiet: &[2]reading.TimeOfDay{60, 90}, Digest: &[]reading.TimeOfDay{480}, Most: new(7),
	}
	if err := c.AddReceiver(t.Context(), r); err != nil || !reflect.DeepEqual(o.added, []ReceiverRequest{r}) {
		t.Errorf("AddReceiver: %v, the owner got %+v", err, o.added)
	}
	if err := c.RemoveReceiver(t.Context(), r.ReceiverName); err != nil || len(o.removed) != 1 ||
		o.removed[0] != r.ReceiverName {
		t.Errorf("RemoveReceiver: %v, the owner got %+v", err, o.removed)
	}
	if err := c.TryReceiver(t.Context(), r.ReceiverName); err != nil || len(o.tried) != 1 ||
		o.tried[0] != r.ReceiverName {
		t.Errorf("TryReceiver: %v, the owner got %+v", err, o.tried)
	}
	o.problem = BadRequest{errors.New("it answers 502")}
	for what, err := range map[string]error{
		"AddReceiver": c.AddReceiver(t.Context(), r), "RemoveReceiver": c.RemoveReceiver(t.Context(), r.ReceiverName),
		"TryReceiver": c.TryReceiver(t.Context(), r.ReceiverName),
	} {
		if err == nil || err.Error() != "it answers 502" {
			t.Errorf("%s says %v", what, err)
		}
	}
}
