package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// routerAt is the address that the router of the home has on the public network.
const routerAt = "11.0.9.9"

// A home whose router forwards ports when asked, as Debian's miniupnpd does, is dialled like everybody, without a
// reverse link, until it is gone: then the router forwards nothing any more.
func TestARouterForwardsThePort(t *testing.T) { routerForwards(t, "PCP") }

// The same where the router knows UPnP alone, and the owner lets the node ask by that.
func TestARouterForwardsThePortByUPnP(t *testing.T) {
	routerForwards(t, "UPnP", "--port-mapping", "upnp")
}

// routerForwards has a home with these flags join a network from behind a router that knows a protocol alone.
func routerForwards(t *testing.T, protocol string, flags ...string) {
	bin := os.Getenv(inNetworks)
	if bin == "" {
		need(t, "ip", "nft", "unshare", "python3", "miniupnpd")
		runInNetworks(t)
		return
	}
	layRouter(t, protocol)
	publish := publisherIn(t, t.TempDir())
	publish(3)
	inNetwork(t, bin, "tracker", "tracker", "--listen", theTracker+":7788")
	public := nodeIn(t, bin, "public", "--listen", "0.0.0.0:7790", "--poll", "1h")
	forwards := func() string { return routerRules(t, "ruleset") }
	t.Run("home", func(t *testing.T) {
		home := nodeIn(t, bin, "home", append(flags, "--listen", "0.0.0.0:7790", "--poll", "5s")...)
		home.linked(t, 1)
		public.linked(t, 1)
		publish(4)
		public.has(t, "Entry 3")
		if rules := forwards(); !strings.Contains(rules, "dnat ip to 192.168.1.7:7790") {
			t.Errorf("the router does not forward the port: %s", rules)
		}
		var list []struct{ ID string }
		if public.told(t, &list, "neighbors"); list[0].ID != routerAt+":7790" {
			t.Errorf("the public node's neighbor is %s, want what the router forwards", list[0].ID)
		}
		eventually(t, func() string {
			var facts struct {
				Undialled, Dialled bool
				Forwarding         struct{ Protocol, External string }
			}
			said := home.feedex(t, "doctor", "network", "--json")
			if err := json.Unmarshal([]byte(said), &facts); err != nil || facts.Undialled || !facts.Dialled ||
				facts.Forwarding.Protocol != protocol || facts.Forwarding.External != routerAt+":7790" {
				return said
			}
			return ""
		})
		said := home.feedex(t, "doctor", "network")
		want := "The router, 192.168.1.1, forwards the node's port by " + protocol + ": others reach it at " +
			routerAt + ":7790."
		if !strings.Contains(said, want) {
			t.Errorf("doctor says %q, want %q in it", said, want)
		}
	})
	if rules := forwards(); strings.Contains(rules, "dnat") {
		t.Errorf("the node is gone and the router forwards the port: %s", rules)
	}
}

// A home that has IPv6 alone, behind a firewall that opens when asked, is dialled like everybody until it is gone.
func TestARouterLetsThePortInByIPv6(t *testing.T) {
	bin := os.Getenv(inNetworks)
	if bin == "" {
		need(t, "ip", "nft", "unshare", "python3", "miniupnpd")
		runInNetworks(t)
		return
	}
	const publicAt, publisher, home6 = "[2600:11::2]:7790", "[2600:11::80]:8080", "[2600:12::7]:7790"
	layRouter(t, "PCP",
		"-n public addr add 2600:11::2/64 dev eth0 nodad", "-n web addr add 2600:11::80/64 dev eth0 nodad",
		"-n router addr add 2600:11::9/64 dev eth0 nodad", "-n router addr add 2600:12::1/64 dev lan nodad",
		"-n router addr add fe80::1/64 dev lan nodad", "-n home addr add 2600:12::7/64 dev eth0 nodad",
		"-n home addr del 192.168.1.7/24 dev eth0", "-n home route add default via fe80::1 dev eth0",
		"-n public route add 2600:12::/64 via 2600:11::9", "-n web route add 2600:12::/64 via 2600:11::9",
		"netns exec router sysctl -q -w net.ipv6.conf.all.forwarding=1")
	folder := t.TempDir()
	publish := publisherIn(t, folder)
	publish(3)
	runUntilTheEnd(t, exec.Command("ip", "netns", "exec", "web", "python3", "-m", "http.server", "--bind", "::",
		"--directory", folder, "8080"))
	follows := func(t *testing.T, network string, args ...string) *node {
		return inNetwork(t, bin, network, append([]string{"node", "--listen", "[::]:7790", "--subscribe",
			"http://" + publisher + "/feed.xml"}, args...)...).up(t)
	}
	public := follows(t, "public", "--poll", "1h")
	lets := func() string { return routerRules(t, "chain inet filter miniupnpd") }
	t.Run("home", func(t *testing.T) {
		home := follows(t, "home", "--peer", publicAt, "--poll", "5s")
		home.linked(t, 1)
		public.linked(t, 1)
		publish(4)
		public.has(t, "Entry 3")
		if open := lets(); !strings.Contains(open, "7790") {
			t.Errorf("the router does not let the port in: %s", open)
		}
		var list []struct{ ID string }
		if public.told(t, &list, "neighbors"); list[0].ID != home6 {
			t.Errorf("the public node's neighbor is %s, want %s", list[0].ID, home6)
		}
		eventually(t, func() string {
			said := home.feedex(t, "doctor", "network")
			for _, want := range []string{"Others can dial this node", "The router, fe80::1%eth0, lets the " +
				"node's port in by IPv6, as asked by PCP: others reach it at " + home6} {
				if !strings.Contains(said, want) {
					return fmt.Sprintf("doctor says %q, want %q in it", said, want)
				}
			}
			return ""
		})
	})
	if open := lets(); strings.Contains(open, "7790") {
		t.Errorf("the node is gone and the router lets its port in: %s", open)
	}
}

