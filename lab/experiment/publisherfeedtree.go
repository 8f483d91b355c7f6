package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"feedex/lab/report"
	"feedex/lab/trace"
)

// How FeedTree's proxy polls a feed that its publisher does not push (§4.2.3): every feedTreePeriod, where it hears
// fewer events of the feed than one in feedTreeWanted. An event is a poll, whether it found anything or not.
const (
	feedTreePeriod = 30 * time.Minute
	feedTreeWanted = 10 * time.Minute
)

// feedTreeDraws is how often subscribers are drawn, as three phases of polls may happen to be near each other.
const feedTreeDraws = 25

// A feedTreeNode is a subscriber of a feed.
type feedTreeNode struct {
	first time.Duration // since the start, when it looks first whether to poll
	shown int           // entries out when it polled last, -1 before
}

// feedTree is what the publishers of the feeds see of so many subscribers who poll by the rule of FeedTree, the mean of
// several draws. They come one by one in the first quarter, look every period from a random time on, and hear of each
// poll at once: no message is lost, and none takes time. No world is run.
func (p Publishers) feedTree(feeds []trace.Timeline, nodes int) (row PublisherRow) {
	row = PublisherRow{Policy: "FeedTree", Nodes: nodes}
	start, half := p.network(feeds, 0, p.Length).Start, p.Length/2
	silent := len(feeds) - 1
	unchanged, all := 0, 0
	var delays []float64
	for i := range feeds {
		for draw := range feedTreeDraws {
			rng := p.Seed.Stream(fmt.Sprintf("%d subscribers of %s, draw %d", nodes, feeds[i].Name, draw))
			list := make([]feedTreeNode, nodes)
			for j := range list {
				list[j] = feedTreeNode{within(rng, p.Length/4) + within(rng, feedTreePeriod), -1}
			}
			minutes := make(map[time.Duration]int)
			late := pollByFeedTree(&feeds[i], list, start, p.Length, func(now time.Duration, same bool) {
				switch {
				case now < half:
				case i == silent:
					row.Silent++
				default:
					all++
					if same {
						unchanged++
					}
					minutes[now/time.Minute]++
					row.Most = max(row.Most, minutes[now/time.Minute])
				}
			})
			for _, l := range late {
				if l.published >= half {
					delays = append(delays, l.late.Seconds())
				}
			}
		}
	}
	days := feedTreeDraws * (p.Length - half).Hours() / 24
	row.Requests, row.Silent = float64(all)/days/float64(silent), row.Silent/days
	row.Unchanged, row.Delay = float64(unchanged)/float64(max(1, all)), report.Mean(delays)
	return row
}

// A lateEntry came so late to all subscribers, times since the start.
type lateEntry struct{ published, late time.Duration }

// pollByFeedTree has the subscribers poll one feed, and tells of each poll when it is, and whether it shows what the
// same node saw before. It returns the entries that were polled, of those published since the start.
func pollByFeedTree(f *trace.Timeline, nodes []feedTreeNode, start time.Time, length time.Duration,
	polled func(now time.Duration, same bool)) (late []lateEntry) {
	slices.SortFunc(nodes, func(a, b feedTreeNode) int {
		return cmp.Compare(a.first%feedTreePeriod, b.first%feedTreePeriod)
	})
	var polls []time.Duration
	found := f.Count(time.Unix(0, 0), start)
	for round := time.Duration(0); round < length; round += feedTreePeriod {
		for i := range nodes {
			n := &nodes[i]
			now := round + n.first%feedTreePeriod
			heard := len(polls) - indexAfter(polls, now-feedTreePeriod)
			if now < n.first || now >= length || heard >= int(feedTreePeriod/feedTreeWanted) {
				continue
			}
			polls = append(polls, now)
			out := f.Count(time.Unix(0, 0), start.Add(now+time.Second))
			polled(now, n.shown == out)
			for n.shown = out; found < out; found++ {
				if found+f.Window >= out { // it is still in the document
					published := time.Unix(f.Times[found], 0).Sub(start)
					late = append(late, lateEntry{published, max(0, now-published)})
				}
			}
		}
	}
	return late
}

// indexAfter is where the first of the times, which ascend, is that comes after t.
func indexAfter(times []time.Duration, t time.Duration) int {
	i, _ := slices.BinarySearch(times, t+1)
	return i
}
