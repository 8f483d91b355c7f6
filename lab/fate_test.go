package lab

import (
	"context"
	"errors"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A caller is a participant that makes one call and notes how that ends, and what it is asked itself.
type caller struct {
	call     node.Call
	answered []node.Answered
	asked    []time.Duration // since the start
	began    time.Time
}

func (c *caller) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	switch ev := ev.(type) {
	case node.Subscribe:
		c.began = now
	case node.Wake:
		return append(dst, c.call)
	case node.Asked:
		c.asked = append(c.asked, now.Sub(c.began))
		return append(dst, node.Respond{Tag: ev.Tag, Reply: protocol.Seen(true)})
	case node.Answered:
		c.answered = append(c.answered, ev)
	}
	return dst
}

func (c *caller) Next() time.Time { return time.Time{} }

// A Fate decides whether and when a call arrives, and how it ends.
func TestFate(t *testing.T) {
	const delay, timeout = 40 * time.Millisecond, time.Second
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		fate    Fate
		arrives time.Duration // 0 for never
		took    time.Duration
		err     error
	}{
		"it arrives":                {Fate{}, delay, 2 * delay, nil},
		"it is late":                {Fate{Late: delay}, 2 * delay, 3 * delay, nil},
		"it is too late":            {Fate{Late: timeout}, 0, timeout, context.DeadlineExceeded},
		"it is lost":                {Fate{Lost: true}, 0, timeout, context.DeadlineExceeded},
		"its answer is lost":        {Fate{Mute: true}, delay, timeout, context.DeadlineExceeded},
		"somebody else answers":     {Fate{Ended: &node.Answered{Reply: protocol.Seen(false)}}, 0, 2 * delay, nil},
		"somebody else has it fail": {Fate{Late: delay, Ended: &node.Answered{Err: broken}}, 0, 3 * delay, broken},
	} {
		w := network(t, Config{Links: Links{Delay: delay, Even: true, Jitter: -1},
			Fate: func(_, _ *Host, _ node.Call) Fate { return tt.fate }}, 0, 0)
		var both [2]caller
		for i := range both {
			h, err := w.Join(acts(&both[i]))
			if err != nil {
				t.Fatal(err)
			}
			both[1-i].call = node.Call{ID: 1, To: node.Target{Node: h.ID}, Call: protocol.CheckDID{}, Timeout: timeout}
		}
		w.Hosts()[0].Tell(node.Wake{})
		w.Run(w.Now().Add(time.Minute))
		from, to := both[0], both[1]
		if arrived := len(to.asked) > 0; arrived != (tt.arrives > 0) || arrived && to.asked[0] != tt.arrives {
			t.Errorf("%s: it arrived after %v, want %v", name, to.asked, tt.arrives)
		}
		if len(from.answered) != 1 || !errors.Is(from.answered[0].Err, tt.err) || from.answered[0].RTT != tt.took {
			t.Errorf("%s: it ended as %+v; want %v after %v", name, from.answered, tt.err, tt.took)
		}
	}
}

// A feed without a Publisher is polled at what Serve answers for.
func TestServe(t *testing.T) {
	const elsewhere feed.URL = "https://elsewhere.example.com/feed"
	w := network(t, Config{Serve: func(_ *Host, f node.Fetch) (node.Fetched, time.Duration) {
		return node.Fetched{Feed: f.Feed, Document: &feed.Document{Feed: f.Feed, Title: "Served"}}, time.Second
	}}, 0, 0)
	h, err := w.Join(MemberConfig{})
	if err != nil {
		t.Fatal(err)
	}
	h.Tell(node.Subscribe{Feeds: []feed.URL{elsewhere}})
	w.Run(w.Now().Add(time.Second))
	if f := h.Node().Feed(elsewhere); !f.LastSuccess.IsZero() {
		t.Error("it is there before it was served")
	}
	w.Run(w.Now().Add(time.Second))
	if f := h.Node().Feed(elsewhere); f.LastSuccess.IsZero() || f.Title != "Served" {
		t.Errorf("the feed is %+v", f)
	}
}
