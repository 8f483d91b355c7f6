package trace

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const heading1 = "feed_id,cohort,kind,url,window_entries,window_basis,start_unix,end_unix,entries,in_common_window\n"

// Recorded from the second hour of day 1 to noon of day 4: days 2 and 3 are whole.
const goodFeeds = heading1 +
	"a,x,news,https://news.example.com/feed,2,observed-fixed,90000,388800,6,1\n" +
	"b,x,news,https://blogs.example.com/one,,unknown,86400,400000,0,1\n" +
	"c,x,news,https://blogs.example.com/two,5,stated,0,400000,1,1\n" +
	"d,x,blog,https://github.com/example/tool/commits/main.atom,,unknown,0,400000,1,1\n" +
	"e,x,blog,,7,observed-max,0,400000,0,0\n"

const goodEntries = "feed_id,unix_time\na,100000\na,100001\na,172799\na,172800\na,172800\na,345600\nc,345599\nd," +
	"345600\n"

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") && text != "not gzip" {
			w := gzip.NewWriter(f)
			_, _ = w.Write([]byte(text))
			_ = w.Close()
		} else {
			_, _ = f.WriteString(text)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	want := &Set{From: time.Unix(172800, 0).UTC(), To: time.Unix(345600, 0).UTC(), Feeds: []Timeline{
		// Two entries from before the span fill the window of two; the one at its end is past it.
		{Name: "news.example.com", Kind: "news", Window: 2, Times: []int64{100001, 172799, 172800, 172800}},
		{Name: "news-002", Kind: "news", Window: 2}, // the only one observed in news
		{Name: "news-003", Kind: "news", Window: 5, Times: []int64{345599}},
		{Name: "github.com/example/tool/commits", Kind: "blog", Window: 7},
	}}
	for _, name := range []string{"entries-x.csv", "entries-x.csv.gz"} {
		for _, mark := range []string{"", "\ufeff"} {
			got, err := Load(folder(t, map[string]string{"feeds.csv": mark + goodFeeds, name: mark + goodEntries}))
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash() != want.Hash() {
				t.Errorf("%s:\n%+v, want\n%+v", name, got, want)
			}
		}
	}
}

