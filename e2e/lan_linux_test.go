package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Two nodes of one household, which know no tracker and nobody else, find each other on their local network:
// what one of them polls the other has. Another program that looks for services there, Avahi, sees both.
func TestNodesFindEachOtherOnALAN(t *testing.T) {
	bin := os.Getenv(inNetworks)
	if bin == "" {
		need(t, "ip", "unshare", "dbus-daemon", "avahi-daemon", "avahi-browse", "python3")
		runInNetworks(t)
		return
	}
	layLAN(t)
	publish := publisherIn(t, t.TempDir())
	publish(3)
	household := func(name, poll string) *node {
		return inNetwork(t, bin, name, "node", "--subscribe", "http://"+thePublisher+"/feed.xml", "--poll", poll)
	}
	one, two := household("one", "5s"), household("two", "1h")
	one.runs(t)
	two.runs(t)
	one.linked(t, 1)
	two.linked(t, 1)
	one.isTold(t) // else it polls the entry before it knows that the other one wants it
	publish(4)
	two.has(t, "Entry 3")

	avahi := avahiIn(t, "other")
	eventually(t, func() string {
		out, err := avahi("avahi-browse", "--resolve", "--parsable", "--terminate", "_feedex._tcp").CombinedOutput()
		for _, part := range []string{";192.168.1.2;7790;", ";192.168.1.3;7790;", "key=ed25519:"} {
			if !strings.Contains(string(out), part) {
				return part + " is missing (" + errorText(err) + "): " + string(out)
			}
		}
		return ""
	})
}

// isTold waits until a neighbor of the node has told it that it follows the feed, too.
func (n *node) isTold(t *testing.T) {
	t.Helper()
	eventually(t, func() string {
		var list []struct{ Offered int }
		if n.told(t, &list, "feeds"); len(list) != 1 || list[0].Offered == 0 {
			return fmt.Sprintf("%s follows %v", n.data, list)
		}
		return ""
	})
}

// runs waits until the node can be asked.
func (n *node) runs(t *testing.T) {
	t.Helper()
	eventually(t, func() string {
		_, err := os.Stat(filepath.Join(n.data, "feedex.sock"))
		return errorText(err)
	})
}

// errorText is what an error says, "" for none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// layLAN makes a network with three machines, and a publisher that they reach at an address that nodes take for
// a public one.
func layLAN(t *testing.T) {
	t.Helper()
	if err := syscall.Mount("none", "/run", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	ip := func(line string) { command(t, "ip", strings.Fields(line)...) }
	ip("netns add net")
	ip("-n net link add name lan type bridge")
	ip("-n net link set lan up")
	for name, address := range map[string]string{"one": "192.168.1.2/24", "two": "192.168.1.3/24",
		"other": "192.168.1.4/24", "web": thePublisher + "/24"} {
		ip("netns add " + name)
		ip("-n " + name + " link set lo up")
		ip("link add name to-" + name + " netns net type veth peer name eth0 netns " + name)
		ip("-n net link set to-" + name + " master lan up")
		ip("-n " + name + " link set eth0 up")
		ip("-n " + name + " addr add " + address + " dev eth0")
		ip("-n " + name + " route add default dev eth0")
	}
}

// avahiIn runs Avahi in a network until the test ends, and returns what makes a command that talks to it.
func avahiIn(t *testing.T, network string) func(args ...string) *exec.Cmd {
	t.Helper()
	const bus = "/run/dbus/system_bus_socket"
	for _, folder := range []string{filepath.Dir(bus), "/run/avahi-daemon"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(args ...string) *exec.Cmd {
		cmd := exec.Command("ip", append([]string{"netns", "exec", network}, args...)...)
		cmd.Env = append(os.Environ(), "DBUS_SYSTEM_BUS_ADDRESS=unix:path="+bus)
		return cmd
	}
	// As a session's bus it asks for no user that this namespace lacks.
	runUntilTheEnd(t, in("dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path="+bus))
	eventually(t, func() string {
		_, err := os.Stat(bus)
		return errorText(err)
	})
	write := func(name, text string) (path string) {
		path = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// Its own user is another one than the only one that there is here.
	for _, list := range []string{"passwd", "group"} {
		path := write(list, map[string]string{
			"passwd": "root:x:0:0::/:/bin/sh\navahi:x:0:0::/:/bin/sh\n", "group": "root:x:0:\navahi:x:0:\n"}[list])
		if err := syscall.Mount(path, "/etc/"+list, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
	}
	config := write("avahi.conf", "[server]\nuse-ipv6=no\n")
	runUntilTheEnd(t, in("avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--file", config))
	return in
}
