package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedex/internal/asnobody"
	"feedex/polling"
)

// set are the settings of a node whose config file says this.
func set(t *testing.T, file string) *Settings {
	t.Helper()
	s := Default(Node)
	if err := s.decode([]byte(file)); err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	return s
}

func TestSampleEqualsDefaults(t *testing.T) {
	got, want := set(t, Sample()), Default(Node)
	for _, row := range table() {
		v, w := got.field(row.key), want.field(row.key)
		same := reflect.DeepEqual(v.Interface(), w.Interface()) // [] is as good as nothing
		if row.usual != nil && !same && !(v.Kind() == reflect.Slice && v.Len()+w.Len() == 0) {
			t.Errorf("the sample says %s = %v, the default is %v", row.key, v, w)
		}
	}
}

// Every key stands in the sample, in its table and below a comment.
func TestSampleHasEveryKey(t *testing.T) {
	said := make(map[string]string) // what stands above each key
	table, above := "", ""
	for line := range strings.Lines(Sample()) {
		key, _, isKey := strings.Cut(strings.TrimPrefix(line, "#"), " = ")
		switch {
		case strings.HasPrefix(line, "# "):
			above += line
		case strings.HasPrefix(line, "["):
			table = strings.Trim(line, "[]\n") + "."
			said[strings.TrimSuffix(table, ".")] = above
		case isKey:
			said[table+key] = above
		default:
			above = ""
		}
	}
	keys := 0
	for _, row := range allRows(t) {
		if row.noKey != "" {
			continue
		}
		keys++
		if said[row.key] == "" {
			t.Errorf("the sample does not explain %s", row.key)
		}
	}
	if keys != len(said) || keys < 35 {
		t.Errorf("%d settings, the sample shows %d keys", keys, len(said))
	}
}

// allRows is the table, each row of which is whole: texts have a kind, and what is set goes somewhere.
func allRows(t *testing.T) []setting {
	t.Helper()
	elsewhere := map[string]bool{"data": true, "config": true, "log_level": true, "log_format": true,
		"polling.policy": true}
	seen := make(map[string]bool)
	for _, row := range table() {
		_, isText := row.usual.(string)
		_, isList := row.usual.([]string)
		if (isText || isList) != (row.kind != nil) {
			t.Errorf("%s = %v: is it a text? has it a kind? %t", row.key, row.usual, row.kind != nil)
		}
		if _, isSwitch := row.usual.(bool); row.flag != "" && !isText && !isList && !isSwitch {
			t.Errorf("%s = %v: there are no such flags", row.key, row.usual)
		}
		if (row.to == nil) != (elsewhere[row.key] || row.usual == nil) {
			t.Errorf("%s goes nowhere, or to two places", row.key)
		}
		if seen[row.key] {
			t.Errorf("%s stands there twice", row.key)
		}
		seen[row.key] = true
	}
	return table()
}

func TestConfigFileErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"unknown key, one nearby", "listen = ':1'\n  lisen = ':2'", "2:3: unknown key lisen, did you mean listen?"},
		{"unknown key, none nearby", "favorite = 3",
			"1:1: unknown key favorite: 'feedex config' prints those there are"},
		{"key of an earlier version", "listen = ':1'\ncover_feeds = 5", "2:1: there is no cover_feeds any more: " +
			"write volunteer = 200, or another number of feeds to poll for your neighbors, or leave it out"},
		{"unknown key in a table", "[polling]\npolici = 'fixed'",
			"2:1: unknown key polling.polici, did you mean policy?"},
		{"unknown table", "[poling]\nmin = '1h'", "1:2: unknown key poling, did you mean polling?"},
		{"number for a text", "listen = 7790",
			`1:10: listen: want an address such as ":7790" or "127.0.0.1:7790", or "none"`},
		{"number for a path", "data = 3", "1:8: data: want a text in quotes"},
		{"text for a number", "max_neighbors = 'ten'", "1:17: max_neighbors: want a whole number"},
		{"fraction for a whole number", "max_neighbors = 1.5", "1:17: max_neighbors: want a whole number"},
		{"text for a switch", "allow_private = 'yes'", "1:17: allow_private: want true or false"},
		{"text for a fraction", "[polling]\ntarget_freshness = 'high'",
			"2:20: polling.target_freshness: want a number such as 0.5"},
		{"text for a list", "tracker = 'http://example.com/'",
			`1:11: tracker: want a list in brackets of a tracker's URL such as "http://tracker.example.net:7788/"`},
		{"number in a list", "peer = [7790]",
			`1:9: peer: want a list in brackets of a node's address such as "node.example.net:7790", ` +
				`or a site such as "example.org"`},
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
			`1:1: tracker: "example.com" names no tracker: want a tracker's URL such as ` +
				`"http://tracker.example.net:7788/"`},
		{"port of a tracker", "tracker = ['http://example.com:99999/']",
			`1:1: tracker: "http://example.com:99999/" names no tracker: want a tracker's URL such as ` +
				`"http://tracker.example.net:7788/"`},
		{"password of a tracker", "tracker = ['http://user:sekret@example.com/']",
			`1:1: tracker: "http://user:xxxxx@example.com/" names no tracker: want a tracker's URL such as ` +
				`"http://tracker.example.net:7788/"`},
		{"low port of a node", "peer = ['192.0.2.7:25']",
			`1:1: peer: "192.0.2.7:25" names no node: want a node's address such as "node.example.net:7790", ` +
				`or a site such as "example.org"`},
		{"host that is none", `peer = ['x"><b>:7790']`,
			`1:1: peer: "x\"><b>:7790" names no node: want a node's address such as "node.example.net:7790", ` +
				`or a site such as "example.org"`},
		{"port of a feed", "subscribe = ['http://example.com:0/']",
			`1:1: subscribe: "http://example.com:0/" is no feed URL: want a feed's URL such as ` +
				`"https://example.com/feed.xml", or one with "public:", "private:" or "discreet:" in front`},
		{"text in a table in a line", "\npolling = { min = '1' }",
			`2:1: polling.min: "1" is no span of time: want a span of time such as "30m", "4h" or "2d"`},
		{"text under a dotted key", " polling.min = ''",
			`1:2: polling.min: "" is no span of time: want a span of time such as "30m", "4h" or "2d"`},
		{"a key twice", "data = 'a'\ndata = 'b'", "2:1: data: key data is already defined"},
		{"no TOML", "listen: ':7790'", "1:7: expected '=' after key"},
	} {
		err := Default(Node).decode([]byte(tt.file))
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
	err := Default(Node).read(path)
	if err == nil || !strings.HasPrefix(err.Error(), path+":2:1: ") || !errors.As(err, new(UsageError)) {
		t.Errorf("error %v, want a usage error at %s:2:1", err, path)
	}
}

func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		name, file, poll string
		want             polling.Policy
	}{
		{"by default", "", "",
			polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax},
				TargetDelay: polling.DefaultTargetDelay}},
		{"feedex", "polling = { policy = 'feedex' }", "",
			polling.FeedEx{TargetFreshness: polling.DefaultTarget, Min: polling.DefaultMin, Max: polling.DefaultMax}},
		{"with a start", "polling = { policy = 'feedex', start = '1h' }", "",
			polling.FeedEx{TargetFreshness: polling.DefaultTarget, Min: polling.DefaultMin, Max: polling.DefaultMax,
				Start: time.Hour}},
		{"bounds above the default start", "polling = { policy = 'feedex', min = '3h' }", "",
			polling.FeedEx{TargetFreshness: polling.DefaultTarget, Min: 3 * time.Hour, Max: polling.DefaultMax}},
		{"fixed", "polling = { policy = 'fixed' }", "", polling.Fixed{Every: polling.DefaultStart}},
		{"auto", "polling = { policy = 'auto', target_delay = '30m' }", "",
			polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax},
				TargetDelay: 30 * time.Minute}},
		{"fix-learned", "polling = { policy = 'fix-learned' }", "",
			polling.FixLearned{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax}}},
		{"moving-average", "polling = { policy = 'moving-average', min = '1h' }", "",
			polling.MovingAverage{Range: polling.Range{Min: time.Hour, Max: polling.DefaultMax}}},
		{"post-rate", "polling = { policy = 'post-rate', max = '1d' }", "",
			polling.PostRate{Range: polling.Range{Min: polling.DefaultMin, Max: 24 * time.Hour}}},
		{"the flag over a policy", "polling = { policy = 'post-rate' }", "90s",
			polling.Fixed{Every: 90 * time.Second}},
		{"the flag", "", "90s", polling.Fixed{Every: 90 * time.Second}},
	} {
		s := set(t, "data = 'here'\n"+tt.file)
		s.field("poll").SetString(tt.poll)
		if c, err := s.Node(); err != nil || c.Node.Policy != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, c.Node.Policy, err, tt.want)
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

// A config file that cannot be read, as where another user's home is named, has what to do said.
func TestAFileOfSomebodyElse(t *testing.T) {
	if !asnobody.Run(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "feedex.toml")
	if err := os.WriteFile(path, nil, 0); err != nil {
		t.Fatal(err)
	}
	err := Default(Node).read(path)
	if usage, is := errors.AsType[UsageError](err); !is || !strings.Contains(usage.Hint, "--config") {
		t.Errorf("it ended with %v", err)
	}
}
