package node

import "feedex/fetch/grade"

// noteRequests keeps what a poll of the feed asked of publishers. It is for the owner alone.
func (n *Node) noteRequests(s *subscription, list []grade.Request) {
	if len(list) == 0 {
		return
	}
	list[0].First = s != nil && s.LastPoll.IsZero()
	n.store.KeepRequests(list)
}
