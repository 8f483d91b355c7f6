package portmap

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// The tables are there also where a unit of systemd hides all of /proc that is not about processes (ProcSubset=pid).
func TestTablesWhereProcIsHidden(t *testing.T) {
	hidden := make(chan error)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		err := errors.Join(syscall.Unshare(syscall.CLONE_NEWNS),
			syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
			syscall.Mount("proc", "/proc", "proc", 0, "subset=pid"))
		if _, missing := os.Stat("/proc/net/route"); err == nil && missing == nil {
			err = errors.ErrUnsupported
		}
		for _, version := range []IP{IPv4, IPv6} {
			if _, unknown := gateway(version); err == nil && errors.Is(unknown, fs.ErrNotExist) {
				t.Errorf("IPv%d: %v", version, unknown)
			}
		}
		hidden <- err
	}()
	if err := <-hidden; err != nil {
		t.Skip("this process cannot hide a part of /proc:", err)
	}
}

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

// routes6 is such a table: NONE stands for the address of zeros, to spare width.
var routes6 = strings.ReplaceAll(`26000012000000000000000000000000 40 NONE 00 NONE 00000100 00000001 00000000 00000001 eth0
NONE 00 NONE 00 fe80000000000000021122fffe334455 00000400 00000001 00000000 00450003 wlan0
NONE 00 NONE 00 fe80000000000000000000000000ab01 00000064 00000001 00000000 00450003 eth0
NONE 60 NONE 00 fe80000000000000000000000000ab02 00000001 00000001 00000000 00450003 eth0
NONE 00 NONE 00 NONE ffffffff 00000001 00000000 00200200 lo
`, "NONE", strings.Repeat("0", 32))

// The router for IPv6 is that of the default route that is preferred, at an address of one interface.
func TestGateway6In(t *testing.T) {
	if got, want := gateway6In(routes6), netip.MustParseAddr("fe80::ab01%eth0"); got != want {
		t.Errorf("the router is %s, want %s", got, want)
	}
	for _, table := range []string{"", "00 00\n", strings.ReplaceAll(routes6, "fe80", "zzzz"), "\x00\n"} {
		if got, err := known(gateway6In(table)); err == nil {
			t.Errorf("of %q the router is %s", table, got)
		}
	}
}
