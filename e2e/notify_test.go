package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"feedex/notify/webpush/webpushtest"
)

// A mailbox is where what came for somebody is, as text.
type mailbox struct {
	mu   sync.Mutex
	came []string
}

func (m *mailbox) put(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.came = append(m.came, text)
}

func (m *mailbox) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.came)
}

// expect waits until so many have come, and each holds what is wanted of it.
func (m *mailbox) expect(t *testing.T, who string, want ...string) {
	t.Helper()
	eventually(t, func() string {
		got := m.list()
		if len(got) != len(want) {
			return fmt.Sprintf("%s has %q, want %q", who, got, want)
		}
		for i := range got {
			if !strings.Contains(got[i], want[i]) {
				return fmt.Sprintf("%s has %q, want %q", who, got[i], want[i])
			}
		}
		return ""
	})
}

// startMailServer runs Debian's OpenSMTPD until the test ends, and returns its address. What it takes is in a folder.
func startMailServer(t *testing.T) (address, folder string) {
	t.Helper()
	need(t, "smtpd")
	if os.Geteuid() != 0 {
		missing(t, "OpenSMTPD wants to be started by root")
	}
	top, err := os.MkdirTemp("", "feedex-mail") // which "nobody" may look into
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	folder = filepath.Join(top, "box")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{top: 0o755, folder: 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	port := freePort(t)
	config := filepath.Join(top, "smtpd.conf")
	text := fmt.Sprintf("listen on 127.0.0.1 port %d\ntable who { \"@\" = \"nobody\" }\n"+
		"action \"keep\" mda \"cat > %s/$$.part && mv %s/$$.part %s/$$\" virtual <who>\n"+
		"match from any for any action \"keep\"\n",
		port, folder, folder, folder)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("smtpd", "-d", "-f", config)
	var log safeBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		if t.Failed() {
			t.Logf("OpenSMTPD had said:\n%s", &log)
		}
	})
	return fmt.Sprintf("127.0.0.1:%d", port), folder
}

// mails are the letters in the folder of a mail server.
func mails(t *testing.T, folder string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".part") {
			list = append(list, string(text))
		}
	}
	return list
}

// startPushService runs a push service until the test ends. It is where a receiver is told, whose messages are opened
// into the mailbox, and trusted is the environment of a node that believes its certificate.
func startPushService(t *testing.T) (receiver *webpushtest.Receiver, box *mailbox, trusted []string) {
	t.Helper()
	box = new(mailbox)
	push := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if _, err := webpushtest.Verify(r.Header.Get("Authorization"), "https://"+r.Host, time.Now()); err != nil {
			t.Error(err)
		}
		text, err := receiver.Open(body)
		if err != nil {
			t.Error(err)
		}
		box.put(string(text))
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(push.Close)
	receiver, err := webpushtest.New(push.URL + "/for/me")
	if err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: push.Certificate().Raw})
	if err := os.WriteFile(roots, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return receiver, box, []string{"SSL_CERT_FILE=" + roots}
}

