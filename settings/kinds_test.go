package settings

import (
	"math"
	"slices"
	"testing"
	"time"
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

func TestReach(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{"none": 0, "all": math.MaxInt64, "90d": 90 * day,
		Default(Node).text("backfill"): 365 * day} {
		if err := Past.check(text); err != nil || reach(text) != want {
			t.Errorf("%s: %v, %v, want %v", text, reach(text), err, want)
		}
	}
}

func TestReaderHosts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reader string
		hosts  []string
		want   []string
	}{
		{"none", "127.0.0.1:7791", nil, nil},
		{"every address", ":7791", nil, nil},
		{"an IPv6 address", "[::1]:7791", nil, nil},
		{"named", "0.0.0.0:7791", []string{"nas.local", "nas"}, []string{"nas.local", "nas"}},
		{"the one listened at", "nas.example.org:7791", []string{"nas"}, []string{"nas", "nas.example.org"}},
	} {
		if got := withNameOf(tt.reader, tt.hosts); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
