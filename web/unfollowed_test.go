package web_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/reading"
)

// What feed readers unfollowed lately is named on the page of feeds, to the owner and to whoever reads, by the name of
// the password and how much it was; and all of it is followed again at once. What a reader's password unfollows on
// pages counts as well, and what the owner does there does not.
func TestWhatReadersUnfollowed(t *testing.T) {
	n, ann, h := newHome(t, true)
	for i := range 58 {
		n.unfollowed = append(n.unfollowed, reading.Unfollowed{Feed: reading.FeedID(i + 10), URL: newsURL,
			Title: fmt.Sprint("<Feed> ", i), By: "phone", At: noon.Add(-3 * time.Minute)})
	}
	n.unfollowed = append(n.unfollowed,
		reading.Unfollowed{Feed: 2, URL: secretURL, By: "tablet", At: noon.Add(-time.Hour)},
		reading.Unfollowed{Feed: 3, URL: newsURL, By: "long ago", At: noon.Add(-8 * 24 * time.Hour)})
	ann.unfollowed = []reading.Unfollowed{{Feed: 7, URL: newsURL, Title: "Hers", By: "ann", At: noon}}

	b := enterBy(t, h, "secret")
	page := b.page("/feeds").Body.String()
	for _, want := range []string{"<strong>phone</strong> unfollowed 58 feeds, <time", "Follow them again",
		`datetime="2026-11-20T11:57:00Z"`, "&lt;Feed&gt; 57</bdi>", "Follow it again",
		"<strong>tablet</strong> unfollowed 1 feed, <time",
		"goes on with it for a week after that, so that nothing is missed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	for _, never := range []string{"long ago</strong>", "hunter2", "Hers"} {
		if strings.Contains(page, never) {
			t.Errorf("the page says %q:\n%s", never, page)
		}
	}
	w := b.post("/unfollowed", url.Values{"token": {b.token}, "by": {"phone"}})
	if page := b.page(w.Header().Get("Location")).Body.String(); len(n.refollowed) != 58 || n.refollowed[0] != 10 ||
		slices.Contains(n.refollowed, 2) || !strings.Contains(page, "You follow 58 feeds again.") {
		t.Errorf("followed again: %v, and the page says\n%s", n.refollowed, page)
	}

	b = enterBy(t, h, "hers")
	page = b.page("/feeds").Body.String()
	if !strings.Contains(page, "<strong>ann</strong> unfollowed 1 feed,") || strings.Contains(page, "phone") ||
		strings.Contains(page, "goes on with") {
		t.Errorf("her page does not say what is hers:\n%s", page)
	}
	b.post("/unfollowed", url.Values{"token": {b.token}, "by": {"ann"}})
	if !slices.Equal(ann.refollowed, []reading.FeedID{7}) || len(n.refollowed) != 58 {
		t.Errorf("followed again: %v", ann.refollowed)
	}
	for password, want := range map[string]string{"hers": "ann", "all hers": ""} {
		b := enterBy(t, h, password)
		if b.post("/unfollow", url.Values{"token": {b.token}, "feed": {"1"}}); ann.by != want {
			t.Errorf("unfollowed with %q: by %q", password, ann.by)
		}
	}
}
