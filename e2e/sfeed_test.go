package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sfeed, a set of small programs over curl, reads a feed at the node in both of the formats of XML, and all feeds in
// one; and a feed at its publisher's address by the node as its proxy.
func TestSfeedReadsFeedsOut(t *testing.T) {
	need(t, "sfeed_update", "curl")
	p, n := startPublisher(t), startPollingNode(t)
	harbor := p.publish("/harbor.xml", "Harbor News", "Low tide", "High & dry <again>")
	n.feedex(t, "subscribe", harbor)
	o := n.observer(t)
	o.expect(t, map[string]string{"Low tide": "unread"})

	dir := t.TempDir()
	rc := filepath.Join(dir, "sfeedrc")
	text := fmt.Sprintf("sfeedpath=%q\nfeeds() {\nfeed byurl %q\nfeed atom %q\nfeed rss %q\nfeed all %q\n"+
		"export http_proxy=%q\nfeed proxy %q\n}\n", dir, n.url("/feed/"+harbor), n.url("/feeds/1.atom"),
		n.url("/feeds/1.rss"), n.url("/all.atom"), n.url("/"), harbor)
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is new
		cmd := exec.Command("sfeed_update", rc)
		cmd.Env = environment(dir)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "FAIL") {
			t.Fatalf("sfeed_update: %v\n%s", err, out)
		}
	}
	for _, name := range []string{"byurl", "atom", "rss", "all", "proxy"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		var titles []string
		for line := range strings.Lines(string(got)) {
			if fields := strings.Split(line, "\t"); len(fields) > 5 && fields[0] != "" &&
				strings.HasPrefix(fields[2], p.server.URL+"/") &&
				strings.Contains(fields[3], "What there is to say of") && fields[5] != "" {
				titles = append(titles, fields[1])
			}
		}
		if want := "High & dry ＜again＞|Low tide"; strings.Join(titles, "|") != want {
			t.Errorf("%s: sfeed has the entries %q, want %q, each with time, link, text and id:\n%s", name,
				titles, want, got)
		}
	}
	if all, own := p.asked(""), p.asked("feedex"); all != own {
		t.Errorf("of %d requests at the publisher %d are of others than the node", all, all-own)
	}
}
