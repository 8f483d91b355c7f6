package incentive

import "math/rand/v2"

const (
	// auditOneIn is 1/p: one in so many offers that we would answer "seen" is audited.
	auditOneIn = 50
	// keyOneIn is the same where an address has several keys that are not settled: what one of them says to have earns
	// once, and is given to the others for nothing.
	keyOneIn = 25
	// doubtOneIn is the same for neighbors on probation.
	doubtOneIn = 5
)

// Audit draws whether an offer of h's that would earn is audited. An offer costs next to nothing, so a neighbor could
// offer whatever it hears that others have. Therefore one in 50 offers of a bundle that we have is answered "unseen"
// all the same, and earns when the bundle comes. A neighbor that turns out not to have it is fined 75 times its value,
// a FailedAudit: honest neighbors lose nothing, and offering what one does not have loses from the first day. In a
// model of the network such echoers get nothing; without audits they get everything.
//
// The first offer of a neighbor that has earned nothing yet is always audited, or hanging up when it is and going on to
// others would pay. One that has not earned 10 entries yet, or is working off fines, is audited ten times as often.
// Since debt is capped, an echoer with nothing to lose could else wait for a lucky run; that alone got it 2.3 % of an
// honest neighbor's service.
//
// Differs from the paper: it knows no such offers, because it credits only new entries. See Ledger.
func (l *Ledger) Audit(rng *rand.Rand, h Holder) bool {
	oneIn := auditOneIn
	switch a := l.of(h); {
	case a == nil || a.Got == 0:
		oneIn = 1
	case l.OnProbation(h):
		oneIn = doubtOneIn
	case l.Crowded(h):
		oneIn = keyOneIn
	}
	return l.rules.Audit(rng, oneIn)
}
