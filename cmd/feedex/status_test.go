package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/control"
)

func TestRetentionLines(t *testing.T) {
	for _, tt := range []struct {
		report control.RetentionReport
		want   []string
	}{
		{control.RetentionReport{}, []string{"everything of feeds that were followed ever"}},
		{control.RetentionReport{Relayed: 1 << 30, Feeds: 1},
			[]string{"everything of feeds that were followed ever; of others 1.0 GiB; less of 1 feed"}},
		{
			control.RetentionReport{Bytes: 10 << 30, Age: 90 * 24 * time.Hour, Count: 5000,
				Last: archive.Purge{At: noon, Entries: 12, Bytes: 2048}},
			[]string{"10.0 GiB, the last 90d, the latest 5,000 entries, and what is starred",
				"12 entries with 2.0 KiB of text, 3h ago"},
		},
	} {
		if got := retentionLines(&tt.report, noon.Add(3*time.Hour)); !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// Whoever watches over a node by its status learns from the exit code that nothing is kept.
func TestStatusOfANodeThatKeepsNothing(t *testing.T) {
	for storage, want := range map[string]int{"": exitOK, "the disk is full": exitError} {
		data := served(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"storage": %q}`, storage)
		})
		for _, args := range [][]string{{"status", "--data", data}, {"status", "--json", "--data", data}} {
			var out, errs strings.Builder
			if code := run(t.Context(), args, &out, &errs); code != want || !strings.Contains(out.String(), storage) {
				t.Errorf("%q: %v ends with %d, want %d\n%s%s", storage, args, code, want, &out, &errs)
			}
		}
	}
}

// The status says whether the node uses the DHT, how to have it so, and what came of it.
func TestDHTLine(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := now.Add(-5 * time.Minute)
	for want, r := range map[string]control.DHTReport{
		"off until you answer whether others may learn that this address runs feedex: feedex dht on|off": {Use: "ask"},
		"off":                        {Use: "off"},
		"on, not asked yet":          {Use: "on"},
		"on, 1 address found 5m ago": {Use: "on", Met: at, Found: 1},
		"on, nobody answers":         {Use: "on", Met: at, Problem: "nobody answers"},
		"on, 20 addresses found 5m ago; told where this node is 5m ago": {Use: "on", Met: at, Found: 20, Announced: at},
	} {
		if got := dhtLine(&r, now); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
