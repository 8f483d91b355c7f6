package node

import (
	"testing"

	"feedex/fetch/grade"
)

// What polls asked of publishers is kept for the owner. Only the first request of the first poll of a feed is its first,
// also after a restart; and what comes after the feed was given up counts too.
func TestRequestsAreKept(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	h := w.add(Config{Policy: rarely{}}, news)
	poll := func(status ...int) {
		if s := h.node.feeds[news]; s != nil {
			s.polling = true
		}
		ev := Fetched{Feed: news}
		for _, code := range status {
			ev.Requests = append(ev.Requests, grade.Request{At: w.now, URL: string(news), Status: code})
		}
		h.step(ev)
	}
	poll(302, 200)
	h.kill()
	h.start()
	poll(304)
	h.node.unsubscribe(news)
	poll(410)
	var got []int
	for i, r := range h.store.LoadRequests(10) {
		got = append(got, r.Status)
		if r.First != (i == 0) {
			t.Errorf("request %d: first %v", i, r.First)
		}
	}
	if len(got) != 4 || got[0] != 302 || got[1] != 200 || got[2] != 304 || got[3] != 410 {
		t.Errorf("kept %v, want 302, 200, 304, 410", got)
	}
}
