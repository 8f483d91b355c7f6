package daemon

import (
	"context"
	"fmt"

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
	facts, err := ask(ctx, h.loop, (*node.Node).Interests)
	if err != nil {
		return nil, err
	}
	not, err := h.store.Unsuggested(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is followed or was declined: %w", err)
	}
	never := make(map[string]bool, len(not))
	for _, u := range not {
		never[recommend.FormOf(u)] = true
	}
	suggestions := recommend.Rank(facts, recommended, func(u feed.URL) bool {
		return never[recommend.FormOf(u)] || u.Secret()
	})
	list := make([]control.Recommendation, len(suggestions))
	feeds := make([]feed.URL, len(suggestions))
	for i, s := range suggestions {
		list[i].Suggestion, feeds[i] = s, s.Feed
	}
	titles, err := h.store.Shelf(reading.Owner).Titles(ctx, feeds)
	if err != nil {
		return nil, fmt.Errorf("read what feeds are called: %w", err)
	}
	for i := range list {
		t := titles[feeds[i]]
		list[i].Title, list[i].Number = t.Text, int64(t.Feed)
	}
	return list, nil
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
