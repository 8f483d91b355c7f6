package polling

import (
	"slices"
	"time"
)

// HistoryLength is how many publications of a feed are remembered.
const HistoryLength = 1000

// A History is when a feed published, as far as its documents have shown. The zero value is that of a
// feed whose document was not read yet.
type History struct {
	// Times are the Unix seconds at which entries were published, ascending: the newest
	// HistoryLength at most. Policies only read them.
	Times []int64
	// Window is how many entries the latest document listed, of those that Times can tell of.
	Window int
}

// Read takes in the next document: the times of its entries, in any order, and how many entries it
// listed. A time stands for as many entries as one document gave it, so that an entry that is listed
// again counts once.
func (h *History) Read(times []int64, listed int) {
	times = slices.Sorted(slices.Values(times))
	all := make([]int64, 0, len(h.Times)+len(times))
	known := h.Times
	for len(known) > 0 || len(times) > 0 {
		switch {
		case len(times) == 0 || len(known) > 0 && known[0] < times[0]:
			all, known = append(all, known[0]), known[1:]
		case len(known) == 0 || times[0] < known[0]:
			all, times = append(all, times[0]), times[1:]
		default:
			all, known, times = append(all, known[0]), known[1:], times[1:]
		}
	}
	h.Times = all[max(0, len(all)-HistoryLength):]
	h.Window = min(listed, len(h.Times))
}

// window are the times of as many entries as the latest document listed: i_0 to i_{w-1} in Urbansky.
func (h *History) window() []int64 {
	return h.Times[len(h.Times)-min(h.Window, len(h.Times)):]
}

// Busiest is how many of the times, which ascend, lie within one span of that length, at most.
func Busiest(times []int64, span time.Duration) (count int) {
	first := 0
	for i, t := range times {
		for t-times[first] >= int64(span/time.Second) {
			first++
		}
		count = max(count, i-first+1)
	}
	return count
}
