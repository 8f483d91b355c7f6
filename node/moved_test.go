package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

const there feed.URL = "https://new.example.org/feed"

// movable is a node that polls a feed every six hours, which redirects to where to says.
func movable(t *testing.T, to func(f node.Fetch) feed.URL) (*network, *testHost, *publisher) {
	w := newNetwork(t)
	p := w.feed(news)
	p.answer = func(f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.Moved = to(f)
		return ev
	}
	return w, w.add(node.Config{Policy: polling.Fixed{Every: 6 * time.Hour}}, news), p
}

// A feed that moves is asked for at its new address, once that was seen for a day, and its entries stay the same.
func TestAFeedThatMoves(t *testing.T) {
	var at []feed.URL
	w, h, _ := movable(t, func(f node.Fetch) feed.URL {
		at = append(at, f.At())
		if f.At() == news {
			return there
		}
		return ""
	})
	w.run(23 * time.Hour)
	if s := h.node.Subscription(news); s.Alias != "" || s.Moved != there {
		t.Errorf("within a day: alias %q, moved %q", s.Alias, s.Moved)
	}
	h.kill()
	h.start()
	w.run(3 * 24 * time.Hour)
	s := h.node.Feeds()[0]
	if s.URL != news || s.Alias != there || at[len(at)-1] != there {
		t.Errorf("%+v, asked at %v", s, at)
	}
	if got := len(h.arrived); got != 3 {
		t.Errorf("%d entries arrived, want the three that there are", got)
	}
	h.kill()
	h.start()
	w.run(7 * time.Hour)
	if at[len(at)-1] != there || h.node.Subscription(news).Queued.Host() != "new.example.org" {
		t.Errorf("after a restart it was asked for at %s", at[len(at)-1])
	}
}

// A new address that does not work, or that sends back, is given up.
func TestAMoveThatWasWrong(t *testing.T) {
	for name, wrong := range map[string]func(f node.Fetch) node.Fetched{
		"fails":   func(f node.Fetch) node.Fetched { return status(404, 0) },
		"is gone": func(f node.Fetch) node.Fetched { return status(410, 0) },
		"sends back": func(f node.Fetch) node.Fetched {
			ev := listing(f.Feed, 3)
			ev.Moved = news
			return ev
		},
	} {
		broken := false
		w, h, p := movable(t, func(node.Fetch) feed.URL { return there })
		p.answer = func(f node.Fetch) node.Fetched {
			if f.At() == there && broken {
				return wrong(f)
			}
			ev := listing(f.Feed, 3)
			if f.At() == news && !broken {
				ev.Moved = there
			}
			return ev
		}
		w.run(3 * 24 * time.Hour)
		if h.stored(news).Alias != there {
			t.Fatalf("%s: has not moved", name)
		}
		broken = true
		w.run(6 * 24 * time.Hour)
		if s := h.node.Subscription(news); s.Alias != "" || s.Errors != 0 || s.Ended ||
			s.Queued.Host() != news.Host() {
			t.Errorf("%s: alias %q, %d errors, ended %v", name, s.Alias, s.Errors, s.Ended)
		}
	}
}
