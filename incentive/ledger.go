package incentive

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/protocol"
)

const (
	defaultBound = 10   // entries
	maxBound     = 1000 // entries
	// maxDebt caps what fines add up to, so that a node that was repaired is back within a day.
	maxDebt = 200 * Entry
	// proven is the credit that a neighbor must have earned before its offers are taken for what most offers are.
	proven = 10 * Entry
	// gracePart is the part of what a neighbor earns that may be forgiven it later, and forgiveAfter how long it must
	// have stood at its bound for that.
	gracePart    = 4
	forgiveAfter = time.Hour
	// maxAccounts bounds the Ledger.
	maxAccounts = 10_000
	// remembered is how long an account is kept after the last contact.
	remembered = 30 * 24 * time.Hour
)

// Config holds the choices of the owner. Its zero value means the defaults.
type Config struct {
	// Bound is D of Paper §3.5, in entries: how much more a neighbor may have got than it gave.
	// Default 10, range 1 to 1000; negative for no bound.
	Bound int
	// TrustLocal lifts the bound from accounts of addresses that are not public: a network of the
	// owner's own machines. They are counted all the same.
	TrustLocal bool
	// Gifts is how many bytes of entries may be given away in an hour to nodes without an account, and Gift how many of
	// them to one address. Default DefaultGifts and DefaultGift; negative for none.
	Gifts, Gift int64
	// Rules are in the place of DefaultRules where they are not nil. For experiments.
	Rules *Rules
}

// ErrConfig is wrapped by the errors of Validate.
var ErrConfig = errors.New("setting out of range")

// Validate says what is wrong with the Config, or nil.
func (c Config) Validate() error {
	if c.Bound > maxBound {
		return fmt.Errorf("%w: deficit bound is %d, want 1 to %d entries", ErrConfig, c.Bound, maxBound)
	}
	return nil
}

// A Ledger keeps the accounts of everyone with whom we exchange entries.
//
// Paper §3.5: "To prevent free riding, node i ensures that d_{i,j} does not exceed a constant parameter
// D." The deficit d_{i,j} is what we gave and what we fined, less what we got. It stays between -D and
// 200 entries (or 2D where that is more): a neighbor that gave for years and then only takes costs us
// at most 2D, and one that was fined can work it off. An address never seen before has a bound of one
// entry, which grows by what it gives, up to D. Nothing fades with time, and nobody is served beyond its
// bound by chance: in a model of the paper's network either gave free riders 4 to 81 % of the entries.
//
// Differs from the paper: it credits only new entries. Read so, of two neighbors that poll equally often the faster one
// earns everything and the slower one stands at the bound; with D = 10 honest nodes then got 98 % of the entries with a
// lag of 0.42 h and slow ones 93 %, 1.45 h. Here an offer that we answer "seen" earns as much as a delivery would have
// (it would have served us as well, only later), and Audit sees to it that the offer is true: honest and slow nodes get
// 100 % at 0.15 h, as without any bound, and free riders nothing. Only the node that hears the offer books it: booked
// by both sides, slow nodes fell to 96 %, 0.65 h.
type Ledger struct {
	bound      Credit // D
	debt       Credit // the largest deficit
	unbounded  bool
	trustLocal bool
	rules      Rules

	accounts map[Holder]*account
	keyed    map[protocol.NodeID]Holder // of nodes that proved a key with an account
	keysAt   map[Holder]keysAt          // by the address
	changed  []*account                 // in the order in which they changed first
	dropped  []Holder
	forgers  bool  // somebody forged an entry once
	expired  int64 // the day on which Expire last looked
}

// account is an Account, where it counts as what, and whether it is among the changed, and among those of which a Quota
// counts something.
type account struct {
	Account
	tallied        tallied
	dirty, storing bool
}

// NewLedger returns a Ledger without accounts. The error says which setting is out of range.
func NewLedger(c Config) (*Ledger, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Ledger{unbounded: c.Bound < 0, trustLocal: c.TrustLocal, rules: c.InForce(),
		accounts: make(map[Holder]*account), keyed: make(map[protocol.NodeID]Holder),
		keysAt: make(map[Holder]keysAt)}
	if c.Bound <= 0 {
		c.Bound = defaultBound
	}
	l.bound = Value(c.Bound, 0)
	l.debt = max(maxDebt, 2*l.bound) // or fines would mean nothing under a large bound
	return l, nil
}

