package lan

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"feedex/protocol"
)

// keyOf is a key of a test.
func keyOf(i int) protocol.NodeKey { return protocol.NodeKey{byte(i), byte(i >> 8), 1} }

// What a node announces another one reads, and its goodbye.
func TestAnnouncementsAreRead(t *testing.T) {
	at := netip.MustParseAddrPort("192.168.1.9:7790")
	for _, goodbye := range []bool{false, true} {
		p, err := read(announcement(keyOf(2), at, goodbye), keyOf(1))
		if err != nil || len(p.nodes) != 1 || p.asked {
			t.Fatalf("read: %+v, %v", p, err)
		}
		want := announced{nameOf(instanceOf(keyOf(2))), 7790, keyOf(2), otherLife}
		if goodbye {
			want.life = 0
		}
		if p.nodes[0] != want {
			t.Errorf("goodbye %v: read %+v, want %+v", goodbye, p.nodes[0], want)
		}
	}
}

// question is a query with one question, and answers that the asker knows.
func question(t testing.TB, name string, kind dnsmessage.Type, known ...announced) []byte {
	t.Helper()
	m := dnsmessage.Message{Questions: []dnsmessage.Question{{
		Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET | flush}}}
	for _, n := range known {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header(service, 0, n.life),
			Body: &dnsmessage.PTRResource{PTR: n.instance}})
	}
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A node answers queries for what it announces, in any case of letters, and not who knows it already for long
// enough (RFC 6762 §7.1).
func TestQueriesThatAreAnswered(t *testing.T) {
	own := keyOf(1)
	knows := func(life time.Duration) announced { return announced{instance: nameOf(instanceOf(own)), life: life} }
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"nodes":               {queryFor(nil), true},
		"nodes, in capitals":  {question(t, strings.ToUpper(service), dnsmessage.TypePTR), true},
		"services":            {question(t, allServices, dnsmessage.TypePTR), true},
		"any":                 {question(t, service, dnsmessage.TypeALL), true},
		"where":               {question(t, instanceOf(own), dnsmessage.TypeSRV), true},
		"key":                 {question(t, instanceOf(own), dnsmessage.TypeTXT), true},
		"address":             {question(t, hostOf(own), dnsmessage.TypeA), true},
		"another's address":   {question(t, hostOf(keyOf(2)), dnsmessage.TypeA), false},
		"printers":            {question(t, "_ipp._tcp.local.", dnsmessage.TypePTR), false},
		"known":               {queryFor([]announced{knows(otherLife)}), false},
		"known, but for long": {queryFor([]announced{knows(otherLife/2 - time.Second)}), true},
		"another one known":   {queryFor([]announced{{instance: nameOf(instanceOf(keyOf(2))), life: otherLife}}), true},
	} {
		if p, err := read(c.data, own); err != nil || p.asked != c.want {
			t.Errorf("%s: asked %v, %v, want %v", name, p.asked, err, c.want)
		}
	}
}

// A query names only as many known nodes as fit into a packet.
func TestAQueryFitsIntoAPacket(t *testing.T) {
	var known []announced
	for i := range maxNodes {
		known = append(known, announced{instance: nameOf(instanceOf(keyOf(i))), life: otherLife})
	}
	data := queryFor(known)
	if len(data) > fullPacket || len(data) < fullPacket/3 {
		t.Errorf("a query has %d bytes", len(data))
	}
	if p, err := read(data, keyOf(5)); err != nil || p.asked {
		t.Errorf("%+v, %v", p, err)
	}
}

