// Package dht finds nodes by the mainline DHT of BitTorrent (BEP 5), over IPv4. All of them meet under one key, that of
// no feed: whoever watches it learns which addresses run feedex, and nothing of what they read.
//
// It only asks (BEP 43). Nobody can have it answer, so nobody can have it send what he likes to whom he likes, and no
// node of the DHT keeps its address for others. What is answered is hearsay: nodes of the DHT may be anybody's, as many
// as he likes, and say what they like.
package dht

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"

	"feedex/feed"
	"feedex/guard"
	"feedex/protocol"
)

// A Key is a place in the DHT: what is kept under it is kept by the nodes whose own keys are nearest, by XOR.
type Key [sha1.Size]byte

// nearer compares how far a and b are from the key.
func (k Key) nearer(a, b Key) int {
	for i := range k {
		a[i] ^= k[i]
		b[i] ^= k[i]
	}
	return bytes.Compare(a[:], b[:])
}

const (
	// shards is how many keys there are. Nodes meet under the first; where that names more than crowd addresses, under
	// one of the others.
	shards, crowd = 16, 200
	// MaxFound is how many addresses one meeting finds at most.
	MaxFound = 20
	// networkBits is how many leading bits tell one network from another. Each has one address found, and one voice in
	// which those are.
	networkBits = 16
	// lookupTime and maxQuestions bound one lookup.
	lookupTime   = time.Minute
	maxQuestions = 200
	// answerTime is how long an answer is waited for.
	answerTime = 2 * time.Second
	// maxAtAddress is how many questions one lookup asks at one address, whatever the port.
	maxAtAddress = 3
	// remembered is how many nodes of the DHT are asked first the next time.
	remembered = 8
	// mostAddresses is how many addresses of one name are asked.
	mostAddresses = 2
)

// ErrNobody means that no node of the DHT answered.
var ErrNobody = errors.New("no node of the DHT answers: is UDP blocked, or its name not found?")

// rendezvous is the key of a shard.
func rendezvous(shard int) Key { return sha1.Sum([]byte("feedex 1 " + strconv.Itoa(shard))) }

// DefaultNodes are where a lookup begins, where an owner says nothing else: they are known for that, "host:port" each.
func DefaultNodes() []string {
	return []string{"router.bittorrent.com:6881", "dht.libtorrent.org:25401", "dht.transmissionbt.com:6881"}
}

// A Client meets others. It has one meeting at a time, and keeps no socket between them.
type Client struct {
	Nodes      []string // where lookups begin, "host:port" each
	AllowLocal bool     // counts all addresses as public, for test networks

	known    []netip.AddrPort // that answered the last time
	patience time.Duration    // where a test has no time for answerTime
}

// A Finding is what came of a meeting.
type Finding struct {
	Found     []netip.AddrPort // hearsay, MaxFound at most, one of each /16
	Named     int              // different addresses that there were
	Answered  int              // nodes of the DHT that answered
	Announced int              // of these, took the announcement
}

// Meet looks for others, and announces to them that a node is at that port of this machine's address; 0 is not to. It
// takes a minute at most for either of two keys, and a little more where it announces. The error is ErrNobody, or that
// of the network.
func (c *Client) Meet(ctx context.Context, port uint16) (f Finding, err error) {
	conn, err := net.ListenUDP("udp4", nil)
	if err != nil {
		return f, fmt.Errorf("ask the DHT: %w", err)
	}
	defer conn.Close()
	line := &line{conn: conn, patience: cmp.Or(c.patience, answerTime), waiting: make(map[string]waiting)}
	seeds := append(c.seeds(ctx), c.known...)
	s := c.lookup(ctx, line, rendezvous(0), seeds)
	voices := s.voices
	if f.Answered = s.answered; s.named() > crowd {
		s = c.lookup(ctx, line, rendezvous(1+mrand.IntN(shards-1)), s.best())
		voices = append(voices, s.voices...)
		f.Answered += s.answered
	}
	if f.Answered == 0 {
		return f, cmp.Or(ctx.Err(), ErrNobody)
	}
	c.known = s.best()
	if port != 0 {
		f.Announced = s.announce(ctx, port)
	}
	f.Named, f.Found = len(distinct(voices)), choose(voices)
	return f, nil
}

// seeds are the addresses of those with whom a lookup begins.
func (c *Client) seeds(ctx context.Context) (list []netip.AddrPort) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	for _, name := range c.Nodes {
		host, text, err := net.SplitHostPort(name)
		port, bad := strconv.ParseUint(text, 10, 16)
		if err != nil || bad != nil {
			continue
		}
		addrs, _ := net.DefaultResolver.LookupNetIP(ctx, "ip4", host) // those that are not found answer nothing
		for _, a := range addrs[:min(len(addrs), mostAddresses)] {
			list = append(list, netip.AddrPortFrom(a.Unmap(), uint16(port)))
		}
	}
	return list
}

// takes reports whether an address that somebody named is one of a node.
func (c *Client) takes(at netip.AddrPort) bool {
	return at.Port() >= protocol.LowestPort && (c.AllowLocal || feed.PublicAddr(at.Addr()))
}

// asks reports whether an address may be asked.
func (c *Client) asks(at netip.AddrPort) bool {
	return c.takes(at) && (c.AllowLocal || guard.NotHere(at) == nil)
}

// A voice is what one node of the DHT named.
type voice struct {
	of    netip.AddrPort
	named []netip.AddrPort
}

func distinct(voices []voice) map[netip.AddrPort]bool {
	all := make(map[netip.AddrPort]bool)
	for _, v := range voices {
		for _, at := range v.named {
			all[at] = true
		}
	}
	return all
}

// choose takes MaxFound addresses, one of each network, by chance. Each network of those who name them has its turn, so
// that a crowd of nodes on one, or one that names many, is not heard more than another.
func choose(voices []voice) (found []netip.AddrPort) {
	networkOf := func(at netip.AddrPort) netip.Prefix { return netip.PrefixFrom(at.Addr(), networkBits).Masked() }
	named := make(map[netip.Prefix][]netip.AddrPort)
	var turns []netip.Prefix
	for _, v := range voices {
		n := networkOf(v.of)
		if _, had := named[n]; !had {
			turns = append(turns, n)
		}
		named[n] = append(named[n], v.named...)
	}
	mrand.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	for _, list := range named {
		mrand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	taken := make(map[netip.Prefix]bool)
	for len(turns) > 0 && len(found) < MaxFound {
		n := turns[0]
		turns = turns[1:]
		for len(named[n]) > 0 {
			at := named[n][0]
			named[n] = named[n][1:]
			if net := networkOf(at); !taken[net] {
				taken[net] = true
				found, turns = append(found, at), append(turns, n)
				break
			}
		}
	}
	return found
}
