// Package actor has participants that misbehave: each is the real node.Node with one habit changed. It sits
// between a host and its node, so it sees every event before the node does and every effect before the
// network does.
//
//	host ---- Event ----> actor ---- Event ----> node.Node
//	     <--- Effect ----       <--- Effect ----
//
// Calls that an actor holds back it answers in the network's place, so that its node goes on.
package actor
