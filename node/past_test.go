package node_test

import (
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
)

// withOlder has the document of news lead to an archive, or to none.
func (w *network) withOlder(older feed.URL) {
	w.feed(news).answer = func(node.Fetch) node.Fetched {
		return node.Fetched{Status: 200, Document: &feed.Document{Feed: news, PrevArchive: older}}
	}
}

// The first poll of a feed decides what is done about its past.
func TestWhereThePastOfAFeedIs(t *testing.T) {
	const older feed.URL = "https://example.com/2025"
	for name, tt := range map[string]struct {
		config   node.Config
		older    feed.URL
		discreet bool
		want     archive.PastStage
	}{
		"an archive":             {node.Config{Backfill: time.Hour}, older, false, archive.PastPublisher},
		"none":                   {node.Config{Backfill: time.Hour}, "", false, archive.PastNetwork},
		"an archive, discreetly": {node.Config{Backfill: time.Hour}, older, true, archive.PastPublisher},
		"none, discreetly":       {node.Config{Backfill: time.Hour}, "", true, archive.PastDone},
		"none, and nobody to ask": {node.Config{Backfill: time.Hour, QueryNetwork: node.NeverNetwork}, "", false,
			archive.PastDone},
		"not wanted": {node.Config{}, older, false, ""},
	} {
		w := newNetwork(t)
		w.withOlder(tt.older)
		h := w.add(tt.config)
		h.follow(tt.discreet, news)
		begun := w.Now()
		if got := h.stored(news).Past.Stage; tt.config.Backfill > 0 && got != archive.PastPoll {
			t.Errorf("%s: %q before the first poll", name, got)
		}
		w.run(time.Minute)
		past := h.stored(news).Past
		if past.Stage != tt.want || past.Page != tt.older && tt.want == archive.PastPublisher {
			t.Errorf("%s: %+v, want %q", name, past, tt.want)
		}
		filling := tt.want == archive.PastPublisher // nobody else has the feed
		if shown := h.node.Feeds()[0].Past; (shown == nil) != (tt.want == "" || tt.want == archive.PastDone) ||
			(h.node.Status().Pasts == 1) != filling {
			t.Errorf("%s: shown is %+v", name, shown)
		}
		if want := begun.Add(-time.Hour); tt.want != "" && past.Since.Sub(want).Abs() > time.Minute {
			t.Errorf("%s: since %v, want %v", name, past.Since, want)
		}
	}
}

// Neighbors may have what a publisher lets nobody read.
func TestThePastOfAFeedThatCannotBeRead(t *testing.T) {
	w, h := newAlone(t, node.Config{Backfill: time.Hour})
	h.blocked[news] = true
	h.follow(false, news)
	w.run(time.Minute)
	if past := h.stored(news).Past; past.Stage != archive.PastPoll {
		t.Errorf("after the first poll: %+v", past)
	}
	w.run(48 * time.Hour)
	if s := h.node.Subscription(news); s.Past.Stage != archive.PastNetwork {
		t.Errorf("after %d polls: %+v", s.Errors, s.Past)
	}
}

// How far it is outlives the node; what began where it is no longer, or is done for a subscription that has ended, does
// not matter; and a private feed's past is nobody's business.
func TestTheProgressIntoThePastIsKept(t *testing.T) {
	w := newNetwork(t)
	w.withOlder("https://example.com/2025")
	h := w.add(node.Config{Backfill: 24 * time.Hour}, news)
	w.run(time.Minute)
	past := archive.Past{Stage: archive.PastPublisher, Page: "https://example.com/2024", Steps: 1,
		Back: w.Now().Add(-time.Hour).Truncate(time.Second), Filled: 7}
	begun := h.stored(news).Past
	h.step(node.Backfilled{Feed: news, From: begun, Past: past})
	other := past
	other.Page, other.Filled = "https://example.com/2025", 1
	h.step(node.Backfilled{Feed: news, From: begun, Past: other}) // who began there as well, and took longer
	h.kill()
	h.start()
	if got := h.node.Feeds()[0].Past; got == nil || *got != past {
		t.Fatalf("after a restart: %+v, want %+v", got, past)
	}
	yes, no := true, false
	h.step(node.Subscribe{Feeds: []feed.URL{news}, Private: &yes})
	if got := h.node.Feeds()[0].Past; got != nil {
		t.Errorf("private: %+v", got)
	}
	h.step(node.Subscribe{Feeds: []feed.URL{news}, Private: &no, Discreet: &yes})
	from := past
	past.Stage = archive.PastNetwork
	h.step(node.Backfilled{Feed: news, From: from, Past: past})
	if got := h.stored(news).Past.Stage; got != archive.PastDone {
		t.Errorf("neighbors are to be asked for what is followed discreetly: %q", got)
	}
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	h.step(node.Backfilled{Feed: news, From: from, Past: past})
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	h.step(node.Backfilled{Feed: news, From: from, Past: past}) // of the subscription before
	if got := h.stored(news).Past; got.Stage != archive.PastPoll || got.Filled != 0 {
		t.Errorf("followed anew: %+v", got)
	}
}

// Where the owner had the document read before the first poll, the past begins there, and the poll begins nothing anew.
func TestThePastMayBeginBeforeTheFirstPoll(t *testing.T) {
	w := newNetwork(t)
	w.withOlder("https://example.com/2025")
	h := w.add(node.Config{Backfill: 24 * time.Hour}, news)
	past := archive.Past{Stage: archive.PastPublisher, Page: "https://example.com/2025"}
	for range 2 {
		h.step(node.Backfilled{Feed: news, From: h.stored(news).Past, Past: past})
		if got := h.stored(news).Past; got.Stage != past.Stage || got.Page != past.Page ||
			got.Steps != past.Steps {
			t.Fatalf("before the first poll: %+v, want %+v", got, past)
		}
		past.Page, past.Steps = "https://example.com/2024", 1
	}
	w.run(time.Minute)
	if got := h.node.Subscription(news); got.LastSuccess.IsZero() || got.Past.Page != past.Page ||
		got.Past.Steps != 1 {
		t.Errorf("after the first poll: %+v, want %+v", got.Past, past)
	}
}
