package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/feed"
	"feedex/invitation"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// A newcomer is a node that follows nothing yet, and notes what it is asked.
type newcomer struct {
	control.Owner
	mu       sync.Mutex
	asked    []string
	bad      feed.URL // nothing is there
	arranged []reading.Arrangement
}

func (n *newcomer) note(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, what)
}

func (n *newcomer) FollowAddress(_ context.Context, w control.FollowAddress) (control.FollowedAddress, error) {
	n.note("follow " + string(w.Feeds[0]))
	if w.Wait != subscribeWait {
		return control.FollowedAddress{}, errors.New("it does not wait until the feed was read")
	}
	if w.Feeds[0] == n.bad {
		return control.FollowedAddress{Problem: "there is no host of this name"}, nil
	}
	return control.FollowedAddress{Feed: w.Feeds[0]}, nil
}

func (n *newcomer) Arrange(_ context.Context, list []reading.Arrangement) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.arranged = append(n.arranged, list...)
	return nil
}

func (n *newcomer) NameSource(_ context.Context, name string) (node.SourceStatus, error) {
	n.note("source " + name)
	return node.SourceStatus{Name: name, Tracker: true}, nil
}

func (n *newcomer) SiteFeeds(_ context.Context, name string) ([]feed.URL, error) {
	n.note("site " + name)
	if name == "silent.example" {
		return nil, control.BadRequest{Err: errors.New("it names no node")}
	}
	return []feed.URL{"https://example.com/feed"}, nil
}

func (n *newcomer) Join(_ context.Context, j control.JoinRequest) (protocol.NodeID, error) {
	n.note("join " + j.Host)
	if j.Host == "away.example" {
		return protocol.NodeID{}, control.BadRequest{Err: errors.New("no node answers there")}
	}
	return protocol.ParseNodeID("192.0.2.7:7790")
}

// Feeds are followed and read before a node has something in common with the one that invites it. What a link names is
// no part of a command that somebody copies.
func TestJoin(t *testing.T) {
	const one, other = "https://example.com/feed", "https://example.com/';reboot;'"
	link := invitation.Invitation{Host: "192.0.2.7:7790", Key: protocol.NodeKey{1}, Feeds: []feed.URL{one, other}}
	site := invitation.Invitation{Host: "example.org"}
	both := []string{"follow " + other, "follow " + one, "join 192.0.2.7:7790"}
	for _, c := range []struct {
		name   string
		i      invitation.Invitation
		follow bool
		bad    feed.URL
		asked  []string
		out    []string
		err    string
	}{
		{"not following", link, false, "", both[2:], []string{"linked with 192.0.2.7:7790",
			"it names " + one + "; to follow it: feedex subscribe " + one,
			"it names " + other + `; to follow it: feedex subscribe 'https://example.com/'\'';reboot;'\'''`}, ""},
		{"following", link, true, "", both,
			[]string{"following " + one, "following " + other, "linked with 192.0.2.7:7790"}, ""},
		{"following what is not there", link, true, one, both,
			[]string{"following " + other, "linked with 192.0.2.7:7790"},
			"1 address is not followed"},
		{"a site", site, true, "", []string{"follow " + one, "site example.org", "join example.org"},
			[]string{"following " + one, "linked with 192.0.2.7:7790"}, ""},
	} {
		n := &newcomer{bad: c.bad}
		client := dialed(t, control.NewHandler(n).ServeHTTP)
		cmd, out, notes := new(cobra.Command), new(strings.Builder), new(strings.Builder)
		cmd.SetContext(t.Context())
		cmd.SetOut(out)
		cmd.SetErr(notes)
		err := join(cmd, client, c.i, c.follow)
		slices.Sort(n.asked[:len(n.asked)-1]) // several are waited for at a time
		if !slices.Equal(n.asked, c.asked) || out.String() != strings.Join(c.out, "\n")+"\n" ||
			(err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: asked for %q, printed %q and %q, %v", c.name, n.asked, out, notes, err)
		}
	}
}

// A URL that is a tracker's is asked from now on; one that may be a site's is one first, and where that names no node
// the command says what else it may be.
func TestJoinByURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://tracker.example:7788/": "source http://tracker.example:7788/",
		"https://192.0.2.7/":           "source https://192.0.2.7/",
		"https://example.org/":         "site example.org, join example.org",
		"https://silent.example/":      "site silent.example; feedex join --always https://silent.example/ --data DATA",
		"silent.example":               "site silent.example; it names no node",
		"https://away.example/":        "site away.example, join away.example; no node answers there",
	} {
		n := new(newcomer)
		c := newJoin()
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		data := served(t, control.NewHandler(n).ServeHTTP)
		c.SetArgs([]string{"--data", data, url})
		err := c.ExecuteContext(t.Context())
		asked, hint, fails := strings.Cut(strings.Replace(want, "DATA", data, 1), "; ")
		if strings.Join(n.asked, ", ") != asked || (err != nil) != fails ||
			fails && !strings.HasSuffix(err.Error(), hint) {
			t.Errorf("%s: asked for %q, %v; want %s", url, n.asked, err, want)
		}
	}
}
