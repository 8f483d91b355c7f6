package protocol

import (
	"strconv"

	"feedex/xmlrpc"
)

// What messages take beside what is different from one to the next.
var (
	checkLength     = callLength(0, CheckDID{Feed: "f"}) - len("0f0")
	checksLength    = callLength(0, CheckDIDs{}) - len("0")
	offeredLength   = callLength(0, CheckDIDs{DIDs: make([]DID, 1)}) - callLength(0, CheckDIDs{})
	updateLength    = callLength(0, UpdateSubset{}) - len("0")
	interestLength  = replyLength(Subset{{}}) - replyLength(Subset{}) - len("0")
	putLength       = callLength(0, PutEntries{&Bundle{}}) - len("0")
	forwarderLength = callLength(0, PutEntries{&Bundle{Path: make([]NodeID, 1)}}) - callLength(0, PutEntries{&Bundle{}})
	okLength        = replyLength(OK{})
	seenLengths     = [2]int{replyLength(Seen(false)), replyLength(Seen(true))}
	subsetLength    = replyLength(Subset{})
	nodesLength     = replyLength(NodeList{})
	nodeLength      = replyLength(NodeList{NodeID{}}) - nodesLength - len(NodeID{}.Addr().String()) - len("0")
	methodsLength   = replyLength(Methods{})
	methodLength    = replyLength(Methods{""}) - methodsLength
)

// CallLength is how many bytes EncodeCall appends, without a need to write them: for calls that are most of all, or
// long, without a look at more than has to be.
func CallLength(nid uint16, call Call) int {
	port := digits(int(nid))
	switch c := call.(type) {
	case CheckDID:
		if c.Feed != "" {
			return checkLength + port + xmlrpc.TextLength(string(c.Feed)) + digits(c.Entries)
		}
	case CheckDIDs:
		return checksLength + port + len(c.DIDs)*offeredLength
	case UpdateSubset:
		return updateLength + port + interestsLength(c.Changes)
	case Connect:
		rest := c
		rest.Subset = nil
		return callLength(nid, rest) + interestsLength(c.Subset)
	case PutEntries:
		return putLength + port + c.Bundle.length()
	}
	return callLength(nid, call)
}

// ReplyLength is how many bytes EncodeReply appends.
func ReplyLength(r Reply) int {
	switch r := r.(type) {
	case OK:
		return okLength
	case Seen:
		if r {
			return seenLengths[1]
		}
		return seenLengths[0]
	case Subset:
		return subsetLength + interestsLength(r)
	case NodeList:
		n := nodesLength
		for _, id := range r {
			var buf [64]byte // longer than any
			n += nodeLength + len(id.Addr().AppendTo(buf[:0])) + digits(int(id.Port()))
		}
		return n
	case Methods:
		n := methodsLength
		for _, name := range r {
			n += methodLength + xmlrpc.TextLength(name)
		}
		return n
	}
	return replyLength(r)
}

func callLength(nid uint16, call Call) int {
	return xmlrpc.CallLength(call.Method(), encodeParams(nid, call)...)
}

func replyLength(r Reply) int { return xmlrpc.ResponseLength(encodeReply(r)) }

// interestsLength is how long the elements of a subset are.
func interestsLength(s Subset) (n int) {
	for _, in := range s {
		n += interestLength + xmlrpc.TextLength(string(in.Feed)) + digits(in.Hops)
	}
	return n
}

// length is how long the bundle is: its entries, which are measured once, and the rest.
func (b *Bundle) length() int {
	n := xmlrpc.TextLength(string(b.Feed))
	for _, id := range b.Path {
		var buf [64]byte // longer than any
		n += forwarderLength + len(id.appendTo(buf[:0]))
	}
	if len(b.Entries) == 0 {
		return n
	}
	c := b.contents()
	if c.length == 0 {
		c.length = callLength(0, PutEntries{&Bundle{Entries: c.entries}}) - callLength(0, PutEntries{&Bundle{}})
	}
	return n + c.length
}

// digits is how long n is as a number.
func digits(n int) int {
	var buf [20]byte
	return len(strconv.AppendInt(buf[:0], int64(n), 10))
}
