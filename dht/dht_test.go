package dht

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// Who announces is found by others who begin elsewhere, and is kept by the nodes that are nearest to the key alone.
func TestWhoAnnouncesIsFound(t *testing.T) {
	nodes := newDHT(t, 60)
	f, err := clientOf(t, nodes[0], nodes...).Meet(t.Context(), 7790)
	if err != nil || f.Announced != keepers || len(f.Found) > 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	slices.SortFunc(nodes, func(a, b *fakeNode) int { return rendezvous(0).nearer(a.id, b.id) })
	for i, n := range nodes {
		if kept := len(n.keeps(rendezvous(0))); kept != 0 != (i < keepers) {
			t.Errorf("node %d keeps %d", i, kept)
		}
	}
	other := clientOf(t, nodes[59])
	for range 2 { // the second time with what it remembers
		f, err = other.Meet(t.Context(), 0)
		if want := netip.MustParseAddrPort("127.0.0.1:7790"); err != nil || f.Announced != 0 || f.Named != 1 ||
			!slices.Equal(f.Found, []netip.AddrPort{want}) {
			t.Fatalf("%+v, %v", f, err)
		}
		for _, n := range other.Nodes {
			if len(other.known) != remembered || slices.Contains(other.known, netip.MustParseAddrPort(n)) {
				t.Errorf("it remembers %v", other.known)
			}
		}
	}
	for _, n := range nodes {
		if len(n.others) > 0 {
			t.Errorf("it sent %q", n.others)
		}
	}
}

// Where a key is crowded nodes meet under one of the others as well, and announce there.
func TestACrowdMeetsUnderOtherKeys(t *testing.T) {
	nodes := newDHT(t, 30)
	for i, n := range nodes {
		for j := range 30 {
			at := netip.AddrPortFrom(addr(60, byte(i), byte(j), 1), 7790)
			n.kept[rendezvous(0)] = append(n.kept[rendezvous(0)], at)
		}
		for shard := 1; shard < shards; shard++ {
			n.kept[rendezvous(shard)] = []netip.AddrPort{netip.AddrPortFrom(addr(61, byte(i), byte(shard), 1), 7790)}
		}
	}
	f, err := clientOf(t, nodes[0], nodes...).Meet(t.Context(), 7791)
	if err != nil || f.Announced != keepers || f.Named < crowd || len(f.Found) < keepers {
		t.Fatalf("%+v, %v", f, err)
	}
	first, others := 0, 0
	for _, n := range nodes {
		for shard := range shards {
			for _, at := range n.keeps(rendezvous(shard)) {
				switch {
				case at.Port() != 7791:
				case shard == 0:
					first++
				default:
					others++
				}
			}
		}
	}
	if first > 0 || others != keepers {
		t.Errorf("%d under the first key, %d under others", first, others)
	}
}

func addr(a, b, c, d byte) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, d}) }

// Nothing counts that comes from elsewhere than was asked, answers no question of there, or is longer than packets are;
// and who asks is not answered.
func TestOnlyAnswersCount(t *testing.T) {
	n, elsewhere := newFake(t, newKey()), listenUDP(t)
	value := func(b byte) []netip.AddrPort { return []netip.AddrPort{netip.AddrPortFrom(addr(60, b, 1, 1), 7790)} }
	n.hostile = func(transaction, method string, _ Key, from netip.AddrPort) {
		elsewhere.WriteToUDPAddrPort(encode(nil, n.found(transaction, "", nil, value(1))), from)
		n.send(from, n.found("no", "", nil, value(2)))
		long := n.found(transaction, "", nil, value(3))
		long["x"] = string(make([]byte, maxPacket))
		n.send(from, long)
		n.conn.WriteToUDPAddrPort(append(encode(nil, n.found(transaction, "", nil, value(4))), 'x'), from)
		n.conn.WriteToUDPAddrPort(nil, from)
		n.send(from, dict{"t": transaction, "y": "q", "q": "ping", "a": dict{"id": string(n.id[:])}})
		short := n.found(transaction, "", nil, value(5))
		short["r"].(dict)["id"] = "short"
		n.send(from, short)
		n.send(from, n.found(transaction, "", nil, value(6)))
	}
	f, err := clientOf(t, n).Meet(t.Context(), 7790)
	if err != nil || !slices.Equal(f.Found, value(6)) || f.Named != 1 || f.Announced != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if n.count("get_peers") != 1 || n.count("announce_peer") != 0 || len(n.others) > 0 {
		t.Errorf("it sent %v, and %q", n.asked, n.others)
	}
}