// Packets that are none, of more than a node says of itself, or of nodes that cannot be called, give nothing.
func TestPacketsThatGiveNothing(t *testing.T) {
	at := netip.MustParseAddrPort("192.168.1.9:7790")
	whole := announcement(keyOf(2), at, false)
	many := dnsmessage.Message{Header: dnsmessage.Header{Response: true}}
	for range maxRecords + 1 {
		many.Answers = append(many.Answers, dnsmessage.Resource{Header: header(service, 0, otherLife),
			Body: &dnsmessage.AResource{}})
	}
	long, _ := many.Pack()
	questions := dnsmessage.Message{}
	for range maxRecords + 1 {
		questions.Questions = append(questions.Questions, dnsmessage.Question{Name: nameOf(service),
			Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET})
	}
	asking, _ := questions.Pack()
	opcode := append([]byte(nil), whole...)
	opcode[2] |= 0x28
	for name, data := range map[string][]byte{
		"nothing": nil, "a part": whole[:len(whole)-20], "an opcode": opcode, "records": long, "questions": asking,
	} {
		if p, err := read(data, keyOf(1)); !errors.Is(err, errPacket) || p.asked || len(p.nodes) > 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for name, data := range map[string][]byte{
		"a port of a service": announcement(keyOf(2), netip.AddrPortFrom(at.Addr(), 25), false),
		"no key":              announcement(protocol.NodeKey{}, at, false),
	} {
		if p, err := read(data, keyOf(1)); err != nil || len(p.nodes) > 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// called is the announcement of a node that has any name: one spelling of it where nodes are listed, another in the
// records of its own.
func called(t testing.TB, listed, own string) []byte {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(node(2, 7790, false)); err != nil {
		t.Fatal(err)
	}
	m.Answers[0].Body = &dnsmessage.PTRResource{PTR: nameOf(listed + "." + service)}
	m.Answers[1].Header.Name = nameOf(own + "." + service)
	m.Answers[2].Header.Name = m.Answers[1].Header.Name
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// longest is a label as long as labels may be, of bytes that are no UTF-8.
var longest = strings.Repeat("\xff", 63)

// A node has a name of one label, of whatever bytes: it is kept as it was read, but for the case of ASCII letters (RFC
// 6762 §16), and the next query names it.
func TestNamesOfAnyBytes(t *testing.T) {
	for _, c := range []struct{ listed, own, want string }{
		{longest, longest, longest},
		{"A\xffZ@[\xc3\x84", "a\xffz@[\xc3\x84", "a\xffz@[\xc3\x84"},
		{"\xfe", "\xff", ""}, {"\xc3\x84", "\xc3\xa4", ""}, // others
		{longest + "." + longest + "." + longest, longest + "." + longest + "." + longest, ""}, // more than a label
		{"a.b", "a.b", ""},
	} {
		w := newTestNetwork(t)
		w.hear("192.168.1.9", called(t, c.listed, c.own))
		w.run(t, time.Minute)
		var names []string
		for _, k := range w.nodes.list {
			names = append(names, k.instance.String())
		}
		var want []string
		if c.want != "" {
			want = []string{c.want + "." + service}
		}
		asked := namedIn(t, queryFor(w.nodes.fresh(w.now, w.networks[0])))
		if !slices.Equal(names, want) || !slices.Equal(asked, want) {
			t.Errorf("%q: nodes %q, a query names %q, want %q", c.listed, names, asked, want)
		}
	}
}

// namedIn are the nodes that a query names.
func namedIn(t testing.TB, query []byte) (names []string) {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(query) > fullPacket {
		t.Fatalf("a query of %d bytes: %v", len(query), err)
	}
	for _, a := range m.Answers {
		names = append(names, a.Body.(*dnsmessage.PTRResource).PTR.String())
	}
	return names
}

// FuzzRead reads what anybody may send.
func FuzzRead(f *testing.F) {
	at := netip.MustParseAddrPort("192.168.1.9:7790")
	f.Add(announcement(keyOf(2), at, false))
	f.Add(announcement(keyOf(2), at, true))
	f.Add(queryFor(nil))
	f.Add(queryFor([]announced{{instance: nameOf(instanceOf(keyOf(1))), life: otherLife}}))
	f.Add(question(f, instanceOf(keyOf(1)), dnsmessage.TypeSRV))
	f.Add(called(f, longest, longest))
	f.Add(called(f, longest+"."+longest+"."+longest, longest+"."+longest+"."+longest))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := read(data, keyOf(1))
		if err != nil && (!errors.Is(err, errPacket) || len(p.nodes) > 0) {
			t.Fatalf("%+v, %v", p, err)
		}
		if len(p.nodes) > maxInstances {
			t.Fatalf("%d nodes", len(p.nodes))
		}
		for _, n := range p.nodes {
			if n.port < protocol.LowestPort || n.key.IsZero() || n.life < 0 || n.life > otherLife {
				t.Fatalf("%+v", n)
			}
		}
		if names := namedIn(t, queryFor(p.nodes)); len(names) != len(p.nodes) {
			t.Fatalf("of %+v it names %q", p.nodes, names)
		}
	})
}
