// Package lan lets the nodes of one local network find each other: by DNS-SD (RFC 6763) over multicast DNS (RFC 6762),
// as the service _feedex._tcp. It announces this node, and looks for others.
//
// What comes in is anybody's word, so little of it is believed. A node is where its packet came from, at the port that
// it names: no packet can speak for another address than its own, unless its sender forges that of somebody on the same
// network. Packets count that come from a network of this machine that is not public, and no others (RFC 6762 §11). How
// many nodes are remembered, how many new ones an hour, how many at one address and how many packets are read in a
// second is bounded.
//
// It is for IPv4, which every such network has: the packets of IPv6 come from link-local addresses, and those are no
// id of a node. A name is made of the node's key, so two nodes never want the same, and none is probed for (§8.1).
package lan
