package protocol

import (
	"fmt"
	"iter"
	"math"

	"feedex/feed"
	"feedex/xmlrpc"
)

// params reads a call's parameters one after the other. The first that is missing or wrong sets err;
// what is read after that is zero.
type params struct {
	list []xmlrpc.Value
	err  error
}

func (p *params) fail(name, want string) { p.refuse(InvalidParams, "%s: %s", name, want) }

func (p *params) refuse(code Code, format string, args ...any) {
	if p.err == nil {
		p.err = faultf(code, format, args...)
	}
}

// next takes the next parameter.
func (p *params) next(name string) (v xmlrpc.Value, ok bool) {
	if p.err != nil {
		return nil, false
	}
	if len(p.list) == 0 {
		p.fail(name, "missing")
		return nil, false
	}
	v, p.list = p.list[0], p.list[1:]
	return v, true
}

// hint is the struct that may stand last, with no members where there is none. The call means the same without it, so
// nothing in it refuses the call.
func (p *params) hint() (m members) {
	if p.err == nil && len(p.list) > 0 {
		m.list, _ = p.list[0].(xmlrpc.Struct)
	}
	return m
}

func (p *params) int(name string, low, high int64) int64 {
	v, ok := p.next(name)
	if !ok {
		return low
	}
	n, is := v.(int64)
	if !is || n < low || n > high {
		p.fail(name, fmt.Sprintf("want an int from %d to %d", low, high))
		return low
	}
	return n
}

func (p *params) string(name string, limit int) string {
	v, ok := p.next(name)
	if !ok {
		return ""
	}
	s, is := v.(string)
	switch {
	case !is:
		p.fail(name, "want a string")
	case len(s) > limit:
		p.refuse(TooLong, "%s is %d bytes, the limit is %d", name, len(s), limit)
		return ""
	}
	return s
}

func (p *params) array(name string, limit int) xmlrpc.Array {
	v, ok := p.next(name)
	if !ok {
		return nil
	}
	a, is := v.(xmlrpc.Array)
	switch {
	case !is:
		p.fail(name, "want an array")
	case len(a) > limit:
		p.refuse(TooLong, "%s holds %d values, the limit is %d", name, len(a), limit)
		return nil
	}
	return a
}

func (p *params) structure(name string) members {
	v, ok := p.next(name)
	if ok {
		if s, is := v.(xmlrpc.Struct); is {
			return members{list: s, where: name, err: &p.err}
		}
		p.fail(name, "want a struct")
	}
	return members{where: name, err: &p.err}
}

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

func (p *params) bool(name string) bool {
	v, ok := p.next(name)
	b, is := v.(bool)
	if ok && !is {
		p.fail(name, "want a boolean")
	}
	return b
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

func (m members) fail(name, want string) {
	m.refuse(InvalidParams, "%s.%s: %s", m.where, name, want)
}

func (m members) refuse(code Code, format string, args ...any) {
	if m.err != nil && *m.err == nil {
		*m.err = faultf(code, format, args...)
	}
}

// failed reports whether something was wrong.
func (m members) failed() bool { return m.err != nil && *m.err != nil }

func (m members) string(name string, limit int) string {
	v, ok := m.lookup(name)
	if !ok {
		return ""
	}
	s, is := v.(string)
	switch {
	case !is:
		m.fail(name, "want a string")
	case len(s) > limit:
		m.refuse(TooLong, "%s.%s is %d bytes, the limit is %d", m.where, name, len(s), limit)
		return ""
	}
	return s
}

func (m members) int(name string, low, high int64) int64 {
	v, ok := m.lookup(name)
	if !ok {
		return low
	}
	n, is := v.(int64)
	if !is || n < low || n > high {
		m.fail(name, fmt.Sprintf("want an int from %d to %d", low, high))
		return low
	}
	return n
}

// signed reads an int of any size, 0 where it is missing.
func (m members) signed(name string) int64 {
	if _, ok := m.lookup(name); !ok {
		return 0
	}
	return m.int(name, math.MinInt64, math.MaxInt64)
}

func (m members) bool(name string) bool {
	v, ok := m.lookup(name)
	b, is := v.(bool)
	if ok && !is {
		m.fail(name, "want a boolean")
	}
	return b
}

func (m members) array(name string, limit int) xmlrpc.Array {
	v, ok := m.lookup(name)
	a, is := v.(xmlrpc.Array)
	switch {
	case ok && !is:
		m.fail(name, "want an array")
	case len(a) > limit:
		m.refuse(TooLong, "%s.%s holds %d values, the limit is %d", m.where, name, len(a), limit)
		return nil
	}
	return a
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
	v, ok := m.lookup(name)
	if !ok {
		return members{}, false
	}
	s, is := v.(xmlrpc.Struct)
	if !is {
		m.fail(name, "want a struct")
	}
	return members{list: s, where: where, err: m.err}, true
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