// routerRules are those of the router's that are named.
func routerRules(t *testing.T, of string) string {
	t.Helper()
	out, err := exec.Command("ip", "netns", "exec", "router", "nft", "list "+of).CombinedOutput()
	if err != nil {
		t.Fatalf("nft: %v: %s", err, out)
	}
	return string(out)
}

// layRouter makes a network in which everybody can be dialled, and a home behind a router that lets nobody in of its
// own accord, and forwards ports when asked by a protocol. More is what else to do by ip.
func layRouter(t *testing.T, protocol string, more ...string) {
	t.Helper()
	if err := syscall.Mount("none", "/run", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	ip := func(line string) { command(t, "ip", strings.Fields(line)...) }
	for _, n := range []string{"net", "public", "tracker", "web", "router", "home"} {
		ip("netns add " + n)
		ip("-n " + n + " link set lo up")
	}
	ip("-n net link add name lan type bridge")
	ip("-n net link set lan up")
	for n, address := range map[string]string{"public": publicNode, "tracker": theTracker, "web": thePublisher,
		"router": routerAt} {
		ip("link add name to-" + n + " netns net type veth peer name eth0 netns " + n)
		ip("-n net link set to-" + n + " master lan up")
		ip("-n " + n + " link set eth0 up")
		ip("-n " + n + " addr add " + address + "/16 dev eth0")
	}
	ip("link add name lan netns router type veth peer name eth0 netns home")
	ip("-n router link set lan up")
	ip("-n home link set eth0 up")
	ip("-n router addr add 192.168.1.1/24 dev lan")
	ip("-n home addr add 192.168.1.7/24 dev eth0")
	ip("-n home route add default via 192.168.1.1")
	for _, line := range more {
		ip(line)
	}
	masquerade(t, "router", "eth0")
	command(t, "ip", "netns", "exec", "router", "nft", `
		add table inet filter
		add chain inet filter forward { type filter hook forward priority 0; policy drop; }
		add chain inet filter miniupnpd
		add rule inet filter forward ct state established,related accept
		add rule inet filter forward iifname lan accept
		add rule inet filter forward jump miniupnpd
		add chain inet filter prerouting { type nat hook prerouting priority -100; }
		add chain inet filter prerouting_miniupnpd
		add rule inet filter prerouting jump prerouting_miniupnpd
		add chain inet filter postrouting { type nat hook postrouting priority 90; }
		add chain inet filter postrouting_miniupnpd
		add rule inet filter postrouting jump postrouting_miniupnpd`)
	config := filepath.Join(t.TempDir(), "miniupnpd.conf")
	yes := map[bool]string{true: "yes", false: "no"}
	if err := os.WriteFile(config, fmt.Appendf(nil, `ext_ifname=eth0
listening_ip=lan
enable_natpmp=%s
enable_upnp=%s
secure_mode=yes
min_lifetime=120
max_lifetime=86400
upnp_table_name=filter
upnp_nat_table_name=filter
upnp_forward_chain=miniupnpd
upnp_nat_chain=prerouting_miniupnpd
upnp_nat_postrouting_chain=postrouting_miniupnpd
allow 1024-65535 192.168.1.0/24 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
`, yes[protocol == "PCP"], yes[protocol == "UPnP"]), 0o644); err != nil {
		t.Fatal(err)
	}
	runUntilTheEnd(t, exec.Command("ip", "netns", "exec", "router", "miniupnpd", "-d", "-f", config))
}
