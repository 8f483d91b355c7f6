package actor

import (
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Recutter is a FreeRider that delivers back to each neighbor what this gave it, together with an old entry of its own,
// so that it is another bundle (row 1 of `feedex lab attacks`). No other Recutter has its name.
func Recutter(n *node.Node, name string) Participant {
	r := &recutter{name: name}
	r.sideCaller = newCaller(n, r.takes)
	return r
}

type recutter struct {
	sideCaller
	name string
	cut  int // bundles so far
}

const (
	// fillerAge is how old an entry is that nobody can hold against who brings it.
	fillerAge   = 3650 * 24 * time.Hour
	fillerTitle = "Long ago"
)

func isFiller(e feed.Entry) bool { return e.Title == fillerTitle }

// Step implements Participant.
func (r *recutter) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	dst = r.sideCaller.Step(dst, now, ev)
	asked, _ := ev.(node.Asked)
	// Two of them have nothing to hand back to each other.
	if put, ok := asked.Call.(protocol.PutEntries); ok && !slices.ContainsFunc(put.Bundle.Entries, isFiller) {
		r.cut++
		filler := feed.Entry{Feed: put.Bundle.Feed, ID: fmt.Sprint(r.name, " ", r.cut), Title: fillerTitle,
			Published: now.Add(-fillerAge).Truncate(time.Second)}
		again := protocol.NewBundle(filler.Feed, append([]feed.Entry{filler}, put.Bundle.Entries...))
		dst = r.call(dst, asked.From, protocol.PutEntries{Bundle: again}, nil)
	}
	return dst
}
