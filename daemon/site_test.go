package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/invitation"
	"feedex/node"
	"feedex/protocol"
)

// knownSites are names of which each names nodes; others none.
type knownSites map[string][]invitation.Invitation

func (s knownSites) Find(_ context.Context, name string) ([]invitation.Invitation, error) {
	if list := s[name]; len(list) > 0 {
		return list, nil
	}
	return nil, errors.New("site " + name + ": it names no node")
}

func (s knownSites) Known(ctx context.Context, name string) ([]invitation.Invitation, error) {
	return s.Find(ctx, name)
}

// Nodes that sites name become neighbors: of a node that was started with the site's name, and of one whose owner
// joins. Where the site says by which key the node is known, another one is none of its nodes.
func TestNodesOfSites(t *testing.T) {
	f := startFeed(t, "From the publisher")
	a := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	a.waitArrival(f.url)
	status, err := a.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := func(key protocol.NodeKey) []invitation.Invitation {
		return []invitation.Invitation{{Host: a.at.Listen, Key: key, Feeds: []feed.URL{f.url}}}
	}
	known := knownSites{"keyed.example": at(status.Key), "srv.example": at(protocol.NodeKey{}),
		"other.example": at(protocol.NodeKey{1}),
		"gone.example":  append(at(status.Key), invitation.Invitation{Host: "127.0.0.1:1024", Key: status.Key})}

	b := startNode(t, Config{Subscribe: []feed.URL{f.url}, Node: node.Config{Peers: []string{"keyed.example"}},
		sites: known})
	b.waitNeighbors(1)
	list, err := b.client.Neighbors(t.Context())
	if err != nil || len(list) != 1 || !list[0].Static || list[0].Key != status.Key {
		t.Errorf("its neighbors are %+v, %v", list, err)
	}
	for name, want := range map[string]string{"keyed.example": "", "srv.example": "", "gone.example": "",
		"other.example": "did not show the key", "none.example": "site none.example: it names no node"} {
		peer, err := b.client.Join(t.Context(), control.JoinRequest{Host: name})
		if want == "" && (err != nil || peer.String() != a.at.Listen) || want != "" && (err == nil ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("joined %v by %s, %v; want %q", peer, name, err, want)
		}
	}
	if feeds, err := b.client.SiteFeeds(t.Context(), "keyed.example"); err != nil || len(feeds) != 1 ||
		feeds[0] != f.url {
		t.Errorf("it names %q, %v", feeds, err)
	}
	for _, name := range []string{"none.example", "127.0.0.1:80/", "x@example.org"} {
		if feeds, err := b.client.SiteFeeds(t.Context(), name); err == nil {
			t.Errorf("%s names %q", name, feeds)
		}
	}

	problems := make(chan string, 100)
	startNode(t, Config{Subscribe: []feed.URL{f.url}, Node: node.Config{Peers: []string{"other.example"}}, sites: known,
		Observe: func(_ time.Time, note node.Note) {
			if c, is := note.(node.SourceChanged); is {
				problems <- c.Problem
			}
		}})
	if problem := <-problems; !strings.Contains(problem, "did not show the key") {
		t.Errorf("with another key its problem is %q", problem)
	}
}

// Of a site's nodes a few are called, each in its turn, and what is wrong with them is said.
func TestCallsToSites(t *testing.T) {
	many := make([]invitation.Invitation, invitation.MaxNodes)
	for n := range many {
		many[n].Host = peerID(n).String()
	}
	var called []string
	h := newHost(Config{sites: knownSites{"example.org": many}}.withDefaults(), newDisk(), nil,
		peers(func(_ context.Context, addr string, _ protocol.Call) (protocol.Reply, error) {
			called = append(called, addr)
			return nil, errors.New("nobody answers")
		}), unreachable{})
	got := h.call(t.Context(), node.Call{To: node.Target{Host: "example.org"}, Call: protocol.WhoAmI{},
		Timeout: time.Second})
	if want := []string{many[0].Host, many[1].Host, many[2].Host}; got.Err == nil || !slices.Equal(called, want) ||
		!strings.Contains(got.Err.Error(), "site example.org: of its nodes none answers: nobody answers") {
		t.Errorf("called %q, %v", called, got.Err)
	}
}
