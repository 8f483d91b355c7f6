package portmap

import (
	"net/netip"
	"strings"
	"testing"
)

const routes = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
wlan0	00000000	0101A8C0	0003	0	0	600	00000000	0	0	0
eth0	00000000	FE01A8C0	0003	0	0	100	00000000	0	0	0
eth0	0001A8C0	00000000	0001	0	0	100	00FFFFFF	0	0	0
vpn0	00000000	00000000	0001	0	0	50	00000000	0	0	0
vpn0	00000000	0500000A	0001	0	0	50	00000080	0	0	0
`

// The router is that of the default route that is preferred, and goes by an address.
func TestGatewayIn(t *testing.T) {
	if got, want := gatewayIn(routes), netip.MustParseAddr("192.168.1.254"); got != want {
		t.Errorf("the router is %s, want %s", got, want)
	}
	for _, table := range []string{"", "Iface\n", "eth0\t00000000\tzz\t0003\t0\t0\t1\t00000000\n", "\x00\n",
		strings.ReplaceAll(routes, "A8C0", "A8C0A8C0")} {
		if got, err := known(gatewayIn(table)); err == nil {
			t.Errorf("of %q the router is %s", table, got)
		}
	}
}
