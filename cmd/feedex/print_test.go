package main

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/recommend"
)

var noon = time.Date(2025, 6, 15, 12, 0, 0, 0, time.UTC)

// wantText compares what print wrote, without blanks at line ends, to want.
func wantText(t *testing.T, want string, print func(w *strings.Builder) error) {
	t.Helper()
	var b strings.Builder
	if err := print(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if got := strings.Join(lines, "\n"); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPrintStatus(t *testing.T) {
	r := control.Report{
		Status: &node.Status{
			Self: protocol.NewNodeID(netip.MustParseAddr("192.0.2.1"), 7790), Feeds: 4, Alone: 2, Gaps: 1, Ended: 1,
			Offline: noon, Neighbors: 9, Volunteered: []feed.URL{"https://a.example.com/", "https://b.example.com/",
				"https://c.example.com/", "https://d.example.com/", "https://e.example.com/", "https://f.example.com/"},
			Warning: "within a week own polls were first to bring 60 of 80 entries",
			Counters: node.Counters{Polled: 1, Delivered: 2345, Forwarded: 1000, Polls: 1234567, NotModified: 12,
				PollsFailed: 3, ChecksSent: 6, ChecksSeen: 4, ChecksAsked: 5, Confirmed: 1234, Forged: 2, Altered: 1,
				Unkept: 1500},
		},
		Version: "0.1.0", Uptime: 3 * time.Hour, Data: "/srv/feedex", Listen: "[::]:7790", Reader: "127.0.0.1:7791",
		Archive: control.ArchiveReport{Entries: 12345, Feeds: 14, Bytes: 34 << 20, Free: 3 << 20, Unindexed: 7},
		Storage: "disk\x1b full",
	}
	wantText(t, `
node       192.0.2.1:7790
running    for 3h, version 0.1.0
data       /srv/feedex
listening  at [::]:7790 for nodes, at 127.0.0.1:7791 for feed readers
following  4 feeds, 2 of them alone, with 9 neighbors
polling    6 feeds for neighbors: https://a.example.com/, https://b.example.com/, https://c.example.com/, `+
		`https://d.example.com/, https://e.example.com/ and 1 more, see 'feedex status --json'
ended      1 feed that publishers gave up, see 'feedex feeds'
offline    no publisher can be reached since `+noon.Local().Format("2006-01-02 15:04")+`: is this machine online?
keeping    12,345 entries of 14 feeds, 34.0 MiB, of which 3.0 MiB are free
retention  everything of feeds that were followed ever
received   1 entry by own polls, 2,345 from neighbors first
missing    entries of 1 feed that left the document between polls, see 'feedex feeds'
sent       1,000 entries to neighbors
polls      1,234,570, 12 not modified, 3 failed
offers     6 made, 4 of them known already; 5 received
checked    1,234 entries from neighbors found at the publisher, 2 forged, 1 altered
refused    1,500 entries of neighbors that had brought enough that no own poll has shown, see 'feedex neighbors'
indexing   7 entries still to do
warning    within a week own polls were first to bring 60 of 80 entries.
           Either neighbors keep entries from this node, or it polls far more often than they do. It tries
           other neighbors by itself, one an hour; to help, name one that you trust with --peer, or another tracker.
storage    NOTHING IS BEING KEPT: disk full
`, func(w *strings.Builder) error { return printStatus(w, &r) })
	r.Status = nil
	wantText(t, `
node       rests: what it follows and did is not known now
running    for 3h, version 0.1.0
data       /srv/feedex
listening  at [::]:7790 for nodes, at 127.0.0.1:7791 for feed readers
keeping    12,345 entries of 14 feeds, 34.0 MiB, of which 3.0 MiB are free
retention  everything of feeds that were followed ever
indexing   7 entries still to do
storage    NOTHING IS BEING KEPT: disk full
`, func(w *strings.Builder) error { return printStatus(w, &r) })
}

func TestPrintNeighbors(t *testing.T) {
	list := []node.NeighborStatus{
		{ID: protocol.NewNodeID(netip.MustParseAddr("192.0.2.1"), 7790), Since: noon.Add(-3 * time.Hour), Chosen: true,
			Feeds: 30, Overlap: 4, Nearest: [4]int{2, 1, 0, 1}, Claimed: 2.625, Observed: 4.25,
			Heard: noon.Add(-time.Second), RTT: 12345 * time.Microsecond, Score: 3.51, Got: 5, Given: 12.25,
			Deficit: 7.25, Bound: 10, Unshown: 3 << 20, Quota: 19 << 20, Standing: 100},
		{ID: protocol.NewNodeID(netip.MustParseAddr("2001:db8::1"), 9), Since: noon, Bound: -1, Deficit: -2, Quota: -1,
			Standing: 66, LastError: "peer\nrefused\x9b2J"},
		{ID: protocol.NewNodeID(netip.MustParseAddr("192.0.2.3"), 9), Since: noon, Static: true},
	}
	wantText(t, `
NEIGHBOR         KIND      LINKED  HEARD   RTT     FEEDS  OF USE  HOPS     CLAIMS  BRINGS  WORTH  GAVE  GOT   OWES       STORED   STANDING
192.0.2.1:7790   chosen    3h      1s ago  12.3ms  30     4       2/1/0/1  2.6     4.2     3.5    5     12.3  7.3 of 10  3.0 MiB  100%
[2001:db8::1]:9  accepted  0s      never   -       0      0       0/0/0/0  0.0     0.0     0.0    0     0     -2         0 B      66%
    last error: peer refused�2J
192.0.2.3:9      static    0s      never   -       0      0       0/0/0/0  0.0     0.0     0.0    0     0     0 of 0     0 B      0%
`, func(w *strings.Builder) error { return printNeighbors(w, list, noon, 0) })
	wantText(t, `
NEIGHBOR         KIND      LINKED  HEARD   RTT     FEEDS  OF USE
  HOPS     CLAIMS  BRINGS  WORTH  GAVE  GOT   OWES       STORED   STANDING
192.0.2.1:7790   chosen    3h      1s ago  12.3ms  30     4
  2/1/0/1  2.6     4.2     3.5    5     12.3  7.3 of 10  3.0 MiB  100%
[2001:db8::1]:9  accepted  0s      never   -       0      0
  0/0/0/0  0.0     0.0     0.0    0     0     -2         0 B      66%
    last error: peer refused�2J
192.0.2.3:9      static    0s      never   -       0      0
  0/0/0/0  0.0     0.0     0.0    0     0     0 of 0     0 B      0%
`, func(w *strings.Builder) error { return printNeighbors(w, list, noon, 80) })
}

func TestPrintFeeds(t *testing.T) {
	list := []node.FeedStatus{
		{URL: "https://example.com/feed", Title: "News &amp; <b>more</b>", Offered: 3, Interval: 4 * time.Hour,
			LastPoll: noon.Add(-time.Hour), LastSuccess: noon.Add(-time.Hour), NextPoll: noon.Add(3 * time.Hour),
			Polled: 8, Delivered: 9},
		{URL: "http://nas.local/feed", Private: true, Discreet: true, Weight: 1, NextPoll: noon.Add(-time.Second)},
		{URL: "http://example.org:8080/gone", Discreet: true, Weight: 5, Interval: time.Hour, LastPoll: noon,
			NextPoll: noon.Add(time.Minute), Errors: 2,
			LastError: "get example.org:8080: HTTP status 410, which is " + strings.Repeat("long ", 20) + "told"},
		{URL: "http://example.org/away", Private: true, Errors: 1, LastSuccess: noon.Add(-3 * time.Hour),
			LastError: "get www.example.org: HTTP status 503"},
	}
	wantText(t, `
FEED                          TITLE        NEIGHBORS  POLLED   NEXT    EVERY  BY POLL  BY NEIGHBORS  STATE
https://example.com/feed      News & more  3          60m ago  in 3h   4h     8        9             ok
http://nas.local/feed                      0          never    now     -      0        0             private, new
http://example.org:8080/gone               0          0s ago   in 60s  60m    0        0             discreet, weight 5, failing
    failed 2 times: HTTP status 410, which is `+strings.Repeat("long ", 20)+`told
http://example.org/away                    0          never    -       -      0        0             private, failing
    failed 1 time since it was read 3h ago: get www.example.org: HTTP status 503
`, func(w *strings.Builder) error { return printFeeds(w, list, noon, 0) })
	wantText(t, `
FEED                      TITLE  NEIGHBORS  POLLED   NEXT    EVERY  BY POLL  BY NEIGHBORS  STATE
https://example.com/gone         0          0s ago   -       60m    0        0             ended
    HTTP 410 Gone; 'feedex subscribe' tries it again
https://example.com/rest         0          60m ago  in 23h  60m    0        0             ok
    is left alone until `+noon.Add(23*time.Hour).Local().Format("2006-01-02 15:04")+` for its publisher's sake
https://example.com/lost         0          0s ago   now     60m    0        0             waiting for the network
    not reached: no route to host
    has moved to https://example.net/
`, func(w *strings.Builder) error {
		return printFeeds(w, []node.FeedStatus{
			{URL: "https://example.com/gone", Interval: time.Hour, LastPoll: noon, Ended: true, Errors: 1,
				LastError: "get example.com: HTTP 410 Gone"},
			{URL: "https://example.com/rest", Interval: time.Hour, LastPoll: noon.Add(-time.Hour),
				LastSuccess: noon.Add(-time.Hour), NextPoll: noon.Add(23 * time.Hour),
				NotBefore: noon.Add(23 * time.Hour)},
			{URL: "https://example.com/lost", Alias: "https://example.net/", Interval: time.Hour, LastPoll: noon,
				NextPoll: noon, LastError: "get example.com: no route to host"},
		}, noon, 0)
	})
	wantText(t, `
FEED                      TITLE  NEIGHBORS  POLLED  NEXT  EVERY  BY POLL  BY NEIGHBORS  STATE
https://example.com/busy         0          0s ago  now   60m    0        0             auto:15m, entries missing
    about 40 entries from `+noon.Local().Format("2006-01-02 15:04")+" to "+
		noon.Add(time.Hour).Local().Format("2006-01-02 15:04")+
		` left the document before it was polled; 3 of them came since
`, func(w *strings.Builder) error {
		return printFeeds(w, []node.FeedStatus{{
			URL: "https://example.com/busy", Interval: time.Hour, LastPoll: noon, LastSuccess: noon, NextPoll: noon,
			Policy: "auto:15m",
			Gap:    &archive.Gap{After: noon, Before: noon.Add(time.Hour), Missing: 40, Filled: 3},
		}}, noon, 0)
	})
	wantText(t, `
FEED                      TITLE  NEIGHBORS  POLLED  NEXT   EVERY            BY POLL  BY NEIGHBORS  STATE
https://example.com/many         9          0s ago  in 3h  4h, anybody 20m  0        0             ok
`, func(w *strings.Builder) error {
		return printFeeds(w, []node.FeedStatus{{
			URL: "https://example.com/many", Offered: 9,
			Interval: 4 * time.Hour, Pollers: 12, Spacing: 20 * time.Minute,
			LastPoll: noon, LastSuccess: noon, NextPoll: noon.Add(3 * time.Hour),
		}}, noon, 0)
	})
	back := noon.AddDate(0, -1, 0)
	wantText(t, `
FEED                    TITLE  NEIGHBORS  POLLED  NEXT  EVERY  BY POLL  BY NEIGHBORS  STATE
https://example.com/1/         0          never   now   -      0        0             new
https://example.com/2/         0          0s ago  now   60m    0        0             ok
    its past is read from the publisher's archive
https://example.com/3/         1          0s ago  now   60m    0        0             ok
    neighbors are asked for its past: 1,200 entries so far, back to `+dayOf(back)+`
https://example.com/4/         0          0s ago  now   60m    0        0             ok
https://example.com/5/         1          0s ago  now   60m    0        0             ok
    neighbors are asked for its past: 200 entries so far; others may have more: some had not answered in time; they are asked again after `+back.Local().Format("2006-01-02 15:04")+`
https://example.com/6/         0          0s ago  now   60m    0        0             ok
    its past is filled in as far as neighbors told: 1,200 entries, back to `+dayOf(back)+
		`; others may have more: some refused or could not be reached, some are further away
https://example.com/7/         0          0s ago  now   60m    0        0             ok
`, func(w *strings.Builder) error {
		var feeds []node.FeedStatus
		for i, p := range []archive.Past{
			{Stage: archive.PastPoll}, {Stage: archive.PastPublisher},
			{Stage: archive.PastNetwork, Back: back, Filled: 1200}, {Stage: archive.PastNetwork, Filled: 1},
			{Stage: archive.PastNetwork, Filled: 200, Lack: "time", Again: back, Tries: 1},
			{Stage: archive.PastDone, Filled: 1200, Back: back, Lack: "refused hops"},
			{Stage: archive.PastDone, Lack: "hops"},
		} {
			f := node.FeedStatus{URL: feed.URL(fmt.Sprintf("https://example.com/%d/", i+1)), NextPoll: noon, Past: &p}
			if i > 0 {
				f.Interval, f.LastPoll, f.LastSuccess = time.Hour, noon, noon
			}
			if i == 2 || i == 4 {
				f.Offered = 1
			}
			feeds = append(feeds, f)
		}
		return printFeeds(w, feeds, noon, 0)
	})
	wantText(t, `
FEED                      TITLE
  NEIGHBORS  POLLED   NEXT   EVERY  BY POLL  BY NEIGHBORS  STATE
https://example.com/feed  News & more
  3          60m ago  in 3h  4h     8        9             ok
http://nas.local/feed
  0          never    now    -      0        0             private, new
`, func(w *strings.Builder) error { return printFeeds(w, list[:2], noon, 80) })
}

// What neighbors name is chosen by them, to the last character that an address may hold.
func TestPrintRecommendations(t *testing.T) {
	list := []control.Recommendation{{
		Suggestion: recommend.Suggestion{Feed: "https://evil.example/\u202emoc.elpmaxe", Followers: 2, Of: 3,
			Shared: 1},
		Title: "News \x1b[2J",
	}}
	wantText(t, `
https://evil.example/moc.elpmaxe  News [2J
  2 of 3 like-minded neighbors follow it; they share 1 of your feeds
`, func(w *strings.Builder) error { return printRecommendations(w, list) })
}

func TestPrintRecords(t *testing.T) {
	entry := func(title, link string, published time.Time) archive.Record {
		e := feed.Entry{Feed: "https://example.com/feed", ID: "1", Title: title, Link: link, Published: published}
		return archive.NewRecord(e, noon, protocol.NodeID{})
	}
	day := noon.In(time.Local)
	records := []archive.Record{
		entry("First <em>one</em>\x1b]0;owned\a", "https://example.com/1", day.AddDate(0, 0, -1)),
		entry("", "", time.Time{}),
	}
	local := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
	wantText(t, local(noon.AddDate(0, 0, -1))+"  example.com: First one]0;owned\n    https://example.com/1\n"+
		local(noon)+"  example.com: (no title)\n",
		func(w *strings.Builder) error { return printRecords(w, records, nil) })
	wantText(t, local(noon)+"  example.com: "+strings.Repeat("é", 199)+"…\n", func(w *strings.Builder) error {
		return printRecords(w, []archive.Record{entry(strings.Repeat("é", 201), "", time.Time{})}, nil)
	})
	post := entry("", "", time.Time{})
	post.Entry.Content = "<p>A short \x1b post &amp; no &lt;b&gt;title</p>"
	wantText(t, local(noon)+"  example.com: A short post & no <b>title\n", func(w *strings.Builder) error {
		return printRecords(w, []archive.Record{post}, nil)
	})
	brought := records[1]
	brought.Confirmed = false
	wantText(t, local(noon)+"  example.com (unconfirmed): (no title)\n", func(w *strings.Builder) error {
		return printRecords(w, []archive.Record{brought}, nil)
	})
	wantText(t, local(noon)+"  The Example: (no title)\n", func(w *strings.Builder) error {
		return printRecords(w, records[1:], map[feed.URL]string{"https://example.com/feed": "The\nExample"})
	})
}

func TestPrintJSON(t *testing.T) {
	wantText(t, "{\n  \"a\": \"<b>&\\u001b\\u009b\\u007f\"\n}\n", func(w *strings.Builder) error {
		return printJSON(w, map[string]string{"a": "<b>&\x1b\u009b\x7f"})
	})
	wantText(t, "[]\n", func(w *strings.Builder) error {
		c := new(cobra.Command)
		c.SetOut(w)
		return printList[int](c, true, nil, "", nil)
	})
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000",
		-100: "-100"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB",
		1023 << 20: "1.0 GiB", 5 << 40: "5.0 TiB"} {
		if got := byteSize(n); got != want {
			t.Errorf("byteSize(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestPlainTitle(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain text stays", "Go 1.26 is out", "Go 1.26 is out"},
		{"tags go", "the <b>bold</b> one<br/>", "the bold one"},
		{"entities are read", "R&amp;D &#8211; now", "R&D – now"},
		{"a lone less-than stays", "a < b and c > d", "a < b and c > d"},
		{"an open tag stays", "a <b", "a <b"},
		{"blanks and line ends become one space", "  two\n\t lines ", "two lines"},
		{"an escape sequence loses its escape", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"also when it hides in an entity", "&#27;[2J&#x9b;2J", "[2J›2J"},
		{"reordering is dropped", "abc\u202egpj.exe", "abcgpj.exe"},
		{"emoji stay whole", "👩‍💻 works", "👩‍💻 works"},
	} {
		if got := plainTitle(tt.in); got != tt.want {
			t.Errorf("%s: plainTitle(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestTitlesNeverHoldControlCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`([<>&;#/!a-b0-9x]|&#[0-9]{1,3};)*`)).Draw(t, "title")
		for _, r := range plainTitle(s) {
			if unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
				t.Fatalf("plainTitle(%q) holds %U", s, r)
			}
		}
	})
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"ab cdef", 4, "ab…"}, {"ééééé", 4, "ééé…"},
	} {
		if got := shorten(tt.in, tt.n); got != tt.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestRoughly(t *testing.T) {
	now := time.Date(2025, 6, 15, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		119 * time.Minute: "119m", 5 * time.Hour: "5h", 48 * time.Hour: "2d", -time.Hour: "0s",
	} {
		if got := roughly(d); got != want {
			t.Errorf("roughly(%v) = %s, want %s", d, got, want)
		}
	}
	for got, want := range map[string]string{
		ago(time.Time{}, now): "never", ago(now.Add(-time.Hour), now): "60m ago",
		in(time.Time{}, now): "-", in(now, now): "now", in(now.Add(3*time.Hour), now): "in 3h",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What neighbors tell of is theirs alone where the archive does not have it, in whatever version.
func TestWhatIsHereIsNotPrintedAsTheirs(t *testing.T) {
	var out bytes.Buffer
	noTitles := func() map[feed.URL]string { return nil }
	p := queryPrinter{out: &out, notes: io.Discard, query: &query{}, titles: noTitles}
	err := p.print(control.QueryPart{Found: []control.Remote{{Title: "Edited since", Here: true}, {Title: "Foreign"}}})
	if text := out.String(); err != nil || strings.Contains(text, "Edited") || !strings.Contains(text, "Foreign") {
		t.Errorf("printed %q, %v", text, err)
	}
}
