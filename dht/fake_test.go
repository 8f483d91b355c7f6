package dht

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

// A fakeNode is a node of a DHT on loopback. It keeps what is announced to it.
type fakeNode struct {
	id    Key
	conn  *net.UDPConn
	peers []contact // that it knows
	begin sync.Once // to answer

	// hostile answers in place of the node, where not nil: with packets, each from the connection named.
	hostile func(transaction string, method string, key Key, from netip.AddrPort)

	mu     sync.Mutex
	kept   map[Key][]netip.AddrPort
	asked  map[string]int // by method
	others [][]byte       // what came that is no question of somebody who only asks
}

func newFake(t *testing.T, id Key) *fakeNode {
	t.Helper()
	return &fakeNode{id: id, conn: listenUDP(t), kept: make(map[Key][]netip.AddrPort), asked: make(map[string]int)}
}

func listenUDP(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (n *fakeNode) at() netip.AddrPort { return n.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

func (n *fakeNode) contact() contact { return contact{id: n.id, at: n.at()} }

func (n *fakeNode) count(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[method]
}

func (n *fakeNode) keeps(key Key) []netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.kept[key])
}

func (n *fakeNode) serve() {
	buf := make([]byte, 4096)
	for {
		size, from, err := n.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		q, err := decode(buf[:size])
		args, _ := q["a"].(dict)
		id, _ := args["id"].(string)
		key, _ := args["info_hash"].(string)
		if err != nil || q["y"] != "q" || q["ro"] != int64(1) || len(id) != 20 || len(key) != 20 {
			n.mu.Lock()
			n.others = append(n.others, slices.Clone(buf[:size]))
			n.mu.Unlock()
			continue
		}
		method, transaction := q["q"].(string), q["t"].(string)
		n.mu.Lock()
		n.asked[method]++
		n.mu.Unlock()
		if n.hostile != nil {
			n.hostile(transaction, method, Key([]byte(key)), from)
			continue
		}
		n.answer(transaction, method, Key([]byte(key)), args, from)
	}
}

// answer answers as BEP 5 has it.
func (n *fakeNode) answer(transaction, method string, key Key, args dict, from netip.AddrPort) {
	token := "for " + from.String()
	if method == "announce_peer" {
		if args["token"] != token {
			n.send(from, dict{"t": transaction, "y": "e", "e": []any{203, "bad token"}})
			return
		}
		n.mu.Lock()
		n.kept[key] = append(n.kept[key], netip.AddrPortFrom(from.Addr(), uint16(args["port"].(int64))))
		n.mu.Unlock()
		n.send(from, dict{"t": transaction, "y": "r", "r": dict{"id": string(n.id[:])}})
		return
	}
	n.send(from, n.found(transaction, token, n.nearest(key), n.keeps(key)))
}

// nearest are the eight nodes that it knows which are nearest to a key.
func (n *fakeNode) nearest(key Key) []contact {
	list := slices.Clone(n.peers)
	slices.SortFunc(list, func(a, b contact) int { return key.nearer(a.id, b.id) })
	return list[:min(len(list), keepers)]
}

// found is the answer to get_peers.
func (n *fakeNode) found(transaction, token string, nodes []contact, values []netip.AddrPort) dict {
	body := dict{"id": string(n.id[:]), "token": token}
	var near []byte
	for _, c := range nodes {
		near = append(append(near, c.id[:]...), packed(c.at)...)
	}
	body["nodes"] = string(near)
	var list []any
	for _, at := range values {
		list = append(list, packed(at))
	}
	if list != nil {
		body["values"] = list
	}
	return dict{"t": transaction, "y": "r", "r": body}
}

func (n *fakeNode) send(to netip.AddrPort, message dict) {
	n.conn.WriteToUDPAddrPort(encode(nil, message), to)
}

// packed is an address as BEP 5 writes it.
func packed(at netip.AddrPort) string {
	a := at.Addr().As4()
	return string(binary.BigEndian.AppendUint16(a[:], at.Port()))
}

// newDHT is a network of nodes, each of which knows those nearest to it and some others.
func newDHT(t *testing.T, size int) (nodes []*fakeNode) {
	t.Helper()
	for range size {
		nodes = append(nodes, newFake(t, newKey()))
	}
	for i, n := range nodes {
		for j := range keepers {
			n.peers = append(n.peers, nodes[(i+1+j*size/keepers)%size].contact())
		}
		others := slices.DeleteFunc(slices.Clone(nodes), func(o *fakeNode) bool { return o == n })
		slices.SortFunc(others, func(a, b *fakeNode) int { return n.id.nearer(a.id, b.id) })
		for _, o := range others[:min(len(others), keepers)] {
			n.peers = append(n.peers, o.contact())
		}
	}
	return nodes
}

// clientOf is a client in a network, which begins with one of its nodes. They answer from now on.
func clientOf(t *testing.T, first *fakeNode, others ...*fakeNode) *Client {
	for _, n := range append(others, first) {
		n.begin.Do(func() {
			var served sync.WaitGroup
			served.Go(n.serve)
			t.Cleanup(func() {
				n.conn.Close()
				served.Wait()
			})
		})
	}
	return &Client{Nodes: []string{first.at().String()}, AllowLocal: true}
}