// What a filter catches comes by webhook, ntfy, mail and Web Push; and what a receiver does not take waits, also where
// the node is killed meanwhile, and comes once.
func TestNotifications(t *testing.T) {
	smtp, letters := startMailServer(t)
	var hook, ntfy mailbox
	var down bool
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
		case r.URL.Path == "/hook" && down:
			http.Error(w, "not now", http.StatusServiceUnavailable)
		case r.URL.Path == "/hook":
			hook.put(string(body))
		case r.URL.Path == "/" && r.Header.Get("Authorization") == "Bearer tk_secret":
			var m struct{ Topic, Title string }
			if json.Unmarshal(body, &m) == nil {
				ntfy.put(m.Topic + ": " + m.Title)
			}
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	receiver, phone, trusted := startPushService(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("tk_secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	p := startPublisher(t)
	data := t.TempDir()
	args := []string{"--allow-private", "--poll", "1s"}
	running := startProcess(t, trusted, nodeArgs(data, args...)...)
	n := running.node(data)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "A storm of yesterday"))
	n.feedex(t, "filter", "add", "storms", "storm NOT brain")
	n.feedex(t, "notify", "add", "hook", "webhook", server.URL+"/hook", "--local", "--secret-file", secret)
	n.feedex(t, "notify", "add", "ntfy", "ntfy", server.URL+"/alerts", "--local", "--secret-file", secret,
		"--filter", "storms")
	n.feedex(t, "notify", "add", "mail", "mail", "me@example.com", "--server", "smtp://"+smtp)
	n.feedex(t, "notify", "add", "phone", "webpush", string(receiver.Subscription()), "--local")
	o := n.observer(t)
	eventually(t, func() string {
		if _, ok := o.entries(t)["A storm of yesterday"]; !ok {
			return "the feed was not polled"
		}
		return ""
	})
	p.publish("/harbor.xml", "", "Storm at the mole", "A brain storm", "Calm")
	hook.expect(t, "the webhook", `"title":"Storm at the mole"`)
	ntfy.expect(t, "ntfy", "alerts: Storm at the mole")
	phone.expect(t, "the phone", `"title":"Storm at the mole"`)
	eventually(t, func() string {
		got := mails(t, letters)
		if len(got) != 1 || !strings.Contains(got[0], "Subject: Storm at the mole") {
			return fmt.Sprintf("there are the letters %q", got)
		}
		return ""
	})
	if said := n.feedex(t, "notify", "test", "hook"); !strings.Contains(said, "taken") {
		t.Errorf("a trial says %q", said)
	}
	hook.expect(t, "the webhook", "", "can reach you")

	mu.Lock()
	down = true
	mu.Unlock()
	p.publish("/harbor.xml", "", "Storm two", "Storm three")
	ntfy.expect(t, "ntfy", "", "2 entries: storms")
	eventually(t, func() string {
		if list := n.feedex(t, "notify", "list", "--json"); !strings.Contains(list, "503") {
			return "the trouble is not listed: " + list
		}
		return ""
	})
	if list := n.feedex(t, "notify", "list"); strings.Contains(list, "tk_secret") ||
		!strings.Contains(list, "not now") {
		t.Errorf("the list says\n%s", list)
	}
	running.kill(t)
	mu.Lock()
	down = false
	mu.Unlock()
	n = startProcess(t, trusted, nodeArgs(data, args...)...).node(data)
	n.feedex(t, "notify", "add", "hook", "webhook", server.URL+"/hook", "--local") // which has it tried at once
	hook.expect(t, "the webhook", "", "", "2 entries: storms")
	p.publish("/harbor.xml", "", "Storm four")
	hook.expect(t, "the webhook", "", "", "", "Storm four")
	ntfy.expect(t, "ntfy", "", "", "Storm four")
	phone.expect(t, "the phone", "", "2 entries", "Storm four")
}

// A message that somebody else's library seals and signs is opened and verified by the receiver of these tests: so what
// it says of feedex's own is worth something.
func TestReceiverOfWebPush(t *testing.T) {
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		t.Fatal(err)
	}
	var receiver *webpushtest.Receiver
	var opened string
	var claim webpushtest.Claim
	push := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			claim, err = webpushtest.Verify(r.Header.Get("Authorization"), "https://"+r.Host, time.Now())
		}
		if err != nil {
			t.Error(err)
		}
		text, err := receiver.Open(body)
		if err != nil {
			t.Error(err)
		}
		opened = string(text)
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(push.Close)
	if receiver, err = webpushtest.New(push.URL + "/x"); err != nil {
		t.Fatal(err)
	}
	var s webpush.Subscription
	if err := json.Unmarshal(receiver.Subscription(), &s); err != nil {
		t.Fatal(err)
	}
	answer, err := webpush.SendNotification([]byte("a message"), &s, &webpush.Options{HTTPClient: push.Client(),
		Subscriber: "someone@example.com", VAPIDPublicKey: public, VAPIDPrivateKey: private, TTL: 30})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if opened != "a message" || claim.Key != public || claim.Subject != "mailto:someone@example.com" {
		t.Errorf("opened %q of %+v", opened, claim)
	}
}

