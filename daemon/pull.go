package daemon

import (
	"context"

	"feedex/control"
	"feedex/node"
)

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
		p.done <- node.Pulled{Done: true, Err: control.ErrRests}
	}
}

// Pull implements control.Owner.
func (h *host) Pull(ctx context.Context, list []control.Remote) (control.PullReport, error) {
	return h.pull(ctx, list, false)
}

// unasked is the host as an Owner that downloads what its owner did not ask for: gaps and pasts that are filled in by
// themselves.
type unasked struct{ *host }

// Pull implements control.Owner.
func (u unasked) Pull(ctx context.Context, list []control.Remote) (control.PullReport, error) {
	return u.pull(ctx, list, true)
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
	done := make(chan node.Pulled, 1)
	if !h.send(ctx, arrival{event: ev, pulled: done}) {
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
