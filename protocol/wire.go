package protocol

import (
	"math"
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
	params := append(make([]xmlrpc.Value, 0, 3), int64(nid))
	switch c := call.(type) {
	case GetNeighbors, WhoAmI:
	case ListMethods:
		params = nil
	case Connect:
		params = append(params, encodeSubset(c.Subset))
		if c.Away >= time.Second {
			params = append(params, xmlrpc.Struct{{Name: "away", Value: int64(c.Away / time.Second)}})
		}
	case UpdateSubset:
		params = append(params, encodeSubset(c.Changes))
	case CheckDID:
		params = append(params, c.DID.String())
		if c.Feed != "" {
			params = append(params, xmlrpc.Struct{{Name: "feed", Value: string(c.Feed)},
				{Name: "n", Value: int64(c.Entries)}})
		}
	case CheckDIDs:
		dids := make(xmlrpc.Array, len(c.DIDs))
		for i, d := range c.DIDs {
			dids[i] = d.String()
		}
		params = append(params, dids)
	case PutEntries:
		params = append(params, encodeBundle(c.Bundle))
	case GetBundle:
		params = append(params, c.DID.String())
	case QueryFeed:
		params = append(params, encodeQuery(c.Query))
	case GetEntries:
		params = append(params, encodeGetEntries(c)...)
	case Vouch:
		params = append(params, c.Session)
	case Disconnect:
		params = append(params, c.Reason)
	case StateAccount:
		params = append(params, encodeAccount(c.Account))
	default:
		panic("protocol: call of unknown type")
	}
	return params
}

// DecodeCall reads a call and the port at which its caller listens (0 for calls that carry none).
// The error is a *Fault that names the parameter. Parameters and members that this version does not
// know are ignored: that is how versions grow.
func DecodeCall(c xmlrpc.Call) (nid uint16, call Call, err error) {
	if c.Method == "system.listMethods" {
		return 0, ListMethods{}, nil
	}
	decode, known := callDecoders[c.Method]
	if !known {
		return 0, nil, faultf(UnknownMethod, "no method %.64q; system.listMethods lists those there are", c.Method)
	}
	p := params{list: c.Params}
	port := p.int("nid", LowestPort, math.MaxUint16)
	call = decode(&p)
	if p.err != nil {
		return 0, nil, p.err
	}
	return uint16(port), call, nil
}

// callDecoders reads the parameters after nid, a method each.
var callDecoders = map[string]func(p *params) Call{
	"get_neighbors":     func(p *params) Call { return GetNeighbors{} },
	"connect":           decodeConnect,
	"update_subset":     decodeUpdateSubset,
	"check_did":         decodeCheckDID,
	"check_dids":        func(p *params) Call { return CheckDIDs{p.dids("dids")} },
	"put_entries":       func(p *params) Call { return PutEntries{decodeBundle(p)} },
	"feedex.get_bundle": func(p *params) Call { return GetBundle{p.did("did")} },
	"query_feed":        func(p *params) Call { return QueryFeed{decodeQuery(p)} },
	"get_entries":       decodeGetEntries,
	"feedex.whoami":     func(p *params) Call { return WhoAmI{} },
	"feedex.vouch":      func(p *params) Call { return Vouch{p.string("session", MaxSessionBytes)} },
	"feedex.disconnect": func(p *params) Call { return Disconnect{p.string("reason", MaxLabelBytes)} },
	"feedex.account":    func(p *params) Call { return StateAccount{decodeAccount(p)} },
}

func decodeConnect(p *params) Call {
	subset, ignored := p.subset("subset", 0)
	call := Connect{Subset: subset, Ignored: ignored}
	if hint, ok := p.optional().(xmlrpc.Struct); ok {
		m := members{list: hint, where: "hint", err: &p.err}
		call.Away = time.Duration(m.int("away", 0, maxAway)) * time.Second
	}
	return call
}

func decodeUpdateSubset(p *params) Call {
	changes, ignored := p.subset("changes", Withdrawn)
	return UpdateSubset{Changes: changes, Ignored: ignored}
}

