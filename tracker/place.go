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
	network *netRange // nil at local addresses, where no network counts
	known   int       // records
	listed  []*record // those that may be handed out, at most MaxPorts
	at      int       // index in Registry.listed while listed is not empty
}

// A netRange is a range that one attacker may hold as a whole: a /16 of IPv4, a /32 of IPv6.
type netRange struct {
	prefix netip.Prefix
	known  int // records
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

func networkOf(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is4() {
		bits = 16
	}
	return netip.PrefixFrom(a, bits).Masked()
}

// callBackEvery is the least time between two call backs to id.
func (r *Registry) callBackEvery(id protocol.NodeID) time.Duration {
	if r.local(id) {
		return LocalCallBackEvery
	}
	return CallBackEvery
}

// hasRoom reports whether an id not known before can be remembered: its host and network have not their
// shares yet, and the registry is not full of nodes that called a moment ago.
func (r *Registry) hasRoom(id protocol.NodeID) bool {
	h := r.hostOf(id)
	return h.known < MaxPorts && (h.network == nil || h.network.known < max(1, r.cfg.Capacity/10)) &&
		(len(r.known) < r.cfg.Capacity || r.old.Len() > 0)
}

// admit makes a record for an id for which there is room. A full registry forgets the one that was retired
// first.
func (r *Registry) admit(id protocol.NodeID) *record {
	h := r.hostOf(id)
	if len(r.known) >= r.cfg.Capacity {
		r.forget(r.old.Front().Value.(*record))
	}
	// The record just forgotten may have been the last of the same host or network.
	rec := &record{id: id, host: h}
	r.known[id] = rec
	r.hosts[h.place] = h
	h.known++
	if h.network != nil {
		r.networks[h.network.prefix] = h.network
		h.network.known++
	}
	return rec
}

// hostOf finds the host of id, or makes one that is not yet part of the registry.
func (r *Registry) hostOf(id protocol.NodeID) *hostNodes {
	p := r.placeOf(id)
	if h := r.hosts[p]; h != nil {
		return h
	}
	h := &hostNodes{place: p}
	if r.local(id) {
		return h
	}
	prefix := networkOf(id.Addr())
	if h.network = r.networks[prefix]; h.network == nil {
		h.network = &netRange{prefix: prefix}
	}
	return h
}

// forget removes rec, which is in the old queue, for good.
func (r *Registry) forget(rec *record) {
	rec.queue.Remove(rec.elem)
	delete(r.known, rec.id)
	if rec.host.known--; rec.host.known == 0 {
		delete(r.hosts, rec.host.place)
	}
	if n := rec.host.network; n != nil {
		if n.known--; n.known == 0 {
			delete(r.networks, n.prefix)
		}
	}
}

// list makes rec one of those that may be handed out.
func (r *Registry) list(rec *record) {
	h := rec.host
	if len(h.listed) == 0 {
		h.at = len(r.listed)
		r.listed = append(r.listed, h)
	}
	h.listed = append(h.listed, rec)
	r.status.Listed++
}

// unlist undoes list; it does nothing for a record that is not listed.
func (r *Registry) unlist(rec *record) {
	h := rec.host
	i := slices.Index(h.listed, rec)
	if i < 0 {
		return
	}
	h.listed = slices.Delete(h.listed, i, i+1)
	r.status.Listed--
	if len(h.listed) == 0 {
		last := len(r.listed) - 1
		r.swap(h.at, last)
		r.listed[last] = nil
		r.listed = r.listed[:last]
	}
}

// swap exchanges two of the listed hosts.
func (r *Registry) swap(i, j int) {
	r.listed[i], r.listed[j] = r.listed[j], r.listed[i]
	r.listed[i].at, r.listed[j].at = i, j
}
