package incentive

// Ablation switches rules off, one by one, for experiments that show what each of them is good for. Its
// zero value leaves all of them on. No setting of the program leads here.
type Ablation struct {
	// NoSeenCredit has offers that we answer "seen" earn nothing: only deliveries do, as the paper has it.
	NoSeenCredit bool
	// NoAudits has every offer believed.
	NoAudits bool
	// PortAccounts gives each port of an address an account of its own.
	PortAccounts bool
	// NoStrangerLimit gives an address never seen before the bound of everyone.
	NoStrangerLimit bool
	// KeepAtBound keeps neighbors that stay at their bound, instead of looking for others.
	KeepAtBound bool
	// NoDailyCap has any number of entries of a feed earn in a day.
	NoDailyCap bool
	// NoQuota has everything stored that neighbors bring.
	NoQuota bool
}
