package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
)

const (
	// briskQueries follow one another at once; those after them keep backfillPause between, for neighbors answer ten
	// queries a minute.
	briskQueries = 5
	// backfillPause is the time between two such queries, and between two requests to the publisher.
	backfillPause = 7 * time.Second
	// maxRounds, in queries, and maxPages bound a backfill.
	maxRounds, maxPages = 1000, 500
)

// A Backfill fills in the past of a feed. What it has stored is there whatever ends it: a repetition downloads from
// others only what is still missing.
type Backfill struct {
	Feed feed.URL
	// Since and Until bound the entries' times, as in feed.Filter. Zero is open.
	Since, Until time.Time
	// Publisher asks the publisher for the documents of its archive (RFC 5005 §4), if it has one; Network asks
	// neighbors, and those beyond them.
	Publisher, Network bool
	Hops               int // how far the network is asked, as in Query
	// Pause is the time between two requests. Default 7 s.
	Pause time.Duration
}

// BackfillReport is how far a Backfill is or, at its end, what came of it, in JSON.
type BackfillReport struct {
	Feed      feed.URL  `json:"feed"`
	Network   int       `json:"network"`           // entries that others gave
	Publisher int       `json:"publisher"`         // entries of the publisher's archive
	Pages     int       `json:"pages"`             // documents of the publisher that were read
	Back      time.Time `json:"back,omitzero"`     // how far back it looked, in the part that it is at
	Problem   string    `json:"problem,omitempty"` // why others were not asked
	// Unanswered says that no neighbor answered, or none did any more: what others have before Back is not known, and
	// another Backfill may find it. Asked is how many neighbors the last query went to, Again how many queries repeated
	// one that not all had answered in time.
	Unanswered bool `json:"unanswered"`
	Asked      int  `json:"asked"`
	Again      int  `json:"again,omitempty"`
	queries    int  // that were made
	page       pageSize
	Cut        []string `json:"cut,omitempty"` // why others may have more (protocol.Cut)
	// PublisherProblem is why the publisher's archive was not read to its end.
	PublisherProblem string `json:"publisher_problem,omitempty"`

	// The gaps that are left: entries of which others told and that nobody gave, and those of which nothing is known
	// but that there were some.
	Missing []control.Remote       `json:"missing,omitempty"`
	Gap     *node.GapStatus        `json:"gap,omitempty"`
	Refused []control.RefusedFetch `json:"refused,omitempty"` // nodes asked in vain
}

// maxListed bounds what a BackfillReport lists of what went wrong.
const maxListed = 1000

// Run fills in what o can get, and calls each with how far it is. An error ends it early; what others and the
// publisher refuse does not.
func (b Backfill) Run(ctx context.Context, o control.Owner, each func(BackfillReport)) (BackfillReport, error) {
	if b.Pause == 0 {
		b.Pause = backfillPause
	}
	r := BackfillReport{Feed: b.Feed, page: pageSize{largestPage, largestPage}}
	if b.Publisher {
		if err := b.readArchive(ctx, o, &r, each); err != nil {
			return r, err
		}
	}
	if b.Network {
		if err := b.askOthers(ctx, o, &r, each); err != nil {
			return r, err
		}
	}
	feeds, err := o.Feeds(ctx)
	if err != nil {
		return r, err
	}
	if i := slices.IndexFunc(feeds, func(f node.FeedStatus) bool { return f.URL == b.Feed }); i >= 0 {
		r.Gap = feeds[i].Gap
	}
	return r, nil
}

// readArchive goes from document to document of the publisher's archive, the feed's own first.
func (b Backfill) readArchive(ctx context.Context, o control.Owner, r *BackfillReport,
	each func(BackfillReport)) error {
	var page feed.URL
	seen := map[feed.URL]bool{"": true, b.Feed: true}
	for {
		p, err := o.FetchArchive(ctx, b.Feed, page)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.PublisherProblem = err.Error()
			return nil
		}
		r.Pages++
		r.Publisher += p.Stored
		if !p.Oldest.IsZero() {
			r.Back = p.Oldest
		}
		each(*r)
		if page, r.PublisherProblem = b.prevArchive(p, r.Pages, seen); page == "" {
			return nil
		}
		if err := rest(ctx, b.Pause); err != nil {
			return err
		}
	}
}

// prevArchive is the document of the publisher's archive to read after p, which was the pages-th, "" for none, and what
// is wrong with what p says. It adds to those that were seen.
func (b Backfill) prevArchive(p control.ArchiveDocument, pages int, seen map[feed.URL]bool) (next feed.URL,
	problem string) {
	switch {
	case p.PrevArchive == "", p.Listed > 0 && p.Newest.Before(b.Since):
		return "", ""
	case seen[p.PrevArchive]:
		return "", fmt.Sprintf("its archive leads back to %s", shown(p.PrevArchive))
	case pages >= maxPages:
		return "", fmt.Sprintf("its archive has more than %d documents", maxPages)
	}
	seen[p.PrevArchive] = true
	return p.PrevArchive, ""
}

// pull downloads what was found, and notes what could not be had.
func (b Backfill) pull(ctx context.Context, o control.Owner, found []control.Remote, r *BackfillReport) error {
	var wanted []control.Remote
	for i := range found {
		if f := &found[i]; f.Feed == b.Feed && !f.Here && len(f.Holders) > 0 {
			wanted = append(wanted, *f)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	p, err := o.Pull(ctx, wanted)
	if err != nil {
		return err
	}
	r.Network += len(p.Stored)
	r.Missing = slices.DeleteFunc(r.Missing, func(m control.Remote) bool { return slices.Contains(p.Stored, m.ID) })
	for _, why := range p.Refused {
		if len(r.Refused) < maxListed && !slices.Contains(r.Refused, why) {
			r.Refused = append(r.Refused, why)
		}
	}
	for i := range wanted {
		w := &wanted[i]
		known := func(m control.Remote) bool { return m.ID == w.ID }
		if slices.Contains(p.Missing, w.ID) && len(r.Missing) < maxListed && !slices.ContainsFunc(r.Missing, known) {
			r.Missing = append(r.Missing, *w)
		}
	}
	return nil
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
