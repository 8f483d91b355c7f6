package node_test

import (
	"errors"
	"feedex/node"
	"testing"
	"time"
)

// A feed that nobody answered for when it was subscribed to is asked for again in a minute; one that somebody did, in
// an hour. Then it doubles.
func TestAFirstPollThatFailedIsMadeAgain(t *testing.T) {
	for _, c := range []struct {
		answered bool
		want     time.Duration
	}{{false, time.Minute}, {true, time.Hour}} {
		w := newNetwork(t)
		p := w.feed(news)
		if p.err = errors.New("connection refused"); c.answered {
			p.answer = func(node.Fetch) node.Fetched {
				return node.Fetched{Status: 503, Err: errors.New("HTTP status 503"),
					Dialed: true}
			}
		}
		w.add(node.Config{}, news)
		w.run(8 * c.want)
		if len(p.asked) < 3 {
			t.Fatalf("answered: %v: asked for %d times within %v", c.answered, len(p.asked), 8*c.want)
		}
		for i, want := range []time.Duration{c.want, 2 * c.want} {
			if d := p.asked[i+1].Sub(p.asked[i]); d < want || d > want+want/10+10*time.Second {
				t.Errorf("answered: %v: asked for again after %v, want %v", c.answered, d, want)
			}
		}
	}
}
