package lab

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab/trace"
)

// conducted makes a world of that many feeds, of an entry an hour each from the start on, whose publishers behave so.
func conducted(t *testing.T, feeds int, c Conduct) *World {
	var list []trace.Timeline
	for range feeds {
		f := trace.Timeline{Name: "feed", Window: 4}
		for hour := range int64(20) {
			f.Times = append(f.Times, wednesday.Unix()+hour*3600)
		}
		list = append(list, f)
	}
	return network(t, Config{Feeds: list, Node: hourly, Conduct: c}, 0, 0)
}

// Feeds share hosts by Zipf's law, and keep addresses of their own.
func TestFeedsShareHosts(t *testing.T) {
	w := conducted(t, 60, Conduct{PerHost: 3})
	feeds, urls := make(map[string]int), make(map[feed.URL]bool)
	for _, p := range w.Publishers() {
		feeds[p.URL.Host()]++
		urls[p.URL] = true
	}
	if len(urls) != 60 || len(feeds) > 20 || feeds["host-0.example.com"] < 8 {
		t.Errorf("%d feeds are on hosts %v", len(urls), feeds)
	}
}

// A host that is down is so for all its feeds, for whole outages and for about as much of the time as it should; about
// half of the hosts say for how long.
func TestOutages(t *testing.T) {
	w := conducted(t, 40, Conduct{PerHost: 2, Failing: .2})
	down, says, hosts, times := 0, 0, 0, 0
	for _, p := range w.Publishers() {
		hosts++
		for at := range 60 {
			since := time.Duration(at) * outage
			ev, refused := w.refuses(p.site, netip.Addr{}, wednesday.Add(since+time.Minute))
			if _, also := w.refuses(p.site, netip.Addr{}, wednesday.Add(since+outage-1)); also != refused {
				t.Fatal("an outage ends or begins before its time")
			}
			times++
			if refused {
				down++
			}
			if ev.RetryAfter == outage-time.Minute {
				says++
			}
			if refused && (ev.Status != 503 || ev.Err == nil) {
				t.Fatalf("a host that is down answers %v", ev)
			}
		}
	}
	if share := float64(down) / float64(times); share < .15 || share > .25 || says == 0 || says == down {
		t.Errorf("of %d hosts' time %.2f is down; %d of %d say for how long", hosts, share, says, down)
	}
}

// A host that throttles answers each address once in ten minutes, whichever of its feeds is asked for.
func TestThrottling(t *testing.T) {
	w := conducted(t, 40, Conduct{PerHost: 4, Throttling: .5})
	one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	throttling := slices.DeleteFunc(slices.Clone(w.Publishers()), func(p *Publisher) bool { return !p.site.throttle })
	if len(throttling) == 0 || len(throttling) == 40 {
		t.Fatalf("%d of 40 feeds are on a host that throttles", len(throttling))
	}
	s := throttling[0].site
	for i, c := range []struct {
		from    netip.Addr
		minute  int
		refused bool
	}{{one, 0, false}, {other, 1, false}, {one, 4, true}, {one, 9, true}, {one, 10, false}, {one, 19, true},
		{other, 30, false}} {
		ev, refused := w.refuses(s, c.from, wednesday.Add(time.Duration(c.minute)*time.Minute))
		if refused != c.refused || refused && (ev.Status != 429 || ev.RetryAfter < time.Minute ||
			ev.RetryAfter > 6*time.Minute) {
			t.Errorf("request %d is answered %v, refused: %v", i, ev, refused)
		}
	}
}

// Half of the feeds that say how long they need not be asked say so by ttl, half by Cache-Control, from five minutes
// to an hour.
func TestHints(t *testing.T) {
	var fresh, paced, silent int
	for _, p := range conducted(t, 200, Conduct{Hinting: .5}).Publishers() {
		doc, _, _ := p.answer(wednesday, "")
		switch hint := max(p.freshness.Lifetime, doc.Pace.Every); {
		case hint == 0:
			silent++
		case hint < 5*time.Minute || hint > time.Hour:
			t.Errorf("a hint of %v", hint)
		case p.freshness.Stated:
			fresh++
		default:
			paced++
		}
	}
	if fresh < 30 || paced < 30 || silent < 80 || silent > 120 {
		t.Errorf("%d by Cache-Control, %d by ttl, %d not", fresh, paced, silent)
	}
}

