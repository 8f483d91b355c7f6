package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/search"
)

// A Pulled says what came of a download of entries that others have, in JSON.
type PullReport struct {
	// EntryIDs that were verified and stored, 40 hexadecimal digits each
	Stored  []string       `json:"stored"`
	Missing []string       `json:"missing,omitempty"` // likewise: what nobody gave
	Refused []RefusedFetch `json:"refused,omitempty"` // nodes asked in vain
}

// A Refusal is why nothing was taken from a holder, in JSON.
type RefusedFetch struct {
	Holder protocol.NodeID `json:"holder"`
	Lied   bool            `json:"lied,omitempty"` // it sent what was not asked for, or another version
	Why    string          `json:"why"`
}

// A pulling is a download of the owner while it goes on.
type pulling struct {
	sum  node.Pulled
	done chan<- node.Pulled // one fits in
}

// tellPull adds up what comes of a download, and answers the request that waits for it at the end.
func (h *host) tellPull(r node.Pulled) {
	p := h.pulling[r.Tag]
	if p == nil {
		return
	}
	p.sum.Stored = append(p.sum.Stored, r.Stored...)
	p.sum.Refused = append(p.sum.Refused, r.Refused...)
	if r.Done {
		delete(h.pulling, r.Tag)
		p.sum.Missing, p.sum.Err = r.Missing, r.Err
		p.done <- p.sum
	}
}

// endPulls ends every download: the core that worked on them is no more.
func (h *host) endPulls() {
	for tag, p := range h.pulling {
		delete(h.pulling, tag)
		p.done <- node.Pulled{Done: true, Err: errRests}
	}
}

// Pull implements Owner.
func (h *host) Pull(ctx context.Context, list []Remote) (PullReport, error) {
	return h.pull(ctx, list, false)
}

// unasked is the host as an Owner that downloads what its owner did not ask for: gaps and pasts that are filled in by
// themselves.
type unasked struct{ *host }

// Pull implements Owner.
func (u unasked) Pull(ctx context.Context, list []Remote) (PullReport, error) {
	return u.pull(ctx, list, true)
}

func (h *host) pull(ctx context.Context, list []Remote, unasked bool) (PullReport, error) {
	ev := node.Pull{Tag: h.lastQuery.Add(1), Unasked: unasked}
	for i := range list {
		w, err := list[i].wish()
		if err != nil {
			return PullReport{}, err
		}
		ev.Wishes = append(ev.Wishes, w)
	}
	done := make(chan node.Pulled, 1)
	if !h.send(ctx, arrival{event: ev, pulled: done}) {
		return PullReport{}, context.Cause(ctx)
	}
	select {
	case r := <-done:
		return newPulled(r), r.Err
	case <-ctx.Done():
		h.send(context.WithoutCancel(ctx), arrival{event: node.EndPull{Tag: ev.Tag}})
		return PullReport{}, context.Cause(ctx)
	}
}

func newPulled(r node.Pulled) PullReport {
	out := PullReport{Stored: []string{}}
	for _, id := range r.Stored {
		out.Stored = append(out.Stored, id.String())
	}
	for _, id := range r.Missing {
		out.Missing = append(out.Missing, id.String())
	}
	for _, why := range r.Refused {
		out.Refused = append(out.Refused, RefusedFetch(why))
	}
	return out
}

// wish is the wish for the entry.
func (r *Remote) wish() (search.Wish, error) {
	id, err := feed.ParseEntryID(r.ID)
	if err != nil {
		return search.Wish{}, badRequest{fmt.Errorf("id: %w", err)}
	}
	digest, err := feed.ParseEntryID(r.Digest)
	if err != nil {
		return search.Wish{}, badRequest{fmt.Errorf("digest: %w", err)}
	}
	if len(r.Holders) > protocol.MaxHolders {
		return search.Wish{}, badRequest{fmt.Errorf("%d holders, want at most %d", len(r.Holders), protocol.MaxHolders)}
	}
	return search.Wish{Wanted: protocol.Wanted{ID: id, Digest: feed.Digest(digest)}, Feed: r.Feed,
		Holders: r.Holders}, nil
}

// A pullRequest asks for entries; of each Remote id, digest, feed and holders matter.
type pullRequest struct {
	Entries []Remote `json:"entries"`
}

// A pullAnswer is the answer to it.
type pullAnswer struct {
	PullReport
	refusal
}

// patiently serves what takes its time: it answers at once, so that the client knows that it works, and says at the
// end what came of it.
func patiently(w http.ResponseWriter, work func() any) {
	c := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/json")
	if err := errors.Join(c.SetWriteDeadline(time.Time{}), c.Flush()); err != nil {
		writeError(w, err)
		return
	}
	_ = json.NewEncoder(w).Encode(work()) // a client that went away is no concern of ours
}

// servePull downloads entries.
func servePull(o Owner) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request pullRequest
		if !readBody(w, r, &request, maxControlBytes) {
			return
		}
		patiently(w, func() any {
			var a pullAnswer
			var err error
			if a.PullReport, err = o.Pull(r.Context(), request.Entries); err != nil {
				a.Error = err.Error()
			}
			return a
		})
	}
}

// Pull implements Owner.
func (c *Client) Pull(ctx context.Context, list []Remote) (PullReport, error) {
	request := pullRequest{Entries: make([]Remote, len(list))}
	for i, r := range list {
		request.Entries[i] = Remote{ID: r.ID, Digest: r.Digest, Feed: r.Feed, Holders: r.Holders}
	}
	var a pullAnswer
	if err := c.do(ctx, "POST", "/pull", request, &a); err != nil {
		return PullReport{}, err
	}
	if a.Error != "" {
		return a.PullReport, errors.New(a.Error)
	}
	return a.PullReport, nil
}
