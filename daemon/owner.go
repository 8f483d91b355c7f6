package daemon

import (
	"context"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// leaveTime bounds how long a node that stops waits for its neighbors to hear of it.
const leaveTime = time.Second

// A host is its own Owner, and serves the control socket as such.
var _ Owner = (*host)(nil)

// look calls f with the node between two steps and waits until it has returned. f must copy what it
// wants to keep. The error says that nothing can be stored at present, or that ctx ended.
func (h *host) look(ctx context.Context, f func(n *node.Node)) error {
	done := make(chan error, 1)
	ask := arrival{look: func(n *node.Node) {
		if n == nil {
			done <- fmt.Errorf("the node rests because %s", h.storage.problem)
			return
		}
		f(n)
		done <- nil
	}}
	if !h.send(ctx, ask) {
		return context.Cause(ctx)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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

// Status implements Owner. It answers also while nothing can be stored.
func (h *host) Status(ctx context.Context) (Report, error) {
	r := Report{
		Version: Version, Uptime: time.Since(h.started), Data: h.config.Data,
		Listen: h.at.Listen, Reader: h.at.Reader,
	}
	done := make(chan struct{})
	ask := arrival{look: func(n *node.Node) {
		defer close(done)
		r.Storage = h.storage.problem
		if n != nil {
			r.Status = n.Status()
		}
	}}
	if !h.send(ctx, ask) {
		return Report{}, context.Cause(ctx)
	}
	select {
	case <-done:
	case <-ctx.Done():
		return Report{}, context.Cause(ctx)
	}
	stats, err := h.store.Stats(ctx)
	if err != nil && r.Storage == "" {
		return Report{}, fmt.Errorf("count entries: %w", err)
	}
	r.Archive = ArchiveReport{Entries: stats.Entries, Feeds: stats.Feeds, Bytes: stats.Bytes, Unindexed: stats.Unindexed}
	return r, nil
}

// Neighbors implements Owner.
func (h *host) Neighbors(ctx context.Context) (list []node.NeighborStatus, err error) {
	err = h.look(ctx, func(n *node.Node) { list = n.Neighbors() })
	return list, err
}

// Feeds implements Owner.
func (h *host) Feeds(ctx context.Context) (list []node.FeedStatus, err error) {
	err = h.look(ctx, func(n *node.Node) { list = n.Feeds() })
	return list, err
}

// Subscribe implements Owner.
func (h *host) Subscribe(ctx context.Context, u feed.URL) error {
	return h.command(ctx, node.Subscribe{Feeds: []feed.URL{u}})
}

// Unsubscribe implements Owner.
func (h *host) Unsubscribe(ctx context.Context, u feed.URL) error {
	return h.command(ctx, node.Unsubscribe{Feeds: []feed.URL{u}})
}

// Search implements Owner.
func (h *host) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	return h.store.Search(ctx, f)
}

// leave has the node tell its neighbors that it goes, and waits a moment for that.
func (h *host) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	if h.command(ctx, node.Leave{}) != nil {
		return
	}
	h.look(ctx, func(*node.Node) {}) // by now its calls are on their way
	told := make(chan struct{})
	go func() {
		h.goodbyes.Wait()
		close(told)
	}()
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// isGoodbye reports whether a call tells a neighbor that the link is over.
func isGoodbye(c protocol.Call) bool {
	_, is := c.(protocol.Disconnect)
	return is
}
