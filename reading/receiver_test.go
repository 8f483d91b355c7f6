package reading

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestHours(t *testing.T) {
	at := func(text string) time.Time {
		moment, err := time.Parse("2 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return moment.AddDate(2026, 10, 0)
	}
	clock := func(text string) TimeOfDay {
		c, err := ParseTimeOfDay(text)
		if err != nil || c.String() != text {
			t.Fatalf("%s is read as %v, %v", text, c, err)
		}
		return c
	}
	night := Hours{QuietFrom: clock("22:00"), QuietTo: clock("07:30"), Most: 3}
	noon := Hours{QuietFrom: clock("12:00"), QuietTo: clock("13:00"), Most: 3}
	digest := Hours{Digest: []TimeOfDay{clock("18:00"), clock("08:00")}, Most: 3}
	both := digest
	both.QuietFrom, both.QuietTo = clock("17:00"), clock("19:00")
	for _, c := range []struct {
		hours      Hours
		now, since string
		told       []string
		due        string
	}{
		{Hours{Most: 3}, "5 03:00", "5 02:00", nil, "5 03:00"},
		{night, "5 21:59", "5 21:00", nil, "5 21:59"},
		{night, "5 22:00", "5 21:00", nil, "6 07:30"},
		{night, "6 03:00", "5 21:00", nil, "6 07:30"},
		{night, "6 07:30", "5 21:00", nil, "6 07:30"},
		{noon, "5 12:59", "5 12:30", nil, "5 13:00"},
		{noon, "5 13:00", "5 12:30", nil, "5 13:00"},
		{digest, "5 09:00", "5 08:30", nil, "5 18:00"},
		{digest, "5 18:00", "5 08:30", nil, "5 18:00"},
		{digest, "5 20:00", "5 08:30", nil, "5 20:00"}, // the node was away
		{digest, "5 20:00", "5 18:30", nil, "6 08:00"},
		{both, "5 16:00", "5 16:00", nil, "5 19:00"},
		{Hours{Most: 3}, "5 10:00", "5 10:00", []string{"5 09:10", "5 09:50"}, "5 10:00"},
		{Hours{Most: 3}, "5 10:00", "5 10:00", []string{"5 09:10", "5 09:50", "5 09:55"}, "5 10:10"},
		{Hours{Most: 3}, "5 10:00", "5 10:00", []string{"5 09:05", "5 09:10", "5 09:50", "5 09:55"}, "5 10:10"},
		{Hours{Most: 3}, "5 10:00", "5 10:00", []string{"5 09:10", "7 09:50", "8 09:55"}, "5 10:00"}, // set back since
		{digest, "5 09:00", "9 08:30", nil, "5 18:00"},
		{Hours{QuietFrom: clock("10:05"), QuietTo: clock("11:00"), Most: 1}, "5 10:00", "5 10:00", []string{"5 09:10"},
			"5 11:00"},
	} {
		var told []time.Time
		for _, text := range c.told {
			told = append(told, at(text))
		}
		if due := c.hours.Due(at(c.now), at(c.since), told); !due.Equal(at(c.due)) {
			t.Errorf("%+v at %s since %s, told %s: due %s, want %s", c.hours, c.now, c.since, c.told,
				due.Format("2 15:04"), c.due)
		}
	}
	for _, bad := range []string{"", "7", "24:00", "07:60", "07:30:00"} {
		if c, err := ParseTimeOfDay(bad); err == nil {
			t.Errorf("%q is read as %v", bad, c)
		}
	}
}

// Where clocks are changed it is quiet by what they show, twice in an hour that comes twice.
func TestQuietHoursWhereClocksChange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	twoToThree := Hours{QuietFrom: 120, QuietTo: 180, Most: 3}
	night := Hours{QuietFrom: 22 * 60, QuietTo: 150, Most: 3} // whose end does not come in spring
	for _, c := range []struct {
		hours    Hours
		now, due string // of UTC
	}{
		{twoToThree, "2026-10-24T23:59:00Z", "2026-10-24T23:59:00Z"},
		{twoToThree, "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"},
		{twoToThree, "2026-10-25T00:59:30Z", "2026-10-25T02:00:00Z"},
		{twoToThree, "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z"},
		{twoToThree, "2026-10-25T02:00:00Z", "2026-10-25T02:00:00Z"},
		{twoToThree, "2027-03-28T00:59:59Z", "2027-03-28T00:59:59Z"},
		{twoToThree, "2027-03-28T01:00:00Z", "2027-03-28T01:00:00Z"},
		{night, "2027-03-27T23:00:00Z", "2027-03-28T01:00:00Z"},
		{night, "2027-03-28T00:59:00Z", "2027-03-28T01:00:00Z"},
	} {
		var at [2]time.Time
		for i, text := range []string{c.now, c.due} {
			if at[i], err = time.Parse(time.RFC3339, text); err != nil {
				t.Fatal(err)
			}
		}
		if due := c.hours.Due(at[0].In(berlin), at[0], nil); !due.Equal(at[1]) {
			t.Errorf("%+v at %s: due %s, want %s", c.hours, c.now, due.UTC().Format(time.RFC3339), c.due)
		}
	}
}

func TestReceiversAreChecked(t *testing.T) {
	good := Receiver{Name: " phone\n", Kind: Webhook, Address: "https://example.com/", Hours: Hours{Most: DefaultMost}}
	if r, err := good.Checked(); err != nil || r.Name != "phone" {
		t.Errorf("%+v, %v", r, err)
	}
	for what, change := range map[string]func(*Receiver){
		"no name":                func(r *Receiver) { r.Name = "" },
		"a long address":         func(r *Receiver) { r.Address = strings.Repeat("a", MaxReceiverText+1) },
		"no messages":            func(r *Receiver) { r.Hours.Most = 0 },
		"many messages":          func(r *Receiver) { r.Hours.Most = MostMost + 1 },
		"a day of 25 hours":      func(r *Receiver) { r.Hours.QuietTo = 24 * 60 },
		"a time before midnight": func(r *Receiver) { r.Hours.Digest = []TimeOfDay{-1} },
		"many digests":           func(r *Receiver) { r.Hours.Digest = make([]TimeOfDay, maxDigests+1) },
	} {
		r := good
		if change(&r); what == "no name" {
			if _, err := r.Checked(); !errors.Is(err, ErrName) {
				t.Errorf("%s: %v", what, err)
			}
		} else if _, err := r.Checked(); !errors.Is(err, ErrReceiver) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
