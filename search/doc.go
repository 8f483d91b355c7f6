// Package search holds what is pure about queries that go from node to node (Paper §3.6): which neighbors to ask and
// with how many messages, how long each may take, how answers are put together, and what is remembered of earlier ones;
// and which holders are then asked for the entries that they found. Package node does the asking.
//
// Paper §3.6: "The query is propagated recursively rather than iteratively. That is, analogous to the
// recursive DNS query, once a neighbor receives a query, it propagates the query to its neighbors on behalf
// of the original requester."
//
// Differs from the paper: "A possible drawback of recursive mode is excessive traffic caused by query
// flooding, which can be similarly controlled using the unique query identifier and the maximum number of
// hops." Flooding three hops far through 161 nodes costs some 600 messages all the same. So a query has a
// budget of messages, which is split among those that are asked, the best first.
package search