func decodeCheckDID(p *params) Call {
	call := CheckDID{DID: p.did("did")}
	if hint, ok := p.optional().(xmlrpc.Struct); ok {
		m := members{list: hint, where: "hint", err: &p.err}
		if u, err := feed.ParseURL(m.string("feed", feed.MaxURLBytes)); err == nil {
			call.Feed, call.Entries = u, int(m.int("n", 0, MaxBundleEntries))
		}
	}
	return call
}

// EncodeReply appends the methodResponse that carries r.
func EncodeReply(dst []byte, r Reply) []byte {
	return xmlrpc.AppendResponse(dst, encodeReply(r))
}

func encodeReply(r Reply) xmlrpc.Value {
	switch r := r.(type) {
	case OK:
		return "ok"
	case Seen:
		return r.String()
	case SeenList:
		list := make(xmlrpc.Array, len(r))
		for i, s := range r {
			list[i] = s.String()
		}
		return list
	case Subset:
		return encodeSubset(r)
	case NodeList:
		list := make(xmlrpc.Array, len(r))
		for i, n := range r {
			list[i] = xmlrpc.Struct{{Name: "ip", Value: n.Addr().String()}, {Name: "port", Value: int64(n.Port())}}
		}
		return list
	case Answer:
		return encodeAnswer(r)
	case *Bundle:
		return encodeBundle(r)
	case Batch:
		return encodeBatch(r)
	case NodeID:
		return r.String()
	case Account:
		return encodeAccount(r)
	case Vouched:
		return bool(r)
	case Methods:
		list := make(xmlrpc.Array, len(r))
		for i, m := range r {
			list[i] = m
		}
		return list
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

// String is the reply as it goes over the wire.
func (s Seen) String() string {
	if s {
		return "seen"
	}
	return "unseen"
}

// DecodeReply reads the answer to call. An error means that the peer does not keep to the protocol.
func DecodeReply(call Call, v xmlrpc.Value) (Reply, error) {
	p := params{list: []xmlrpc.Value{v}}
	var r Reply
	switch call.(type) {
	case UpdateSubset, PutEntries, Disconnect:
		if word := p.string("answer", MaxLabelBytes); word != "ok" {
			p.fail("answer", `want "ok"`)
		}
		r = OK{}
	case CheckDID:
		r = p.seen("answer", v)
	case CheckDIDs:
		list := p.array("answer", MaxDIDs)
		seen := make(SeenList, len(list))
		for i, item := range list {
			seen[i] = p.seen("answer", item)
		}
		r = seen
	case Connect:
		subset, ignored := p.subset("answer", 0)
		if r = subset; ignored > 0 {
			r = FlawedSubset{subset, ignored}
		}
	case GetNeighbors:
		r = p.nodes("answer")
	case QueryFeed:
		r = decodeAnswer(&p)
	case GetBundle:
		r = decodeBundle(&p)
	case GetEntries:
		r = decodeBatch(&p)
	case WhoAmI:
		id, err := ParseNodeID(p.string("answer", MaxLabelBytes))
		if err != nil {
			p.fail("answer", err.Error())
		}
		r = id
	case StateAccount:
		r = decodeAccount(&p)
	case Vouch:
		ok, is := v.(bool)
		if !is {
			p.fail("answer", "want a boolean")
		}
		r = Vouched(ok)
	case ListMethods:
		list := p.array("answer", maxMethods)
		names := make(Methods, 0, len(list))
		for _, item := range list {
			if name, ok := item.(string); ok && len(name) <= MaxLabelBytes {
				names = append(names, name)
			}
		}
		r = names
	default:
		panic("protocol: call of unknown type")
	}
	if p.err != nil {
		return nil, p.err
	}
	return r, nil
}

// maxMethods bounds a peer's answer to system.listMethods.
const maxMethods = 1000

func encodeSubset(s Subset) xmlrpc.Array {
	list := make(xmlrpc.Array, len(s))
	for i, in := range s {
		list[i] = xmlrpc.Array{string(in.Feed), int64(in.Hops)}
	}
	return list
}
