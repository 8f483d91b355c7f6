package actor

import (
	"fmt"
	"strings"
	"time"

	"feedex/feed"
	"feedex/node"
)

// Forger adds entries that no publisher has to what it polls: so many an hour on average from a time on,
// dated now. They look true, and it says that it polled them itself (row 4, 23 of `feedex lab attacks`). name
// tells its inventions from those of others.
func Forger(n *node.Node, name string, anHour float64, from time.Time) Participant {
	return &forger{Node: n, name: name, anHour: anHour, last: from, latest: make(map[feed.URL]*feed.Document)}
}

type forger struct {
	*node.Node
	name   string
	anHour float64
	last   time.Time // when the debt was counted, or will be
	debt   float64   // entries to be forged
	count  int
	latest map[feed.URL]*feed.Document
}

const forgedID = "https://forged.example.net/"

// Forged reports whether a Forger made the entry.
func Forged(e *feed.Entry) bool { return strings.HasPrefix(e.ID, forgedID) }

// Step implements Participant.
func (f *forger) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if fetched, ok := ev.(node.Fetched); ok && fetched.Err == nil {
		ev = f.forge(now, fetched)
	}
	return f.Node.Step(dst, now, ev)
}

// forge adds what is due to the document of a poll.
func (f *forger) forge(now time.Time, ev node.Fetched) node.Fetched {
	if ev.Document != nil {
		f.latest[ev.Feed] = ev.Document
	}
	doc := f.latest[ev.Feed]
	if now.After(f.last) {
		f.debt += f.anHour * now.Sub(f.last).Hours()
		f.last = now
	}
	count := int(f.debt)
	if doc == nil || count == 0 {
		return ev
	}
	f.debt -= float64(count)
	forged := *doc
	forged.Entries = nil
	for range count {
		f.count++
		forged.Entries = append(forged.Entries, feed.Entry{
			Feed: ev.Feed, ID: fmt.Sprintf("%s%s/%d", forgedID, f.name, f.count),
			Title:     fmt.Sprintf("News %d of %s", f.count, f.name),
			Link:      fmt.Sprintf("https://example.net/%s/%d", f.name, f.count),
			Published: now.UTC().Truncate(time.Second), Summary: "This never happened.",
		})
	}
	forged.Entries = append(forged.Entries, doc.Entries...)
	f.latest[ev.Feed] = &forged
	ev.Document = &forged
	return ev
}
