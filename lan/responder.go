package lan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/ipv4"

	"feedex/internal/sleep"
	"feedex/protocol"
)

// Config has what a Responder is to know of its node. Key and Port must be set.
type Config struct {
	Key  protocol.NodeKey
	Port uint16     // at which the node listens
	At   netip.Addr // where it listens, if that is one address of this machine only
	// Found is called with all nodes that are there, and the ids under which this node is known to them, whenever that
	// changes and every few seconds. Default: nobody hears.
	Found func(nodes []Neighboring, own []protocol.NodeID)
	Log   *slog.Logger // default: nowhere
}

// Neighboring is a node on a network of this machine, and its key by its own word.
type Neighboring struct {
	ID  protocol.NodeID
	Key protocol.NodeKey
}

// A Responder announces the node and looks for others. Make one with New, and Run it.
type Responder struct {
	config     Config
	interfaces func() ([]inter, error)

	mu       sync.Mutex
	networks []*lanNetwork
	nodes    knownNodes
	changed  bool      // who there is, since that was told
	lookAt   time.Time // when to look at the interfaces again
	warnAt   time.Time // when it may be said again that there are too many nodes
	second   int64     // since 1970, of packets
	packets  int       // within it
}

const (
	// lookEvery is how often the machine's interfaces are looked at, and Found is called at least.
	lookEvery = 15 * time.Second
	// asleepFor is how late a look has to be by the clock of the wall to tell that the machine slept: timers stand
	// still while it does.
	asleepFor = time.Minute
	// maxPackets is how many packets are read within a second.
	maxPackets = 200
	warnEvery  = time.Hour
	port       = 5353
)

// group is where multicast DNS is spoken.
var group = &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: port}

// New returns a Responder that does nothing yet.
func New(c Config) *Responder {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Found == nil {
		c.Found = func([]Neighboring, []protocol.NodeID) {}
	}
	return &Responder{config: c, interfaces: usual}
}

// Near reports whether a node that announced itself is at an address and port, on a network of this machine. It may be
// called at any time.
func (r *Responder) Near(ap netip.AddrPort) bool {
	id := protocol.NewNodeID(ap.Addr(), ap.Port())
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.nodes.list, func(k knownNode) bool { return k.id == id })
}

// Run announces the node and looks for others until ctx ends or that is impossible, as the error says, and then says
// goodbye. It may be called again.
func (r *Responder) Run(ctx context.Context) error {
	// A socket for a multicast address shares its port with others, such as those of Avahi, and takes packets for every
	// address (package net).
	conn, err := net.ListenPacket("udp4", group.String())
	if err != nil {
		return fmt.Errorf("listen for multicast DNS: %w", err)
	}
	p := ipv4.NewPacketConn(conn)
	p.SetMulticastTTL(255)                        // RFC 6762 §11
	p.SetControlMessage(ipv4.FlagInterface, true) // where there is none, a packet's source tells as much
	ctx, stop := context.WithCancelCause(ctx)
	var reading sync.WaitGroup
	wake := make(chan struct{}, 1)
	reading.Go(func() { stop(r.receive(ctx, p.ReadFrom, wake)) })
	defer reading.Wait()
	defer conn.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			r.goodbye(func(n *lanNetwork, data []byte) { r.send(p, n, data) })
			return context.Cause(ctx)
		case <-timer.C:
		case <-wake:
		}
		now := time.Now()
		r.look(now, p)
		r.tell(now, func(n *lanNetwork, data []byte) { r.send(p, n, data) })
		timer.Reset(time.Until(r.next()))
	}
}

// receive takes packets in until there are no more. Beyond so many in a second it waits for the next. A fault is one as
// well, since some systems tell so of a packet that is too long, or of what was sent; there is no more to come where a
// second has nothing else.
func (r *Responder) receive(ctx context.Context,
	next func([]byte) (int, *ipv4.ControlMessage, net.Addr, error), wake chan<- struct{}) error {
	data := make([]byte, maxPacket)
	faults := 0 // in a row
	for {
		n, cm, from, err := next(data)
		now := time.Now()
		wait := r.breather(now)
		if faults++; err == nil {
			faults = 0
		} else if errors.Is(err, net.ErrClosed) || wait > 0 && faults >= maxPackets {
			return fmt.Errorf("receive multicast DNS: %w", err)
		}
		index := 0
		if cm != nil {
			index = cm.IfIndex
		}
		if udp, ok := from.(*net.UDPAddr); ok && err == nil && r.take(now, data[:n], udp.AddrPort(), index) {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
		if wait > 0 {
			_ = sleep.For(ctx, wait)
		}
	}
}

// breather is how long to read nothing because of a storm.
func (r *Responder) breather(now time.Time) time.Duration {
	if now.Unix() != r.second {
		r.second, r.packets = now.Unix(), 0
	}
	if r.packets++; r.packets < maxPackets {
		return 0
	}
	return time.Unix(r.second+1, 0).Sub(now)
}

// take takes in a packet that came by an interface, 0 where that is not known, and reports whether there is
// something to do about it.
func (r *Responder) take(now time.Time, data []byte, from netip.AddrPort, index int) bool {
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.networks, func(n *lanNetwork) bool {
		return (index == 0 || n.index == index) && n.has(from.Addr())
	})
	if at < 0 || from.Port() != port || r.own(from.Addr()) {
		return false
	}
	p, err := read(data, r.config.Key)
	if err != nil {
		r.config.Log.Debug("packet of multicast DNS left out", "peer", from.Addr(), "err", err)
		return false
	}
	if p.asked {
		r.networks[at].answerSoon(now)
	}
	for _, a := range p.nodes {
		if a.key == r.config.Key {
			continue
		}
		changed, full := r.nodes.heard(now, from.Addr(), a)
		r.changed = r.changed || changed
		if full && !now.Before(r.warnAt) {
			r.warnAt = now.Add(warnEvery)
			r.config.Log.Warn("more nodes announce themselves on the LAN than are looked at", "peer", from.Addr(),
				"most", maxNodes, "at_one_address", maxPerAddress)
		}
	}
	return p.asked || r.changed
}

