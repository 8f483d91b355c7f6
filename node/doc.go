// Package node is the participant: it polls feeds rarely, bundles what is new, offers it to neighbors
// who want it, takes what they offer, and keeps every entry (Paper §3).
//
//	host ---- Event ----> Step ---- Effect ----> host
//	      Wake, Asked, Answered,      Respond, Call,
//	      Fetched, Found, commands    Fetch, Search, Tell
//
// A Node is a state machine without I/O: it holds no goroutine, lock, timer, socket, file or context.
// Time is an argument and chance comes from a *rand.Rand given at construction, so equal nodes given
// equal events produce equal effects. Package daemon hosts one in real time; tests step one by hand.
//
// What can be decided without knowing the whole node is not decided here:
//
//	polling     when a feed is polled next, as far as it is up to us
//	courtesy    when its publisher may be asked, where, and whether it is our own network that fails
//	neighbors   which they are, what they follow and hear from us, and which gives way to which
//	incentive   what each of them gave and got, what it claims, and whose word is believed
//	search      which neighbors a query asks, what its answers make together, which holders are asked for the entries
//
// A Node holds one of each, tells them what happens, and turns what they say into effects.
//
// What the node keeps it writes to an archive.Store while it steps. A host must make those writes
// durable before it carries out the effects of the step: the answer "ok" to a neighbor means that its
// entries are stored.
package node
