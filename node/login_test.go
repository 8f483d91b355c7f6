package node_test

import (
	"errors"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// A web page came in place of a feed that has no ETag, as networks with a login serve them. Later answers of the
// publisher about the feed are not taken for the page.
func TestAPageOfANetworkWithALogin(t *testing.T) {
	const written, login = "Mon, 05 Jan 2026 07:00:00 GMT", "Mon, 05 Jan 2026 11:00:00 GMT"
	n, away := 0, false
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
		switch {
		case away:
			return node.Fetched{Status: 200, LastModified: login, Body: feed.Digest{9}, Unusable: true, Private: true,
				Err: errors.New("this is a web page")}
		case f.LastModified == "":
			n++
			ev := listing(f.Feed, 3)
			ev.ETag, ev.LastModified = "", written
			return ev
		default: // not modified since
			return node.Fetched{Status: 304, LastModified: written, Body: f.Body}
		}
	})
	w.run(30 * time.Hour)
	away = true
	w.run(time.Hour)
	if s := h.node.Subscription(news); !s.Unread || s.Private {
		t.Fatalf("after the page: unread %v, private %v", s.Unread, s.Private)
	}
	away = false
	w.run(6 * time.Hour)
	if s := h.node.Feeds()[0]; s.Errors != 0 || s.LastError != "" || n != 2 {
		t.Errorf("%d errors, %q; the feed was read %d times, asked for at %v", s.Errors, s.LastError, n, p.asked)
	}
}

// Networks with a login lead everything to an address of their own, or show their page in its place. A feed that was
// read before is what it was, once its publisher says that nothing changed.
func TestWhatWasReadIsWhatItWasAfterALogin(t *testing.T) {
	for name, login := range map[string]node.Fetched{
		"an address that is not public": {Local: true, Err: errors.New("address refused")},
		"a page without a validator":    {Status: 200, Names: "[]", Err: errors.New("this is a web page")},
	} {
		w := newNetwork(t)
		away := false
		h, _ := alone(w, func(_ int, f node.Fetch) node.Fetched {
			switch {
			case away:
				login.ETag, login.Body = f.ETag, f.Body
				return login
			case f.ETag == "":
				return listing(f.Feed, 3)
			}
			return node.Fetched{Status: 304, ETag: f.ETag, Body: f.Body}
		})
		w.run(3 * time.Hour)
		away = true
		w.run(time.Hour)
		if s := h.node.Feeds()[0]; s.Errors == 0 || s.Private {
			t.Errorf("%s: meanwhile %d errors, private %v, %q", name, s.Errors, s.Private, s.Kept)
		}
		away = false
		w.run(6 * time.Hour)
		if s := h.node.Feeds()[0]; s.Errors != 0 || s.Private || s.WebPage {
			t.Errorf("%s: %d errors, private %v, %q, a web page %v", name, s.Errors, s.Private, s.Kept, s.WebPage)
		}
	}
}
