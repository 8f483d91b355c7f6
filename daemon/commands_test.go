package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"feedex/control"
	"feedex/reading"
)

// What a person says is done as a program of theirs would do it, may be said twice, and is answered in words without
// secrets.
func TestObey(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	var err error
	if h.host.teller, err = newTeller(h.host); err != nil {
		t.Fatal(err)
	}
	for name, person := range map[string]string{"phone": "", "ann": "Ann"} {
		if err := h.host.AddReceiver(ctx, control.ReceiverRequest{
			ReceiverName: control.ReceiverName{Name: name, Person: person},
			Kind:         reading.Ntfy, Address: "https://ntfy.example/" + name}); err != nil {
			t.Fatal(err)
		}
	}
	sent := time.Now()
	number := fmt.Sprint(h.feed)
	for _, c := range []struct {
		who        reading.PersonID
		text, want string
	}{
		{reading.Owner, "", "I know:"},
		{reading.Owner, "open the door", "I know:"},
		{reading.Owner, "List", "You follow:\n" + number + " "},
		{reading.Owner, "list of nothing", "nothing that is called so, of 1 feeds"},
		{reading.Owner, "subscribe " + string(exampleFeed), "You follow " + number},
		{reading.Owner, "subscribe", "Not done: "},
		{reading.Owner, "subscribe file:///etc/passwd", "Not done: "},
		{reading.Owner, "mute", "Not done: "},
		{reading.Owner, "mute -2h", "Not done: "},
		{reading.Owner, "mute -2d", "Not done: "},
		{reading.Owner, "mute 31d", "Not done: "},
		{reading.Owner, "mute 99999999999999999999d", "Not done: "},
		{reading.Owner, "MUTE 2h", "You are told nothing until "},
		{h.ann.person, "unsubscribe " + number, "no more; what there is of it stays"},
		{h.ann.person, "unsubscribe " + number, "You do not follow that"},
		{reading.Owner, "unsubscribe 0", "You do not follow that"},
		{reading.Owner, "unsubscribe -1", "You do not follow that"},
		{reading.Owner, "unsubscribe https://example.com/other", "You do not follow that"},
		{reading.Owner, "list", "You follow:\n" + number + " "},
		{reading.Owner, "unsubscribe " + string(exampleFeed), "no more; what there is of it stays"},
		{reading.Owner, "unsubscribe " + string(exampleFeed), "You do not follow that"},
		{reading.Owner, "list", "You follow nothing yet"},
	} {
		got, err := h.host.obey(ctx, c.who, c.text, sent)
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%q is answered %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	muted := func() (list []time.Time) {
		receivers, err := h.store.Receivers(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for i := range receivers {
			list = append(list, receivers[i].Muted)
			if receivers[i].Person != reading.Owner && !receivers[i].Muted.IsZero() {
				t.Error("another person is told nothing")
			}
		}
		return list
	}
	if got := fmt.Sprint(muted()); !strings.Contains(got, time.Unix(sent.Add(2*time.Hour).Unix(), 0).UTC().String()) {
		t.Errorf("mute until %s", got)
	}
	// What was said three hours ago and comes now is past.
	for _, text := range []string{"mute 2h", "unmute"} {
		if _, err := h.host.obey(ctx, reading.Owner, text, sent.Add(-3*time.Hour)); err != nil {
			t.Error(err)
		}
		for _, until := range muted() {
			if !until.IsZero() {
				t.Errorf("%q has it mute until %s", text, until)
			}
		}
	}
	ended, end := context.WithCancel(ctx)
	end()
	if answer, err := h.host.obey(ended, reading.Owner, "mute 1h", sent); err == nil {
		t.Errorf("where the node ends it is answered %q", answer)
	}
	// Who was removed while their message was on its way is not answered, and has nothing followed.
	if err := h.host.RemovePerson(ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"list", "subscribe " + string(exampleFeed)} {
		answer, err := h.host.obey(ctx, h.ann.person, text, sent)
		if !errors.Is(err, reading.ErrNobody) || answer != "" {
			t.Errorf("somebody who is gone is answered %q to %q, %v", answer, text, err)
		}
	}
}
