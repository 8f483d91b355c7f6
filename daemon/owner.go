package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// feed is the status of a feed, nil where it is not followed, or nothing can be stored.
func (h *host) feed(ctx context.Context, u feed.URL) (*node.FeedStatus, error) {
	return glance(ctx, h.loop, func(n *node.Node) *node.FeedStatus { return n.Feed(u) })
}

// pollsHeard is when others polled a feed, by what neighbors told since the start; none where nobody can tell.
func (h *host) pollsHeard(ctx context.Context, u feed.URL) ([]time.Time, error) {
	return glance(ctx, h.loop, func(n *node.Node) []time.Time { return n.PollsHeard(u) })
}

// Status implements control.Owner. It answers also while nothing can be stored.
func (h *host) Status(ctx context.Context) (control.Report, error) {
	r, err := look(ctx, h.loop, func(n *node.Node) (control.Report, error) {
		var r control.Report
		if h.storage.problem != nil {
			r.Storage = h.storage.problem.Error()
		}
		if n != nil {
			s := n.Status()
			r.Status = &s
		}
		return r, nil
	})
	if err != nil {
		return control.Report{}, err
	}
	r.Version, r.Uptime, r.Data = Version, time.Since(h.started), h.config.Data
	r.Listen, r.Reader, r.ReaderHosts = h.at.Listen, h.at.Reader, h.config.ReaderHosts
	r.Named, r.DHT, r.Reach = h.named(), h.meetings.get(), h.reachOf(cmp.Or(r.Status, new(node.Status)))
	r.Traffic = control.TrafficReport(h.meter.Read())
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
	return ask(ctx, h.loop, (*node.Node).Neighbors)
}

// Feeds implements control.Owner.
func (h *host) Feeds(ctx context.Context) ([]node.FeedStatus, error) {
	list, err := ask(ctx, h.loop, (*node.Node).Feeds)
	if err != nil {
		return nil, err
	}
	names, err := h.store.FeedNames(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what feeds are called: %w", err)
	}
	named := make(map[feed.URL]*archive.FeedName, len(names))
	for i := range names {
		named[names[i].URL] = &names[i]
	}
	for i := range list {
		if n := named[list[i].URL]; n != nil { // the core knows no more than since the start
			list[i].Title, list[i].Polled, list[i].Delivered = cmp.Or(n.Title, list[i].Title), n.Polled, n.Brought
			list[i].FullText = n.FullText
		}
	}
	return list, nil
}

// Numbered implements control.Owner.
func (h *host) Numbered(ctx context.Context, number int64) (feed.URL, error) {
	f, err := h.store.NumberedFeed(ctx, number)
	return f.URL, err
}

// Publishers implements control.Owner.
func (h *host) Publishers(ctx context.Context) ([]grade.Assessment, error) {
	log, err := h.store.Requests(ctx, archive.KeptRequests)
	if err != nil {
		return nil, fmt.Errorf("read the log of requests: %w", err)
	}
	return grade.Hosts(log), nil
}

// Subscribe implements control.Owner.
func (h *host) Subscribe(ctx context.Context, s node.Subscribe) error {
	return h.subscribe(ctx, s, nil)
}

// subscribe follows feeds, and has then write as commandAnd does.
func (h *host) subscribe(ctx context.Context, s node.Subscribe, then func(*node.Node)) error {
	var feeds []feed.URL
	var refused error
	for _, u := range s.Feeds {
		at, err := published(ctx, h, u, h.at.Reader, h.config.ReaderHosts)
		switch {
		case errors.Is(err, errMadeHere):
			refused = control.BadRequest{Err: fmt.Errorf("%s is not followed: %w", u.Redacted(), err)}
			h.config.Log.Warn("address is not followed", "address", u.Redacted(), "err", err)
		case err != nil:
			return err
		default:
			feeds = append(feeds, at)
		}
	}
	if s.Feeds = feeds; len(feeds) == 0 && (refused != nil || s.Standing) {
		return refused
	}
	return h.commandAnd(ctx, s, then)
}

// Refresh implements control.Owner.
func (h *host) Refresh(ctx context.Context, feeds []feed.URL) ([]control.Refreshed, error) {
	return h.refresh(ctx, feeds, func(u feed.URL) error {
		return control.BadRequest{Err: fmt.Errorf("%s is not followed: 'feedex subscribe' follows it", u.Redacted())}
	})
}

// refresh is Refresh where stray says of a feed that is not followed whether it keeps all from being polled.
func (h *host) refresh(ctx context.Context, feeds []feed.URL, stray func(feed.URL) error) ([]control.Refreshed, error) {
	all, err := h.Feeds(ctx)
	if err != nil {
		return nil, err
	}
	followed := make(map[feed.URL]*node.FeedStatus, len(all)) // by their addresses, or what led to them
	for i := range all {
		followed[all[i].Page] = &all[i]
	}
	for i := range all {
		followed[all[i].URL] = &all[i]
	}
	if len(feeds) == 0 {
		for i := range all {
			feeds = append(feeds, all[i].URL)
		}
	}
	list := make([]control.Refreshed, 0, len(feeds))
	var meant []feed.URL
	for _, u := range feeds {
		if s := followed[u]; s != nil {
			meant = append(meant, s.URL)
			list = append(list, control.Refreshed{Feed: s.URL, NotBefore: s.RefreshAt, Ended: s.Ended,
				Choices: discover.LendAll(s.URL, s.Names)})
		} else if err := stray(u); err != nil {
			return nil, err
		}
	}
	return list, h.command(ctx, node.Refresh{Feeds: meant})
}

