package e2e

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// runUntil runs a program until the test ends.
func runUntil(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = environment(t.TempDir(), env...)
	var log safeBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s had said:\n%s", args[0], &log)
		}
	})
}

// freePort is a port of this machine at which nobody listens, and not one of those that systems hand out themselves: a
// connection that is made in another test takes none of these before the server listens that it is for.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("of a hundred ports none is free")
	return 0
}

// answers waits until somebody listens at a port.
func answers(t *testing.T, port int) {
	t.Helper()
	eventually(t, func() string {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			return err.Error()
		}
		c.Close()
		return ""
	})
}

// write writes a file that is its owner's alone.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startJabber runs Prosody until the test ends, with the accounts feedex and me of example.com, whose passwords are
// those names. It returns its port, and the environment of programs that believe its certificate.
func startJabber(t *testing.T) (port int, trusted []string) {
	t.Helper()
	need(t, "prosody", "prosodyctl")
	dir := t.TempDir()
	s := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate, which is for example.com
	s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := filepath.Join(dir, "certificate.pem")
	write(t, certificate,
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	port = freePort(t)
	config := filepath.Join(dir, "prosody.cfg.lua")
	write(t, config, fmt.Sprintf(`run_as_root = true
pidfile = "%[1]s/pid"
data_path = "%[1]s"
interfaces = { "127.0.0.1" }
c2s_ports = { %[2]d }
modules_enabled = { "roster", "saslauth", "tls", "disco", "offline" }
modules_disabled = { "s2s" }
c2s_require_encryption = true
authentication = "internal_hashed"
ssl = { key = "%[1]s/key.pem", certificate = "%[1]s/certificate.pem" }
VirtualHost "example.com"
`, dir, port))
	for _, name := range []string{"feedex", "me"} {
		cmd := exec.Command("prosodyctl", "--config", config, "register", name, "example.com", name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("prosodyctl: %v\n%s", err, out)
		}
	}
	runUntil(t, nil, "prosody", "-F", "--config", config)
	answers(t, port)
	return port, []string{"SSL_CERT_FILE=" + certificate}
}

// matrixServer is a homeserver with one room, after the Matrix client-server specification. What is sent to the room
// goes into the box; while it is shut, it says that there is too much.
func matrixServer(t *testing.T, room string, box *mailbox, shut *atomic.Bool) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Version r0 has the same calls as v3. A transaction ID, with PUT, is left out by some clients.
		call := strings.NewReplacer("/v3/", "/r0/", room, "ROOM").Replace(r.URL.Path)
		call = strings.TrimPrefix(call, "/_matrix/client/r0/")
		var asked struct{ Type, User, Password, MsgType, Body string }
		json.NewDecoder(r.Body).Decode(&asked)
		answer := map[string]any{"errcode": "M_UNRECOGNIZED", "error": call}
		status := http.StatusNotFound
		switch {
		case shut.Load():
			status, answer = http.StatusTooManyRequests, map[string]any{"errcode": "M_LIMIT_EXCEEDED",
				"retry_after_ms": 1}
		case call == "login" && asked.Type == "m.login.password" && asked.User == "feedex" && asked.Password == "pass":
			status, answer = http.StatusOK, map[string]any{"user_id": "@feedex:example.com", "access_token": "token",
				"device_id": "D", "home_server": "example.com"}
		case r.Header.Get("Authorization") != "Bearer token":
			status, answer = http.StatusForbidden, map[string]any{"errcode": "M_FORBIDDEN", "error": "no"}
		case call == "rooms/ROOM/join" || call == "join/ROOM":
			status, answer = http.StatusOK, map[string]any{"room_id": room}
		case strings.HasPrefix(call, "rooms/ROOM/send/m.room.message"):
			box.put(asked.MsgType + " " + asked.Body)
			status, answer = http.StatusOK, map[string]any{"event_id": "$one"}
		case call == "logout":
			status, answer = http.StatusOK, map[string]any{}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// hooksOfTheRecipe are those that docs/NOTIFICATIONS.md has.
func hooksOfTheRecipe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/NOTIFICATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipes, ok := strings.Cut(string(text), "\n## Matrix, XMPP, Apprise\n")
	_, hooks, found := strings.Cut(recipes, "\n```json\n")
	hooks, _, closed := strings.Cut(hooks, "```")
	if !ok || !found || !closed {
		t.Fatal("the document has no recipes")
	}
	return hooks
}

// The recipes for Matrix, XMPP and Apprise are followed to the letter, but for where files and servers are: what a
// filter catches reaches the room, the account and what else Apprise is told of, and comes later where that is out of
// order.
func TestRecipes(t *testing.T) {
	need(t, "webhook", "apprise", "go-sendxmpp")
	jabber, trusted := startJabber(t)
	var room, other mailbox
	var shut atomic.Bool
	const id = "!abcDEF123:example.com"
	homeserver := matrixServer(t, id, &room, &shut)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct{ Title, Message string }
		if json.NewDecoder(r.Body).Decode(&m) == nil {
			other.put(m.Title + "|" + m.Message)
		}
	}))
	t.Cleanup(elsewhere.Close)

	dir := t.TempDir()
	address := url.URL{Scheme: "matrix", User: url.UserPassword("feedex", "pass"), Host: homeserver, Path: "/" + id}
	apprise := filepath.Join(dir, "apprise.conf")
	write(t, apprise, address.String()+"\njson://"+elsewhere.Listener.Addr().String()+"/\n")
	sendxmpp := filepath.Join(dir, "go-sendxmpp.conf")
	write(t, sendxmpp, fmt.Sprintf("username: feedex@example.com\npassword: feedex\njserver: 127.0.0.1:%d\n", jabber))
	hooks := filepath.Join(dir, "webhook.conf")
	write(t, hooks, strings.NewReplacer("/etc/apprise.conf", apprise, "/etc/go-sendxmpp.conf", sendxmpp).
		Replace(hooksOfTheRecipe(t)))
	port := freePort(t)
	runUntil(t, trusted, "webhook", "-nopanic", "-hooks", hooks, "-ip", "127.0.0.1", "-port", fmt.Sprint(port))
	answers(t, port)

	me := exec.Command("go-sendxmpp", "-l", "-u", "me@example.com", "-p", "me", "-j",
		fmt.Sprintf("127.0.0.1:%d", jabber))
	me.Env = environment(dir, trusted...)
	var phone safeBuffer
	me.Stdout, me.Stderr = &phone, &phone
	if err := me.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		me.Process.Kill()
		me.Wait()
	})

	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "High tide"))
	n.feedex(t, "filter", "add", "storms", "storm")
	at := fmt.Sprintf("http://127.0.0.1:%d/hooks/", port)
	n.feedex(t, "notify", "add", "chat", "webhook", at+"apprise-SECRET1", "--local")
	n.feedex(t, "notify", "add", "jabber", "webhook", at+"xmpp-SECRET2", "--local")
	eventually(t, func() string { // an entry of a first poll is no news
		if text := n.get(t, "/all.atom"); !strings.Contains(text, "High tide") {
			return "the feed was not polled: " + text
		}
		return ""
	})
	p.publish("/harbor.xml", "", `--version "$(id)" storm`)
	const title, text = `--version "$(id)" storm`, "Harbor News · storms http"
	room.expect(t, "the room", "m.text # "+title+"\r\n"+text)
	other.expect(t, "what else Apprise is told of", title+"|"+text)
	eventually(t, func() string {
		if got := phone.String(); !strings.Contains(got, "feedex@example.com: "+title+"\n"+text) {
			return "the account has " + got
		}
		return ""
	})

	shut.Store(true)
	p.publish("/harbor.xml", "", "Storm two")
	eventually(t, func() string {
		if list := n.feedex(t, "notify", "list", "--json"); !strings.Contains(list, "500") {
			return "the trouble is not listed: " + list
		}
		return ""
	})
	shut.Store(false)
	n.feedex(t, "notify", "add", "chat", "webhook", at+"apprise-SECRET1", "--local") // which has it tried at once
	eventually(t, func() string {
		if got := strings.Join(room.list(), "\n"); !strings.Contains(got, "Storm two") {
			return "the room has " + got
		}
		return ""
	})
}
