package node

import (
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/fetch/grade"
	"feedex/polling"
)

// hub is where redirects lead in these tests.
const hub = "feeds.example.net"

// redirected is an answer that came from a URL by a redirect.
func redirected(f Fetch, to string, ev Fetched) Fetched {
	ev.From = feed.URL(to).Host()
	ev.Requests = []grade.Request{{URL: string(f.Feed), Status: 302}, {URL: to, Status: ev.Status}}
	return ev
}

// syndicated is a node that follows so many feeds, each at a host of its own, that redirect to the hub.
func syndicated(w *network, feeds int, answer func(n int) Fetched) (h *testHost, asked *[]time.Time) {
	asked = new([]time.Time)
	var list []feed.URL
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/", i))
		w.feed(u).answer = func(f Fetch) Fetched {
			*asked = append(*asked, w.now)
			ev := answer(len(*asked))
			if ev.Status == 200 {
				ev = listing(u, 1)
			}
			return redirected(f, "https://"+hub+"/"+fmt.Sprint(i), ev)
		}
		list = append(list, u)
	}
	return w.add(Config{AllowLocal: true, Policy: polling.Fixed{Every: 20 * time.Minute}}, list...), asked
}

// Feeds of many hosts that redirect to one share its budget, after a restart as well.
func TestRedirectsShareTheBudgetOfWhereTheyLead(t *testing.T) {
	w := newNetwork(t)
	h, asked := syndicated(w, 40, func(int) Fetched { return Fetched{Status: 200} })
	w.run(time.Hour)
	for range 2 {
		h.kill()
		w.run(time.Hour) // so that all of them are overdue
		h.start()
		*asked = nil
		w.run(time.Minute)
		if n := len(*asked); n < polling.Burst || n > polling.Burst+7 {
			t.Errorf("%d requests in the first minute", n)
		}
		w.run(19 * time.Minute)
		for i := polling.Burst; i < len(*asked); i++ {
			if gap := (*asked)[i].Sub((*asked)[i-polling.Burst]); gap < polling.ShortestGap {
				t.Errorf("%d requests within %v", polling.Burst+1, gap)
			}
		}
		for _, s := range h.node.Feeds() {
			if w.now.Sub(s.LastSuccess) > 20*time.Minute {
				t.Errorf("%s was last polled %v ago", s.URL, w.now.Sub(s.LastSuccess))
			}
		}
	}
}

// What the host refuses to one of them it refuses to all.
func TestARefusalWhereRedirectsLead(t *testing.T) {
	refuse := false
	w := newNetwork(t)
	h, asked := syndicated(w, 20, func(int) Fetched {
		if refuse {
			return status(429, 5*time.Hour)
		}
		return Fetched{Status: 200}
	})
	w.run(2 * time.Hour)
	refuse = true
	*asked = nil
	w.run(20 * time.Minute)
	h.kill()
	h.start()
	w.run(4 * time.Hour)
	if n := len(*asked); n != 1 {
		t.Errorf("%d requests within five hours for which the host wants none", n)
	}
	refuse = false
	w.run(4 * time.Hour)
	for _, s := range h.node.Feeds() {
		if w.now.Sub(s.LastSuccess) > time.Hour {
			t.Errorf("%s was last polled %v ago", s.URL, w.now.Sub(s.LastSuccess))
		}
	}
}

// A redirect within a host is a request more to it.
func TestRedirectsWithinAHostAreCounted(t *testing.T) {
	w := newNetwork(t)
	p := w.feed(news)
	p.answer = func(f Fetch) Fetched { return redirected(f, string(news)+"/there", listing(f.Feed, 1)) }
	h := w.add(Config{Policy: polling.Fixed{Every: 20 * time.Minute}}, news)
	w.run(time.Second)
	if got := h.node.hosts[news.Host()].Spent.Sub(p.asked[0]); got < 2*polling.FirstGap-time.Second {
		t.Errorf("a poll of two requests keeps the budget busy for %v", got)
	}
}

// A publisher that redirects to another host each time does not fill our memory.
func TestRedirectsToEverOtherHosts(t *testing.T) {
	w := newNetwork(t)
	p := w.feed(news)
	p.answer = func(f Fetch) Fetched {
		return redirected(f, fmt.Sprintf("https://host%d.example.com/", p.requests), listing(f.Feed, 1))
	}
	h := w.add(Config{Policy: polling.Fixed{Every: 20 * time.Minute}}, news)
	w.run(24 * time.Hour)
	if n := len(h.node.hosts); n > 3 {
		t.Errorf("%d hosts are known", n)
	}
	p.answer = func(f Fetch) Fetched { return listing(f.Feed, 1) }
	w.run(time.Hour)
	if got := h.store.LoadFeeds(); len(h.node.hosts) != 1 || got[0].Lands != "" {
		t.Errorf("after it stopped: %d hosts, %+v", len(h.node.hosts), got)
	}
	h.store.KeepHost(archive.Host{Name: "unheard.example.com"})
	h.kill()
	h.start()
	if got := h.store.LoadHosts(); len(got) != 0 {
		t.Errorf("kept are %+v", got)
	}
}
