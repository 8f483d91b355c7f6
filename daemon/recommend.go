package daemon

import (
	"context"
	"fmt"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
	"feedex/recommend"
	"feedex/web"
)

// recommended is how many feeds are suggested at most.
const recommended = 10

// Recommend implements control.Owner. All that it looks at is here already: adverts that came, and the archive.
func (h *host) Recommend(ctx context.Context) ([]control.Recommendation, error) {
	facts, err := look(ctx, h, func(n *node.Node) (recommend.Profile, error) {
		if n == nil {
			return recommend.Profile{}, fmt.Errorf("the node rests because %s", h.storage.problem)
		}
		return n.Interests(), nil
	})
	if err != nil {
		return nil, err
	}
	not, err := h.notRecommended(ctx)
	if err != nil {
		return nil, err
	}
	names, err := h.store.FeedNames(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what feeds are called: %w", err)
	}
	named := make(map[feed.URL]archive.FeedName, len(names))
	for _, n := range names {
		named[n.URL] = n
	}
	list := []control.Recommendation{}
	for _, s := range recommend.Rank(facts, recommended, func(u feed.URL) bool { return not[u] || u.Secret() }) {
		n := named[s.Feed]
		list = append(list, control.Recommendation{Suggestion: s, Title: n.Title, Number: n.Number})
	}
	return list, nil
}

// notRecommended are the feeds that the owner follows, in whatever way, or did follow, keeps to the node, or declined.
func (h *host) notRecommended(ctx context.Context) (map[feed.URL]bool, error) {
	feeds, err := h.store.Feeds(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is followed: %w", err)
	}
	declined, err := h.store.Declined(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was declined: %w", err)
	}
	not := make(map[feed.URL]bool)
	for i := range feeds {
		f := &feeds[i]
		if f.Subscribed || !f.Since.IsZero() || f.Private || f.Withheld || f.Discreet || f.Leads {
			not[f.URL] = true
		}
	}
	for _, u := range declined {
		not[u] = true
	}
	return not, nil
}

// Decline implements control.Owner.
func (h *host) Decline(ctx context.Context, u feed.URL) error { return h.decline(ctx, u, true) }

// decline has a feed suggested no more, or again.
func (h *host) decline(ctx context.Context, u feed.URL, declined bool) error {
	err := h.write(ctx, func(d reading.Database) error { d.Decline(u, declined); return nil })
	h.changes.Add(1)
	return err
}

// Recommended implements web.Present.
func (d dashboard) Recommended(ctx context.Context) (list []web.RecommendedFeed, err error) {
	suggestions, err := d.host.Recommend(ctx)
	for _, s := range suggestions {
		list = append(list, web.RecommendedFeed{Suggestion: s.Suggestion, Title: s.Title, Number: s.Number})
	}
	return list, err
}

// Decline implements web.OwnerActions.
func (d dashboard) Decline(ctx context.Context, u feed.URL, declined bool) error {
	return d.host.decline(ctx, u, declined)
}
