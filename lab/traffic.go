package lab

import (
	"slices"

	"feedex/protocol"
)

// A Method is one of the calls of the protocol, as an index into Traffic.
type Method uint8

const (
	GetNeighbors Method = iota
	Connect
	UpdateSubset
	CheckDID
	CheckDIDs
	PutEntries
	QueryFeed
	GetEntries
	WhoAmI
	Vouch
	ListMethods
	Disconnect
	StateAccount
	// Knock is a check_dids that offers nothing: how a silent neighbor is asked whether it is there.
	Knock
	GetBundle
	Notify
	// Other are calls of all other methods: one that is new needs nothing here.
	Other
	// Methods is how many there are.
	Methods
)

// methodNames are the names of the methods on the wire, as far as they have one.
var methodNames = [Methods]string{
	"get_neighbors", "connect", "update_subset", "check_did", "check_dids", "put_entries", "query_feed",
	"get_entries",
	"feedex.whoami", "feedex.vouch", "system.listMethods", "feedex.disconnect", "feedex.account",
	"check_dids of none",
	"feedex.get_bundle", "feedex.polled", "other",
}

// methodOf is the method of a call.
func methodOf(c protocol.Call) Method {
	if check, ok := c.(protocol.CheckDIDs); ok && len(check.DIDs) == 0 {
		return Knock
	}
	if m := slices.Index(methodNames[:], c.Method()); m >= 0 {
		return Method(m)
	}
	return Other
}

// Traffic counts calls by method.
type Traffic [Methods]Count

// A Count is of the calls of one method.
type Count struct {
	Calls int64 // calls
	Items int64 // dids that they offered, or entries that they delivered
	Bytes int64 // of calls and answers, HTTP headers included; 0 without encoding
}

// count counts a call of so many bytes.
func (t *Traffic) count(c protocol.Call, bytes int64) {
	n := &t[methodOf(c)]
	n.Calls++
	n.Bytes += bytes
	switch c := c.(type) {
	case protocol.CheckDID:
		n.Items++
	case protocol.CheckDIDs:
		n.Items += int64(len(c.DIDs))
	case protocol.PutEntries:
		n.Items += int64(len(c.Bundle.Entries))
	}
}

// Plus is the sum of two counts.
func (t Traffic) Plus(other Traffic) Traffic {
	for m := range t {
		t[m].Calls += other[m].Calls
		t[m].Items += other[m].Items
		t[m].Bytes += other[m].Bytes
	}
	return t
}

// Minus is the difference of two counts: what came after other was taken.
func (t Traffic) Minus(other Traffic) Traffic {
	for m := range t {
		t[m].Calls -= other[m].Calls
		t[m].Items -= other[m].Items
		t[m].Bytes -= other[m].Bytes
	}
	return t
}

// Total is the sum over all methods.
func (t Traffic) Total() (c Count) {
	for _, n := range t {
		c.Calls += n.Calls
		c.Items += n.Items
		c.Bytes += n.Bytes
	}
	return c
}

// PollTraffic counts a host's polls.
type PollTraffic struct {
	Requests    int64
	NotModified int64 // of these, answered 304
	Bytes       int64 // of the answers
}

func (t *PollTraffic) count(notModified bool, bytes int64) {
	t.Requests++
	if notModified {
		t.NotModified++
	}
	t.Bytes += bytes
}
