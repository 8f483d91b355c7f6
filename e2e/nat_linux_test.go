package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inNetworks is set where TestHomesBehindACarrier runs in namespaces of its own, to the program.
const inNetworks = "FEEDEX_NETWORKS"

// The networks: one in which everybody can be dialled, at addresses that nodes take for public ones, with a bridge; a
// carrier that lets nobody in and has one address there; and behind it two homes, whose routers let nobody in either,
// with the same addresses inside.
const (
	publicNode, theTracker, thePublisher = "11.0.2.2", "11.0.1.3", "11.0.3.80"
	carrierAt, carrierNext               = "11.0.9.9", "11.0.9.10"
)

// Two homes behind one carrier, and one node that can be dialled, have what each of them polls, and find what each of
// them has; a router that restarts and a carrier that forgets all connections and changes its address cost them a
// moment.
func TestHomesBehindACarrier(t *testing.T) {
	bin := os.Getenv(inNetworks)
	if bin == "" {
		need(t, "ip", "nft", "unshare", "python3")
		runInNetworks(t)
		return
	}
	layNetworks(t)
	pages := t.TempDir()
	publish := publisherIn(t, pages)
	publish(3)
	inNetwork(t, bin, "tracker", "tracker", "--listen", theTracker+":7788")
	public := nodeIn(t, bin, "public", "--listen", "0.0.0.0:7790", "--poll", "1h")
	one := nodeIn(t, bin, "home1", "--listen", "0.0.0.0:7790", "--poll", "5s")
	two := nodeIn(t, bin, "home2", "--listen", "0.0.0.0:7790", "--poll", "1h")
	for _, n := range []*node{public, one, two} {
		n.linked(t, map[*node]int{public: 2, one: 1, two: 1}[n])
	}
	var status struct{ Hosted int }
	public.told(t, &status, "status")
	if status.Hosted != 2 {
		t.Errorf("the public node hosts %d, want 2", status.Hosted)
	}

	publish(4)
	public.has(t, "Entry 3")
	two.has(t, "Entry 3")

	// What only the other home has is found, and fetched by way of the public node.
	one.feedex(t, "subscribe", "http://"+thePublisher+"/own.xml")
	one.has(t, "Walrus")
	eventually(t, func() string {
		if out := two.feedex(t, "query", "--network", "walrus"); !strings.Contains(out, "Walrus") {
			return "the other home's entry is not found: " + out
		}
		return ""
	})

	// The router restarts.
	command(t, "ip", "-n", "router2", "link", "set", "out", "down")
	command(t, "ip", "-n", "router2", "link", "set", "out", "up")
	command(t, "ip", "-n", "router2", "route", "add", "default", "via", "100.64.0.1")
	// The carrier forgets all connections, and has another address.
	command(t, "ip", "netns", "exec", "carrier", "nft", "flush ruleset")
	command(t, "ip", "netns", "exec", "carrier", "nft",
		"add table ip raw; add chain ip raw pre { type filter hook prerouting priority -300; }; "+
			"add rule ip raw pre ip daddr "+carrierAt+" drop")
	command(t, "ip", "-n", "carrier", "addr", "del", carrierAt+"/16", "dev", "eth0")
	command(t, "ip", "-n", "carrier", "addr", "add", carrierNext+"/16", "dev", "eth0")
	masquerade(t, "carrier", "eth0")
	eventually(t, func() string {
		var list []struct{ ID string }
		public.told(t, &list, "neighbors")
		for _, n := range list {
			if !strings.HasSuffix(n.ID, "@"+carrierNext) {
				return fmt.Sprintf("the public node's neighbors are %v", list)
			}
		}
		if len(list) != 2 {
			return fmt.Sprintf("the public node has %d neighbors", len(list))
		}
		return ""
	})
	publish(5)
	two.has(t, "Entry 4")
}

// runInNetworks runs the test once more in namespaces of its own.
func runInNetworks(t *testing.T) {
	t.Helper()
	// Where this works, as make check finds out, nothing is skipped.
	if err := exec.Command("unshare", "--user", "--map-root-user", "--net", "--mount", "true").Run(); err != nil {
		t.Skipf("no process can have a network of its own, allow namespaces (unshare --user --net --mount): %v", err)
	}
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), inNetworks+"="+bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in namespaces: %v\n%s", err, out)
	}
	t.Logf("in namespaces:\n%s", out)
}

