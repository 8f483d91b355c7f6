package core

import (
	"encoding/json"
	"time"

	"feedex/archive"
	"feedex/incentive"
	"feedex/protocol"
)

// SaveAccountsAfter is how long accounts that changed wait to be kept: they change with every delivery.
const SaveAccountsAfter = 5 * time.Second

// LoadAccounts takes up the accounts that the archive keeps. One that cannot be read starts anew.
func (c *Core) LoadAccounts() error {
	ledger, err := incentive.NewLedger(c.Config.Incentive)
	if err != nil {
		return err
	}
	var list []incentive.Account
	for _, kept := range c.Store.LoadAccounts() {
		var a incentive.Account
		if json.Unmarshal(kept.Text, &a) == nil {
			list = append(list, a)
		}
	}
	ledger.Load(c.Now, list)
	c.Ledger, c.Quota = ledger, incentive.NewQuota(ledger, c.Config.MaxNeighbors)
	c.recallStored()
	return nil
}

// Gave books what is delivered to a neighbor, before it is sent.
func (c *Core) Gave(l *Link, v incentive.Credit) {
	c.Ledger.Gave(c.Now, l.Holder, v)
	l.Given, l.Net = l.Given+v, c.Ledger.Net(l.Net, v)
	c.SaveAccounts()
}

// Returned takes back a Gave of which nothing was sent.
func (c *Core) Returned(l *Link, v incentive.Credit) {
	c.Ledger.Returned(c.Now, l.Holder, v)
	l.Given, l.Net = max(0, l.Given-v), c.Ledger.Net(l.Net, -v)
}

// Got books what a neighbor earned.
func (c *Core) Got(l *Link, v incentive.Credit) {
	c.Ledger.Got(c.Now, l.Holder, v)
	l.Got, l.Net = l.Got+v, c.Ledger.Net(l.Net, -v)
	c.SaveAccounts()
}

// Revoked takes back what a node, which may be gone, had earned. h holds the account.
func (c *Core) Revoked(id protocol.NodeID, h incentive.Holder, v incentive.Credit) {
	c.Ledger.Revoked(c.Now, h, v)
	if l := c.LinkTo(id); l != nil && l.Holder == h {
		l.Got, l.Net = max(0, l.Got-v), c.Ledger.Net(l.Net, v)
	}
	c.SaveAccounts()
}

// SaveAccounts keeps what changed in the accounts, in a moment.
func (c *Core) SaveAccounts() {
	if c.saving {
		return
	}
	c.saving = true
	c.After(SaveAccountsAfter, c.keepAccounts)
}

// keepAccounts keeps what changed in the accounts.
func (c *Core) keepAccounts() {
	c.saving = false
	c.Ledger.Expire(c.Now)
	dropped, changed := c.Ledger.Changed()
	for _, h := range dropped {
		c.Store.DropAccount(h.String())
	}
	for _, a := range changed {
		if text, err := json.Marshal(a); err == nil {
			c.Store.KeepAccount(archive.KeptAccount{Holder: a.Holder.String(), Text: text})
		}
	}
}

// StoresAll reports whether there is no quota for a holder: the owner's own machines have none.
func (c *Core) StoresAll(h incentive.Holder) bool {
	return c.Trusted(h) || c.Config.Incentive.InForce().StoresAll(h)
}

// RoomOf is how much room a record takes on disk, at most.
func RoomOf(r *archive.Record) int64 { return archive.Room(archive.TextBytes(&r.Entry)) }

// recallStored has the quotas know what the archive has of the last day.
func (c *Core) recallStored() {
	var list []incentive.Brought
	for _, x := range c.Store.Unshown(c.Now.Add(-incentive.Remembered)) {
		h := c.Ledger.HolderOf(x.Source)
		list = append(list, incentive.Brought{Holder: h, Feed: x.Feed, At: x.At, Entries: x.Entries, Room: x.Room})
	}
	c.Quota.Recall(c.Now, list)
}
