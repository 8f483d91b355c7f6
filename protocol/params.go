package protocol

import (
	"fmt"
	"iter"
	"math"

	"feedex/feed"
	"feedex/xmlrpc"
)

// An argument is a parameter of a call, or a member of a struct. The first that is wrong sets err, where that is not
// nil; what is wrong or not there is zero, and an int the lowest that there may be.
type argument struct {
	xmlrpc.Value
	there       bool
	where, name string // as faults name it; where is "" for a parameter
	err         *error
}

func (v argument) fail(want string) { v.refuse(InvalidParams, ": %s", want) }

// refuse takes a text that goes on behind the name.
func (v argument) refuse(code Code, format string, args ...any) {
	if v.err == nil || *v.err != nil {
		return
	}
	name := v.name
	if v.where != "" {
		name = v.where + "." + name
	}
	*v.err = faultf(code, "%s"+format, append([]any{name}, args...)...)
}

func (v argument) int(low, high int64) int64 {
	n, is := v.Value.(int64)
	switch {
	case !v.there:
		return low
	case !is || n < low || n > high:
		v.fail(fmt.Sprintf("want an int from %d to %d", low, high))
		return low
	}
	return n
}

func (v argument) string(limit int) string {
	s, is := v.Value.(string)
	switch {
	case v.there && !is:
		v.fail("want a string")
	case len(s) > limit:
		v.refuse(TooLong, " is %d bytes, the limit is %d", len(s), limit)
		return ""
	}
	return s
}

func (v argument) bool() bool {
	b, is := v.Value.(bool)
	if v.there && !is {
		v.fail("want a boolean")
	}
	return b
}

func (v argument) array(limit int) xmlrpc.Array {
	a, is := v.Value.(xmlrpc.Array)
	switch {
	case v.there && !is:
		v.fail("want an array")
	case len(a) > limit:
		v.refuse(TooLong, " holds %d values, the limit is %d", len(a), limit)
		return nil
	}
	return a
}

// structure reads a struct, of which faults speak as where.
func (v argument) structure(where string) members {
	s, is := v.Value.(xmlrpc.Struct)
	if v.there && !is {
		v.fail("want a struct")
	}
	return members{list: s, where: where, err: v.err}
}

// params reads a call's parameters one after the other. The first that is missing or wrong sets err;
// what is read after that is zero.
type params struct {
	list []xmlrpc.Value
	err  error
}

func (p *params) fail(name, want string) { argument{name: name, err: &p.err}.fail(want) }

// next takes the next parameter.
func (p *params) next(name string) argument {
	v := argument{name: name, err: &p.err}
	switch {
	case p.err != nil:
	case len(p.list) == 0:
		v.fail("missing")
	default:
		v.Value, v.there, p.list = p.list[0], true, p.list[1:]
	}
	return v
}

// hint is the struct that may stand last, with no members where there is none. The call means the same without it, so
// nothing in it refuses the call.
func (p *params) hint() (m members) {
	if p.err == nil && len(p.list) > 0 {
		m.list, _ = p.list[0].(xmlrpc.Struct)
	}
	return m
}

func (p *params) int(name string, low, high int64) int64 { return p.next(name).int(low, high) }

func (p *params) string(name string, limit int) string { return p.next(name).string(limit) }

func (p *params) bool(name string) bool { return p.next(name).bool() }

func (p *params) array(name string, limit int) xmlrpc.Array { return p.next(name).array(limit) }

func (p *params) structure(name string) members { return p.next(name).structure(name) }

func (p *params) did(name string) DID {
	s := p.string(name, 2*len(DID{}))
	if p.err != nil {
		return DID{}
	}
	d, err := ParseDID(s)
	if err != nil {
		p.fail(name, "want 40 hexadecimal digits")
	}
	return d
}

func (p *params) dids(name string) []DID {
	list := p.array(name, MaxDIDs)
	dids := make([]DID, len(list))
	for i, v := range list {
		s, _ := v.(string)
		var err error
		if dids[i], err = ParseDID(s); err != nil {
			p.fail(name, "want 40 hexadecimal digits each")
		}
	}
	return dids
}

