package search

import (
	"cmp"
	"slices"

	"feedex/feed"
	"feedex/protocol"
)

const (
	// maxHolders is how many holders are asked at a time.
	maxHolders = 4
	// smallestLoad is how many entries a holder is asked for at least.
	smallestLoad = 4
)

// A Wish is one version of an entry, and the nodes that are said to have it.
type Wish struct {
	protocol.Wanted
	Feed    feed.URL
	Holders []protocol.NodeID // in the order in which they are asked
}

// Wishes are for entries that others are said to have, and know which node is asked for which of them. The zero value
// is for none.
type Wishes struct {
	open  []*wish
	asked []protocol.NodeID       // that have not answered
	loads map[protocol.NodeID]int // how many entries at a time those are asked for that were busy
}

// wish is a Wish while it is open.
type wish struct {
	Wish                     // its Holders are those not asked yet
	spent  []protocol.NodeID // those that refused because they give no more away
	asking bool              // one of them was asked and has not answered
}

// A HolderRequest is the list of entries that one holder is asked for.
type HolderRequest struct {
	Holder protocol.NodeID
	Wanted []protocol.Wanted
	wishes []*wish
}

// Add wishes for one more. Its Holders belong to the Wishes from then on. What is wished for already, as others told of
// it in other words, may be had of its Holders as well.
func (w *Wishes) Add(one Wish) {
	i := slices.IndexFunc(w.open, func(open *wish) bool { return open.Wanted == one.Wanted })
	if i < 0 {
		w.open = append(w.open, &wish{Wish: one})
		return
	}
	open := w.open[i]
	for _, id := range one.Holders {
		if !slices.Contains(open.Holders, id) {
			open.Holders = append(open.Holders, id)
		}
	}
}

// Len is how many wishes are open.
func (w *Wishes) Len() int { return len(w.open) }

// Next is which holders are to be asked now for what; those that are not usable are none from now on. Each must end in
// Answered. Where nobody is asked, Waiting says whether somebody still was.
func (w *Wishes) Next(usable func(protocol.NodeID) bool) []HolderRequest {
	var requests []HolderRequest
	busy := make(map[feed.EntryID]bool) // one version of an entry is asked for at a time
	for _, one := range w.open {
		busy[one.ID] = busy[one.ID] || one.asking
	}
	for _, one := range w.open {
		if busy[one.ID] {
			continue
		}
		one.Holders = slices.DeleteFunc(one.Holders, func(id protocol.NodeID) bool { return !usable(id) })
		for _, id := range one.Holders {
			i := slices.IndexFunc(requests, func(r HolderRequest) bool { return r.Holder == id })
			switch {
			case i < 0 && (slices.Contains(w.asked, id) || len(requests)+len(w.asked) >= maxHolders):
				continue
			case i < 0:
				i = len(requests)
				requests = append(requests, HolderRequest{Holder: id})
			case len(requests[i].wishes) >= cmp.Or(w.loads[id], protocol.MaxBatch):
				continue
			}
			r := &requests[i]
			r.wishes, r.Wanted = append(r.wishes, one), append(r.Wanted, one.Wanted)
			one.asking, busy[one.ID] = true, true
			break
		}
	}
	for _, r := range requests {
		w.asked = append(w.asked, r.Holder)
	}
	return requests
}

// Waiting reports whether somebody was asked and has not answered.
func (w *Wishes) Waiting() bool { return len(w.asked) > 0 }

// Answered notes that a holder answered, and left so many at the end of the request for another answer: it is asked no
// more for the others. Where it refused because it gives no more away, spent, that holds until Again.
func (w *Wishes) Answered(r HolderRequest, left int, spent bool) {
	w.ended(r)
	answered := r.wishes
	if left < len(answered) { // or it would be asked the same again and again
		answered = answered[:len(answered)-left]
	}
	for _, one := range answered {
		one.Holders = slices.DeleteFunc(one.Holders, func(id protocol.NodeID) bool { return id == r.Holder })
		if spent {
			one.spent = append(one.spent, r.Holder)
		}
	}
}

// ended notes that somebody is asked no more.
func (w *Wishes) ended(r HolderRequest) {
	w.asked = slices.DeleteFunc(w.asked, func(id protocol.NodeID) bool { return id == r.Holder })
	for _, one := range r.wishes {
		one.asking = false
	}
}

// Busy notes that a holder had no time for the request, in place of Answered, and reports whether it is to be asked for
// fewer at a time. A slow machine may need longer for all that one request may name than it gives to it. A holder
// without time for a few is asked no more.
func (w *Wishes) Busy(r HolderRequest) (fewer bool) {
	w.ended(r)
	if len(r.wishes) <= smallestLoad {
		for _, one := range w.open {
			one.Holders = slices.DeleteFunc(one.Holders, func(id protocol.NodeID) bool { return id == r.Holder })
		}
		return false
	}
	if w.loads == nil {
		w.loads = make(map[protocol.NodeID]int)
	}
	w.loads[r.Holder] = max(len(r.wishes)/4, smallestLoad)
	return true
}

// Drop lets go of wishes, but for those that somebody is asked for.
func (w *Wishes) Drop(which func(protocol.Wanted) bool) {
	w.open = slices.DeleteFunc(w.open, func(one *wish) bool { return !one.asking && which(one.Wanted) })
}

// KeepSpent lets go of all wishes but those that somebody refused because it gives no more away.
func (w *Wishes) KeepSpent() {
	w.open = slices.DeleteFunc(w.open, func(one *wish) bool { return len(one.spent) == 0 })
}

// Count adds to counts, for each node that has one, how many wishes it could fulfill.
func (w *Wishes) Count(counts map[protocol.NodeID]int) {
	for _, one := range w.open {
		for _, id := range slices.Concat(one.Holders, one.spent) {
			if count, is := counts[id]; is {
				counts[id] = count + 1
			}
		}
	}
}

// Again has a holder that gave no more away be the first to be asked, and reports whether there is anything to ask it
// for.
func (w *Wishes) Again(id protocol.NodeID) (again bool) {
	for _, one := range w.open {
		if i := slices.Index(one.spent, id); i >= 0 {
			one.spent = slices.Delete(one.spent, i, i+1)
			one.Holders = slices.Insert(one.Holders, 0, id)
			again = true
		}
	}
	return again
}

// IDs are the entries that are wished for, each once.
func (w *Wishes) IDs() (ids []feed.EntryID) {
	for _, one := range w.open {
		if !slices.Contains(ids, one.ID) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}
