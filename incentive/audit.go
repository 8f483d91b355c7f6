package incentive

import (
	"math/rand/v2"
	"slices"
	"time"

	"feedex/protocol"
)

const (
	// auditOneIn is 1/p: one in so many offers that we would answer "seen" is audited.
	auditOneIn = 50
	// doubtOneIn is the same for neighbors on probation.
	doubtOneIn = 5
)

// Audits checks offers that earn. An offer costs next to nothing, so a neighbor could offer whatever it
// hears that others have. Therefore one in 50 offers of a bundle that we have is answered "unseen" all
// the same. Who does not deliver the bundle within 30 s is fined 75 times its value: honest neighbors
// lose nothing, and offering what one does not have loses from the first day. In a model of the network
// such echoers get nothing; without audits they get everything.
//
// Who has not earned 10 entries yet, or is working off fines, is audited ten times as often. Since debt
// is capped, an echoer with nothing to lose could else wait for a lucky run; that alone got it 2.3 % of
// an honest neighbor's service.
//
// Differs from the paper: it knows no such offers, because it credits only new entries. See Ledger.
type Audits struct {
	rng    *rand.Rand
	ledger *Ledger
	open   []Audit // first due first
}

// An Audit is a bundle that a neighbor offered, that we have, and that it must deliver to be believed.
type Audit struct {
	Holder Holder
	DID    protocol.DID
	Value  Credit
	Due    time.Time
}

// NewAudits returns Audits that draws from rng and learns from the ledger, which it does not change, who
// is on probation.
func NewAudits(rng *rand.Rand, ledger *Ledger) *Audits { return &Audits{rng: rng, ledger: ledger} }

// A Finding says what to do about an offer of a bundle that we have.
type Finding int

// The findings of Audits.
const (
	Idle    Finding = iota // answer "seen"; it earns nothing
	Earned                 // answer "seen" and book the value
	Audited                // answer "unseen"; what is delivered shows what it earns
)

// Offered decides on h's offer of a bundle that we have and that earns it value; see Earnings.Offered.
// Call it also where the value is 0: the answer to an offer that is being audited does not change.
func (a *Audits) Offered(now time.Time, h Holder, did protocol.DID, value Credit) Finding {
	owed := 0
	for i := range a.open {
		if a.open[i].Holder != h {
			continue
		}
		if a.open[i].DID == did {
			return Audited
		}
		owed++
	}
	if value <= 0 || owed >= protocol.MaxPromises {
		return Idle
	}
	oneIn := auditOneIn
	if a.ledger.OnProbation(h) {
		oneIn = doubtOneIn
	}
	if a.ledger.ablate.NoAudits || a.rng.IntN(oneIn) > 0 {
		return Earned
	}
	a.open = append(a.open, Audit{h, did, value, now.Add(protocol.PromiseTimeout)})
	return Audited
}

// Delivered ends an audit with h's delivery of the bundle, whose content must have been verified, and
// returns the value that h has earned. ok is false where there was no such audit.
func (a *Audits) Delivered(h Holder, did protocol.DID) (value Credit, ok bool) {
	i := slices.IndexFunc(a.open, func(o Audit) bool { return o.Holder == h && o.DID == did })
	if i < 0 {
		return 0, false
	}
	value = a.open[i].Value
	a.open = slices.Delete(a.open, i, i+1)
	return value, true
}

// Due ends the audits whose time is over and returns them: each is a FailedAudit of its Holder, also
// where the link is gone, or hanging up would be the way out.
func (a *Audits) Due(now time.Time) []Audit {
	n := 0
	for n < len(a.open) && !a.open[n].Due.After(now) {
		n++
	}
	due := slices.Clone(a.open[:n])
	a.open = slices.Delete(a.open, 0, n)
	return due
}

// Next is when the first audit falls due; the zero time where none is open.
func (a *Audits) Next() time.Time {
	if len(a.open) == 0 {
		return time.Time{}
	}
	return a.open[0].Due
}
