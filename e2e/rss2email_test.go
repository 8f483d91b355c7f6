package e2e

import (
	"encoding/base64"
	"io"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rss2email has the entries of feeds mailed: of those that the node's OPML lists, of one by its address at the node,
// and of one at the publisher by the node as its proxy. Each comes once.
func TestRSS2EmailReadsFeedsOut(t *testing.T) {
	need(t, "r2e")
	p, n := startPublisher(t), startPollingNode(t)
	harbor := p.publish("/harbor.xml", "Harbor News", "Low tide", "High & dry")
	n.feedex(t, "subscribe", harbor)
	n.observer(t).expect(t, map[string]string{"Low tide": "unread"})
	list := filepath.Join(t.TempDir(), "feeds.opml")
	if err := os.WriteFile(list, []byte(n.get(t, "/opml?via=node")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		name, proxy string
		add         []string
	}{
		{"by the list", "", []string{"opmlimport", list}},
		{"by its address", "", []string{"add", "harbor", n.url("/feed/" + harbor)}},
		{"by proxy", "http_proxy=" + n.url("/"), []string{"add", "harbor", harbor}},
	} {
		t.Run(way.name, func(t *testing.T) {
			dir := t.TempDir()
			// What is to be mailed is kept in a folder: that takes the place of a mail server.
			sendmail, box := filepath.Join(dir, "sendmail"), t.TempDir()
			for path, text := range map[string]string{sendmail: "#!/bin/sh\ncat > '" + box + "'/$$\n",
				filepath.Join(dir, "rss2email.cfg"): "[DEFAULT]\nfrom = feeds@example.org\nto = me@example.org\n" +
					"email-protocol = sendmail\nsendmail = " + sendmail + "\n"} {
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			r2e := func(args ...string) {
				t.Helper()
				cmd := exec.Command("r2e", append([]string{"-c", filepath.Join(dir, "rss2email.cfg"), "-d",
					filepath.Join(dir, "seen.json")}, args...)...)
				cmd.Env = environment(dir, way.proxy)
				if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "rror") {
					t.Fatalf("r2e %s: %v\n%s", strings.Join(args, " "), err, out)
				}
			}
			r2e(way.add...)
			for range 2 { // the second time nothing is new
				r2e("run")
			}
			var got []string
			for _, letter := range mails(t, box) {
				m, err := mail.ReadMessage(strings.NewReader(letter))
				if err != nil {
					t.Fatalf("%v: %s", err, letter)
				}
				body, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, m.Body))
				if err != nil || !strings.Contains(string(body), "What there is to say of") {
					t.Errorf("%v: the letter says %q", err, body)
				}
				got = append(got, m.Header.Get("Subject")+" "+m.Header.Get("X-RSS-URL"))
			}
			slices.Sort(got)
			want := []string{"High & dry " + p.server.URL + "/1", "Low tide " + p.server.URL + "/0"}
			if !slices.Equal(got, want) {
				t.Errorf("mailed: %q, want %q", got, want)
			}
		})
	}
	if all, own := p.asked(""), p.asked("feedex"); all != own {
		t.Errorf("of %d requests at the publisher %d are of others than the node", all, all-own)
	}
}
