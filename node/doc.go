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
// What the node keeps it writes to an archive.Store while it steps. A host must make those writes
// durable before it carries out the effects of the step: the answer "ok" to a neighbor means that its
// entries are stored.
package node
