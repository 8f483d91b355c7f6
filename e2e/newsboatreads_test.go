package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// newsboat reads a feed at the node, by way 1: by the feed's address at the node.
func TestNewsboatReadsFeedsOut(t *testing.T) {
	need(t, newsboatProgram(), "tmux")
	p, n := startPublisher(t), startPollingNode(t)
	url := p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide", "A ferry comes")
	nb := newNewsboat(t, n.url("/feed/"+url), "")
	n.feedex(t, "subscribe", url)
	nb.expectUnread(t, 3)

	p.publish("/harbor.xml", "", "The ferry leaves")
	nb.expectUnread(t, 4)

	s := nb.open(t)
	s.sees(t, "Your feeds", "(4/4) Harbor News")
	s.keys(t, "Enter")
	s.sees(t, "Low tide", "High tide", "A ferry comes", "The ferry leaves")
	s.keys(t, "Enter")
	s.sees(t, "Title: The ferry leaves", "What there is to say of")
	s.keys(t, "q")
	s.sees(t, "(3 unread, 4 total)")
	s.keys(t, "q")
	s.sees(t, "Your feeds")
	s.markAll(t)
	s.quit(t, 1)
	nb.expectUnread(t, 0)
	if got := p.asked("newsboat"); got != 0 {
		t.Errorf("newsboat itself asked the publisher %d times", got)
	}
}

// newsboat keeps the feed's own address and reads it by way 2: the node is its HTTP proxy, as the environment has it or
// newsboat's own settings.
func TestNewsboatReadsByProxy(t *testing.T) {
	need(t, newsboatProgram())
	p, n := startPublisher(t), startPollingNode(t)
	url := p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide", "A ferry comes")
	n.feedex(t, "subscribe", url)

	set := newNewsboat(t, url, "use-proxy yes\nproxy-type http\nproxy "+n.reader)
	set.expectUnread(t, 3)
	inherited := newNewsboat(t, url, "")
	inherited.env = append(inherited.env, "http_proxy="+n.url("/"))
	inherited.expectUnread(t, 3)

	p.publish("/harbor.xml", "", "The ferry leaves")
	set.expectUnread(t, 4)
	inherited.expectUnread(t, 4)
	if got := p.asked("newsboat"); got != 0 {
		t.Errorf("newsboat itself asked the publisher %d times", got)
	}
}

// newsboat syncs with the node in each of the modes that it has: what is read, unread or starred in one is so in the
// other.
func TestNewsboatSyncs(t *testing.T) {
	need(t, newsboatProgram(), "tmux")
	for _, mode := range []struct {
		name, path string
		stars      bool
	}{
		{name: "miniflux"},
		{name: "ocnews", stars: true},
		{name: "feedhq", stars: true},
		{name: "freshrss", path: "/api/greader.php", stars: true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if mode.name == "freshrss" && !hasFreshRSS(t) {
				t.Skip("newsboat has this from 2.24 on")
			}
			p, n := startPublisher(t), startPollingNode(t)
			n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide", "A ferry comes"))
			o := n.observer(t)
			o.expect(t, map[string]string{"Low tide": "unread", "High tide": "unread", "A ferry comes": "unread"})
			config := `urls-source "MODE"
MODE-url "` + n.url(mode.path) + `"
MODE-login "newsboat"
MODE-password "` + n.password(t, "newsboat") + `"
show-read-feeds no
`
			if mode.stars {
				config += "MODE-flag-star \"f\"\n"
			}
			if mode.name == "feedhq" || mode.name == "freshrss" {
				config += "MODE-show-special-feeds no\n"
			}
			nb := newNewsboat(t, "", strings.ReplaceAll(config, "MODE", mode.name))

			s := nb.open(t)
			s.sees(t, "Your feeds")
			s.keys(t, "R")
			s.sees(t, "(3/3) Harbor News")
			s.keys(t, "Enter")
			s.sees(t, "Articles in feed 'Harbor News' (3 unread, 3 total)")
			s.keys(t, "Enter") // opens the latest, which marks it read
			s.sees(t, "Title: A ferry comes", "What there is to say of")
			s.keys(t, "q")
			s.sees(t, "(2 unread, 3 total)")
			o.expect(t, map[string]string{"Low tide": "unread", "High tide": "unread", "A ferry comes": "read"})
			s.keys(t, "N")
			s.sees(t, "(3 unread, 3 total)")
			o.expect(t, map[string]string{"A ferry comes": "unread"})
			starred := ""
			if mode.stars {
				starred = " starred"
				s.keys(t, "Up", "C-e", "f", "Enter") // N had gone on to the next article
				o.expect(t, map[string]string{"Low tide": "unread", "High tide": "unread",
					"A ferry comes": "unread starred"})
			}
			s.markAll(t)
			o.expect(t, map[string]string{"Low tide": "read", "High tide": "read", "A ferry comes": "read" + starred})
			s.quit(t, 2)

			// And the other way round.
			nb.expectUnread(t, 0)
			if mode.name == "ocnews" { // the others have no list of what is starred, or one beside the feeds
				o.star(t, "High tide")
				s := nb.open(t)
				s.sees(t, "Your feeds")
				s.keys(t, "R", "l") // l: lists of which all is read as well
				s.sees(t, "(0/2) Starred")
				s.keys(t, "Enter")
				s.sees(t, "A ferry comes", "High tide")
				s.quit(t, 2)
			}
			unread := 0
			if mode.name != "freshrss" { // by which newsboat heeds what is read alone
				o.mark(t, "Low tide", "unread")
				unread = 1
				nb.expectUnread(t, unread)
			}
			p.publish("/harbor.xml", "", "The ferry leaves")
			nb.expectUnread(t, unread+1)
			o.mark(t, "The ferry leaves", "read")
			o.mark(t, "Low tide", "read")
			nb.expectUnread(t, 0)
		})
	}
}

// hasFreshRSS is whether newsboat syncs with FreshRSS, as from 2.24 on.
func hasFreshRSS(t *testing.T) bool {
	t.Helper()
	nb := newNewsboat(t, "", `urls-source "freshrss"`)
	cmd := exec.Command(newsboatProgram(), nb.args("-x", "print-unread")...)
	cmd.Env = nb.env
	out, _ := cmd.CombinedOutput() // which fails in any case: there is no name of a user
	return !strings.Contains(string(out), "invalid configuration value")
}
