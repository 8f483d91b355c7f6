package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedex/polling"
)

func TestSampleEqualsDefaults(t *testing.T) {
	var got settings
	if err := decodeConfig([]byte(sample), &got); err != nil {
		t.Fatal(err)
	}
	want := defaultSettings()
	for _, list := range []any{&got.ReaderHost, &got.ReaderPush, &got.Tracker, &got.Peer, &got.Subscribe,
		&got.PrivateHost, &got.TrustedProxy} {
		if v := reflect.ValueOf(list).Elem(); v.Len() == 0 { // [] is as good as nothing
			v.SetZero()
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the sample says\n%+v\nthe defaults are\n%+v", got, want)
	}
}

func TestSampleHasEveryKey(t *testing.T) {
	var check func(table reflect.Type, text string)
	check = func(table reflect.Type, text string) {
		for i := range table.NumField() {
			key := table.Field(i).Tag.Get("toml")
			switch {
			case key == "":
				t.Errorf("field %s has no key", table.Field(i).Name)
			case table.Field(i).Type.Kind() == reflect.Struct:
				_, text, _ := strings.Cut(sample, "\n["+key+"]\n")
				check(table.Field(i).Type, text)
			case key != "-" && !strings.Contains(text, "\n"+key+" = ") && !strings.Contains(text, "\n#"+key+" = "):
				t.Errorf("the sample does not show %s", key)
			}
		}
	}
	check(reflect.TypeFor[settings](), sample)
}

func TestConfigFileErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"unknown key, one nearby", "listen = ':1'\n  lisen = ':2'", "2:3: unknown key lisen, did you mean listen?"},
		{"unknown key, none nearby", "favorite = 3",
			"1:1: unknown key favorite: 'feedex config' prints those there are"},
		{"unknown key in a table", "[polling]\npolici = 'fixed'",
			"2:1: unknown key polling.polici, did you mean policy?"},
		{"unknown table", "[poling]\nmin = '1h'", "1:2: unknown key poling, did you mean polling?"},
		{"number for a text", "listen = 7790", `1:10: listen: want an address such as ":7790" or "127.0.0.1:7790"`},
		{"number for a path", "data = 3", "1:8: data: want a text in quotes"},
		{"text for a number", "max_neighbors = 'ten'", "1:17: max_neighbors: want a whole number"},
		{"fraction for a whole number", "max_neighbors = 1.5", "1:17: max_neighbors: want a whole number"},
		{"text for a switch", "allow_private = 'yes'", "1:17: allow_private: want true or false"},
		{"text for a fraction", "[polling]\ntarget_freshness = 'high'",
			"2:20: polling.target_freshness: want a number such as 0.5"},
		{"text for a list", "tracker = 'http://example.com/'",
			`1:11: tracker: want a list in brackets of a tracker's URL such as "http://tracker.example.net:7788/"`},
		{"number in a list", "peer = [7790]",
			`1:9: peer: want a list in brackets of a node's address such as "node.example.net:7790"`},
		{"value for a table", "polling = 'fixed'", "1:11: polling: want a table, [polling]"},
		{"another choice", "[query]\nnetwork = 'sometimes'",
			`2:1: query.network: "sometimes" is none of the choices: want "ask", "always" or "never"`},
		{"span without unit", "[polling]\ninterval = 30",
			`2:12: polling.interval: want a span of time such as "30m", "4h" or "2d"`},
		{"a past of nonsense", "backfill = 'some'",
			`1:1: backfill: "some" is no span of time: want "none", "all" or a span of time such as "90d" or "2y"`},
		{"span of nonsense", "[polling]\ninterval = '30x'",
			`2:1: polling.interval: "30x" is no span of time: want a span of time such as "30m", "4h" or "2d"`},
		{"second item of a list", "tracker = ['http://example.com/',\n 'example.com']",
			`1:1: tracker: "example.com" is no http or https URL: want a tracker's URL such as ` +
				`"http://tracker.example.net:7788/"`},
		{"port of a tracker", "tracker = ['http://example.com:99999/']",
			`1:1: tracker: "http://example.com:99999/" has no valid port: want a tracker's URL such as ` +
				`"http://tracker.example.net:7788/"`},
		{"port of a feed", "subscribe = ['http://example.com:0/']",
			`1:1: subscribe: "http://example.com:0/" has no valid port: want a feed's URL such as ` +
				`"https://example.com/feed.xml", or one with "public:", "private:" or "discreet:" in front`},
		{"text in a table in a line", "\npolling = { min = '1' }",
			`2:1: polling.min: "1" is no span of time: want a span of time such as "30m", "4h" or "2d"`},
		{"text under a dotted key", " polling.min = ''",
			`1:2: polling.min: "" is no span of time: want a span of time such as "30m", "4h" or "2d"`},
		{"a key twice", "data = 'a'\ndata = 'b'", "2:1: data: key data is already defined"},
		{"no TOML", "listen: ':7790'", "1:7: expected '=' after key"},
	} {
		s := defaultSettings()
		err := decodeConfig([]byte(tt.file), &s)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error\n\t%v\nwant\n\t%s", tt.name, err, tt.want)
		}
	}
}

func TestConfigFileErrorsNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedex.toml")
	if err := os.WriteFile(path, []byte("\nnothing = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s settings
	err := readConfig(path, &s)
	if err == nil || !strings.HasPrefix(err.Error(), path+":2:1: ") || !errors.As(err, new(usageError)) {
		t.Errorf("error %v, want a usage error at %s:2:1", err, path)
	}
}

func TestPolicy(t *testing.T) {
	change := func(f func(*settings)) settings {
		s := defaultSettings()
		f(&s)
		return s
	}
	for _, tt := range []struct {
		name string
		set  settings
		want polling.Policy
	}{
		{"by default", defaultSettings(),
			polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax},
				TargetDelay: polling.DefaultTargetDelay}},
		{"feedex", change(func(s *settings) { s.Polling.Policy = "feedex" }),
			polling.FeedEx{TargetFreshness: polling.DefaultTarget, Min: polling.DefaultMin, Max: polling.DefaultMax}},
		{"with a start", change(func(s *settings) { s.Polling.Policy, s.Polling.Start = "feedex", "1h" }),
			polling.FeedEx{TargetFreshness: polling.DefaultTarget, Min: polling.DefaultMin, Max: polling.DefaultMax,
				Start: time.Hour}},
		{"bounds above the default start",
			change(func(s *settings) { s.Polling.Policy, s.Polling.Min = "feedex", "3h" }),
			polling.FeedEx{TargetFreshness: polling.DefaultTarget, Min: 3 * time.Hour, Max: polling.DefaultMax}},
		{"fixed", change(func(s *settings) { s.Polling.Policy = "fixed" }), polling.Fixed{Every: polling.DefaultStart}},
		{"auto", change(func(s *settings) { s.Polling.Policy, s.Polling.TargetDelay = "auto", "30m" }),
			polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax},
				TargetDelay: 30 * time.Minute}},
		{"fix-learned", change(func(s *settings) { s.Polling.Policy = "fix-learned" }),
			polling.FixLearned{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax}}},
		{"moving-average", change(func(s *settings) { s.Polling.Policy, s.Polling.Min = "moving-average", "1h" }),
			polling.MovingAverage{Range: polling.Range{Min: time.Hour, Max: polling.DefaultMax}}},
		{"post-rate", change(func(s *settings) { s.Polling.Policy, s.Polling.Max = "post-rate", "1d" }),
			polling.PostRate{Range: polling.Range{Min: polling.DefaultMin, Max: 24 * time.Hour}}},
		{"the flag over a policy", change(func(s *settings) { s.Polling.Policy, s.Poll = "post-rate", "90s" }),
			polling.Fixed{Every: 90 * time.Second}},
		{"the flag", change(func(s *settings) { s.Poll = "90s" }), polling.Fixed{Every: 90 * time.Second}},
	} {
		if got := tt.set.policy(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"", "ab", 2}, {"lisen", "listen", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
