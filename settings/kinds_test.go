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

// Trackers and neighbors may be written in every way in which the node reads them while it runs.
func TestSources(t *testing.T) {
	s := set(t, "data = 'here'\npeer = ['Example.org', 'Node.example.net:7790']\n"+
		"tracker = ['HTTP://t.example/', 'http://bücher.example/', 'http://t.example/list#']")
	c, err := s.Node()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ got, want []string }{
		{c.Node.Peers, []string{"example.org", "Node.example.net:7790"}},
		{c.Node.Trackers, []string{"http://t.example/", "http://b%C3%BCcher.example/", "http://t.example/list"}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("named %q, want %q", tt.got, tt.want)
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
