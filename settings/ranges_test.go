package settings

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// utf16 is a setting in UTF-16, with the mark in front of which each byte stands at so many of two.
func utf16(mark string, at int) string {
	text := "seen_dids = 0\r\n"
	pairs := make([]byte, 2*len(text))
	for i := range len(text) {
		pairs[2*i+at] = text[i]
	}
	return mark + string(pairs)
}

// TestRanges reads config files whose settings are of the right kind and yet none that a node can have. A
// byte order mark in front does not count, but for whether it is UTF-16.
func TestRanges(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"", ""},
		{"max_neighbors = 5", ""},
		{"max_neighbors = 1\nmin_neighbors = 1", ""},
		{"deficit_bound = 0", ""},
		{"polling.min = '3h'", ""},
		{"polling = { min = '1s', max = '30d', start = '30d' }", ""},
		{"min_neighbors = 3\n\n max_neighbors = 100 # many", "3:2: max_neighbors is 100, want 1 to 64"},
		{"\ufeffmax_neighbors = 0", "1:1: max_neighbors is 0, want 1 to 64"},
		{utf16("\xff\xfe", 0), "1:1: seen_dids is 0, want 1 to 1000000"},
		{utf16("\xfe\xff", 1), "1:1: seen_dids is 0, want 1 to 1000000"},
		{"min_neighbors = 50", "1:1: min_neighbors is 50, want 1 to max_neighbors (10)"},
		{"min_neighbors = 0", "1:1: min_neighbors is 0, want 1 to max_neighbors (10)"},
		{"max_subset_hops = 0", "1:1: max_subset_hops is 0, want 1 to 8"},
		{"seen_dids = 0", "1:1: seen_dids is 0, want 1 to 1000000"},
		{"peer = ['node.example.net:7790', 'example.org', '[2001:db8::1]:7790']", ""},
		{"volunteer = 1000", ""},
		{"volunteer = 1001", "1:1: volunteer is 1001, want 0 to 1000"},
		{"volunteer = -1", "1:1: volunteer is -1, want 0 to 1000"},
		{"deficit_bound = -1", "1:1: deficit_bound is -1, want 0 to 1000, where 0 is no bound"},
		{"advert_interval = '10ms'", "1:1: advert_interval is 10ms, want 1s to 1d"},
		{"advert_interval = '2d'", "1:1: advert_interval is 2d, want 1s to 1d"},
		{"[polling]\ntarget_freshness = 0", "2:1: polling.target_freshness is 0, want more than 0 and at most 1"},
		{"[polling]\ntarget_freshness = nan", "2:1: polling.target_freshness is NaN, want more than 0 and at most 1"},
		{"[polling]\ninterval = '31d'", "2:1: polling.interval is 31d, want 1s to 30d"},
		{"[polling]\ntarget_delay = '31d'", "2:1: polling.target_delay is 31d, want 1s to 30d"},
		{"[polling]\nmin = '10ms'", "2:1: polling.min is 10ms, want 1s to 30d"},
		{"[polling]\nmin = '20h'", "2:1: polling.min is 20h, want polling.max (16h) or less"},
		{"[polling]\nmax = '10m'", "2:1: polling.max is 10m, want polling.min (30m) or more"},
		{"[polling]\nstart = '17h'", "2:1: polling.start is 17h, want polling.min to polling.max (30m to 16h)"},
		{"retention = { bytes = '16MiB', age = '1d', count = 100, relayed = 'all' }", ""},
		{"[retention]\nbytes = '15MiB'", "2:1: retention.bytes is 15MiB, want 16.0 MiB or more, or \"all\""},
		{"[retention]\nrelayed = '1kB'", "2:1: retention.relayed is 1kB, want 16.0 MiB or more, or \"all\""},
		{"[retention]\nage = '23h'", "2:1: retention.age is 23h, want 1d or more, or \"all\""},
		{"[retention]\ncount = 99", "2:1: retention.count is 99, want 100 to 1000000000, or 0 for all"},
	} {
		path := filepath.Join(t.TempDir(), "feedex.toml")
		if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		s := Default(Node)
		if err := s.read(path); err != nil {
			t.Fatal(err)
		}
		s.field("config").SetString(path)
		s.field("data").SetString("here")
		cfg, err := s.Node()
		if p, ok := cfg.Node.Policy.(interface{ Validate() error }); ok && p.Validate() != nil {
			t.Errorf("%q: the policy says %v", tt.file, p.Validate())
		}
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.file, err)
		case tt.want != "" && (err == nil || err.Error() != path+":"+tt.want || !errors.As(err, new(UsageError))):
			t.Errorf("%q: error\n\t%v\nwant the usage error\n\t%s", tt.file, err, tt.want)
		}
	}
}

// TestRangesWithoutFile has settings out of range that no file holds.
func TestRangesWithoutFile(t *testing.T) {
	s := set(t, "data = 'here'")
	s.field("poll").SetString("10ms")
	_, err := s.Node()
	if want := "--poll is 10ms, want 1s to 30d"; err == nil || err.Error() != want || !errors.As(err, new(UsageError)) {
		t.Errorf("error %v, want the usage error %s", err, want)
	}
}

// TestEveryNumberHasARange sets each number and each span of time far below and above what a node can have.
func TestEveryNumberHasARange(t *testing.T) {
	tried := 0
	for _, row := range allRows(t) {
		var wrong []any
		switch row.usual.(type) {
		case int:
			wrong = []any{-1, math.MaxInt32}
		case float64:
			wrong = []any{-1.0, math.Inf(1)}
		}
		if row.kind == Span {
			wrong = []any{"1ms", "9999d"}
		}
		name := row.key
		if row.noKey != "" {
			name = "--" + name
		}
		for _, value := range wrong {
			tried++
			s := set(t, "data = 'here'")
			s.field(row.key).Set(reflect.ValueOf(value))
			_, err := s.Node()
			if err == nil || !strings.HasPrefix(err.Error(), name+" is ") ||
				!strings.Contains(err.Error(), ", want ") || !errors.As(err, new(UsageError)) {
				t.Errorf("%s = %v: error %v, want a usage error with the range", name, value, err)
			}
		}
	}
	if tried < 20 {
		t.Errorf("tried %d settings", tried)
	}
}
