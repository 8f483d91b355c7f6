package main

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/daemon"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"all": 0, "1B": 1, "500MB": 500e6, "500 mb": 500e6, "1.5GiB": 3 << 29, "2tb": 2e12,
		"64KiB": 64 << 10, "3kB": 3000,
		"": -1, "5": -1, "MB": -1, "-1MB": -1, "0MB": -1, "NaNMB": -1, "1e30GB": -1, "1PB": -1, "ALL": -1, "Inf B": -1,
	} {
		n, err := parseSize(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || n != want) {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
}

func TestKeepFlags(t *testing.T) {
	var k keepFlags
	c := newSubscribe()
	if w := k.wish(); !w.IsZero() {
		t.Errorf("without a flag %+v is to change", w)
	}
	for _, args := range [][]string{{"--keep-age", "0"}, {"--keep-age", "soon"}, {"--keep-count", "0"},
		{"--keep-count", "-5"}, {"--keep-bytes", "12"}} {
		if err := c.ParseFlags(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	k = keepFlags{bytes: "2MB", age: "all", count: "7"}
	if w := k.wish(); *w.Bytes != 2e6 || *w.Age != 0 || *w.Count != 7 {
		t.Errorf("%d bytes, %v and %d entries are to be kept", *w.Bytes, *w.Age, *w.Count)
	}
}

func TestRetentionLines(t *testing.T) {
	for _, tt := range []struct {
		report daemon.RetentionReport
		want   []string
	}{
		{daemon.RetentionReport{}, []string{"everything of feeds that were followed ever"}},
		{daemon.RetentionReport{Relayed: 1 << 30, Feeds: 1},
			[]string{"everything of feeds that were followed ever; of others 1.0 GiB; less of 1 feed"}},
		{
			daemon.RetentionReport{Bytes: 10 << 30, Age: 90 * 24 * time.Hour, Count: 5000,
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