// own reports whether an address is this machine's.
func (r *Responder) own(a netip.Addr) bool {
	return slices.ContainsFunc(r.networks, func(n *lanNetwork) bool { return n.at.Addr() == a })
}

// look looks at the machine's interfaces, if it is time for that: machines move from network to network.
func (r *Responder) look(now time.Time, p *ipv4.PacketConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.lookAt) {
		return
	}
	before := r.networks
	if late := now.Round(0).Sub(r.lookAt.Round(0)); !r.lookAt.IsZero() && late > asleepFor {
		r.networks = nil // it comes to all of them anew (RFC 6762 §8): others may have forgotten it
		r.nodes.doubt(now)
	}
	r.lookAt = now.Add(lookEvery)
	list, err := r.interfaces()
	if err != nil {
		r.config.Log.Warn("networks of this machine are not known", "err", err)
		return
	}
	r.cameTo(now, list)
	r.changed = true // or so it is told
	for _, n := range before {
		if !slices.ContainsFunc(r.networks, func(is *lanNetwork) bool { return is.index == n.index }) {
			// Linux counts interfaces that are gone, and lets a socket join on twenty.
			p.LeaveGroup(&net.Interface{Index: n.index}, group)
		}
	}
	for _, n := range r.networks {
		p.JoinGroup(&net.Interface{Index: n.index}, group) // that it was joined before is the usual error
	}
}

// tell sends what is due, and tells who there is.
func (r *Responder) tell(now time.Time, send func(n *lanNetwork, data []byte)) {
	r.mu.Lock()
	gone := func(a netip.Addr) bool {
		return !slices.ContainsFunc(r.networks, func(n *lanNetwork) bool { return n.has(a) })
	}
	r.changed = r.nodes.expire(now, gone) || r.changed
	for _, n := range r.networks {
		if n.toSay(now) {
			send(n, announcement(r.config.Key, r.here(n), false))
		}
		if r.nodes.fading(now, n) {
			n.askSoon(now)
		}
		if n.toAsk(now) {
			send(n, queryFor(r.nodes.fresh(now, n)))
		}
	}
	changed := r.changed
	r.changed = false
	nodes := make([]Neighboring, len(r.nodes.list))
	for i, k := range r.nodes.list {
		nodes[i] = Neighboring{k.id, k.key}
	}
	own := make([]protocol.NodeID, len(r.networks))
	for i, n := range r.networks {
		own[i] = protocol.NewNodeID(n.at.Addr(), r.config.Port)
	}
	r.mu.Unlock()
	if changed {
		r.config.Found(nodes, own)
	}
}

// here is where the node listens on a network.
func (r *Responder) here(n *lanNetwork) netip.AddrPort {
	return netip.AddrPortFrom(n.at.Addr(), r.config.Port)
}

// next is when there is something to do.
func (r *Responder) next() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.lookAt
	for _, n := range r.networks {
		if n.next().Before(at) {
			at = n.next()
		}
	}
	if due := r.nodes.next(); !due.IsZero() && due.Before(at) {
		at = due
	}
	return at
}

// send sends a packet to a network.
func (r *Responder) send(p *ipv4.PacketConn, n *lanNetwork, data []byte) {
	p.SetMulticastInterface(&net.Interface{Index: n.index}) // for systems that take no control message
	way := &ipv4.ControlMessage{IfIndex: n.index, Src: n.at.Addr().AsSlice()}
	if _, err := p.WriteTo(data, way, group); err != nil {
		r.config.Log.Debug("packet of multicast DNS not sent", "err", err)
	}
}

// goodbye tells others that the node goes. When it runs again it comes to all networks anew.
func (r *Responder) goodbye(send func(n *lanNetwork, data []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.networks {
		send(n, announcement(r.config.Key, r.here(n), true))
	}
	r.networks, r.lookAt = nil, time.Time{}
}
