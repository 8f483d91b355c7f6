package daemon

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// Suggested is what two neighbors follow and the node never did: not what it follows discreetly or left, and not what
// its owner declined. Nobody is asked: the feed gets no request but those of its followers.
func TestRecommend(t *testing.T) {
	liked, discreet, left, declined := startFeed(t, "Liked"), startFeed(t, "D"), startFeed(t, "L"), startFeed(t, "N")
	secret := feed.URL("http://127.0.0.1:9/feed?token=8f14e45fceea167a5a36dedd4bea2543")
	var asked atomic.Int32
	liked.allowed = func(*http.Request) bool { return asked.Add(1) > 0 }
	nodes := startTree(t, []int{0, 0, 0}, func(i int) Config {
		if i == 0 {
			return Config{}
		}
		return Config{Subscribe: []feed.URL{liked.url, discreet.url, left.url, declined.url, secret}}
	})
	n, ctx, yes := nodes[0], t.Context(), true
	if err := n.client.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{discreet.url}, Discreet: &yes}); err != nil {
		t.Fatal(err)
	}
	if err := n.client.Subscribe(ctx, following(left.url)); err != nil {
		t.Fatal(err)
	}
	if err := n.client.Unsubscribe(ctx, left.url); err != nil {
		t.Fatal(err)
	}
	n.waitRecommended(liked.url, declined.url)
	if err := n.client.Decline(ctx, declined.url); err != nil {
		t.Fatal(err)
	}
	n.waitRecommended(liked.url)
	if page := newVisitor(t, n).page("/recommended"); !strings.Contains(page, string(liked.url)) ||
		!strings.Contains(page, "2 of your 2 like-minded neighbors follow it; they share 1 feed with you.") {
		t.Errorf("the page says\n%s", page)
	}
	if got := asked.Load(); got > 2 {
		t.Errorf("%d requests for what two nodes follow", got)
	}
	if err := n.client.Subscribe(ctx, following(liked.url)); err != nil {
		t.Fatal(err)
	}
	n.waitRecommended()
}

// waitRecommended waits until the node suggests these feeds, in any order.
func (n *testNode) waitRecommended(want ...feed.URL) {
	n.t.Helper()
	var got []feed.URL
	for end := time.Now().Add(patience); time.Now().Before(end); breathe() {
		list, err := n.client.Recommend(n.t.Context())
		if err != nil {
			n.t.Fatal(err)
		}
		got = nil
		missing := make(map[feed.URL]bool)
		for _, u := range want {
			missing[u] = true
		}
		for _, r := range list {
			got = append(got, r.Feed)
			delete(missing, r.Feed)
		}
		if len(got) == len(want) && len(missing) == 0 {
			return
		}
	}
	n.t.Fatalf("suggested are %v, want %v", got, want)
}
