package reach

import (
	"net/netip"
	"strings"
	"testing"

	"feedex/protocol"
)

var (
	home    = netip.MustParseAddr("192.168.1.7")
	router  = netip.MustParseAddr("192.168.1.1")
	home6   = netip.MustParseAddr("2600:12::7")
	router6 = netip.MustParseAddr("fe80::1%eth0")
	self    = protocol.NewNodeID(netip.MustParseAddr("198.51.101.4"), 7790)
)

// Each state of a node has words of its own, and advice only where the owner can do something.
func TestDiagnose(t *testing.T) {
	by := func(external string) *Forwarding {
		return &Forwarding{Machine: home, Router: router, Protocol: "PCP", External: netip.MustParseAddrPort(external)}
	}
	tests := map[string]struct {
		facts  Facts
		says   []string // in the facts, one after another
		advice []string // likewise, "" for none
	}{
		"dialled, by a router that forwards": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 8, Hosted: 3, HostedBytes: 1_234_567,
				Dialled: true, Forwarding: by("198.51.101.4:7790")},
			[]string{"Others can dial this node, at 198.51.101.4:7790: somebody did within the last hour.",
				"It hosts 3 of its 8 neighbors, which others cannot dial: it calls them over connections that they " +
					"keep open, over which 1.2 MB have passed since it started.",
				"The router, 192.168.1.1, forwards the node's port by PCP: others reach it at 198.51.101.4:7790."},
			[]string{"", "", ""},
		},
		"dialled by many who do not agree where it is": {
			Facts{Listen: "[::]:7790", Neighbors: 1, Hosted: 1, HostedBytes: 49_999, Dialled: true},
			[]string{"Others can dial this node: somebody did within the last hour.",
				"It hosts 1 of its 1 neighbors, which others cannot dial: it calls them over connections that they " +
					"keep open."}, []string{"", ""},
		},
		"nobody came yet": {
			Facts{Listen: "[::]:7790", Neighbors: 2},
			[]string{"not known: nobody did within the last hour"}, []string{""},
		},
		"alone": {
			Facts{Listen: "[::]:7790"},
			[]string{"not known: it has no neighbors."}, []string{"feedex join"},
		},
		"offline": {
			Facts{Listen: "[::]:7790", Forwarding: &Forwarding{Problem: "none here"}, Firewall: &Forwarding{}},
			[]string{"no way to the Internet now", "it has no neighbors."}, []string{"", "feedex join"},
		},
		"a way out that is an interface": {
			Facts{Listen: "[::]:7790", Forwarding: &Forwarding{Machine: home, Problem: "none here"},
				Firewall: &Forwarding{}},
			[]string{"it has no neighbors.", "No router is asked to forward the node's port: none here."},
			[]string{"feedex join", ""},
		},
		"a router that is silent": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true, Forwarding: &Forwarding{Machine: home,
				Router: router, Problem: "192.168.1.1 answers neither PCP nor NAT-PMP"}},
			[]string{"Others cannot dial this node",
				"not forward the node's port when asked: 192.168.1.1 answers neither PCP nor NAT-PMP."},
			[]string{"", "forward TCP port 7790 to this machine, 192.168.1.7,"},
		},
		"a router that its owner had forward the port": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Dialled: true, Forwarding: &Forwarding{Machine: home,
				Router: router, Problem: "192.168.1.1 answers neither PCP nor NAT-PMP"}},
			[]string{"Others can dial this node", "does not forward the node's port when asked: 192.168.1.1"},
			[]string{"", ""},
		},
		"a firewall that lets in by IPv6": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Dialled: true, Firewall: &Forwarding{Machine: home6,
				Router: router6, Protocol: "PCP", External: netip.AddrPortFrom(home6, 7790)}},
			[]string{"Others can dial this node", "The router, fe80::1%eth0, lets the node's port in by IPv6, " +
				"as asked by PCP: others reach it at [2600:12::7]:7790."}, []string{"", ""},
		},
		"and a machine's own that does not": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true, Firewall: &Forwarding{Machine: home6,
				Router: router6, Protocol: "PCP", External: netip.AddrPortFrom(home6, 7790)}},
			[]string{"Others cannot dial this node", "as asked by PCP, and yet nobody gets in at [2600:12::7]:7790."},
			[]string{"", "Let TCP port 7790 in through this machine's firewall"},
		},
		"a firewall that is silent": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true, Firewall: &Forwarding{Machine: home6,
				Router: router6, Problem: "fe80::1%eth0 does not answer PCP"}},
			[]string{"Others cannot dial this node", "by IPv6 when asked: fe80::1%eth0 does not answer PCP."},
			[]string{"", "let TCP port 7790 in to this machine, 2600:12::7, on it"},
		},
		"a firewall that cannot be asked": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true, Firewall: &Forwarding{Router: router6,
				Problem: "the router fe80::1%eth0 cannot be asked: no such interface"}},
			[]string{"Others cannot dial this node", "by IPv6 when asked: the router fe80::1%eth0 cannot be asked"},
			[]string{"", "let TCP port 7790 in to this machine on it"},
		},
		"a firewall that is silent, and a node at another address": {
			Facts{Listen: "[2600:12::9]:7790", Self: self, Neighbors: 5, Undialled: true, Firewall: &Forwarding{
				Machine: home6, Router: router6, Problem: "the node listens at 2600:12::9 alone"}},
			[]string{"Others cannot dial this node", "by IPv6 when asked: the node listens at 2600:12::9 alone"},
			[]string{"", "to this machine, 2600:12::9, on it"},
		},
		"no firewall, on a server": {
			Facts{Listen: "[::]:7790", Self: self, Dialled: true, Firewall: &Forwarding{Machine: home6, Router: router6,
				Problem: "fe80::1%eth0 does not answer PCP"}},
			[]string{"Others can dial this node", "by IPv6 when asked: fe80::1%eth0 does not answer PCP."},
			[]string{"", ""},
		},
		"no public address of IPv6": {
			Facts{Listen: "[::]:7790", Firewall: &Forwarding{Machine: netip.MustParseAddr("fd00::7"), Router: router6}},
			[]string{"Whether others can dial this node is not known"}, []string{"feedex join"},
		},
		"no IPv6": {
			Facts{Listen: "[::]:7790", Firewall: &Forwarding{}},
			[]string{"Whether others can dial this node is not known"}, []string{"feedex join"},
		},
		"no router": {
			Facts{Listen: "0.0.0.0:7791", Neighbors: 5, Undialled: true, Forwarding: &Forwarding{Problem: "none here"}},
			[]string{"Others cannot dial this node", "No router is asked to forward the node's port: none here."},
			[]string{"", "forward TCP port 7791 to this machine on it"},
		},
		"no router for IPv4, and neighbors by IPv6": {
			Facts{Listen: "[::]:7790", Neighbors: 5, Dialled: true, Forwarding: &Forwarding{Problem: "none here"}},
			[]string{"Others can dial this node", "No router is asked to forward the node's port: none here."},
			[]string{"", ""},
		},
		"no IPv4 at all": {
			Facts{Listen: "[::]:7790", Neighbors: 5, Undialled: true, Forwarding: &Forwarding{Problem: "none here"},
				Firewall: &Forwarding{Machine: home6, Router: router6, Problem: "fe80::1%eth0 does not answer PCP"}},
			[]string{"Others cannot dial this node", "by IPv6 when asked: fe80::1%eth0 does not answer PCP."},
			[]string{"", "let TCP port 7790 in to this machine, 2600:12::7, on it"},
		},
		"a carrier, by its address": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true, Forwarding: by("100.64.0.11:7790")},
			[]string{"Others cannot dial this node", "its own address, 100.64.0.11, is not the one by which others " +
				"see it, 198.51.101.4: your provider has a router of its own"}, []string{"", "Nothing has to be done."},
		},
		"a carrier, and dialled by IPv6": {
			Facts{Listen: "[::]:7790", Self: protocol.NewNodeID(home6, 7790), Neighbors: 5, Dialled: true,
				Forwarding: by("100.64.0.11:7790")},
			[]string{"Others can dial this node, at [2600:12::7]:7790: somebody did",
				"its own address, 100.64.0.11, is not the one by which others see it: your provider"},
			[]string{"", "Nothing has to be done."},
		},
		"a carrier, before anybody said": {
			Facts{Listen: "[::]:7790", Neighbors: 5, Undialled: true, Forwarding: by("10.9.9.9:7790")},
			[]string{"Others cannot dial this node", "not the one by which others see it: your provider"},
			[]string{"", "Nothing has to be done."},
		},
		"a new address, or a carrier, by another public address": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Dialled: true, Forwarding: by("198.51.101.5:7790")},
			[]string{"Others can dial this node, at 198.51.101.4:7790: somebody did within the last hour.",
				"its own address, 198.51.101.5, is not the one by which others see it, 198.51.101.4: that changed a " +
					"moment ago, or your provider has a router"},
			[]string{"", "Nothing has to be done."},
		},
		"a firewall behind the router": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true, Forwarding: by("198.51.101.4:7790")},
			[]string{"Others cannot dial this node", "by PCP, and yet nobody gets in at 198.51.101.4:7790."},
			[]string{"", "Let TCP port 7790 in through this machine's firewall"},
		},
		"a firewall on a server": {
			Facts{Listen: "[::]:7790", Self: self, Neighbors: 5, Undialled: true,
				Forwarding: &Forwarding{Machine: self.Addr(), Router: router}},
			[]string{"Others cannot dial this node", "This machine has a public address, 198.51.101.4"},
			[]string{"", "Let TCP port 7790 in"},
		},
		"nowhere": {
			Facts{Listen: "none", Neighbors: 5, Undialled: true},
			[]string{"Nobody can dial this node, as it listens nowhere"}, []string{"see listen"},
		},
		"on this machine": {
			Facts{Listen: "127.0.0.1:7790", Neighbors: 5},
			[]string{"Only programs on this machine can dial this node: it listens at 127.0.0.1:7790."},
			[]string{`at ":7790"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.facts.Diagnose()
			if len(got) != len(test.says) {
				t.Fatalf("found %q, want %d diagnoses", got, len(test.says))
			}
			for i, f := range got {
				if !strings.Contains(f.Fact, test.says[i]) || !strings.HasSuffix(f.Fact, ".") {
					t.Errorf("diagnosis %d is %q, want a sentence with %q", i, f.Fact, test.says[i])
				}
				if want := test.advice[i]; (want == "") != (f.Advice == "") || !strings.Contains(f.Advice, want) {
					t.Errorf("to %q the advice is %q, want %q in it", f.Fact, f.Advice, want)
				}
			}
		})
	}
}

// While too few neighbors have told, the router or a public address of the machine says where others reach a node.
func TestAt(t *testing.T) {
	public := netip.MustParseAddr("198.51.101.9")
	open4 := &Forwarding{Machine: home, Router: router, External: netip.MustParseAddrPort("198.51.101.4:17790")}
	between := &Forwarding{Machine: home, Router: router, External: netip.MustParseAddrPort("100.64.0.9:7790")}
	open6 := &Forwarding{Machine: home6, Router: router6, External: netip.AddrPortFrom(home6, 7790)}
	for _, c := range []struct {
		facts Facts
		want  string
	}{
		{Facts{Listen: "[::]:7790"}, ""},
		{Facts{Listen: "[::]:7790", Self: self, Forwarding: open4}, "198.51.101.4:7790"},
		{Facts{Listen: "[::]:7790", Forwarding: open4, Firewall: open6}, "198.51.101.4:17790"},
		{Facts{Listen: "[::]:7790", Forwarding: between}, ""},
		{Facts{Listen: "[::]:7790", Forwarding: between, Firewall: open6}, "[2600:12::7]:7790"},
		{Facts{Listen: "[::]:7790", Firewall: &Forwarding{Machine: home6, Problem: "it is silent"}}, ""},
		{Facts{Listen: "[::]:7790", Forwarding: &Forwarding{Machine: public}}, "198.51.101.9:7790"},
		{Facts{Listen: "192.168.1.7:7790", Forwarding: &Forwarding{Machine: public}}, ""},
	} {
		if at := c.facts.At(); at != c.want {
			t.Errorf("%+v: at %q, want %q", c.facts, at, c.want)
		}
	}
}
