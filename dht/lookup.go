package dht

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"net/netip"
	"slices"
)

const (
	// keepers is how many nodes of the DHT keep what is under a key: the nearest.
	keepers = 8
	// maxNear is how many contacts a lookup knows at most, the nearest.
	maxNear = 256
)

// The states of a contact.
const (
	unasked = iota
	asked
	answered
	failed
)

// A contact is a node of the DHT, as others or it itself named it.
type contact struct {
	id    Key
	at    netip.AddrPort
	state int
	token string
}

// A lookup is for the nodes of the DHT that are nearest to a key, and for what these keep under it.
type lookup struct {
	client   *Client
	line     *line
	self     Key
	key      Key
	seeds    []netip.AddrPort // to be asked first, whose ids are not known
	near     []*contact       // the nearest first
	at       map[netip.Addr]int
	asked    map[netip.AddrPort]bool
	answered int
	voices   []voice
}

// lookup looks for a key, beginning with the seeds.
func (c *Client) lookup(ctx context.Context, l *line, key Key, seeds []netip.AddrPort) *lookup {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	s := &lookup{client: c, line: l, self: newKey(), key: key, seeds: seeds,
		at: make(map[netip.Addr]int), asked: make(map[netip.AddrPort]bool)}
	l.run(ctx, s.next)
	return s
}

// next is the next question: to those with whom the lookup begins, then to the nearest of whom nothing is known yet, as
// long as it is among the nearest of all that do not fail.
func (s *lookup) next() (q ask, ok bool) {
	for len(s.asked) < maxQuestions && len(s.seeds) > 0 {
		c := &contact{at: s.seeds[0]}
		s.seeds = s.seeds[1:]
		if s.mayAsk(c.at) {
			return s.question(c, true), true
		}
	}
	live := 0
	for _, c := range s.near {
		if len(s.asked) >= maxQuestions || live == keepers {
			break
		}
		if c.state == unasked {
			if s.mayAsk(c.at) {
				return s.question(c, false), true
			}
			c.state = failed
		}
		if c.state != failed {
			live++
		}
	}
	return ask{}, false
}

// mayAsk reports whether an address may be asked, and notes that it is: once, and a few times whatever the port, since
// whoever names addresses of somebody else has us send to them.
func (s *lookup) mayAsk(at netip.AddrPort) bool {
	if s.asked[at] || !s.client.AllowLocal && s.at[at.Addr()] == maxAtAddress || !s.client.asks(at) {
		return false
	}
	s.asked[at] = true
	s.at[at.Addr()]++
	return true
}

// question asks a contact what it has under the key. A seed is believed who it is.
func (s *lookup) question(c *contact, seed bool) ask {
	c.state = asked
	return ask{to: c.at, method: "get_peers", args: dict{"id": string(s.self[:]), "info_hash": string(s.key[:])},
		ended: func(r *reply) {
			if r == nil || r.refused || !seed && r.id != c.id {
				c.state = failed
				return
			}
			c.state, c.token = answered, r.token
			if seed {
				c.id = r.id
				s.insert(*c)
			}
			s.answered++
			for _, n := range r.nodes {
				s.insert(n)
			}
			named := slices.DeleteFunc(r.values, func(at netip.AddrPort) bool { return !s.client.takes(at) })
			if len(named) > 0 {
				s.voices = append(s.voices, voice{c.at, named})
			}
		}}
}

// announce has the nearest that answered keep that a node is at a port of this machine's address, and returns how many
// of them said that they do.
func (s *lookup) announce(ctx context.Context, port uint16) (took int) {
	var to []*contact
	for _, c := range s.near {
		if c.state == answered && c.token != "" && len(to) < keepers {
			to = append(to, c)
		}
	}
	s.line.run(ctx, func() (q ask, ok bool) {
		if len(to) == 0 {
			return q, false
		}
		c := to[0]
		to = to[1:]
		args := dict{"id": string(s.self[:]), "info_hash": string(s.key[:]), "port": int(port), "token": c.token}
		return ask{to: c.at, method: "announce_peer", args: args, ended: func(r *reply) {
			if r != nil && !r.refused {
				took++
			}
		}}, true
	})
	return took
}

// newKey is a key by chance: this machine's own, in one lookup. Nobody keeps it (BEP 43), so that it need not be one
// that BEP 42 has for the address.
func newKey() (k Key) {
	crand.Read(k[:])
	return k
}

// best are the nearest of those that answered.
func (s *lookup) best() (list []netip.AddrPort) {
	for _, c := range s.near {
		if c.state == answered && len(list) < remembered {
			list = append(list, c.at)
		}
	}
	return list
}

func (s *lookup) named() int { return len(distinct(s.voices)) }

// insert puts a contact in its place by distance, if it may be asked. What a seed says of itself takes the place of
// what others said of it.
func (s *lookup) insert(c contact) {
	if !s.client.takes(c.at) {
		return
	}
	at, same := slices.BinarySearchFunc(s.near, &c, s.order)
	switch {
	case same && c.state == answered:
		s.near[at] = &c
	case !same && at < maxNear:
		s.near = slices.Insert(s.near, at, &c)
	}
	s.near = s.near[:min(len(s.near), maxNear)]
}

// order is by distance, and then by address: an id is whose it is said to be.
func (s *lookup) order(a, b *contact) int {
	return cmp.Or(s.key.nearer(a.id, b.id), a.at.Compare(b.at))
}