// The owner adds a receiver on the page; and the message that came by Web Push, opened and handed to the page's worker,
// is shown and leads to the entry.
func TestBrowserIsTold(t *testing.T) {
	needBrowser(t)
	receiver, phone, trusted := startPushService(t)
	p, data := startPublisher(t), t.TempDir()
	n := startProcess(t, trusted, nodeArgs(data, "--allow-private", "--poll", "1s")...).node(data)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "High tide"))
	n.feedex(t, "filter", "add", "storms", "storm")
	var came mailbox
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			came.put(string(body))
		}
	}))
	t.Cleanup(server.Close)
	b := openBrowser(t, n)
	b.visit(t, "/notifications")
	b.says(t, "Log in")
	password := n.password(t, "laptop")
	b.visit(t, "/login?next=/notifications")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), password))
	b.click(t, `form[action="/login"] button`)
	b.says(t, "This browser", "Elsewhere")
	b.inspect(t, "notifications")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#name"), "hook"), chromedp.SendKeys(chromedp.CSS("#kind"), "webhook"),
		chromedp.SendKeys(chromedp.CSS("#address"), server.URL+"/"+strings.Repeat("X", 60)))
	b.evaluate(t, "(document.querySelector('[name=local]').checked = true, '')")
	b.click(t, "form.narrow p > button")
	b.says(t, "hook is added", "all filters", "at once")
	b.click(t, "table form button")
	b.says(t, "hook has taken the message")
	came.expect(t, "the webhook", "can reach you")
	b.inspect(t, "notifications-added")

	if _, err := chromedp.CallBrowser(b.ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"},
		Setting:    cdpbrowser.PermissionSettingGranted, Origin: n.url(""),
	}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var id serviceworker.RegistrationID
	if err := chromedp.Listen(b.ctx, func(ev any) {
		if e, ok := ev.(*serviceworker.EventWorkerRegistrationUpdated); ok {
			for _, r := range e.Registrations {
				mu.Lock()
				id = r.RegistrationID
				mu.Unlock()
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.bounded(t, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, serviceworker.Enable, struct{}{})
		return err
	})
	b.visit(t, "/entries")
	b.evaluate(t, "navigator.serviceWorker.ready.then(() => 'ready')")
	eventually(t, func() string {
		mu.Lock()
		defer mu.Unlock()
		if id == "" {
			return "the browser tells of no worker"
		}
		return ""
	})
	eventually(t, func() string { // an entry of a first poll is no news
		if text := n.get(t, "/all.atom"); !strings.Contains(text, "High tide") {
			return "the feed was not polled: " + text
		}
		return ""
	})
	n.feedex(t, "notify", "add", "phone", "webpush", string(receiver.Subscription()), "--local")
	p.publish("/harbor.xml", "", "Storm at the mole")
	phone.expect(t, "the phone", `"title":"Storm at the mole"`)
	message := phone.list()[0]
	var m struct{ Title, Text, Entry string }
	if err := json.Unmarshal([]byte(message), &m); err != nil || m.Text == "" || m.Entry == "" {
		t.Fatalf("the message is %s: %v", message, err)
	}
	// To ask for what is shown while it is about to be shown makes Chromium forget it; so it is delivered until it
	// stays, and its tag shows it once.
	eventually(t, func() string {
		b.bounded(t, func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			_, err := chromedp.Call(ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
				Origin: n.url(""), RegistrationID: id, Data: message,
			})
			return err
		})
		shown := b.evaluate(t, `navigator.serviceWorker.ready.then(r => r.getNotifications()).then(
			list => list.map(x => x.title + '|' + x.body + '|' + x.data).join())`)
		if shown != m.Title+"|"+m.Text+"|/entries/"+m.Entry {
			return "shown: " + shown
		}
		return ""
	})
	b.visit(t, "/entries/"+m.Entry)
	b.says(t, "Storm at the mole", "Harbor News")
}
