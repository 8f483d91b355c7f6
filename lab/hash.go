package lab

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"feedex/node"
	"feedex/protocol"
)

// A traceHash runs over what happens in a World: the time, the host, the event and what is essential in it,
// and how many effects came of it, for every step. Two worlds with one hash did the same: nobody tries to make
// one that did something else, so it need be no cryptographic hash.
type traceHash struct {
	sum *xxhash.Digest
	buf []byte
}

func newTraceHash() traceHash {
	return traceHash{sum: xxhash.New(), buf: make([]byte, 0, 8<<10)}
}

// String is the hash so far, as 16 hexadecimal digits.
func (h *traceHash) String() string {
	h.flush()
	return fmt.Sprintf("%016x", h.sum.Sum64())
}

func (h *traceHash) flush() {
	h.sum.Write(h.buf)
	h.buf = h.buf[:0]
}

func (h *traceHash) number(n uint64) { h.buf = binary.LittleEndian.AppendUint64(h.buf, n) }

func (h *traceHash) text(s string) {
	h.number(uint64(len(s)))
	h.buf = append(h.buf, s...)
}

// step takes in one step of a host.
func (h *traceHash) step(at time.Duration, host int, ev node.Event, effects int) {
	if len(h.buf) > 4<<10 {
		h.flush()
	}
	h.number(uint64(at))
	h.number(uint64(host)<<32 | uint64(effects))
	switch ev := ev.(type) {
	case node.Wake:
		h.buf = append(h.buf, 'w')
	case node.Asked:
		h.buf = append(h.buf, 'a')
		h.id(ev.From)
		h.call(ev.Call)
	case node.Answered:
		h.buf = append(h.buf, 'r')
		h.number(ev.ID)
		h.number(uint64(ev.RTT))
		h.reply(ev)
	case node.Fetched:
		h.buf = append(h.buf, 'f')
		h.text(ev.ETag)
	case node.Searched:
		h.buf = append(h.buf, 's')
		h.number(uint64(len(ev.Records)))
	case node.Subscribe:
		h.buf = append(h.buf, '+')
		h.number(uint64(len(ev.Feeds)))
	case node.Refresh:
		h.buf = append(h.buf, '!')
		h.number(uint64(len(ev.Feeds)))
	case node.Unsubscribe:
		h.buf = append(h.buf, '-')
		h.number(uint64(len(ev.Feeds)))
	case node.OwnerQuery:
		h.buf = append(h.buf, 'q')
		h.number(uint64(ev.Query.Hops)<<32 | uint64(ev.Query.Budget))
	case node.Leave:
		h.buf = append(h.buf, 'l')
	default:
		h.buf = append(h.buf, '?')
	}
}

func (h *traceHash) id(id protocol.NodeID) {
	a := id.Addr().As16()
	h.buf = append(h.buf, a[:]...)
	h.buf = binary.LittleEndian.AppendUint16(h.buf, id.Port())
}

// call takes in what a peer asks: of a call that has a Method of its own what is essential, of any other its message.
func (h *traceHash) call(c protocol.Call) {
	m := methodOf(c)
	h.buf = append(h.buf, byte(m))
	if m == Other { // its message says what it is
		h.buf = protocol.EncodeCall(h.buf, 0, c)
	}
	switch c := c.(type) {
	case protocol.CheckDID:
		h.buf = append(h.buf, c.DID[:]...)
	case protocol.CheckDIDs:
		for i := range c.DIDs {
			h.buf = append(h.buf, c.DIDs[i][:]...)
		}
	case protocol.GetBundle:
		h.buf = append(h.buf, c.DID[:]...)
	case protocol.PutEntries:
		h.buf = append(h.buf, c.Bundle.DID[:]...)
		for _, id := range c.Bundle.Path {
			h.id(id)
		}
	case protocol.Notify:
		h.notices(c.Notices)
	case protocol.Connect:
		h.subset(c.Subset)
	case protocol.UpdateSubset:
		h.subset(c.Changes)
	}
}

func (h *traceHash) notices(list []protocol.Notice) {
	for i := range list {
		n := &list[i]
		h.text(string(n.Feed))
		h.number(uint64(n.Age))
		h.number(uint64(n.New))
		for _, id := range n.Path {
			h.id(id)
		}
	}
}

func (h *traceHash) subset(s protocol.Subset) {
	for _, in := range s {
		h.text(string(in.Feed))
		h.number(uint64(in.Hops))
	}
}

// reply takes in what a peer answered.
func (h *traceHash) reply(ev node.Answered) {
	if ev.Err != nil {
		h.text(ev.Err.Error())
		return
	}
	switch r := ev.Reply.(type) {
	case protocol.Seen:
		h.buf = append(h.buf, bit(bool(r)))
	case protocol.SeenList:
		for _, s := range r {
			h.buf = append(h.buf, bit(bool(s)))
		}
	case *protocol.Bundle:
		h.buf = append(h.buf, r.DID[:]...)
	case protocol.Subset:
		h.subset(r)
	case protocol.Answer:
		h.number(uint64(len(r.Found))<<8 | uint64(r.Cut))
	case protocol.NodeList:
		for _, id := range r {
			h.id(id)
		}
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
