package e2e

import (
	"bufio"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"feedex/dht"
)

// python is that of Debian, whose packages another one does not have.
const python = "/usr/bin/python3"

// Nodes find each other by way of a DHT of libtorrent's: one announces itself, another finds it.
func TestNodesMeetByLibtorrent(t *testing.T) {
	need(t, python)
	if err := exec.Command(python, "-c", "import libtorrent").Run(); err != nil {
		missing(t, "libtorrent is missing: apt-get install python3-libtorrent")
	}
	cmd := exec.Command(python, "testdata/dht.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the DHT ended: %v", err)
		}
	})
	at, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("there is no DHT: %v", err)
	}
	meet := func(port uint16) (dht.Finding, error) { // each a node of its own
		c := dht.Client{Nodes: []string{strings.TrimSpace(at)}, AllowLocal: true}
		return c.Meet(t.Context(), port)
	}
	told, err := meet(7790)
	if err != nil || told.Announced < 2 || len(told.Found) > 0 {
		t.Fatalf("announced: %+v, %v", told, err)
	}
	found, err := meet(0)
	want := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7790")}
	if err != nil || !slices.Equal(found.Found, want) || found.Answered < 2 {
		t.Errorf("found: %+v, %v", found, err)
	}
	t.Logf("announced: %+v; found: %+v", told, found)
}
