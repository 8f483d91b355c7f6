package daemon

import (
	"context"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/fetch/grade"
	"feedex/node"
)

// A host is its own Owner, and serves the control socket as such.
var _ control.Owner = (*host)(nil)

// look has f called between two steps, in the loop, and returns what f returned. The node is nil while
// nothing can be stored. What f returns must be a copy, because the node goes on; nothing else may be
// written by f, because look returns without it when ctx ends.
func look[T any](ctx context.Context, h *host, f func(n *node.Node) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	answers := make(chan answer, 1)
	ask := arrival{look: func(n *node.Node) {
		value, err := f(n)
		answers <- answer{value, err}
	}}
	if !h.send(ctx, ask) {
		return none, context.Cause(ctx)
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// listOf has f called with the node like look; it is an error while nothing can be stored.
func listOf[T any](ctx context.Context, h *host, f func(n *node.Node) []T) ([]T, error) {
	return look(ctx, h, func(n *node.Node) ([]T, error) {
		if n == nil {
			return nil, fmt.Errorf("the node rests because %s", h.storage.problem)
		}
		return f(n), nil
	})
}

// command gives the node its owner's wish and waits until what it changed is durable.
func (h *host) command(ctx context.Context, ev node.Event) error {
	stored := make(chan error, 1)
	if !h.send(ctx, arrival{event: ev, stored: stored}) {
		return context.Cause(ctx)
	}
	select {
	case err := <-stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Status implements control.Owner. It answers also while nothing can be stored.
func (h *host) Status(ctx context.Context) (control.Report, error) {
	r, err := look(ctx, h, func(n *node.Node) (control.Report, error) {
		r := control.Report{Storage: h.storage.problem}
		if n != nil {
			r.Status = n.Status()
		}
		return r, nil
	})
	if err != nil {
		return control.Report{}, err
	}
	r.Version, r.Uptime, r.Data = Version, time.Since(h.started), h.config.Data
	r.Listen, r.Reader, r.ReaderHosts = h.at.Listen, h.at.Reader, h.config.ReaderHosts
	stats, err := h.store.Stats(ctx)
	if err != nil && r.Storage == "" {
		return control.Report{}, fmt.Errorf("count entries: %w", err)
	}
	r.Archive = control.ArchiveReport{Entries: stats.Entries, Feeds: stats.Feeds, Bytes: stats.Bytes, Free: stats.Free,
		InSteps: stats.InSteps, Unindexed: stats.Unindexed}
	if r.Retention, err = h.retention(ctx); err != nil && r.Storage == "" {
		return control.Report{}, fmt.Errorf("look for what is kept: %w", err)
	}
	return r, nil
}

// Neighbors implements control.Owner.
func (h *host) Neighbors(ctx context.Context) ([]node.NeighborStatus, error) {
	return listOf(ctx, h, (*node.Node).Neighbors)
}

// Feeds implements control.Owner.
func (h *host) Feeds(ctx context.Context) ([]node.FeedStatus, error) {
	return listOf(ctx, h, (*node.Node).Feeds)
}

// Numbered implements control.Owner.
func (h *host) Numbered(ctx context.Context, number int64) (feed.URL, error) {
	f, err := h.store.NumberedFeed(ctx, number)
	return f.URL, err
}

// Publishers implements control.Owner.
func (h *host) Publishers(ctx context.Context) ([]grade.Host, error) {
	log, err := h.store.Requests(ctx, archive.KeptRequests)
	if err != nil {
		return nil, fmt.Errorf("read the log of requests: %w", err)
	}
	return grade.Hosts(log), nil
}

// Subscribe implements control.Owner.
func (h *host) Subscribe(ctx context.Context, s node.Subscribe) error { return h.command(ctx, s) }

// Unsubscribe implements control.Owner.
func (h *host) Unsubscribe(ctx context.Context, u feed.URL) error {
	return h.command(ctx, node.Unsubscribe{Feeds: []feed.URL{u}})
}

// Search implements control.Owner.
func (h *host) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	return h.store.Search(ctx, f)
}
