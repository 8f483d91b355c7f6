package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// program builds the feedex that the tests run, once for all of them, in a folder that is gone when they have ended.
var (
	programFolder string
	program       = sync.OnceValues(func() (string, error) {
		path := filepath.Join(programFolder, "feedex")
		cmd := exec.Command("go", "build", "-o", path, "./cmd/feedex")
		cmd.Dir = ".."
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return path, nil
	})
)

func TestMain(m *testing.M) {
	var err error
	if programFolder, err = os.MkdirTemp("", "feedex-e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(programFolder)
	os.Exit(code)
}

// A node is a feedex that runs.
type node struct {
	bin    string // the program
	data   string // its directory
	reader string // where feed readers and browsers reach it, host:port
	listen string // where other nodes do
	pid    int    // of its process
}

// url is an address at the node.
func (n *node) url(path string) string { return "http://" + n.reader + path }

// startPollingNode runs a node whose publishers are on this machine, and polled every second.
func startPollingNode(t *testing.T) *node {
	t.Helper()
	return startNode(t, t.TempDir(), "--allow-private", "--poll", "1s")
}

// startNode runs a node until the test ends.
func startNode(t *testing.T, data string, args ...string) *node {
	t.Helper()
	return startProcess(t, nil, nodeArgs(data, args...)...).node(data)
}

// nodeArgs are the arguments by which a node runs on this machine.
func nodeArgs(data string, more ...string) []string {
	return append([]string{"node", "--data", data, "--listen", "127.0.0.1:0", "--reader", "127.0.0.1:0", "--log-level",
		"warn"}, more...)
}

// node is the node that the process is.
func (p *process) node(data string) *node {
	n := &node{data: data, pid: p.cmd.Process.Pid}
	n.bin, _ = program()
	n.listen, n.reader, _ = strings.Cut(p.where, ", feed readers at ")
	return n
}

// A process is a feedex that serves somewhere.
type process struct {
	cmd    *exec.Cmd
	where  string // as it says
	killed bool
}

// kill ends the process as a power cut would.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.killed = true
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait() // which says that it was killed
}

// startTracker runs a tracker until the test ends, and returns its URL.
func startTracker(t *testing.T) string {
	t.Helper()
	return "http://" + start(t, "tracker", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--allow-private",
		"--log-level", "warn") + "/"
}

// start runs a command of feedex until the test ends, and returns where it says that it serves.
func start(t *testing.T, args ...string) (where string) {
	t.Helper()
	return startProcess(t, nil, args...).where
}

// startProcess does the same with more in its environment.
func startProcess(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	// It says to its service manager when it serves, and where.
	dir := t.TempDir()
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(environment(dir, env...), "NOTIFY_SOCKET="+filepath.Join(dir, "n"))
	p := &process{cmd: cmd}
	var log safeBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.killed {
			return
		}
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("the %s ended (%v) and had said:\n%s", args[0], err, &log)
		}
	})
	notify.SetReadDeadline(time.Now().Add(patience))
	buf := make([]byte, 4096)
	for {
		size, err := notify.Read(buf)
		if err != nil {
			t.Fatalf("the %s does not serve: %v\n%s", args[0], err, &log)
		}
		if _, where, ok := strings.Cut(string(buf[:size]), "serving nodes at "); ok {
			p.where = where
			return p
		}
	}
}

// environment is the environment of programs that are run: a home of their own, and no proxy.
func environment(home string, more ...string) []string {
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "LANG=C.UTF-8",
		"LC_ALL=C.UTF-8", "TZ=UTC",
		"PATH=" + os.Getenv("PATH"), "TERM=screen"}
	return append(env, more...)
}

// safeBuffer is a buffer that is written to while it is read.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// feedex runs a command about the node, and returns what it prints.
func (n *node) feedex(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(n.bin, append(args, "--data", n.data)...)
	cmd.Env = environment(t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("feedex %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// ask asks for what is at an address, with headers by name and value, and returns the status and the answer.
func ask(t *testing.T, method, at, body string, headers ...string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, at, err)
	}
	return res.StatusCode, string(got)
}

// password makes a password for a feed reader.
func (n *node) password(t *testing.T, name string) string {
	t.Helper()
	return n.passwordFor(t, name, "--owner")
}

// passwordFor makes a password by options.
func (n *node) passwordFor(t *testing.T, name string, options ...string) string {
	t.Helper()
	var made struct{ Password string }
	if err := json.Unmarshal([]byte(n.feedex(t, append([]string{"password", "add", name, "--json"}, options...)...)),
		&made); err != nil || made.Password == "" {
		t.Fatalf("no password: %v", err)
	}
	return made.Password
}

// An observer sees and sets at the node, as a reader of its own, what is read.
type observer struct {
	node     *node
	password string
}

func (n *node) observer(t *testing.T) *observer {
	t.Helper()
	return &observer{n, n.password(t, "observer")}
}

// call makes a call of Miniflux's API.
func (o *observer) call(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	login := base64.StdEncoding.EncodeToString([]byte("observer:" + o.password))
	status, got := ask(t, method, o.node.url(path), string(sent), "Authorization", "Basic "+login, "Content-Type",
		"application/json")
	if status >= 300 {
		t.Fatalf("%s %s: %d: %s", method, path, status, got)
	}
	if answer != nil {
		if err := json.Unmarshal([]byte(got), answer); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, got)
		}
	}
}

// An entry is the JSON of one as the node tells it.
type entry struct {
	ID      int64
	Title   string
	Status  string
	Starred bool
}

// entries are all that the node has, by title.
func (o *observer) entries(t *testing.T) map[string]entry {
	t.Helper()
	var answer struct{ Entries []entry }
	o.call(t, http.MethodGet, "/v1/entries?limit=100", nil, &answer)
	all := make(map[string]entry)
	for _, e := range answer.Entries {
		all[e.Title] = e
	}
	return all
}

// expect waits until the node has every one of these entries in this state: "read" or "unread", and "starred" behind
// that if it is.
func (o *observer) expect(t *testing.T, want map[string]string) {
	t.Helper()
	eventually(t, func() string {
		got := make(map[string]string)
		for title, e := range o.entries(t) {
			got[title] = e.Status
			if e.Starred {
				got[title] += " starred"
			}
		}
		for title, state := range want {
			if got[title] != state {
				return fmt.Sprintf("the node has %v, want %v", got, want)
			}
		}
		return ""
	})
}

// mark marks an entry read or unread.
func (o *observer) mark(t *testing.T, title, status string) {
	t.Helper()
	o.call(t, http.MethodPut, "/v1/entries", map[string]any{"entry_ids": []int64{o.entries(t)[title].ID},
		"status": status}, nil)
}

// star stars an entry that is not starred.
func (o *observer) star(t *testing.T, title string) {
	t.Helper()
	o.call(t, http.MethodPut, fmt.Sprintf("/v1/entries/%d/bookmark", o.entries(t)[title].ID), nil, nil)
}
