package protocol

import (
	"fmt"
	"math"
	"net/netip"
	"time"
	"unicode/utf8"

	"feedex/feed"
	"feedex/xmlrpc"
)

// EncodeCall appends the XML-RPC methodCall for call, made by the node that listens on port nid.
func EncodeCall(dst []byte, nid uint16, call Call) []byte {
	return xmlrpc.AppendCall(dst, call.Method(), encodeParams(nid, call)...)
}

func encodeParams(nid uint16, call Call) []xmlrpc.Value {
	m := methodOf(call)
	if m.introspects() {
		return m.encode(call)
	}
	return append([]xmlrpc.Value{int64(nid)}, m.encode(call)...)
}

// DecodeCall reads a call and the port at which its caller listens (0 for calls that carry none).
// The error is a *Fault that names the parameter. Parameters and members that this version does not
// know are ignored: that is how versions grow.
func DecodeCall(c xmlrpc.Call) (nid uint16, call Call, err error) {
	m := methodCalled(c.Method)
	if m.decode == nil {
		return 0, nil, faultf(UnknownMethod, "no method %.64q; system.listMethods lists those there are", c.Method)
	}
	p := params{list: c.Params}
	if !m.introspects() {
		nid = uint16(p.int("nid", LowestPort, math.MaxUint16))
	}
	if call = m.decode(&p); p.err != nil {
		return 0, nil, p.err
	}
	return nid, call, nil
}

// EncodeReply appends the methodResponse that carries r.
func EncodeReply(dst []byte, r Reply) []byte {
	return xmlrpc.AppendResponse(dst, encodeReply(r))
}

func encodeReply(r Reply) xmlrpc.Value {
	for i := range methods {
		if m := &methods[i]; m.encodeReply != nil {
			if v, is := m.encodeReply(r); is {
				return v
			}
		}
	}
	panic("protocol: reply of unknown type")
}

// EncodeFault appends the methodResponse that refuses with f. Its text is cleaned and cut to
// MaxLabelBytes, because callers read no more than a small body.
func EncodeFault(dst []byte, f *Fault) []byte {
	return xmlrpc.AppendFault(dst, xmlrpc.Fault{Code: int(f.Code), String: cut(feed.Clean(f.Error()), MaxLabelBytes)})
}

// cut shortens s to at most limit bytes, between two characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// DecodeReply reads the answer to call. The error wraps ErrReply: the peer does not keep to the protocol.
func DecodeReply(call Call, v xmlrpc.Value) (Reply, error) {
	p := params{list: []xmlrpc.Value{v}}
	r := methodOf(call).decodeReply(&p)
	if p.err != nil { // its type says that we refuse a call
		return nil, fmt.Errorf("%w: %s", ErrReply, AsFault(p.err).Text)
	}
	return r, nil
}

func encodeConnect(c Connect) xmlrpc.Array {
	list := xmlrpc.Array{encodeSubset(c.Subset)}
	var hint xmlrpc.Struct
	if c.Away >= time.Second {
		hint = xmlrpc.Struct{{Name: "away", Value: int64(c.Away / time.Second)}}
	}
	if !c.Key.IsZero() {
		hint = append(hint, keyMembers(c.Key, c.Challenge)...)
	}
	if c.Reverse {
		hint = append(hint, xmlrpc.Member{Name: "reverse", Value: true})
	}
	if hint != nil {
		list = append(list, hint)
	}
	return list
}

func decodeConnect(p *params) (c Connect) {
	c.Subset, c.Ignored = p.subset("subset", 0)
	hint := p.hint()
	c.Away = time.Duration(hint.int("away", 0, maxAway)) * time.Second
	c.Key, c.Challenge = hint.key()
	c.Reverse = hint.bool("reverse")
	return c
}

// decodeAccepted reads the answer to connect.
func decodeAccepted(p *params) Reply {
	subset, ignored := p.subset("answer", 0)
	if ignored > 0 {
		return FlawedSubset{subset, ignored}
	}
	return subset
}

