package main

import (
	"flag"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// update is for tests that compare to files of the repository: they write them instead.
var update = flag.Bool("update", false, "rewrite golden files and man pages")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"feedex": main})
}

// TestScripts runs testdata/script. Besides what testscript knows, scripts can say
//
//	[root]                          whether the tests run as root
//	refused feedex ARGS...          the command ends with exit code 2 and prints nothing on standard output
//	ready NAME                      wait until a program serves; $NAME_LISTEN and $NAME_READER say where
//	feed [-first] NAME TITLE...     publish a feed at $NAME
//	publish NAME TITLE              add an entry to it
//	until PATTERN COMMAND ARGS...   run a command until its output matches
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else the race detector has every command wait a second
			return openNotifySocket(env)
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"refused": refused,
			"ready":   waitReady,
			"feed":    startFeed,
			"page":    startPage,
			"moved":   startMoved,
			"older":   setOlder,
			"publish": publish,
			"until":   runUntil,
		},
	})
}

func refused(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	if code := exitCodeOf(err); code != exitUsage || neg {
		ts.Fatalf("exit code %d, want %d", code, exitUsage)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output holds %q", out)
	}
}

// exitCodeOf is the exit code of a command that ended with err.
func exitCodeOf(err error) int {
	if e, ok := err.(interface{ ExitCode() int }); ok {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// scriptPatience is how long a script waits for what must happen. It only bounds a failing test.
const scriptPatience = 10 * time.Minute

// Keys of what scripts keep in testscript.Env.Values.
type (
	notifyKey struct{} // *net.UnixConn
	feedsKey  struct{} // map[string]*scriptFeed
)

// openNotifySocket has the programs of a script tell it what they tell their service manager: that is how
// it learns that a node serves, and where.
func openNotifySocket(env *testscript.Env) error {
	path := filepath.Join(env.WorkDir, "notify.sock")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	env.Defer(func() { conn.Close() })
	env.Setenv("NOTIFY_SOCKET", path)
	env.Values[notifyKey{}] = conn
	env.Values[feedsKey{}] = make(map[string]*scriptFeed)
	return nil
}

// waitReady is the command `ready NAME`: it waits until a program says that it serves, and sets
// $NAME_LISTEN and, for a node, $NAME_READER to where.
func waitReady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready NAME")
	}
	conn := ts.Value(notifyKey{}).(*net.UnixConn)
	ts.Check(conn.SetReadDeadline(time.Now().Add(scriptPatience)))
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		ts.Check(err)
		_, status, ok := strings.Cut(string(buf[:n]), "READY=1\nSTATUS=serving nodes at ")
		if !ok {
			continue // another program that stops
		}
		listen, reader, _ := strings.Cut(status, ", feed readers at ")
		ts.Setenv(args[0]+"_LISTEN", onLoopback(listen))
		ts.Setenv(args[0]+"_READER", reader)
		return
	}
}

// onLoopback is how to reach, from this machine, what listens at addr.
func onLoopback(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && !ip.IsUnspecified() {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// A scriptFeed is a feed that a script publishes.
type scriptFeed struct {
	name      string
	firstOnly bool // only the first program that asks gets it, which shows itself later by its ETag
	mu        sync.Mutex
	asked     bool
	titles    []string
	older     []string // what its archive has (RFC 5005), none for no archive
}

// startFeed is the command `feed [-first] NAME TITLE...`: it publishes, at $NAME, a feed with an entry
// for each title. With -first every program but the first that asks is refused.
func startFeed(ts *testscript.TestScript, neg bool, args []string) {
	f := new(scriptFeed)
	if len(args) > 0 && args[0] == "-first" {
		f.firstOnly, args = true, args[1:]
	}
	if neg || len(args) < 1 {
		ts.Fatalf("usage: feed [-first] NAME TITLE...")
	}
	f.name, f.titles = args[0], args[1:]
	srv := httptest.NewServer(f)
	ts.Defer(srv.Close)
	ts.Setenv(f.name, srv.URL+"/feed.xml")
	ts.Value(feedsKey{}).(map[string]*scriptFeed)[f.name] = f
}

// startPage is the command `page NAME [TITLE URL]...`: it has a web page at $NAME that names feeds.
func startPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: page NAME [TITLE URL]...")
	}
	var page strings.Builder
	page.WriteString("<!DOCTYPE html><title>A page</title>")
	for i := 1; i < len(args); i += 2 {
		fmt.Fprintf(&page, `<link rel="alternate" type="application/rss+xml" title="%s" href="%s">`,
			html.EscapeString(args[i]), html.EscapeString(args[i+1]))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		io.WriteString(w, page.String())
	}))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL+"/")
}

// startMoved is the command `moved NAME FEED`: what is at $NAME has moved for good to the same with a slash behind it,
// where that feed is published as well.
func startMoved(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: moved NAME FEED")
	}
	mux := http.NewServeMux()
	mux.Handle("/old", http.RedirectHandler("/old/", http.StatusMovedPermanently))
	mux.Handle("/old/", ts.Value(feedsKey{}).(map[string]*scriptFeed)[args[1]])
	srv := httptest.NewServer(mux)
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL+"/old")
}

// setOlder is the command `older NAME TITLE...`: it gives a feed an archive document with an entry for each title.
func setOlder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: older NAME TITLE...")
	}
	f := ts.Value(feedsKey{}).(map[string]*scriptFeed)[args[0]]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.older = args[1:]
}

// publish is the command `publish NAME TITLE`: it adds an entry to a feed.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: publish NAME TITLE")
	}
	f := ts.Value(feedsKey{}).(map[string]*scriptFeed)[args[0]]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.titles = append(f.titles, args[1])
}

func (f *scriptFeed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const tag = `"the first"`
	if f.firstOnly && f.asked && r.Header.Get("If-None-Match") != tag {
		http.Error(w, "only the first may read this", http.StatusForbidden)
		return
	}
	f.asked = true
	w.Header().Set("Content-Type", "application/rss+xml")
	w.Header().Set("ETag", tag)
	fmt.Fprintf(w, `<?xml version="1.0"?><rss version="2.0" `+
		`xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>The `+
		`%s</title><link>http://example.com/</link><description/>`, f.name)
	titles, kind := f.titles, ""
	if r.URL.Path == "/older.xml" {
		titles, kind = f.older, "old-"
	} else if f.older != nil {
		io.WriteString(w, `<atom:link rel="prev-archive" href="/older.xml"/>`)
	}
	for i, title := range titles {
		fmt.Fprintf(w, `<item><guid isPermaLink="false">%s-%s%d</guid><title>%s</title><link>`+
			`http://example.com/%d</link>`+
			`<pubDate>Sun, 15 Jun 2025 12:00:00 GMT</pubDate></item>`, f.name, kind, i, html.EscapeString(title), i)
	}
	io.WriteString(w, `</channel></rss>`)
}

// runUntil is the command `until PATTERN COMMAND ARGS...`: it runs the command again and again until its
// standard output matches.
func runUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND ARGS...")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(scriptPatience); time.Now().Before(end); {
		if ts.Exec(args[1], args[2:]...) == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%v did not print %s within %v; the last output was\n%s%s",
		args[1:], args[0], scriptPatience, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
}
