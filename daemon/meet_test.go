package daemon

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
)

// A rendezvousNode is a DHT of one node on loopback, which keeps the last announcement.
type rendezvousNode struct {
	at     string
	asked  atomic.Int64
	port   atomic.Int64 // announced; 0 for none
	closed chan struct{}
}

// startRendezvous has it answer until the test ends. It reads of a packet what it needs.
func startRendezvous(t *testing.T) *rendezvousNode {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	d := &rendezvousNode{at: conn.LocalAddr().String(), closed: make(chan struct{})}
	t.Cleanup(func() {
		conn.Close()
		<-d.closed
	})
	go func() {
		defer close(d.closed)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			q := string(buf[:n])
			d.asked.Add(1)
			values := ""
			if port := d.port.Load(); port > 0 {
				values = "6:valuesl6:\x7f\x00\x00\x01" + string([]byte{byte(port >> 8), byte(port)}) + "e"
			}
			if _, rest, ok := strings.Cut(q, "4:porti"); ok {
				digits, _, _ := strings.Cut(rest, "e")
				port, _ := strconv.ParseInt(digits, 10, 64)
				d.port.Store(port)
			}
			_, rest, _ := strings.Cut(q, "1:t4:")
			conn.WriteToUDPAddrPort([]byte("d1:rd2:id20:aaaaaaaaaaaaaaaaaaaa5:token1:t"+values+"e1:t4:"+rest[:4]+
				"1:y1:re"), from)
		}
	}()
	return d
}

// A node that others dialled announces itself, and a newcomer that knows nobody becomes its neighbor, once its owner
// has answered that it may.
func TestNewcomersMeetByTheDHT(t *testing.T) {
	f, d := startFeed(t, "One"), startRendezvous(t)
	config := func(use control.DHTUse, peers ...string) Config {
		return Config{Subscribe: []feed.URL{f.url}, Node: node.Config{Peers: peers}, DHT: use,
			DHTNodes: []string{d.at}, meetPause: time.Millisecond}
	}
	here := startNode(t, config(control.DHTOn))
	newcomer := startNode(t, config(control.DHTAsk))
	here.waitArrival(f.url)
	newcomer.waitArrival(f.url)
	for d.asked.Load() < 3 { // it looks, but nobody has dialled it
		breathe()
	}
	if d.port.Load() != 0 {
		t.Fatal("a node that nobody dialled announced itself")
	}
	startNode(t, config(control.DHTOff, here.at.Listen))
	for d.port.Load() == 0 {
		breathe()
	}
	if _, port, _ := net.SplitHostPort(here.at.Listen); port != portText(d) {
		t.Errorf("it announced %s, and not %s", portText(d), port)
	}
	r, err := newcomer.client.Status(t.Context())
	if err != nil || r.DHT != (control.DHTReport{Use: control.DHTAsk}) || r.Neighbors != 0 {
		t.Fatalf("before it was asked: %+v, %d neighbors, %v", r.DHT, r.Neighbors, err)
	}
	if err := newcomer.client.UseDHT(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for r.Neighbors == 0 || r.DHT.Found == 0 {
		breathe()
		if r, err = newcomer.client.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func portText(d *rendezvousNode) string { return strconv.FormatInt(d.port.Load(), 10) }

// The answer is kept, those of the settings go before it, and a file that says nothing is no answer.
func TestTheAnswerIsKept(t *testing.T) {
	data, d := t.TempDir(), startRendezvous(t)
	start := func(use control.DHTUse) *testNode {
		return startNode(t, Config{Data: data, DHT: use, DHTNodes: []string{d.at}, meetPause: time.Millisecond})
	}
	says := func(n *testNode, want control.DHTUse, fixed bool) {
		t.Helper()
		r, err := n.client.Status(t.Context())
		if err != nil || r.DHT.Use != want || r.DHT.Fixed != fixed {
			t.Errorf("it says %+v, %v; want %s", r.DHT, err, want)
		}
	}
	n := start("")
	says(n, control.DHTAsk, false)
	for _, use := range []control.DHTUse{control.DHTOff, control.DHTOn, control.DHTOff} {
		if err := n.client.UseDHT(t.Context(), use == control.DHTOn); err != nil {
			t.Fatal(err)
		}
		says(n, use, false)
		n.stop()
		n = start(control.DHTAsk)
		says(n, use, false)
	}
	n.stop()
	n = start(control.DHTOn)
	says(n, control.DHTOn, true)
	if err := n.client.UseDHT(t.Context(), false); err == nil || !strings.Contains(err.Error(), "settings") {
		t.Errorf("answered against the settings: %v", err)
	}
	n.stop()
	if err := os.WriteFile(filepath.Join(data, dhtName), []byte("perhaps\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(start(""), control.DHTAsk, false)
	if d.asked.Load() > 0 {
		t.Error("a node that follows nothing looked for others")
	}
}

// An answer that cannot be read is asked for again, and the log says why.
func TestAnAnswerThatCannotBeRead(t *testing.T) {
	var said strings.Builder
	c := Config{Data: t.TempDir(), Log: slog.New(slog.NewTextHandler(&said, nil))}
	if use := c.UsesDHT(); use != control.DHTAsk || said.Len() > 0 {
		t.Errorf("without an answer: %s, said %s", use, &said)
	}
	if err := os.Mkdir(filepath.Join(c.Data, dhtName), 0o700); err != nil {
		t.Fatal(err)
	}
	if use := c.UsesDHT(); use != control.DHTAsk || !strings.Contains(said.String(), "no regular file") {
		t.Errorf("with one that is no file: %s, said %s", use, &said)
	}
}
