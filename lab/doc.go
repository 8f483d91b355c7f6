// Package lab hosts whole networks of the real node.Node and tracker.Registry in virtual time: what a
// world shows is what the product does, because it is the product that does it.
//
//	trace.Timeline --> publisher --Fetched--> +------+ --Call--> link --Asked--> another Host
//	                                          | Host |
//	tracker.Registry <--get_neighbors-------- +------+ --Tell--> what is measured
//
// A World is one goroutine, one virtual clock, one heap of events and one seed. Each node, link and
// publisher draws its chance from a stream of its own, which depends on the seed and its name alone, so
// that one node more changes nobody else's. Equal settings give an equal Hash, to the last digit, with
// messages encoded or not, on every platform.
//
// # To run a world
//
// Make a World with New, let members Join, then Run to a time, as often as there is something to do in
// between: Crash, Stop, Return and Leave hosts, Split and Heal the network. Reports of what came of it are
// read from the Hosts (Measures, Calls) and the Publishers.
//
// # To add a misbehaving participant
//
// An Actor is anything with the two methods of a node. MemberConfig.Actor makes one from the real node of the
// member, so that it changes one habit and leaves the rest: it sees every event before its node does, and
// every effect before the network does. Package lab/actor has some.
//
// # To script what is not modelled
//
// Config.Fate decides what becomes of single calls, Config.Serve answers polls of feeds that have no trace. The tests
// of package node use both.
//
// # To add an experiment
//
// It is a struct of settings in package lab/experiment, whose Run makes worlds, runs them and returns a Report of
// tables and figures, and a command in cmd/feedex, as labexperiments.go has.
package lab
