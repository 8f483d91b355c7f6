package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/protocol"
)

// accuse has a stranger refuse what an honest node polled, as if that had forged, and take everything else.
func (s *stranger) accuse(honest *stranger) {
	s.refuses = func(b *protocol.Bundle) *protocol.Fault {
		if slices.Equal(b.Path, []protocol.NodeID{honest.id}) || len(b.Path) == 2 && b.Path[0] == honest.id {
			return protocol.Faultf(protocol.ForgedSource, "it came by way of a node that forged entries here")
		}
		return nil
	}
}

// waitAccused waits until the node has been told by the strangers that somebody forges.
func (b *besieged) waitAccused(by ...*stranger) {
	b.t.Helper()
	for {
		neighbors, err := b.client.Neighbors(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		said := 0
		for _, n := range neighbors {
			if strings.Contains(n.LastError, "forged") &&
				slices.ContainsFunc(by, func(s *stranger) bool { return s.id == n.ID }) {
				said++
			}
		}
		if said == len(by) {
			return
		}
		breathe()
	}
}

// Liars refuse with fault 112 what an honest node polled. Strangers are not heard. Two nodes that have been of use are,
// and what the honest node brings goes no further, until an own poll shows it: that is passed on then, and so is all
// the rest.
func TestLiarsCannotSilenceAnHonestNode(t *testing.T) {
	t.Parallel()
	if !inNamespace(t) {
		return
	}
	makeNetwork(t)
	f, others := publishFeed(t, "20.2.0.1", "first"), publishFeeds(t, 4)
	b := besiege(t, append(others, f)...)
	at := func(network int) *stranger { return newStranger(t, addressed(network, 1), b.at.Listen) }
	honest, reader, liars, nobodies := at(1), at(2), []*stranger{at(3), at(4)}, []*stranger{at(5), at(6)}
	b.hear(others[:3], append(liars, reader)...)
	b.hear(others[3:], reader) // its credit is to last
	for _, s := range append(liars, nobodies...) {
		s.accuse(honest)
	}
	honest.connect(f.url)
	reader.connect(f.url)
	var published []feed.Entry
	brings := func(id string) feed.Entry {
		e := f.written(id)
		honest.put(f.url, nil, e)
		published = append(published, e)
		return e
	}
	// gets waits until the reader has got what somebody brings after that, and returns what it has got until then.
	count := 0
	gets := func(from *stranger) (titles []string) {
		count++
		last := f.written(fmt.Sprint("last-", count))
		from.put(f.url, nil, last)
		published = append(published, last)
		for {
			select {
			case got := <-reader.took:
				for _, e := range got.Entries {
					if e.ID == last.ID {
						return titles
					}
					titles = append(titles, e.ID)
				}
			case <-t.Context().Done():
				t.Fatal("the reader gets nothing")
			}
		}
	}
	want := func(what string, got []string, want ...feed.Entry) {
		t.Helper()
		for _, e := range want {
			if !slices.Contains(got, e.ID) {
				t.Fatalf("%s: %s is not passed on", what, e.ID)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: it got %v", what, got)
		}
	}

	for _, s := range nobodies {
		s.connect(f.url)
	}
	first := brings("one")
	b.waitAccused(nobodies...)
	second := brings("two")
	for _, s := range nobodies {
		s.leave()
	}
	for _, s := range liars {
		s.connect(f.url)
	}
	want("strangers lie", gets(liars[0]), first, second)

	third := brings("three")
	b.waitAccused(liars...)
	fourth := brings("four")
	want("witnesses lie", gets(liars[0]), third)

	f.publish(published...)
	b.waitWhole(f)
	fifth := brings("five")
	want("an own poll has shown it", gets(liars[0]), fourth, fifth)
}