// Unsubscribe implements control.Owner.
func (h *host) Unsubscribe(ctx context.Context, u feed.URL) error {
	defer h.polled.tell()
	return h.command(ctx, node.Unsubscribe{Feeds: []feed.URL{u}})
}

// Search implements control.Owner.
func (h *host) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	return h.store.Search(ctx, f)
}

// maxResults is how many QueryResults of one query may wait to be read: each message of it brings one at most, and its
// end is one.
const maxResults = protocol.DefaultBudget + 1

// Query implements control.Owner.
func (h *host) Query(ctx context.Context, q control.QueryRequest, each func(control.QueryPart) error) error {
	limit := q.Filter.Limit
	if limit <= 0 {
		limit = feed.DefaultLimit
	}
	q.Filter.Limit = limit + 1 // one more tells whether there are more
	records, err := h.store.Search(ctx, q.Filter)
	cut := errors.Is(err, archive.ErrCut)
	if err != nil && !cut {
		return fmt.Errorf("search the archive: %w", err)
	}
	here := &control.Local{Records: records[:min(limit, len(records))], More: len(records) > limit, Cut: cut}
	if err := each(control.QueryPart{Here: here}); err != nil {
		return err
	}
	always := h.config.Node.QueryNetwork == node.AlwaysNetwork
	if q.Network == nil && !always || q.Network != nil && !*q.Network {
		return each(control.QueryPart{End: &control.QueryEnd{}})
	}
	q.Filter.Limit = limit
	return h.queryOthers(ctx, q, here.Records, each)
}

// queryOthers has the node ask its neighbors, and passes on what they tell.
func (h *host) queryOthers(ctx context.Context, q control.QueryRequest, own []archive.Record,
	each func(control.QueryPart) error) error {
	results := make(chan node.QueryResults, maxResults)
	ev := node.OwnerQuery{
		Tag:   h.lastQuery.Add(1),
		Query: protocol.Query{Filter: q.Filter, Hops: q.Hops, Wait: q.Wait},
		Own:   own, Explicit: q.Network != nil,
	}
	tell := func(e node.Effect) (last bool) {
		r, ok := e.(node.QueryResults)
		if !ok {
			r = node.QueryResults{Done: true, Err: reading.ErrRests}
		}
		results <- r
		return r.Done
	}
	if !h.send(ctx, arrival{event: ev, heard: tell}) {
		return context.Cause(ctx)
	}
	ended := false
	defer func() {
		if !ended { // the client has gone
			h.send(context.WithoutCancel(ctx), arrival{event: node.EndQuery{Tag: ev.Tag}})
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-results:
			part := control.QueryPart{Found: control.RemotesOf(r.Hits)}
			if r.Done {
				ended = true
				part = control.QueryPart{End: &control.QueryEnd{Network: true, Asked: r.Asked, Answers: r.Answers,
					Cut:           r.Cut.Reasons(),
					CompleteSince: r.CompleteSince, Found: part.Found}}
				if r.Err != nil {
					part.End.Problem = r.Err.Error()
				}
			}
			if err := each(part); err != nil || r.Done {
				return err
			}
		}
	}
}

// Pull implements control.Owner.
func (h *host) Pull(ctx context.Context, list []control.Remote) (control.PullReport, error) {
	return h.pull(ctx, list, false)
}

// unasked is the host as a backfill.PastSource that downloads what its owner did not ask for: gaps and pasts that are
// filled in by themselves.
type unasked struct{ *host }

// Pull implements control.Owner.
func (u unasked) Pull(ctx context.Context, list []control.Remote) (control.PullReport, error) {
	return u.pull(ctx, list, true)
}

// FetchArchive implements control.Owner. The worker that has the document read keeps how far that is.
func (u unasked) FetchArchive(ctx context.Context, f, page feed.URL) (control.ArchiveDocument, error) {
	if err := u.online(ctx); err != nil {
		return control.ArchiveDocument{}, err
	}
	return u.fetchArchive(ctx, f, page)
}

func (h *host) pull(ctx context.Context, list []control.Remote, unasked bool) (control.PullReport, error) {
	ev := node.Pull{Tag: h.lastQuery.Add(1), Unasked: unasked}
	for i := range list {
		w, err := list[i].Wish()
		if err != nil {
			return control.PullReport{}, err
		}
		ev.Wishes = append(ev.Wishes, w)
	}
	var sum node.Pulled
	done := make(chan node.Pulled, 1)
	tell := func(e node.Effect) (last bool) {
		r, ok := e.(node.Pulled)
		if !ok {
			done <- node.Pulled{Err: reading.ErrRests}
			return true
		}
		sum.Stored, sum.Refused = append(sum.Stored, r.Stored...), append(sum.Refused, r.Refused...)
		if r.Done {
			sum.Missing, sum.Err = r.Missing, r.Err
			done <- sum
		}
		return r.Done
	}
	if !h.send(ctx, arrival{event: ev, heard: tell}) {
		return control.PullReport{}, context.Cause(ctx)
	}
	select {
	case r := <-done:
		return newPulled(r), r.Err
	case <-ctx.Done():
		h.send(context.WithoutCancel(ctx), arrival{event: node.EndPull{Tag: ev.Tag}})
		return control.PullReport{}, context.Cause(ctx)
	}
}

func newPulled(r node.Pulled) control.PullReport {
	out := control.PullReport{Stored: []string{}}
	for _, id := range r.Stored {
		out.Stored = append(out.Stored, id.String())
	}
	for _, id := range r.Missing {
		out.Missing = append(out.Missing, id.String())
	}
	for _, why := range r.Refused {
		out.Refused = append(out.Refused, control.RefusedFetch(why))
	}
	return out
}
