package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"feedex/control"
	"feedex/reading"
)

// A waitingFile is an archive in which something waits, where two messages went out.
type waitingFile struct {
	archiveFile
	told []time.Time
}

func (f waitingFile) Waiting(context.Context, reading.ReceiverID, int) ([]reading.Message, int, error) {
	return []reading.Message{{Arrived: f.told[0]}}, 0, nil
}

func (f waitingFile) ToldSince(context.Context, reading.ReceiverID, time.Time) ([]time.Time, error) {
	return f.told, nil
}

// What waits says until when, by how many messages are sent, and below a receiver stands why.
func TestWhyReceiversWait(t *testing.T) {
	now := time.Now()
	f := waitingFile{told: []time.Time{now.Add(-20 * time.Minute), now.Add(-10 * time.Minute)}}
	for most, want := range map[int]time.Time{2: now.Add(40 * time.Minute), 3: {}} {
		r := reading.Receiver{Hours: reading.Hours{Most: most}}
		if due, err := dueOf(t.Context(), f, &r, now); err != nil || !due.Equal(want) {
			t.Errorf("with %d messages an hour it waits until %v, %v; want %v", most, due, err, want)
		}
	}
	next := now.Add(time.Hour).Truncate(time.Minute)
	var out strings.Builder
	err := printReceivers(&out, []listedReceiver{
		{Name: "a", All: true, Hours: "at once", Secret: true, Problem: strings.Repeat("no ", 99), Next: next,
			Due: next},
		{Name: "b", All: true, Hours: "at once", Due: next},
	})
	clock := next.Format("2006-01-02 15:04")
	for _, want := range []string{"at once, with a secret  0\n    no no",
		"\n    it is tried again at " + clock + "\nb ",
		"\n    what waits is sent at " + clock + "\n"} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, there is no %q in %s", err, want, out.String())
		}
	}
	if heading, _, _ := strings.Cut(out.String(), "\n"); len(heading) > 100 {
		t.Errorf("the table is %d wide", len(heading))
	}
}

// A digest that is taken back reaches the node as an empty one: what is null there stays.
func TestDigestsAreTakenBack(t *testing.T) {
	var body []byte
	client := dialed(t, func(_ http.ResponseWriter, r *http.Request) { body, _ = io.ReadAll(r.Body) })
	digest, err := parseDigest("")
	if err != nil {
		t.Fatal(err)
	}
	err = client.AddReceiver(t.Context(), control.ReceiverRequest{Digest: digest})
	if err != nil || !strings.Contains(string(body), `"digest":[]`) {
		t.Errorf("%v, the node is asked %s", err, body)
	}
}
