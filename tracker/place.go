package tracker

import (
	"net/netip"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A place is the range of addresses that counts as one host: an IPv4 address, or the 64 bits of an IPv6 address that a
// network hands to one customer, who may use the other 64 as they please. At local addresses, under Config.AllowLocal,
// every id is a host of its own.
type place struct {
	prefix netip.Prefix
	port   uint16 // 0 but for a local id
}

// hostNodes are the ids that are known at one place.
type hostNodes struct {
	place   place
	network *netRange
	known   int       // records
	listed  []*record // those that may be handed out, at most maxPorts
	at      int       // index in netRange.listed while listed is not empty
}

// A netRange is a range that one attacker may hold as a whole: a /16 of IPv4, a /32 of IPv6. At local addresses, under
// Config.AllowLocal, every id is in one of its own.
type netRange struct {
	place  place
	known  int          // records
	listed []*hostNodes // those with a listed id, in no order that means anything
	at     int          // index in Registry.listed while listed is not empty
}

// local reports whether the bounds by host and network are lifted for id.
func (r *Registry) local(id protocol.NodeID) bool {
	return r.cfg.AllowLocal && !feed.PublicAddr(id.Addr())
}

// mayList reports whether id is of a kind that may be handed out at all.
func (r *Registry) mayList(id protocol.NodeID) bool {
	return id.Port() >= protocol.LowestPort && (feed.PublicAddr(id.Addr()) || r.local(id))
}

func (r *Registry) placeOf(id protocol.NodeID) place {
	bits := 32
	if id.Addr().Is6() {
		bits = 64
	}
	if r.local(id) {
		return place{netip.PrefixFrom(id.Addr(), id.Addr().BitLen()), id.Port()}
	}
	return place{prefix: netip.PrefixFrom(id.Addr(), bits).Masked()}
}

func (r *Registry) networkOf(id protocol.NodeID) place {
	bits := 32
	if id.Addr().Is4() {
		bits = 16
	}
	if r.local(id) {
		return r.placeOf(id)
	}
	return place{prefix: netip.PrefixFrom(id.Addr(), bits).Masked()}
}

// callBackEvery is the least time between two call backs to id.
func (r *Registry) callBackEvery(id protocol.NodeID) time.Duration {
	if r.local(id) {
		return localCallBackEvery
	}
	return callBackEvery
}

// hasRoom reports whether an id not known before can be remembered: its host has not its share yet, and somebody gives
// way where the registry is full.
func (r *Registry) hasRoom(id protocol.NodeID) bool {
	h := r.hostOf(id)
	return h.known < maxPorts && (len(r.known) < r.cfg.Capacity || r.victim(h.network) != nil)
}

// victim is the record that a full registry forgets for a newcomer of a network: the one that was retired first, or
// else any of the network that has most, if that has more than the newcomer's will have. Who goes is drawn: a crowd can
// call more often than others do. It is nil where there is none.
func (r *Registry) victim(newcomer *netRange) *record {
	if e := r.old.Front(); e != nil {
		return e.Value.(*record)
	}
	most := newcomer
	for _, n := range r.listed {
		if n.known > max(most.known, newcomer.known+1) {
			most = n
		}
	}
	if most == newcomer {
		return nil
	}
	return most.listed[r.rng.IntN(len(most.listed))].listed[0]
}

// admit makes a record for an id for which there is room.
func (r *Registry) admit(id protocol.NodeID) *record {
	if len(r.known) >= r.cfg.Capacity {
		gone := r.victim(r.hostOf(id).network)
		r.unlist(gone)
		r.forget(gone)
	}
	h := r.hostOf(id) // the record just forgotten may have been the last of the same host or network
	rec := &record{id: id, host: h}
	r.known[id] = rec
	r.hosts[h.place] = h
	h.known++
	r.networks[h.network.place] = h.network
	h.network.known++
	return rec
}

// hostOf finds the host of id, or makes one that is not yet part of the registry.
func (r *Registry) hostOf(id protocol.NodeID) *hostNodes {
	p := r.placeOf(id)
	if h := r.hosts[p]; h != nil {
		return h
	}
	at := r.networkOf(id)
	network := r.networks[at]
	if network == nil {
		network = &netRange{place: at}
	}
	return &hostNodes{place: p, network: network}
}

// forget removes rec, which is not listed, for good.
func (r *Registry) forget(rec *record) {
	rec.queue.Remove(rec.elem)
	delete(r.known, rec.id)
	h := rec.host
	if h.known--; h.known == 0 {
		delete(r.hosts, h.place)
	}
	if h.network.known--; h.network.known == 0 {
		delete(r.networks, h.network.place)
	}
}

// list makes rec one of those that may be handed out.
func (r *Registry) list(rec *record) {
	r.status.Listed++
	h := rec.host
	if h.listed = append(h.listed, rec); len(h.listed) > 1 {
		return
	}
	r.status.Hosts++
	n := h.network
	h.at = len(n.listed)
	if n.listed = append(n.listed, h); len(n.listed) == 1 {
		n.at = len(r.listed)
		r.listed = append(r.listed, n)
	}
}

// unlist undoes list; it does nothing for a record that is not listed.
func (r *Registry) unlist(rec *record) {
	h := rec.host
	i := slices.Index(h.listed, rec)
	if i < 0 {
		return
	}
	r.status.Listed--
	if h.listed = slices.Delete(h.listed, i, i+1); len(h.listed) > 0 {
		return
	}
	r.status.Hosts--
	n := h.network
	last := len(n.listed) - 1
	n.listed[h.at], n.listed[last].at = n.listed[last], h.at
	if n.listed = slices.Delete(n.listed, last, last+1); len(n.listed) > 0 {
		return
	}
	last = len(r.listed) - 1
	r.swap(n.at, last)
	r.listed = slices.Delete(r.listed, last, last+1)
}

// swap exchanges two of the listed networks.
func (r *Registry) swap(i, j int) {
	r.listed[i], r.listed[j] = r.listed[j], r.listed[i]
	r.listed[i].at, r.listed[j].at = i, j
}