// layNetworks makes the networks.
func layNetworks(t *testing.T) {
	t.Helper()
	if err := syscall.Mount("none", "/run", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	ip := func(line string) { command(t, "ip", strings.Fields(line)...) }
	for _, n := range []string{"net", "public", "tracker", "web", "carrier", "router1", "router2", "home1", "home2"} {
		ip("netns add " + n)
		ip("-n " + n + " link set lo up")
	}
	wire := func(a, at, b, to string) {
		ip("link add name " + at + " netns " + a + " type veth peer name " + to + " netns " + b)
		ip("-n " + a + " link set " + at + " up")
		ip("-n " + b + " link set " + to + " up")
	}
	ip("-n net link add name lan type bridge")
	ip("-n net link set lan up")
	for n, address := range map[string]string{"public": publicNode, "tracker": theTracker, "web": thePublisher,
		"carrier": carrierAt} {
		wire("net", "to-"+n, n, "eth0")
		ip("-n net link set to-" + n + " master lan")
		ip("-n " + n + " addr add " + address + "/16 dev eth0")
	}
	ip("-n carrier link add name lan type bridge")
	ip("-n carrier link set lan up")
	ip("-n carrier addr add 100.64.0.1/24 dev lan")
	for _, i := range []string{"1", "2"} {
		wire("carrier", "to-router"+i, "router"+i, "out")
		ip("-n carrier link set to-router" + i + " master lan")
		ip("-n router" + i + " addr add 100.64.0.1" + i + "/24 dev out")
		ip("-n router" + i + " route add default via 100.64.0.1")
		wire("router"+i, "in", "home"+i, "eth0")
		ip("-n router" + i + " addr add 192.168.1.1/24 dev in")
		ip("-n home" + i + " addr add 192.168.1.7/24 dev eth0")
		ip("-n home" + i + " route add default via 192.168.1.1")
		masquerade(t, "router"+i, "out")
	}
	masquerade(t, "carrier", "eth0")
}

// masquerade has a router let out what it is given, by its own address.
func masquerade(t *testing.T, router, out string) {
	t.Helper()
	command(t, "ip", "netns", "exec", router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
	command(t, "ip", "netns", "exec", router, "nft", "add table ip nat; "+
		"add chain ip nat post { type nat hook postrouting priority 100; }; "+
		"add rule ip nat post oifname "+out+" masquerade")
}

// command runs a program that must succeed.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// publisherIn serves a folder in the network "web", and returns what writes a feed of so many entries
// there. Each has the time at which it was written first.
func publisherIn(t *testing.T, folder string) (publish func(entries int)) {
	t.Helper()
	changed := time.Now().Add(-time.Hour)
	write := func(name, body string) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path+".new", []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		// What changes twice within a second has one date, by which the server says that it did not change.
		changed = changed.Add(time.Second)
		if err := os.Chtimes(path+".new", changed, changed); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	item := func(id, title string, at time.Time) string {
		return fmt.Sprintf("<item><guid>%s</guid><title>%s</title><pubDate>%s</pubDate></item>", id, title,
			at.UTC().Format(time.RFC1123Z))
	}
	const head, foot = `<rss version="2.0"><channel><title>T</title><link>http://` + thePublisher +
		`/</link><description>d</description>`, `</channel></rss>`
	write("own.xml", head+item("w", "Walrus", time.Now().AddDate(-1, 0, 0))+foot)
	cmd := exec.Command("ip", "netns", "exec", "web", "python3", "-m", "http.server", "--directory", folder, "80")
	runUntilTheEnd(t, cmd)
	var items []string
	return func(entries int) {
		for len(items) < entries {
			items = append(items, item(fmt.Sprint("g", len(items)), fmt.Sprint("Entry ", len(items)), time.Now()))
		}
		body := head
		for i := len(items) - 1; i >= 0; i-- {
			body += items[i]
		}
		write("feed.xml", body+foot)
	}
}

// runUntilTheEnd runs a program until the test ends.
func runUntilTheEnd(t *testing.T, cmd *exec.Cmd) *safeBuffer {
	t.Helper()
	log := new(safeBuffer)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil && t.Failed() {
			t.Logf("%v ended (%v) and had said:\n%s", cmd.Args, err, log)
		}
	})
	return log
}

// inNetwork runs a command of feedex in a network until the test ends, with a data directory of its own.
func inNetwork(t *testing.T, bin, network string, args ...string) *node {
	t.Helper()
	n := &node{bin: bin, data: filepath.Join(t.TempDir(), network)}
	cmd := exec.Command("ip", append([]string{"netns", "exec", network, bin}, append(args, "--data", n.data)...)...)
	cmd.Env = environment(t.TempDir())
	runUntilTheEnd(t, cmd)
	return n
}

// nodeIn is inNetwork for a node that follows the publisher's feed.
func nodeIn(t *testing.T, bin, network string, args ...string) *node {
	t.Helper()
	config := filepath.Join(t.TempDir(), "feedex.toml") // of what neighbors may owe each other other tests tell
	if err := os.WriteFile(config, []byte("deficit_bound = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return inNetwork(t, bin, network, append([]string{"node", "--config", config, "--reader", "127.0.0.1:7791",
		"--log-level", "debug", "--tracker", "http://" + theTracker + ":7788/",
		"--subscribe", "http://" + thePublisher + "/feed.xml"},
		args...)...).up(t)
}

// up waits until the node can be asked.
func (n *node) up(t *testing.T) *node {
	t.Helper()
	eventually(t, func() string {
		if _, err := os.Stat(filepath.Join(n.data, "feedex.sock")); err != nil {
			return err.Error()
		}
		return ""
	})
	return n
}

// told reads the JSON that a command about the node prints.
func (n *node) told(t *testing.T, answer any, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(n.feedex(t, append(args, "--json")...)), answer); err != nil && err != io.EOF {
		t.Fatal(err)
	}
}

// linked waits until the node has so many neighbors.
func (n *node) linked(t *testing.T, neighbors int) {
	t.Helper()
	eventually(t, func() string {
		var list []struct{ ID string }
		if n.told(t, &list, "neighbors"); len(list) != neighbors {
			return fmt.Sprintf("%s has the neighbors %v, want %d", n.data, list, neighbors)
		}
		return ""
	})
}

// has waits until the node has an entry of that title.
func (n *node) has(t *testing.T, title string) {
	t.Helper()
	eventually(t, func() string {
		if out := n.feedex(t, "query", title); !strings.Contains(out, title) {
			return fmt.Sprintf("%s lacks %q: %s", n.data, title, out)
		}
		return ""
	})
}