// An edited entry is the same entry with another text, in another edition of the document, within six hours.
func TestEdits(t *testing.T) {
	w := conducted(t, 1, Conduct{Edited: .5})
	p := w.Publishers()[0]
	if n := len(p.edited); n < 5 || n > 15 {
		t.Fatalf("%d of 20 entries are edited", n)
	}
	first := p.edited[0]
	if after := first.at - p.Feed.Times[first.entry]; after < 1 || after > 6*3600 {
		t.Errorf("it is edited after %d s", after)
	}
	before, etag, _ := p.answer(time.Unix(first.at-1, 0), "")
	then, later, _ := p.answer(time.Unix(first.at, 0), etag)
	if then == nil || etag == later {
		t.Fatalf("the edition before it is %s, and then %s", etag, later)
	}
	count := p.published(time.Unix(first.at, 0))
	i := count - 1 - first.entry
	was, is := &before.Entries[i], &then.Entries[i]
	if was.EntryID() != is.EntryID() || was.Digest() == is.Digest() || !strings.HasPrefix(is.Summary, was.Summary) ||
		is.Updated.Unix() != first.at {
		t.Errorf("%+v became %+v", was, is)
	}
	if again, _, _ := p.answer(time.Unix(first.at, 0), later); again != nil {
		t.Error("the document has changed once more")
	}
}

// The reference node sees what came while it was down once it is up again, where that is listed still.
func TestReferenceDown(t *testing.T) {
	f := trace.Timeline{Name: "feed", Window: 1}
	for minute := range int64(24 * 60) {
		f.Times = append(f.Times, wednesday.Unix()+minute*60+1)
	}
	whole := network(t, Config{Feeds: []trace.Timeline{f}, Node: hourly}, 0, 0).Publishers()[0]
	gaps := network(t, Config{Feeds: []trace.Timeline{f}, Node: hourly, ReferenceDown: .25}, 0, 0).Publishers()[0]
	missed := 0
	for i := range f.Times {
		at, all := gaps.reference(i), whole.reference(i)
		if at != all && at != Never {
			t.Errorf("entry %d is seen at %v, and by a node that is up at %v", i, at, all)
		}
		if at == Never && all != Never {
			missed++
		}
	}
	if share := float64(missed) / float64(len(f.Times)/2); share < .15 || share > .35 {
		t.Errorf("it misses %.2f of what it would see", share)
	}
}

// A message leaves after those before it.
func TestUplink(t *testing.T) {
	w := network(t, Config{Links: Links{Uplink: 1000}}, 0, 0)
	one, other := &Host{}, &Host{}
	for i, c := range []struct {
		h     *Host
		bytes int64
		want  time.Duration
	}{{one, 500, 500 * time.Millisecond}, {one, 1000, 1500 * time.Millisecond}, {other, 100, 100 * time.Millisecond}} {
		if got := w.sends(c.h, c.bytes); got != c.want {
			t.Errorf("message %d has left after %v, want %v", i, got, c.want)
		}
	}
	w.now = 10 * time.Second
	if got := w.sends(one, 1000); got != time.Second {
		t.Errorf("an idle host sends for %v", got)
	}
}

// A cache answers with what was out when it asked last: one shows less than another did before, and none is further
// behind than it may be.
func TestStaleCaches(t *testing.T) {
	const stale = 10 * time.Minute
	p := conducted(t, 1, Conduct{Stale: stale}).Publishers()[0]
	late, back, latest := 0, 0, 0
	for minute := range 20 * 60 {
		at := wednesday.Add(time.Duration(minute) * time.Minute)
		_, _, count := p.answer(at, "")
		if count > p.published(at) || count < p.published(at.Add(-stale)) {
			t.Fatalf("after %d min %d entries are shown, of %d", minute, count, p.published(at))
		}
		if count < p.published(at) {
			late++
		}
		if count < latest {
			back++
		}
		latest = max(latest, count)
	}
	if late == 0 || back == 0 {
		t.Errorf("%d of 1,200 answers are late, %d show less than one before", late, back)
	}
}

// Conduct that cannot be is refused.
func TestImpossibleConduct(t *testing.T) {
	for _, c := range []Config{{Conduct: Conduct{Failing: 1}}, {Conduct: Conduct{Edited: -.1}},
		{Conduct: Conduct{PerHost: -1}}, {Conduct: Conduct{Stale: -1}}, {ReferenceDown: 1}, {Links: Links{Uplink: -1}},
		{Links: Links{Uplink: 1}, NoEncoding: true}} {
		c.Start = wednesday
		if _, err := New(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