// HolderOf is the holder of the account of the node id.
func (l *Ledger) HolderOf(id protocol.NodeID) Holder {
	if h, keyed := l.keyed[id]; keyed {
		return h
	}
	return l.rules.HolderOf(id)
}

// of is the account of h, nil where it has none.
func (l *Ledger) of(h Holder) *account { return l.accounts[h] }

// Limit is the largest deficit that h may have, MaxCredit where it has no bound.
func (l *Ledger) Limit(h Holder) Credit { return l.limit(h, l.of(h)) }

func (l *Ledger) limit(h Holder, a *account) Credit {
	if l.unbounded || l.trustLocal && h.Local() {
		return MaxCredit
	}
	return l.mayOwe(h, a)
}

// Allowance is how much may still be sent to h: never negative, MaxCredit where it has no bound. Deliveries on their
// way to h must be booked already, or two deliveries at a time would both fit.
func (l *Ledger) Allowance(h Holder) Credit { return l.allowance(h, l.of(h)) }

func (l *Ledger) allowance(h Holder, a *account) Credit {
	limit := l.limit(h, a)
	if a == nil || limit == MaxCredit {
		return limit
	}
	return max(limit-a.Deficit, 0)
}

// Gave books that we deliver to h what is worth v: c_{i,j} grows. Book it when the delivery begins, so
// that Allowance knows of it, and call Returned if nothing left.
func (l *Ledger) Gave(now time.Time, h Holder, v Credit) {
	if v > 0 {
		a := l.meet(now, h)
		a.Given += v
		l.book(now, a, v)
	}
}

// Returned takes back a Gave whose bundle was never written to the network: nobody pays for what it had no chance to
// get. A delivery that was written counts, whatever the answer; or a neighbor that breaks connections off would be
// served for nothing.
func (l *Ledger) Returned(now time.Time, h Holder, v Credit) {
	if a := l.of(h); a != nil && v > 0 {
		v = min(v, a.Given)
		a.Given -= v
		l.book(now, a, -v)
	}
}

// Got books that h earned v: c_{j,i} grows. See Earnings for what earns.
func (l *Ledger) Got(now time.Time, h Holder, v Credit) {
	if v > 0 {
		a := l.meet(now, h)
		a.Got += v
		a.Grace = min(a.Grace+v/gracePart, l.bound)
		l.book(now, a, -v)
	}
}

// Revoked takes back a Got: what it was for turned out to be worth nothing.
func (l *Ledger) Revoked(now time.Time, h Holder, v Credit) {
	if a := l.of(h); a != nil && v > 0 {
		v = min(v, a.Got)
		a.Got -= v
		a.Grace = max(a.Grace-v/gracePart, min(a.Grace, 0))
		l.book(now, a, v)
	}
}

// Crossed returns how much h earns with what it gave us and had from us, which is worth v: as much as it may be
// forgiven, which is that much less from now on, and an entry before it has earned any. Two honest nodes give each
// other the same where it crosses on its way, and if it is the first, both would stand at each other's bound with it.
// Who only hands back what it was given gets that entry once.
func (l *Ledger) Crossed(h Holder, v Credit) Credit {
	a := l.of(h)
	if a == nil {
		return 0
	}
	v = max(min(v, a.Grace+Entry), 0)
	a.Grace -= v
	return v
}

// Forgive lets a holder that has stood at its bound for an hour owe half of D less, or as much of it as its Grace is;
// and an entry less after a day, if it earned ten before. It reports whether it did. A deficit that fines have brought
// further than the bound is not forgiven.
//
// The books of two honest nodes differ: what is lost on the way is paid for all the same, and so is more of a feed than
// earns in a day. If they have only each other, they come to each other's bound with time, and would stay there. Call
// it where the neighbor says that we stand at its bound as well. Its word can be a lie, so forgiving has to be earned
// as everything else: a holder that gave nothing is forgiven nothing, and one that changes sides D and an entry a day.
func (l *Ledger) Forgive(now time.Time, h Holder) bool {
	a := l.of(h)
	if a == nil || a.AtBound.IsZero() || now.Sub(a.AtBound) < forgiveAfter || a.Deficit > l.bound ||
		l.allowance(h, a) >= Entry {
		return false
	}
	v := min(a.Grace, l.bound/2)
	if v < Entry {
		if now.Sub(a.AtBound) < day || a.Got < proven {
			return false
		}
		v = Entry
	}
	a.Grace = max(a.Grace-v, min(a.Grace, 0))
	l.book(now, a, -v)
	return true
}

