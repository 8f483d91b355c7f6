// Package neighbors knows which nodes our neighbors are and what they want: their subscription sets with hop counts,
// what we advertise to each of them, which nodes we admit, and where further candidates may be found (Paper §3.1,
// §3.2).
//
//	                   heard from P            advertised to Q
//	RoutingTable <---- subsets, changes ----  ----> Advert: own feeds at 0, others' at one hop more,
//	                                                computed without Q's own advert
//	Book <------------ addresses from trackers, documents, earlier runs ----> Candidates
//
// A RoutingTable and a Book belong to one node's loop and are not safe for concurrent use. They read no
// clock: where time matters it is an argument.
package neighbors
