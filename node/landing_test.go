package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/polling"
)

// hub is where redirects lead in these tests.
const hub = "feeds.example.net"

// redirected is an answer that came from a URL by a redirect.
func redirected(f node.Fetch, to string, ev node.Fetched) node.Fetched {
	ev.From = feed.URL(to).Host()
	ev.Requests = []grade.Request{{URL: string(f.Feed), Status: 302}, {URL: to, Status: ev.Status}}
	return ev
}

// syndicated is a node that follows so many feeds, each at a host of its own, that redirect to the hub.
func syndicated(w *network, feeds int, answer func(n int) node.Fetched) (h *testHost, asked *[]time.Time) {
	asked = new([]time.Time)
	var list []feed.URL
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/", i))
		w.feed(u).answer = func(f node.Fetch) node.Fetched {
			*asked = append(*asked, w.Now())
			ev := answer(len(*asked))
			if ev.Status == 200 {
				ev = listing(u, 1)
			}
			return redirected(f, "https://"+hub+"/"+fmt.Sprint(i), ev)
		}
		list = append(list, u)
	}
	return w.add(node.Config{AllowLocal: true, Policy: polling.Fixed{Every: 20 * time.Minute}}, list...), asked
}

// Feeds of many hosts that redirect to one share its budget, after a restart as well.
func TestRedirectsShareTheBudgetOfWhereTheyLead(t *testing.T) {
	w := newNetwork(t)
	h, asked := syndicated(w, 40, func(int) node.Fetched { return node.Fetched{Status: 200} })
	w.run(time.Hour)
	for range 2 {
		h.kill()
		w.run(time.Hour) // so that all of them are overdue
		h.start()
		*asked = nil
		w.run(time.Minute)
		if n := len(*asked); n < courtesy.Burst || n > courtesy.Burst+7 {
			t.Errorf("%d requests in the first minute", n)
		}
		w.run(19 * time.Minute)
		for i := courtesy.Burst; i < len(*asked); i++ {
			if gap := (*asked)[i].Sub((*asked)[i-courtesy.Burst]); gap < courtesy.ShortestGap {
				t.Errorf("%d requests within %v", courtesy.Burst+1, gap)
			}
		}
		for _, s := range h.node.Feeds() {
			if w.Now().Sub(s.LastSuccess) > 20*time.Minute {
				t.Errorf("%s was last polled %v ago", s.URL, w.Now().Sub(s.LastSuccess))
			}
		}
	}
}

// What the host refuses to one of them it refuses to all.
func TestARefusalWhereRedirectsLead(t *testing.T) {
	refuse := false
	w := newNetwork(t)
	h, asked := syndicated(w, 20, func(int) node.Fetched {
		if refuse {
			return status(429, 5*time.Hour)
		}
		return node.Fetched{Status: 200}
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
		if w.Now().Sub(s.LastSuccess) > time.Hour {
			t.Errorf("%s was last polled %v ago", s.URL, w.Now().Sub(s.LastSuccess))
		}
	}
}