// A node that names many addresses has no more of them taken than others, and one of each network.
func TestManyAddressesOfOneNode(t *testing.T) {
	n := newFake(t, newKey())
	var many []netip.AddrPort
	for i := range 150 { // as many as fit
		many = append(many, netip.AddrPortFrom(addr(60, byte(i%3), byte(i), 1), 7790))
	}
	n.kept[rendezvous(0)] = many
	f, err := clientOf(t, n).Meet(t.Context(), 0)
	if err != nil || f.Named != maxValues || len(f.Found) != 3 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A lookup ends among nodes that all name others which are nearer.
func TestAlwaysNearer(t *testing.T) {
	key := rendezvous(0)
	var nodes []*fakeNode
	for i := range maxQuestions + 100 {
		id := key
		distance := 0xffff - i
		id[0], id[1] = id[0]^byte(distance>>8), id[1]^byte(distance)
		nodes = append(nodes, newFake(t, id))
	}
	for i, n := range nodes {
		for _, next := range nodes[i+1 : min(len(nodes), i+3)] {
			n.peers = append(n.peers, next.contact())
		}
	}
	f, err := clientOf(t, nodes[0], nodes...).Meet(t.Context(), 0)
	asked := 0
	for _, n := range nodes {
		asked += n.count("get_peers")
	}
	if err != nil || asked != maxQuestions || f.Answered > asked {
		t.Errorf("%d questions, %+v, %v", asked, f, err)
	}
}

// Who is not whom others named is not counted, nor who refuses.
func TestOthersThanWereNamed(t *testing.T) {
	first, liar, refuses := newFake(t, newKey()), newFake(t, newKey()), newFake(t, newKey())
	first.peers = []contact{{id: newKey(), at: liar.at()}, refuses.contact()}
	liar.kept[rendezvous(0)] = []netip.AddrPort{netip.MustParseAddrPort("60.1.1.1:7790")}
	refuses.hostile = func(transaction, _ string, _ Key, from netip.AddrPort) {
		refuses.send(from, dict{"t": transaction, "y": "e", "e": []any{201, "no"}})
	}
	f, err := clientOf(t, first, liar, refuses).Meet(t.Context(), 7790)
	if err != nil || f.Answered != 1 || f.Named != 0 || f.Announced != 1 || liar.count("get_peers") != 1 ||
		refuses.count("get_peers") != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Where strangers name addresses only those of the public Internet are asked or found, at ports that are no services',
// and each a few times.
func TestOnlyPublicAddresses(t *testing.T) {
	s := &lookup{client: &Client{}, key: rendezvous(0), at: make(map[netip.Addr]int),
		asked: make(map[netip.AddrPort]bool)}
	var list []netip.AddrPort
	for _, at := range []string{"127.0.0.1:6881", "10.1.2.3:6881", "192.168.1.1:6881", "169.254.169.254:8080",
		"0.0.0.0:6881", "255.255.255.255:6881", "224.0.0.1:6881", "60.1.1.1:80", "60.1.1.1:1023", "60.1.1.1:0",
		"60.1.1.1:6881", "60.1.1.1:6882", "60.1.1.1:6883", "60.1.1.1:6884", "60.2.1.1:6881"} {
		list = append(list, netip.MustParseAddrPort(at))
	}
	r := reply{values: slices.Clone(list)}
	for i, at := range list {
		r.nodes = append(r.nodes, contact{id: Key{byte(i)}, at: at})
	}
	s.question(&contact{}, false).ended(&r)
	if named := s.voices[0].named; !slices.Equal(named, list[10:]) {
		t.Errorf("found %v", named)
	}
	var to []netip.AddrPort
	for q, ok := s.next(); ok; q, ok = s.next() {
		to = append(to, q.to)
	}
	slices.SortFunc(to, netip.AddrPort.Compare)
	if len(to) != 4 || to[2].Addr() != list[10].Addr() || to[3] != list[14] {
		t.Errorf("asks %v", to)
	}
}

// Many nodes of the DHT on one network, each of which names many addresses, are heard no more than one of another.
func TestEachNetworkHasOneVoice(t *testing.T) {
	var voices []voice
	for i := range 50 {
		v := voice{of: netip.AddrPortFrom(addr(66, 6, byte(i), 6), 6881)}
		for j := range 100 {
			v.named = append(v.named, netip.AddrPortFrom(addr(66, byte(100+j), byte(i), 1), 7790))
		}
		voices = append(voices, v)
	}
	var honest []netip.AddrPort
	for i := range 3 {
		v := voice{of: netip.AddrPortFrom(addr(70, byte(i), 1, 1), 6881)}
		for j := range 5 {
			v.named = append(v.named, netip.AddrPortFrom(addr(71, byte(5*i+j), 1, 1), 7790))
		}
		voices, honest = append(voices, v), append(honest, v.named...)
	}
	found := choose(voices)
	if len(found) != MaxFound {
		t.Errorf("%d found", len(found))
	}
	for _, at := range honest {
		if !slices.Contains(found, at) {
			t.Errorf("%s is not among %v", at, found)
		}
	}
}

// Where nobody answers a meeting says so, and it ends with its context.
func TestNobodyAnswers(t *testing.T) {
	silent := listenUDP(t).LocalAddr().String()
	c := &Client{Nodes: []string{silent, "nonsense", "127.0.0.1:7"}, AllowLocal: true, patience: time.Millisecond}
	if f, err := c.Meet(t.Context(), 7790); !errors.Is(err, ErrNobody) {
		t.Errorf("%+v, %v", f, err)
	}
	conn := listenUDP(t)
	c = &Client{Nodes: []string{conn.LocalAddr().String()}, AllowLocal: true, patience: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.Meet(ctx, 0)
		ended <- err
	}()
	conn.Read(make([]byte, 100)) // it asks
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What is no bencoding of one dictionary is no packet.
func TestBencoding(t *testing.T) {
	good := dict{"a": "", "b": int64(-1), "l": []any{dict{"": int64(0)}, "x:"}}
	text := string(encode(nil, good))
	if want := "d1:a0:1:bi-1e1:lld0:i0ee2:x:ee"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if got, err := decode([]byte(text)); err != nil || fmt.Sprint(got) != fmt.Sprint(good) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := decode([]byte("d1:b0:1:a0:e")); err != nil {
		t.Errorf("another order: %v", err)
	}
	for _, bad := range []string{"", "d", "de ", "le", "i1e", "0:", "d1:ae", "d1:a0:", "d1:a0:1:a0:e", "d1:ai01ee",
		"d1:ai-0ee", "d1:aiee", "d1:ai+1ee", "d1:ai9223372036854775808ee", "d1:a01:xe", "d1:a-1:xe", "d1:a2:xe",
		"d1:a9999999999999999999:xe", "di1e0:e", "d1:alllllleeeeeee"} {
		if got, err := decode([]byte(bad)); !errors.Is(err, ErrPacket) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

// The reader of answers stays within its limits, whatever it reads.
func FuzzParseReply(f *testing.F) {
	for _, seed := range []string{
		"d1:rd2:id20:aaaaaaaaaaaaaaaaaaaae1:t1:x1:y1:re",
		"d1:rd2:id20:aaaaaaaaaaaaaaaaaaaa5:nodes26:bbbbbbbbbbbbbbbbbbbb1234565:token2:to6:valuesl6:abcdefee1:t1:x" +
			"1:y1:re",
		"d1:eli201e2:noe1:t1:x1:y1:ee", "d1:ad2:id20:aaaaaaaaaaaaaaaaaaaae1:q4:ping1:t1:x1:y1:qe", "d1:alllleeeee",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		if _, r, err := parseReply(packet); err == nil &&
			(len(r.nodes) > maxNodes || len(r.values) > maxValues || len(r.token) > maxToken) {
			t.Errorf("%d nodes, %d values, a token of %d", len(r.nodes), len(r.values), len(r.token))
		}
		d, err := decode(packet)
		if err != nil {
			if !errors.Is(err, ErrPacket) {
				t.Errorf("error %v", err)
			}
			return
		}
		if again, err := decode(encode(nil, d)); err != nil || fmt.Sprint(again) != fmt.Sprint(d) {
			t.Errorf("%v became %v, %v", d, again, err)
		}
	})
}