func encodeCheckDID(c CheckDID) xmlrpc.Array {
	list := xmlrpc.Array{c.DID.String()}
	var hint xmlrpc.Struct
	if c.Feed != "" {
		hint = xmlrpc.Struct{{Name: "feed", Value: string(c.Feed)}}
	}
	if len(c.Notices) > 0 {
		hint = append(hint, xmlrpc.Member{Name: "polled", Value: encodeNotices(c.Notices)})
	}
	if hint != nil {
		list = append(list, hint)
	}
	return list
}

func decodeCheckDID(p *params) CheckDID {
	c, m := CheckDID{DID: p.did("did")}, p.hint()
	c.Feed, c.Notices = m.feed(), m.notices()
	return c
}

// String is the reply as it goes over the wire.
func (s Seen) String() string {
	if s {
		return "seen"
	}
	return "unseen"
}

func decodeSeenList(p *params) SeenList {
	list := p.array("answer", MaxDIDs)
	seen := make(SeenList, len(list))
	for i, item := range list {
		seen[i] = p.seen("answer", item)
	}
	return seen
}

// decodeDisconnect reads why a link ends. It ends whatever the reason is.
func decodeDisconnect(p *params) Disconnect {
	reason := ""
	if len(p.list) > 0 {
		reason, _ = p.list[0].(string)
	}
	return Disconnect{cut(feed.Clean(reason), MaxLabelBytes)}
}

func writeNothing[C Call](C) xmlrpc.Array     { return nil }
func readNothing[C Call](*params) (nothing C) { return nothing }

func encodeOK(OK) string { return "ok" }

func decodeOK(p *params) OK {
	if p.string("answer", MaxLabelBytes) != "ok" {
		p.fail("answer", `want "ok"`)
	}
	return OK{}
}

func encodeNodes(list NodeList) xmlrpc.Array {
	return arrayOf(list, func(n NodeID) xmlrpc.Struct {
		return xmlrpc.Struct{{Name: "ip", Value: n.Addr().String()}, {Name: "port", Value: int64(n.Port())}}
	})
}

// decodeNodes reads an array of {ip, port}; elements that make no sense are left out.
func decodeNodes(p *params) NodeList {
	list := p.array("answer", 10*MaxNeighborList)
	nodes := make(NodeList, 0, min(len(list), MaxNeighborList))
	for _, v := range list {
		s, _ := v.(xmlrpc.Struct)
		ipText, _ := s.Lookup("ip")
		port, _ := s.Lookup("port")
		text, _ := ipText.(string)
		n, _ := port.(int64)
		ip, err := netip.ParseAddr(text)
		if err != nil || n < LowestPort || n > 65535 || len(nodes) == MaxNeighborList {
			continue
		}
		if id := NewNodeID(ip, uint16(n)); !id.IsZero() {
			nodes = append(nodes, id)
		}
	}
	return nodes
}

func decodeNodeID(p *params) NodeID {
	id, err := ParseNodeID(p.string("answer", MaxLabelBytes))
	if err != nil {
		p.fail("answer", err.Error())
	}
	return id
}

func decodeMethods(p *params) Methods {
	list := p.array("answer", maxMethods)
	names := make(Methods, 0, len(list))
	for _, item := range list {
		if name, ok := item.(string); ok && len(name) <= MaxLabelBytes {
			names = append(names, name)
		}
	}
	return names
}

// maxMethods bounds a peer's answer to system.listMethods.
const maxMethods = 1000

func encodeSubset(s Subset) xmlrpc.Array {
	return arrayOf(s, func(in Interest) xmlrpc.Array { return xmlrpc.Array{string(in.Feed), int64(in.Hops)} })
}

// arrayOf is a list as an array of what each of its items is on the wire.
func arrayOf[T, V any](list []T, value func(T) V) xmlrpc.Array {
	a := make(xmlrpc.Array, len(list))
	for i, item := range list {
		a[i] = value(item)
	}
	return a
}

// arrayOfStrings is a list of strings as an array.
func arrayOfStrings(list []string) xmlrpc.Array {
	return arrayOf(list, func(s string) string { return s })
}
