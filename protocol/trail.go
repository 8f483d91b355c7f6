package protocol

import "encoding/binary"

// A Trail is a path as it is kept: it takes a third of the room of a list of nodes. Equal paths have equal trails.
type Trail string

// The bytes of a Trail: for each node the length of its address, the address, and the port.
const (
	trailIPv4 = 4
	trailIPv6 = 16
	trailPort = 2
)

// TrailOf is the trail of a path.
func TrailOf(path []NodeID) Trail {
	var buf [MaxPath * (1 + trailIPv6 + trailPort)]byte
	b := buf[:0]
	for _, id := range path {
		switch a := id.Addr(); {
		case a.Is4():
			b = append(append(b, trailIPv4), id.ip[16-trailIPv4:]...)
		case a.Is6():
			b = append(append(b, trailIPv6), id.ip[:]...)
		default:
			b = append(b, 0)
		}
		b = binary.BigEndian.AppendUint16(b, id.port)
	}
	return Trail(b)
}

// next is the first node of the trail, and the rest of it.
func (t Trail) next() (id NodeID, rest Trail) {
	n := int(t[0])
	switch address := t[1 : 1+n]; n {
	case trailIPv4:
		id.ip[10], id.ip[11] = 0xff, 0xff // IPv4 as IPv6 maps it
		copy(id.ip[16-trailIPv4:], address)
	case trailIPv6:
		copy(id.ip[:], address)
	}
	rest = t[1+n:]
	id.port = uint16(rest[0])<<8 | uint16(rest[1])
	return id, rest[trailPort:]
}

// Path lists the nodes of the trail.
func (t Trail) Path() []NodeID {
	if t == "" {
		return nil
	}
	path := make([]NodeID, 0, t.Len())
	for t != "" {
		var id NodeID
		id, t = t.next()
		path = append(path, id)
	}
	return path
}

// First is the first node of the trail, the zero NodeID where there is none.
func (t Trail) First() (id NodeID) {
	if t != "" {
		id, _ = t.next()
	}
	return id
}

// Last is the last node of the trail, the zero NodeID where there is none.
func (t Trail) Last() (id NodeID) {
	for t != "" {
		id, t = t.next()
	}
	return id
}

// Len is how many nodes there are.
func (t Trail) Len() (n int) {
	for ; t != ""; n++ {
		t = t[1+int(t[0])+trailPort:]
	}
	return n
}