// A file of which the end is missing is named, with the last line that was read.
func TestLoadOfACutFile(t *testing.T) {
	dir := folder(t, map[string]string{"feeds.csv": goodFeeds, "entries-x.csv.gz": goodEntries})
	file := filepath.Join(dir, "entries-x.csv.gz")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)-9], 0o600); err != nil { // the trailer is 8 bytes
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "entries-x.csv.gz, after line ") ||
		!strings.Contains(err.Error(), "cut short") {
		t.Errorf("%v, want an error that names file and line", err)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	replace := func(text, old, by string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(text, old, by, 1)
	}
	for name, tc := range map[string]struct {
		feeds, entries string
		want           string // after the folder's name
		row            bool
	}{
		"a column is missing": {replace(goodFeeds, ",kind,", ",sort,"), goodEntries,
			"feeds.csv:1: malformed row: no column kind", true},
		"an entry column": {goodFeeds, replace(goodEntries, "unix_time", "time"),
			"entries-x.csv:1: malformed row: no column unix_time", true},
		"a field too many": {goodFeeds, replace(goodEntries, "a,100001", "a,100001,"),
			"entries-x.csv:3: malformed row: wrong number of fields: 3, want 2 as in the heading", true},
		"a bare quote": {goodFeeds, replace(goodEntries, "a,100001", `a"b,100001`),
			`entries-x.csv:3: malformed row: bare " in non-quoted-field`, true},
		"no feed_id": {replace(goodFeeds, "\nb,", "\n,"), goodEntries,
			"feeds.csv:3: malformed row: feed_id is empty", true},
		"no kind": {replace(goodFeeds, "b,x,news", "b,x,"), goodEntries,
			"feeds.csv:3: malformed row: kind is empty", true},
		"a feed twice": {replace(goodFeeds, "\nb,", "\na,"), goodEntries,
			`feeds.csv:3: malformed row: feed_id "a" is that of line 2 too`, true},
		"no such choice": {replace(goodFeeds, "388800,6,1", "388800,6,yes"), goodEntries,
			`feeds.csv:2: malformed row: in_common_window is "yes", want 0 or 1`, true},
		"window 0": {replace(goodFeeds, ",2,observed", ",0,observed"), goodEntries,
			`feeds.csv:2: malformed row: window_entries is "0", want a number from 1 to 100000, or nothing`, true},
		"a window past all use": {replace(goodFeeds, ",2,observed", ",9223372036854775807,observed"), goodEntries,
			`window_entries is "9223372036854775807", want a number from 1 to 100000`, true},
		"a start that is no number": {replace(goodFeeds, ",90000,", ",soon,"), goodEntries,
			`feeds.csv:2: malformed row: start_unix is "soon", want a whole number`, true},
		"a start past all years": {replace(goodFeeds, ",90000,", ",9223372036854775807,"), goodEntries,
			"feeds.csv:2: malformed row: start_unix is \"9223372036854775807\", want a whole number up to 253402300799",
			true},
		"an end before the start": {replace(goodFeeds, ",388800,", ",89999,"), goodEntries,
			"feeds.csv:2: malformed row: end_unix 89999 is before start_unix 90000", true},
		"an unknown feed": {goodFeeds, replace(goodEntries, "\nc,", "\nz,"),
			`entries-x.csv:8: malformed row: feed_id "z" is not in feeds.csv`, true},
		"a time that is no number": {goodFeeds, replace(goodEntries, "100000", "1e5"),
			`entries-x.csv:2: malformed row: unix_time is "1e5", want whole seconds`, true},
		"a time outside": {goodFeeds, replace(goodEntries, "100000", "89999"),
			"entries-x.csv:2: malformed row: unix_time 89999 is outside the time in which a was recorded, 90000 to " +
				"388800", true},
		"a time after the end": {goodFeeds, replace(goodEntries, "a,345600", "a,388801"),
			"entries-x.csv:7: malformed row: unix_time 388801 is outside the time", true},
		"times out of order": {goodFeeds, replace(goodEntries, "100001", "99999"),
			"entries-x.csv:3: malformed row: unix_time 99999 is before the row above, of the same feed, 100000", true},
		"too few entries": {goodFeeds, replace(goodEntries, "a,100001\n", ""),
			"feeds.csv:2: malformed row: entries is 6, but there are 5 rows of a", true},
		"nothing to read": {heading1, "feed_id,unix_time\n",
			"feeds.csv: no feed with in_common_window = 1", false},
		"an empty file": {"", goodEntries, "feeds.csv:1: malformed row: the file is empty", true},
	} {
		dir := folder(t, map[string]string{"feeds.csv": tc.feeds, "entries-x.csv": tc.entries})
		_, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, ErrRow) != tc.row {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	short := heading1 + "a,x,news,,2,observed-fixed,1,86401,0,1\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no folder":  {nil, "want a folder with feeds.csv and entries-*.csv"},
		"no entries": {map[string]string{"feeds.csv": goodFeeds}, "no file entries-*.csv or entries-*.csv.gz"},
		"no gzip":    {map[string]string{"feeds.csv": goodFeeds, "entries-x.csv.gz": "not gzip"}, "unpack "},
		"no day of both": {map[string]string{"feeds.csv": short, "entries-x.csv": "feed_id,unix_time\n"},
			"share no whole day"},
	} {
		if _, err := Load(folder(t, tc.files)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// Rows of any content are refused or give a set that holds together.
func FuzzLoad(f *testing.F) {
	f.Add(goodFeeds, goodEntries)
	f.Add(heading1+"a,x,n,,,,0,9223372036854775807,0,1\n", "feed_id,unix_time\n")
	f.Fuzz(func(t *testing.T, feeds, entries string) {
		l := loader{rows: make(map[string]*csvRow)}
		if readRows("feeds.csv", strings.NewReader(feeds), l.feed, feedColumns()) != nil ||
			readRows("entries.csv", strings.NewReader(entries), l.entry, entryColumns()) != nil {
			return
		}
		s, err := l.set("feeds.csv")
		if err != nil {
			return
		}
		if !s.From.Before(s.To) {
			t.Errorf("span %v to %v", s.From, s.To)
		}
		back, err := decode(s.encode())
		if err != nil || back.Hash() != s.Hash() {
			t.Errorf("a set that does not survive its compact form: %v", err)
		}
		for _, f := range s.Feeds {
			if f.Window < 1 || f.Name == "" || len(f.Times) > f.Window+f.Count(s.From, s.To) {
				t.Errorf("%+v", f)
			}
		}
	})
}

// Of documents, counts are taken that make sense, and names as those of the set.
func TestLoadDocuments(t *testing.T) {
	const columns = "feed_id,kind,url,window_entries,window_basis,start_unix,end_unix,entries,in_common_window," +
		"window_min,window_max\n"
	for _, c := range []struct{ rows, want string }{
		{columns + "a,news,https://news.example.com/feed,2,observed-fixed,0,172800,6,1,2,3\n" +
			"b,news,https://news.example.net/feed,20,github-default,0,172800,6,1,20,20\n" +
			"c,blog,,7,observed-variable,0,86400,7,0,5,9\nd,blog,,300,observed-max,0,0,0,0,,300\n", ""},
		{columns + "a,news,,2,observed-fixed,0,0,6,1,3,4\n", "usually 2; want"},
		{columns + "a,news,,2,observed-fixed,0,0,6,1,x,4\n", `"x" entries`},
		{goodFeeds, "no column window_min"},
		{columns + "a,,,2,observed-fixed,0,0,6,1,1,4\n", "kind is empty"},
	} {
		got, err := LoadDocuments(folder(t, map[string]string{"feeds.csv": c.rows}))
		if c.want != "" {
			if !errors.Is(err, ErrRow) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error that says %q", err, c.want)
			}
			continue
		}
		want := []Documents{{"news.example.com", "news", 2, 2, 3, 3}, {"", "blog", 5, 7, 9, 7}}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}
