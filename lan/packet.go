package lan

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"feedex/protocol"
)

const (
	// service is what nodes are found by, and allServices what lists all kinds of services (RFC 6763 §9).
	service     = "_feedex._tcp.local."
	allServices = "_services._dns-sd._udp.local."
	keyName     = "key=" // of the word that has a node's key in its TXT record

	// Times to live (RFC 6762 §10): of records with a host's name or address, and of others.
	hostLife  = 120 * time.Second
	otherLife = 75 * time.Minute

	// maxPacket is the longest packet that is read, in bytes (§17), and fullPacket what one that is sent may hold so
	// that it fits into an Ethernet frame.
	maxPacket  = 9000
	fullPacket = 1400
	// maxRecords bounds what is read of a packet, and maxInstances the nodes in it: a node speaks for itself alone.
	maxRecords   = 256
	maxInstances = 8

	flush    = 1 << 15 // in the class of a record: forget others of its name (§10.2)
	anyClass = dnsmessage.ClassANY
)

// errPacket is wrapped by the errors of read.
var errPacket = errors.New("no packet of multicast DNS")

// A packet is what a packet says that matters to nodes.
type packet struct {
	asked bool // for what this node announces, and the asker does not know it yet
	nodes []announced
}

// announced is a node as it announces itself. Without life it says goodbye (RFC 6762 §10.1).
type announced struct {
	instance dnsmessage.Name // as it was read: nothing that comes from outside is made a name again
	port     uint16
	key      protocol.NodeKey
	life     time.Duration
}

// instanceOf is the name under which a node with the key announces itself, and hostOf that of its machine.
func instanceOf(k protocol.NodeKey) string { return label(k) + "." + service }
func hostOf(k protocol.NodeKey) string     { return label(k) + ".local." }

func label(k protocol.NodeKey) string { return "feedex-" + hex.EncodeToString(k[:16]) }

// read reads a packet for the node that has own.
func read(data []byte, own protocol.NodeKey) (p packet, err error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(data)
	switch {
	case err != nil:
		return p, fmt.Errorf("%w: %w", errPacket, err)
	case header.OpCode != 0 || header.RCode != 0:
		return p, fmt.Errorf("%w: opcode %d, rcode %d", errPacket, header.OpCode, header.RCode)
	case header.Response:
		p.nodes, err = readAnswer(&parser)
	default:
		p.asked, err = readQuery(&parser, own)
	}
	return p, err
}

// readQuery reports whether the node that has own is to answer a query.
func readQuery(parser *dnsmessage.Parser, own protocol.NodeKey) (asked bool, err error) {
	listed := false // it asks for the list of nodes, and for nothing else of ours
	for range maxRecords {
		q, err := parser.Question()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return asked || listed && !knows(parser, own), nil
		}
		if err != nil {
			return false, fmt.Errorf("%w: %w", errPacket, err)
		}
		if class := q.Class &^ flush; class != dnsmessage.ClassINET && class != anyClass {
			continue
		}
		wants := func(name string, types ...dnsmessage.Type) bool {
			for _, t := range append(types, dnsmessage.TypeALL) {
				if q.Type == t && strings.EqualFold(q.Name.String(), name) {
					return true
				}
			}
			return false
		}
		listed = listed || wants(service, dnsmessage.TypePTR)
		asked = asked || wants(allServices, dnsmessage.TypePTR) || wants(hostOf(own), dnsmessage.TypeA) ||
			wants(instanceOf(own), dnsmessage.TypeSRV, dnsmessage.TypeTXT)
	}
	return false, fmt.Errorf("%w: more than %d questions", errPacket, maxRecords)
}

// knows reports whether who asks for nodes knows the one that has own for a while yet (RFC 6762 §7.1). What cannot be
// read of that is not known.
func knows(parser *dnsmessage.Parser, own protocol.NodeKey) bool {
	for range maxRecords {
		h, err := parser.AnswerHeader()
		if err != nil {
			return false
		}
		if h.Type != dnsmessage.TypePTR || !strings.EqualFold(h.Name.String(), service) {
			if parser.SkipAnswer() != nil {
				return false
			}
			continue
		}
		ptr, err := parser.PTRResource()
		if err != nil {
			return false
		}
		if strings.EqualFold(ptr.PTR.String(), instanceOf(own)) {
			return time.Duration(h.TTL)*time.Second >= otherLife/2
		}
	}
	return false
}

