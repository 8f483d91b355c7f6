package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/protocol"
	"feedex/reading"
)

// viewport is a screenshot of what is on the screen, and not of what is below.
func viewport(int) chromedp.Action[[]byte] {
	return func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot,
			page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		if err != nil {
			return nil, err
		}
		return r.Data, nil
	}
}

// neighbors is how many neighbors a sample node has.
const neighbors = 3

// startNeighborhood starts a node and its neighbors. Each has an archive as if it had run for a week; of that nothing
// is true but the shape.
func startNeighborhood(t *testing.T) *node {
	t.Helper()
	now := time.Now()
	start := func(seed uint64, args ...string) *node {
		data := t.TempDir()
		writeSample(t, filepath.Join(data, "feedex.db"), rand.New(rand.NewPCG(seed, 2)), now)
		return startNode(t, data, append(args, "--allow-private")...)
	}
	first := start(0)
	for i := range neighbors {
		start(uint64(i+1), "--peer", first.listen)
	}
	return first
}

// Titles of the sample: the feed with throttled polls and the one that refuses them, by index, are in trouble, and
// one has a gap.
var (
	sampleFeeds = []string{"Harbor News", "Kitchen Notes", "Night Trains", "The Weekly Map", "Seeds and Soil",
		"Old Machines",
		"Cloud Atlas", "Chess Endings", "Quiet Rivers", "Letterpress", "Field Recordings", "Small Computers",
		"Winter Cycling",
		"A Garden in the North", "Walking Distance", "Paper Boats"}
	sampleTitles = []string{"A night ferry finds its harbor", "What the tide left behind",
		"Notes on a stubborn sourdough",
		"The last sleeper to Narvik", "Why old maps lie", "Pruning roses in frost", "A lathe from 1911, running again",
		"Naming the clouds", "King and pawn against king", "Where the river forgets its bed", "Setting a page by hand",
		"Recording silence", "Four kilobytes are plenty", "How a bridge is inspected", "Studded tires, tested",
		"Kale under snow"}
)

const (
	throttledFeed, refusedFeed, gapFeed = 3, 12, 8

	sampleWeek = 7 * 24 * time.Hour
	sampleLead = "The boat left at eleven and nobody slept."
	sampleText = "<p>" + sampleLead +
		` By two the lights of the islands had gone, and there was nothing to do but listen to the engine and
		count the hours.</p><p><img src="https://feed01.example/ferry.jpg" alt="The ferry at the quay, before dawn"></p><h2>What people read
		there</h2><blockquote><p>Timetables, mostly. You would be surprised.</p></blockquote><ul><li>Timetables</li><li>Old letters</li>
		<li>One tide chart, <em>upside down</em></li></ul><p>The harbor came up out of the dark at six, all at once,
		<a href="https://feed01.example/harbors">as harbors do</a>.</p><pre><code>06:02 quay, 4 °C, wind NNW 5</code></pre><script>alert(1)</script>`
)

// writeSample writes the archive of a node that has followed the sample's feeds for a week.
func writeSample(t *testing.T, path string, r *rand.Rand, now time.Time) {
	t.Helper()
	s := ondisk.MustOpen(t, path)
	defer s.Close()
	source, err := protocol.ParseNodeID("198.51.100.23:7790")
	if err != nil {
		t.Fatal(err)
	}
	var arrivals []arrival
	for i, title := range sampleFeeds {
		arrivals = append(arrivals, writeSampleFeed(s, r, now, i, title, source)...)
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return a.record.Seen.Compare(b.record.Seen) })
	for _, a := range arrivals {
		s.Keep([]archive.Record{a.record})
		if !a.record.Source.IsZero() && !a.polled.IsZero() {
			s.MarkPolled(a.polled, []feed.EntryID{a.record.ID})
		}
	}
	for at := now.Add(-sampleWeek); at.Before(now); at = at.Add(time.Hour) {
		s.KeepSpared(at, 6)
	}
	s.KeepHost(archive.KnownHost{Name: "feed04.example", Budget: courtesy.Budget{Gap: time.Minute,
		Rest: time.Hour, Until: now.Add(6 * time.Hour)}})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	for {
		n, err := s.Index(5000)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// An arrival is an entry that came, and when an own poll listed it.
type arrival struct {
	record archive.Record
	polled time.Time // zero for not yet
}

// writeSampleFeed writes one feed and the polls of it, and returns its entries, of which most came from a neighbor.
func writeSampleFeed(s reading.Database, r *rand.Rand, now time.Time, i int, title string,
	source protocol.NodeID) (arrivals []arrival) {
	site := fmt.Sprintf("https://feed%02d.example/", i+1)
	last := now.Add(-time.Duration(5+r.IntN(100)) * time.Minute)
	f := archive.Feed{URL: feed.URL(site + "feed.xml"), Title: title, Link: site, Subscribed: true,
		Since:    now.Add(-6 * sampleWeek),
		Interval: 3 * time.Hour, LastPoll: last, LastSuccess: last,
		NextPoll: now.Add(time.Duration(20+r.IntN(160)) * time.Minute),
		Helped:   .72, Listed: 20, ETag: `"a"`}
	var well time.Duration // for how long polls have been failing
	switch i {
	case throttledFeed:
		well = 31 * time.Hour
		f.Errors, f.LastError, f.NotBefore = 4, "get feed04.example: 429 Too Many Requests", now.Add(5*time.Hour)
		f.NextPoll = f.NotBefore
	case refusedFeed:
		well = 80 * time.Hour
		f.Errors, f.LastError = 11, "get feed13.example: 403 Forbidden"
	case gapFeed:
		f.Gap = archive.Gap{After: now.Add(-20 * time.Hour), Before: now.Add(-15 * time.Hour), Missing: 6, Filled: 2}
	}
	if well > 0 {
		f.LastSuccess = now.Add(-well)
	}
	s.KeepFeed(f)

	var polls []time.Time
	var requests []grade.Request
	for at := now.Add(-sampleWeek +
		time.Duration(r.IntN(180))*time.Minute); at.Before(now); at = at.Add(time.Duration(150+
		r.IntN(60)) * time.Minute) {
		q := grade.Request{At: at, URL: string(f.URL), Status: 304}
		switch {
		case now.Sub(at) < well:
			q.Status, q.RetryAfter = 429, time.Hour
		case len(polls)%3 == 0:
			q.Status, q.Bytes = 200, 14_000+int64(r.IntN(30_000))
		}
		if q.Status != 429 {
			polls = append(polls, at)
		}
		requests = append(requests, q)
	}
	s.KeepRequests(requests)

	for k := range 42 {
		at := now.Add(-sampleWeek + time.Duration(k)*4*time.Hour + time.Duration(r.IntN(200))*time.Minute)
		if !at.Before(now.Add(-2 * time.Minute)) {
			continue
		}
		var polled time.Time
		if next := slices.IndexFunc(polls, at.Before); next >= 0 {
			polled = polls[next]
		}
		link := fmt.Sprintf("%s%d", site, k)
		e := feed.Entry{Feed: f.URL, ID: link, Link: link, Title: sampleTitles[(i*7+k)%len(sampleTitles)],
			Published: at.Add(-4 * time.Minute), Summary: "<p>" + sampleLead + "</p>", Content: sampleText}
		if !polled.IsZero() && r.IntN(10) < 3 {
			arrivals = append(arrivals, arrival{archive.NewRecord(e, polled, protocol.NodeID{}), polled})
		} else {
			arrivals = append(arrivals, arrival{archive.NewRecord(e, at, source), polled})
		}
	}
	return arrivals
}