// Punish counts an offence of h against its standing and fines it. value is that of what was promised,
// offered or delivered; where it is not known, 0, it counts as one entry. It reports whether h is
// refused from now on: then every link to it must end, and that to whoever else RefusedAt says. An offence of a key
// that is not settled counts against its address as well, or another key would begin anew there; one that has a settled
// key refused has strangers at its address refused with it.
func (l *Ledger) Punish(now time.Time, h Holder, o Offence, value Credit) (ended bool) {
	a, at, settled := l.meet(now, h), l.At(h), l.Settled(now, h)
	l.forgers = l.forgers || o == ForgedEntry
	counted := a.Standing.mark(seconds(now), o)
	if counted || o == FailedAudit {
		if value <= 0 {
			value = Entry
		}
		fine := o.penalty().fine * value
		a.Fined += fine
		l.book(now, a, fine)
	}
	l.touch(a)
	ended = a.Standing.refused(now)
	if at != h {
		strangers := l.meet(now, at)
		if !settled {
			strangers.Standing.mark(seconds(now), o)
		}
		if ended {
			strangers.Standing.Refused = when.Later(strangers.Standing.Refused, a.Standing.Refused)
		}
		l.touch(strangers)
		ended = ended || !settled && strangers.Standing.refused(now)
	}
	return ended
}

// Refused reports whether h is refused.
func (l *Ledger) Refused(now time.Time, h Holder) bool {
	a := l.of(h)
	return a != nil && a.Standing.refused(now)
}

// RefusedAt reports whether no link to the node id may come about, whose account would be that of h. A key that is not
// settled is refused where strangers are.
func (l *Ledger) RefusedAt(now time.Time, id protocol.NodeID, h Holder) bool {
	return l.Refused(now, h) || !l.Settled(now, h) && l.Refused(now, l.rules.HolderOf(id))
}

// Forged reports whether h forged an entry lately: then it is refused, and so is what comes by way of it.
func (l *Ledger) Forged(now time.Time, h Holder) bool {
	a := l.of(h)
	return a != nil && a.Standing.forged(now)
}

// ForgedAmong reports whether the holder of any of the nodes Forged. Where nobody ever did it need not look.
func (l *Ledger) ForgedAmong(now time.Time, ids []protocol.NodeID) bool {
	return l.forgers && slices.ContainsFunc(ids, func(id protocol.NodeID) bool { return l.Forged(now, l.HolderOf(id)) })
}

// OnProbation reports whether h has not earned ten entries yet, or is in debt further than what we send can
// bring it, which only fines do and what is revoked.
func (l *Ledger) OnProbation(h Holder) bool {
	a := l.of(h)
	return a == nil || a.Got < proven || a.Deficit > l.bound
}

// Account is a copy of the account of h, with nothing in it where it has none.
func (l *Ledger) Account(h Holder) Account {
	a := l.of(h)
	if a == nil {
		return Account{Holder: h}
	}
	return a.clone()
}

// Met notes that we are in contact with h, so that its account is not forgotten. A Holder without an
// account gets none.
func (l *Ledger) Met(now time.Time, h Holder) {
	if l.of(h) != nil {
		l.meet(now, h)
	}
}

// meet is the account of h, a new one if it has none, met now.
func (l *Ledger) meet(now time.Time, h Holder) *account {
	a := l.of(h)
	if a == nil {
		a = &account{Account: Account{Holder: h, Since: seconds(now)}}
		l.makeRoom()
		l.accounts[h] = a
	}
	if at := seconds(now); at.After(a.Met) {
		a.Met = at
		l.touch(a)
	}
	return a
}

// book changes the deficit within its limits.
func (l *Ledger) book(now time.Time, a *account, by Credit) {
	a.Deficit += by
	l.beside(now, a, by)
	l.clamp(now, a)
	l.count(now, a)
	l.touch(a)
}

// clamp brings the deficit within its limits, and notes when the account came to its bound.
func (l *Ledger) clamp(now time.Time, a *account) {
	limit := l.limit(a.Holder, a)
	if limit != MaxCredit {
		a.Deficit = min(max(a.Deficit, -l.bound), l.debt)
	}
	switch {
	case l.allowance(a.Holder, a) >= Entry:
		a.AtBound = time.Time{}
	case a.AtBound.IsZero():
		a.AtBound = seconds(now)
	}
}