// readAnswer reads the nodes that an answer names with all that is to be known of them. A node sends that in one
// packet.
func readAnswer(parser *dnsmessage.Parser) ([]announced, error) {
	if err := parser.SkipAllQuestions(); err != nil {
		return nil, fmt.Errorf("%w: %w", errPacket, err)
	}
	var nodes []announced
	listed := make(map[dnsmessage.Name]time.Duration)
	of := func(name dnsmessage.Name) *announced { // nil for what is no node, or one too many
		name = lower(name)
		for i := range nodes {
			if nodes[i].instance == name {
				return &nodes[i]
			}
		}
		label, ok := strings.CutSuffix(name.String(), "."+service)
		if len(nodes) == maxInstances || !ok || strings.Contains(label, ".") {
			return nil
		}
		nodes = append(nodes, announced{instance: name})
		return &nodes[len(nodes)-1]
	}
	take := func(h dnsmessage.ResourceHeader, skip func() error) error {
		n := of(h.Name)
		switch {
		case h.Type == dnsmessage.TypePTR && strings.EqualFold(h.Name.String(), service):
			ptr, err := parser.PTRResource()
			if err == nil && len(listed) < maxInstances {
				listed[lower(ptr.PTR)] = time.Duration(h.TTL) * time.Second
			}
			return err
		case h.Type == dnsmessage.TypeSRV && n != nil:
			srv, err := parser.SRVResource()
			n.port = srv.Port
			return err
		case h.Type == dnsmessage.TypeTXT && n != nil:
			txt, err := parser.TXTResource()
			for _, word := range txt.TXT {
				if len(word) > len(keyName) && strings.EqualFold(word[:len(keyName)], keyName) {
					n.key, _ = protocol.ParseNodeKey(word[len(keyName):]) // that of a kind to come is none
					break
				}
			}
			return err
		}
		return skip()
	}
	if err := eachRecord(parser, take); err != nil {
		return nil, err
	}
	whole := nodes[:0]
	for _, n := range nodes {
		life, ok := listed[n.instance]
		if n.life = min(life, otherLife); n.life > 0 {
			n.life = max(n.life, hostLife) // or who is there for a second is asked for again each second
		}
		if ok && n.port >= protocol.LowestPort && !n.key.IsZero() {
			whole = append(whole, n)
		}
	}
	return whole, nil
}

// lower is a name as names are compared: the case of ASCII letters does not count, and all other bytes are left
// alone, as they need not be UTF-8 (RFC 6762 §16).
func lower(name dnsmessage.Name) dnsmessage.Name {
	for i, c := range name.Data[:name.Length] {
		if 'A' <= c && c <= 'Z' {
			name.Data[i] += 'a' - 'A'
		}
	}
	return name
}

// eachRecord goes through the answers of a packet and what it has beside them.
func eachRecord(parser *dnsmessage.Parser,
	take func(h dnsmessage.ResourceHeader, skip func() error) error) error {
	sections := []struct {
		header func() (dnsmessage.ResourceHeader, error)
		skip   func() error
		unread bool
	}{
		{parser.AnswerHeader, parser.SkipAnswer, false},
		{parser.AuthorityHeader, parser.SkipAuthority, true},
		{parser.AdditionalHeader, parser.SkipAdditional, false},
	}
	records := 0
	for _, s := range sections {
		for {
			h, err := s.header()
			if errors.Is(err, dnsmessage.ErrSectionDone) {
				break
			}
			if records++; err == nil && records > maxRecords {
				return fmt.Errorf("%w: more than %d records", errPacket, maxRecords)
			}
			if err == nil && s.unread {
				err = s.skip()
			} else if err == nil {
				err = take(h, s.skip)
			}
			if err != nil {
				return fmt.Errorf("%w: %w", errPacket, err)
			}
		}
	}
	return nil
}

// queryFor is a query for nodes that names those that are known, with how much longer, as far as they fit (RFC 6762
// §7.1).
func queryFor(known []announced) []byte {
	b := dnsmessage.NewBuilder(make([]byte, 0, fullPacket), dnsmessage.Header{})
	b.EnableCompression()
	b.StartQuestions()
	b.Question(dnsmessage.Question{Name: nameOf(service), Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET})
	b.StartAnswers()
	room := fullPacket - len(service) - 64
	for _, n := range known {
		if room -= int(n.instance.Length) + 16; room < 0 {
			break
		}
		b.PTRResource(header(service, 0, n.life), dnsmessage.PTRResource{PTR: n.instance})
	}
	data, _ := b.Finish()
	return data
}

// announcement is the packet by which the node that has key announces itself at an address and port, or says goodbye.
// It answers all queries: a record more than is asked for costs less than one that is asked for next.
func announcement(key protocol.NodeKey, at netip.AddrPort, goodbye bool) []byte {
	host, other := hostLife, otherLife
	if goodbye {
		host, other = 0, 0
	}
	b := dnsmessage.NewBuilder(make([]byte, 0, fullPacket), dnsmessage.Header{Response: true, Authoritative: true})
	b.EnableCompression()
	b.StartAnswers()
	instance := instanceOf(key)
	b.PTRResource(header(service, 0, other), dnsmessage.PTRResource{PTR: nameOf(instance)})
	b.SRVResource(header(instance, flush, host), dnsmessage.SRVResource{Port: at.Port(), Target: nameOf(hostOf(key))})
	b.TXTResource(header(instance, flush, other), dnsmessage.TXTResource{TXT: []string{keyName + key.String()}})
	b.AResource(header(hostOf(key), flush, host), dnsmessage.AResource{A: at.Addr().As4()})
	if !goodbye { // other nodes are of that kind as well
		b.PTRResource(header(allServices, 0, other), dnsmessage.PTRResource{PTR: nameOf(service)})
	}
	data, _ := b.Finish()
	return data
}

func header(name string, bit dnsmessage.Class, life time.Duration) dnsmessage.ResourceHeader {
	return dnsmessage.ResourceHeader{Name: nameOf(name), Class: dnsmessage.ClassINET | bit,
		TTL: uint32(life / time.Second)}
}

// nameOf is one of our own names, which all fit.
func nameOf(s string) dnsmessage.Name { return dnsmessage.MustNewName(s) }
