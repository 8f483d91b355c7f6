package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedex/notify/ntfytest"
)

// The owner follows a feed by a message, is told nothing for two hours by another, and is answered; what is sent while
// the node is off waits, and a node that is killed after a command, before it could answer, answers it and does not do
// it again.
func TestCommandsByMessage(t *testing.T) {
	ntfy := &ntfytest.Server{Token: "tk_secret"}
	server := httptest.NewServer(ntfy)
	t.Cleanup(server.Close)
	t.Cleanup(ntfy.Cut)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("tk_secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startPublisher(t)
	harbor := p.publish("/harbor.xml", "Harbor News", "A storm of yesterday")
	data := t.TempDir()
	args := nodeArgs(data, "--allow-private", "--poll", "1s")
	running := startProcess(t, nil, args...)
	n := running.node(data)
	made := n.feedex(t, "notify", "add", "phone", "ntfy", server.URL+"/alerts", "--local", "--secret-file", secret,
		"--commands", "orders")
	_, line, _ := strings.Cut(made, "\n  ")
	word, _, ok := strings.Cut(line, " ")
	if !ok || len(word) != 19 {
		t.Fatalf("no word is shown: %q", made)
	}
	n.feedex(t, "filter", "add", "storms", "storm")
	wants := func(want ...string) {
		t.Helper()
		eventually(t, func() string {
			got := ntfy.Texts("alerts")
			if len(got) != len(want) {
				return fmt.Sprintf("told %q, want %q", got, want)
			}
			for i := range got {
				if !strings.Contains(got[i], want[i]) {
					return fmt.Sprintf("told %q, want %q", got, want)
				}
			}
			return ""
		})
	}
	say := func(text string) { ntfy.Publish("orders", text, time.Now()) }
	say("subscribe " + harbor) // by somebody who does not know the word
	say(word + " subscribe " + harbor)
	wants("Harbor News")
	say(word + " list")
	wants("", "You follow:\n1 Harbor News")

	// Killed when the command is done and not yet answered.
	var answering, answered atomic.Int64
	ntfy.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body) // or it is not known when who asks has gone
		answering.Add(1)
		<-r.Context().Done()
		return true
	})
	say(word + " mute 2h")
	eventually(t, func() string {
		if answering.Load() == 0 {
			return "the command is not answered"
		}
		return ""
	})
	running.kill(t)
	ntfy.Refuse(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			answered.Add(1)
		}
		return false
	})
	say(word + " unsubscribe 1") // while it is off
	say("unsubscribe 1")
	running = startProcess(t, nil, args...)
	n = running.node(data)
	wants("", "", "You are told nothing until", "You follow 1 Harbor News no more")
	if got := n.feedex(t, "notify", "list"); !strings.Contains(got, "mute until") {
		t.Errorf("the list says\n%s", got)
	}
	say(word + " subscribe " + harbor)
	wants("", "", "", "", "You follow 1 Harbor News")
	p.publish("/harbor.xml", "", "Storm at the mole")
	eventually(t, func() string {
		if list := n.feedex(t, "notify", "list", "--json"); !strings.Contains(list, `"waiting": 1`) {
			return "nothing waits: " + list
		}
		return ""
	})
	say(word + " unmute")
	wants("", "", "", "", "", "", "")
	for _, want := range []string{"You are told of what is new", "Harbor News · storms"} { // in whichever order
		if got := ntfy.Texts("alerts"); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}

	// Killed while it is off, again and again, it does nothing again.
	for range 3 {
		running.kill(t)
		running = startProcess(t, nil, args...)
		n = running.node(data)
	}
	say(word + " list")
	wants("", "", "", "", "", "", "", "You follow:\n1 Harbor News")
	if n := answered.Load(); n != 6 {
		t.Errorf("%d answers and messages after the first kill, want 6", n)
	}
}
