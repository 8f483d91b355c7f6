package node

import (
	"feedex/archive"
	"feedex/polling"
)

// policyOf is by which policy the feed is polled: the one chosen for it, or else the node's own. One that this
// version cannot read is none.
func (n *Node) policyOf(f *archive.Feed) polling.Policy {
	if f.Policy != "" {
		if p, err := n.config.Polling.Policy(f.Policy); err == nil {
			return p
		}
	}
	return n.config.Policy
}

// readable reports whether a policy may be chosen by that name.
func (n *Node) readable(policy string) bool {
	_, err := n.config.Polling.Policy(policy)
	return policy == "" || err == nil
}

// repolicy has the feed polled as its owner wants it from now on. The next poll is no later than the policy would
// ever have it, nor sooner than the publisher wants.
func (n *Node) repolicy(s *subscription) {
	s.policy = n.policyOf(&s.Feed)
	if !s.polling && s.Errors == 0 && !s.LastPoll.IsZero() {
		due := later(s.LastPoll.Add(s.policy.Longest()), s.NotBefore)
		if due.Before(s.NextPoll) {
			n.pollAt(s, later(due, n.now))
		}
	}
}
