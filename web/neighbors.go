package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"feedex/node"
)

// neighborsPage lists the neighbors.
type neighborsPage struct {
	Neighbors []neighborLine
	Status    Status
	Own       ownInvitation
}

// A neighborLine is a neighbor as the list shows it. Amounts are in entries.
type neighborLine struct {
	node.NeighborStatus
	Kind         string
	Since, Heard moment
	Owes         string // of how much that it may
	Full         int    // by how many percent that is used up
	Stored       string // room on disk, of how much that may be
	Hops         []hop  // feeds of ours that it has, by how far away it has them
	Ping         string
}

// A hop is a number of feeds at a hop count.
type hop struct{ Count, Feeds int }

func (h *Handler) neighbors(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	list, err := h.Source.Neighbors(ctx)
	if err != nil {
		return view{}, err
	}
	p := &neighborsPage{}
	if p.Status, err = h.Source.Status(ctx); err != nil {
		return view{}, err
	}
	p.Own = p.Status.ownInvitation(r.FormValue("address"))
	for i := range list {
		n := &list[i]
		l := neighborLine{NeighborStatus: *n, Kind: "it asked us", Since: moment{n.Since, now},
			Heard: moment{n.Heard, now}, Owes: entries(n.Deficit), Stored: bytesOf(n.Unshown)}
		switch {
		case n.Static:
			l.Kind = "you named it"
		case n.ID.Hosted():
			l.Kind = "others cannot dial it: it keeps a connection open to this node"
		case n.Chosen:
			l.Kind = "this node chose it"
		}
		if n.Dialling {
			l.Kind += ", and calls it over a connection that this node keeps open"
		}
		if n.Bound < 0 {
			l.Owes += ", without a bound"
		} else {
			l.Owes += " of " + entries(n.Bound)
			l.Full = int(math.Round(100 * max(0, min(1, n.Deficit/max(n.Bound, 1e-9)))))
		}
		if n.Quota >= 0 {
			l.Stored += " of " + bytesOf(n.Quota)
		}
		for count, feeds := range n.Nearest {
			if feeds > 0 {
				l.Hops = append(l.Hops, hop{count, feeds})
			}
		}
		if n.RTT > 0 {
			l.Ping = fmt.Sprintf("%d ms", max(1, n.RTT.Round(time.Millisecond).Milliseconds()))
		}
		p.Neighbors = append(p.Neighbors, l)
	}
	return view{Page: "neighbors", Title: "Neighbors", Nav: "/neighbors", Body: p}, nil
}

// entries writes an amount of an account.
func entries(x float64) string { return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) }
