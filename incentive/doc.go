// Package incentive knows what each neighbor gave us and got from us, so that nobody gains by taking
// without giving (Paper §3.5).
//
//	own poll, delivery ----> Earnings ----> how many entries earn, of which feed
//	offer answered "seen" ------^   |
//	                                v
//	                              Audit ----> earned, or answered "unseen" to see whether it is there
//	                                |
//	delivery to a neighbor ---------+-----> Ledger ----> how much may still be sent to a neighbor
//	misbehavior --------------------------------^ |----> which to refuse
//
// Quota bounds how much room may be taken by what each brings, until own polls have shown it.
//
// A node asks Ledger.Allowance before it delivers and books what it delivered with Gave. For what comes in, Earnings
// says how much of it earns, Value what that is worth, and Got books it. Offences of a neighbor against the rules go to
// Punish, which fines it and lowers its standing.
//
// All amounts are whole numbers: equal histories give equal decisions, on every machine. The types of
// this package belong to one node's loop and are not safe for concurrent use. They read no clock: time
// is an argument.
package incentive
