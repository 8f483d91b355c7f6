package daemon

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"feedex/control"
	"feedex/feed"
	"feedex/invitation"
	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
)

// A siteFinder knows which nodes a site names: a site.Finder.
type siteFinder interface {
	Find(ctx context.Context, name string) ([]invitation.Invitation, error)
	Known(ctx context.Context, name string) ([]invitation.Invitation, error)
}

// maxSiteCalls is how many nodes of a site are called, at most, before it counts as one that does not answer.
const maxSiteCalls = 3

// callSite calls the first node that answers of those that a site names, and returns the key by which the site knows
// it.
func (h *host) callSite(ctx context.Context, c node.Call) (r transport.Result, key protocol.NodeKey, err error) {
	list, err := h.sites.Known(ctx, c.To.Host)
	if err != nil {
		return transport.Result{Unsent: true}, key, err
	}
	if !list[0].Key.IsZero() { // they are from its document, and equal: any of them may have no place
		list = slices.Clone(list)
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	list = list[:min(len(list), maxSiteCalls)]
	for _, i := range list {
		once, cancel := context.WithTimeout(ctx, c.Timeout/2)
		result, failed := h.client.Call(once, i.Host, c.Session, c.Call)
		cancel()
		if failed == nil {
			return result, i.Key, nil
		}
		r, err = result, cmp.Or(err, failed)
	}
	return r, key, fmt.Errorf("site %s: of its nodes none answers: %w", c.To.Host, err)
}

// Join implements web.Inviter. What is followed first is waited for: a node links by the feeds that it has read.
func (d dashboard) Join(ctx context.Context, i invitation.Invitation) (protocol.NodeID, error) {
	defer d.host.changes.Add(1)
	if len(i.Feeds) > 0 {
		if err := d.host.Subscribe(ctx, node.Subscribe{Feeds: i.Feeds}); err != nil {
			return protocol.NodeID{}, err
		}
		waiting, cancel := context.WithTimeout(ctx, followWait)
		_ = d.host.FirstPolls(waiting, i.Feeds, func(int) error { return nil }) // else the join says what is missing
		cancel()
	}
	return d.host.Join(ctx, control.JoinRequest{Host: i.Host, Key: i.Key})
}

// SiteFeeds implements web.Inviter.
func (d dashboard) SiteFeeds(ctx context.Context, name string) ([]feed.URL, error) {
	return d.host.SiteFeeds(ctx, name)
}

// SiteFeeds implements control.Owner.
func (h *host) SiteFeeds(ctx context.Context, name string) ([]feed.URL, error) {
	if !invitation.IsSite(name) {
		return nil, control.BadRequest{Err: fmt.Errorf("%.80q is no name of a site such as example.org", name)}
	}
	list, err := h.sites.Find(ctx, name)
	return invitation.Feeds(list), err
}
