package e2e

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Who watches over a node has its figures and its health as the README says: health is for everybody, figures for who
// sees the pages, and nothing of what is read is in either.
func TestANodeIsWatched(t *testing.T) {
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide"))
	n.observer(t).expect(t, map[string]string{"Low tide": "unread", "High tide": "unread"})
	secret := n.passwordFor(t, "prometheus")
	far := []string{"X-Forwarded-For", "192.0.2.7"} // by a web server in front
	login := func(password string) []string {
		return append(far, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("prometheus:"+password)))
	}
	for _, c := range []struct {
		path    string
		headers []string
		status  int
	}{
		{"/healthz", nil, 200}, {"/healthz", far, 200},
		{"/metrics", nil, 200}, {"/metrics", far, 401}, {"/metrics", login("a guess"), 401},
		{"/metrics", login(secret), 200},
	} {
		status, text := ask(t, http.MethodGet, n.url(c.path), "", c.headers...)
		if status != c.status {
			t.Errorf("%s, with %v: %d, want %d: %s", c.path, c.headers, status, c.status, text)
		}
		switch {
		case c.path == "/healthz" && text != "ok\n":
			t.Errorf("health: %q", text)
		case c.path == "/metrics" && (status == 200) != regexp.MustCompile(`(?m)^feedex_feeds 1$`).MatchString(text):
			t.Errorf("with %v there are the figures\n%s", c.headers, text)
		case strings.Contains(strings.ToLower(text), "harbor") || strings.Contains(text, p.server.URL):
			t.Errorf("%s tells what is read:\n%s", c.path, text)
		}
	}
}
