package main

import (
	"slices"
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