func (p *params) seen(name string, v xmlrpc.Value) Seen {
	switch v {
	case "seen":
		return true
	case "unseen":
		return false
	}
	p.fail(name, `want "seen" or "unseen"`)
	return false
}

// subset reads an array of [url, hops]. Elements that make no sense (not a feed's URL, hops below low or
// above MaxHops, a feed named twice) are left out and counted: the valid part of a subset is used.
func (p *params) subset(name string, low int64) (subset Subset, ignored int) {
	list := p.array(name, maxElements)
	subset = make(Subset, 0, len(list))
	named := make(map[feed.URL]bool, len(list))
	for _, v := range list {
		pair, _ := v.(xmlrpc.Array)
		if len(pair) < 2 {
			continue
		}
		text, _ := pair[0].(string)
		hops, isInt := pair[1].(int64)
		u, err := feed.ParseURL(text)
		if err != nil || string(u) != text || !isInt || hops < low || hops > MaxHops || named[u] {
			continue
		}
		named[u] = true
		subset = append(subset, Interest{Feed: u, Hops: int(hops)})
	}
	return subset, len(list) - len(subset)
}

// members reads the members of a struct. Missing ones are zero, and so are wrong ones, which set err. That is nil for a
// hint, of which what makes no sense is not there.
type members struct {
	list  xmlrpc.Struct
	where string
	err   *error
}

// lookup returns a member and whether it is there; one that is nil is not.
func (m members) lookup(name string) (xmlrpc.Value, bool) {
	v, ok := m.list.Lookup(name)
	return v, ok && v != nil
}

func (m members) argument(name string) argument {
	v, ok := m.lookup(name)
	return argument{v, ok, m.where, name, m.err}
}

func (m members) fail(name, want string) { m.argument(name).fail(want) }

// failed reports whether something was wrong.
func (m members) failed() bool { return m.err != nil && *m.err != nil }

func (m members) string(name string, limit int) string { return m.argument(name).string(limit) }

func (m members) int(name string, low, high int64) int64 { return m.argument(name).int(low, high) }

func (m members) bool(name string) bool { return m.argument(name).bool() }

func (m members) array(name string, limit int) xmlrpc.Array { return m.argument(name).array(limit) }

// signed reads an int of any size, 0 where it is missing.
func (m members) signed(name string) int64 {
	if _, ok := m.lookup(name); !ok {
		return 0
	}
	return m.int(name, math.MinInt64, math.MaxInt64)
}

func (m members) strings(name string, limit int) (list []string) {
	for _, v := range m.array(name, limit) {
		s, is := v.(string)
		if !is {
			m.fail(name, "want strings")
			continue
		}
		list = append(list, s)
	}
	return list
}

// structure reads a struct, of which faults speak as where; false where it is missing.
func (m members) structure(name, where string) (members, bool) {
	v := m.argument(name)
	return v.structure(where), v.there
}

// structs reads an array of structs, of which faults speak as where.
func (m members) structs(name, where string, limit int) iter.Seq[members] {
	return func(yield func(members) bool) {
		for _, v := range m.array(name, limit) {
			s, is := v.(xmlrpc.Struct)
			if !is {
				m.fail(name, "want structs")
			}
			if !yield(members{list: s, where: where, err: m.err}) {
				return
			}
		}
	}
}

// nodes reads an array of node ids.
func (m members) nodes(name string, limit int) (ids []NodeID) {
	return m.parsed(name, limit, ParseNodeID, "want ip:port each")
}

func (m members) path(name string, limit int) (ids []NodeID) {
	return m.parsed(name, limit, ParsePathNode, "want ip:port or a name each")
}

func (m members) parsed(name string, limit int, parse func(string) (NodeID, error), want string) (ids []NodeID) {
	for _, text := range m.strings(name, limit) {
		id, err := parse(text)
		if err != nil {
			m.fail(name, want)
			continue
		}
		ids = append(ids, id)
	}
	return ids
}

// feed reads the URL of the feed that something is of, which must be in normal form; "" where there is none.
func (m members) feed() feed.URL {
	text := m.string("feed", feed.MaxURLBytes)
	if text == "" || m.failed() {
		return ""
	}
	u, err := feed.ParseURL(text)
	if err != nil || string(u) != text {
		m.fail("feed", "want a feed's URL in normal form")
		return ""
	}
	return u
}
