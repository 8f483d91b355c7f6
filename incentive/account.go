package incentive

import (
	"slices"
	"time"

	"feedex/protocol"
)

// An Account is the balance that we keep with one Holder. It is what outlives links and restarts: the archive keeps it,
// and JSON holds all of it. Given, Got and Fined are totals over its life; Deficit is what decides.
type Account struct {
	Holder Holder
	At     protocol.NodeID // where the node was last, if the holder is a key
	Given  Credit          // c_{i,j}: what we delivered to it
	Got    Credit          // c_{j,i}: what it earned with us
	Again  Credit          `json:",omitempty"` // what it gave that others at its address gave before, if it is a key
	Fined  Credit          // what it was fined
	Asked  Credit          // what it asked for nothing
	// Grace is the credit that it may be forgiven, at most D; below zero where it was forgiven an entry before.
	Grace Credit
	// Deficit is Given + Fined - Got, less what was forgiven, kept within the limits of the Ledger at every step.
	Deficit Credit
	// Beside is what keys at its address owe together that are not settled, each bundle once.
	Beside   Credit    `json:",omitempty"`
	AtBound  time.Time // since when less than an entry may be sent to it; zero while that is not so
	Since    time.Time // first contact
	Met      time.Time // last contact
	Standing Standing
	Stored   RoomUsed // what it brought
	Tips     Tips     `json:",omitempty"` // what it starred, maxTips at most, the latest last
}

// clone is the account with its own lists.
func (a *Account) clone() Account {
	c := *a
	c.Standing.Marks, c.Tips = slices.Clone(a.Standing.Marks), slices.Clone(a.Tips)
	return c
}

// seconds is t as accounts keep it.
func seconds(t time.Time) time.Time { return time.Unix(t.Unix(), 0).UTC() }
