package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"feedex/lab"
	"feedex/lab/trace"
	"feedex/polling"
)

// A feedRun is one feed, polled by one policy from a first poll on: what was seen of what was published
// since then.
type feedRun struct {
	published int // entries after the first poll
	found     int // of these, read
	missed    int // gone from the document before they were read
	late      int // still in the document at the end, but not read

	seconds            float64 // since the first poll
	polls, notModified int
	bytes              int64
	wanted             float64 // mean of the intervals that the policy chose, in seconds

	delays     []float64 // of each entry found, and of each that is late by then, in seconds
	pollDelays []float64 // of each poll that found entries: the mean of their delays
	lateDelay  float64   // the mean over those that are late
	sum        [sha256.Size]byte
}

// runFeed polls a feed from first to end. The document is the newest entries at each time, as many as its
// window says; nothing takes time, and every poll is conditional.
func runFeed(f *trace.Feed, p polling.Policy, first, end time.Time) feedRun {
	var r feedRun
	sum := sha256.New()
	stop := end.Unix()
	shown := -1 // entries published when the document was read last, -1 before
	begin, out := 0, 0
	known := make([]int64, 0, len(f.Times))
	intervals := 0.0
	poll := polling.Poll{At: first}
	for at := first; at.Before(end); at = at.Add(poll.Interval) {
		now := at.Unix()
		for out < len(f.Times) && f.Times[out] <= now {
			out++
		}
		poll.At, poll.Listed, poll.New = at, 0, 0
		if out != shown {
			oldest := max(0, out-f.Window)
			poll.Listed = out - oldest
			from := max(oldest, shown)
			poll.New = out - from
			known = append(known, f.Times[from:out]...)
			poll.History = polling.History{Times: known[max(0, len(known)-polling.HistoryLength):],
				Window: min(poll.Listed, len(known))}
			if shown < 0 {
				begin = out
			} else {
				r.missed += from - shown
				r.read(f.Times[from:out], now)
			}
			shown = out
		} else {
			r.notModified++
		}
		r.polls++
		r.bytes += lab.AnswerBytes(poll.Listed)
		poll.Interval = p.Interval(poll)
		intervals += poll.Interval.Seconds()
		sum.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(at.UnixNano())),
			uint64(poll.New)))
	}
	r.seconds = end.Sub(first).Seconds()
	r.wanted = intervals / float64(max(1, r.polls))
	r.close(f, begin, shown, stop)
	sum.Sum(r.sum[:0])
	return r
}

// read counts the entries that a poll found.
func (r *feedRun) read(times []int64, now int64) {
	total := 0.0
	for _, t := range times {
		r.delays = append(r.delays, float64(now-t))
		total += float64(now - t)
	}
	r.found += len(times)
	r.pollDelays = append(r.pollDelays, total/float64(len(times)))
}

// close counts the entries that nobody has read when the run ends. One that could still be read has
// waited that long already: that is its delay, at least. Otherwise a policy that never polls again would
// be prompt.
func (r *feedRun) close(f *trace.Feed, begin, shown int, stop int64) {
	end := shown
	for end < len(f.Times) && f.Times[end] < stop {
		end++
	}
	r.published = end - begin
	gone := max(shown, min(end-f.Window, end))
	r.missed += gone - shown
	r.late = end - gone
	for _, t := range f.Times[gone:end] {
		r.delays = append(r.delays, float64(stop-t))
		r.lateDelay += float64(stop-t) / float64(r.late)
	}
}

// delay is the mean over the polls that found entries, those that are late counting as one poll more, and
// whether there was any.
func (r *feedRun) delay() (seconds float64, known bool) {
	delays := r.pollDelays
	if r.late > 0 {
		delays = append(delays[:len(delays):len(delays)], r.lateDelay)
	}
	return mean(delays), len(delays) > 0
}
