// Package node is the participant: it polls feeds rarely, bundles what is new, offers it to neighbors
// who want it, takes what they offer, and keeps every entry (Paper §3).
//
//	host ---- Event ----> Step ---- Effect ----> host
//	      Wake, Asked, Answered,      Respond, Call,
//	      Fetched, Searched, commands Fetch, Search, Tell
//
// A Node is a state machine without I/O: it holds no goroutine, lock, timer, socket, file or context.
// Time is an argument and chance comes from a *rand.Rand given at construction, so equal nodes given
// equal events produce equal effects. Package daemon hosts one in real time; tests step one by hand.
//
// It consists of four machines over one core, each a package below this one:
//
//	poller      asks publishers: feeds, when each is due, what documents show and what is missing of them
//	exchange    exchanges entries with neighbors: offers, promises, deliveries, accounts, and what is their word alone
//	membership  keeps the node in the network: bootstrap, links, adverts, review, whom to admit
//	query       answers queries of archives, downloads entries of the past and serves them
//	core        what all of them share: the step's time and effects, calls, timers, links, accounts, limits
//
//	               Step
//	    .-----------'------------.
//	 poller -- exchange -- membership    query        each needs little of the others, and says so in
//	    '---------'-----.----'------------'           an interface of its own; none imports another
//	                   core
//
// Step tells an event to the machine that it is for. Decisions that can be made without knowing the whole node are not
// made here:
//
//	polling     when a feed is polled next, as far as it is up to us
//	courtesy    when its publisher may be asked, where, and whether it is our own network that fails
//	neighbors   which they are, what they follow and hear from us, and which gives way to which
//	incentive   what each of them gave and got
//	trust       whose word is believed
//	search      which neighbors a query asks, what its answers make together, which holders are asked for the entries
//
// State that the node keeps it writes to an archive.Store while it steps. A host must make those writes durable before
// it carries out the effects of the step: the answer "ok" to a neighbor means that its entries are stored.
package node
