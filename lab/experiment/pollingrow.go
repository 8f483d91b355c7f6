package experiment

// Averages are what Urbansky's Table 1 says of a policy, in one of its two modes (§4.4).
type Averages struct {
	Delay float64 `json:"delay_seconds"`  // from an entry's publication until it is read
	Polls float64 `json:"polls_per_item"` // to discover one entry
	Error float64 `json:"error"`          // Equation 4: delay in minutes * polls per item
}

// averages is with the error that follows from both.
func averages(delay, polls float64) Averages {
	return Averages{Delay: delay, Polls: polls, Error: delay / 60 * polls}
}

// A PollingRow is what came of one policy.
//
// The unit of both modes is the poll that found something, at the mean delay of what it found; what is
// unread at the end counts as found then, without a poll. "In the Feeds averaging mode we averaged the
// measures for all polls that each strategy made for each feed and averaged them per strategy. In the Poll
// averaging mode, we averaged over all polls of all feeds so feeds with many polls dominate the final
// result."
type PollingRow struct {
	Policy string `json:"policy"`
	// Feeds is the mean over feeds, for polls per item those of which an entry was found.
	Feeds Averages `json:"feeds"`
	// Polls is over all feeds, those without entries included.
	Polls Averages `json:"polls"`
	// Entries are the delays of entries, in seconds, each counting once.
	Entries Spread `json:"entries"`

	Published   int   `json:"published"` // after the first poll
	Found       int   `json:"found"`
	Missed      int   `json:"missed"` // gone before they were read
	Late        int   `json:"late"`   // unread at the end, but still there
	Requests    int   `json:"requests"`
	NotModified int   `json:"not_modified"` // of these
	Bytes       int64 `json:"bytes"`        // of all answers

	perDay    float64 // requests at a feed
	stated    *[2]Averages
	real      []float64 // by feed with an entry: the mean seconds between its entries
	predicted []float64 // likewise: the mean interval
	timely    []float64 // Figure 3, in seconds; as far as there are polls that found something
}

// Figure 3 is over so many polls, of feeds with at least as many updates.
const timelyPolls = 300

// pollingRows sums up the runs, by feed and policy, for each policy.
func pollingRows(runs [][]feedRun) []PollingRow {
	var rows []PollingRow
	for i, c := range contenders() {
		row := PollingRow{Policy: c.name, stated: c.stated}
		var feedDelays, feedPolls, pollDelays, entryDelays []float64
		var timely [timelyPolls][]float64
		days := 0.0 // of all feeds
		for f := range runs {
			r := &runs[f][i]
			row.Published += r.published
			row.Found += r.found
			row.Missed += r.missed
			row.Late += r.late
			row.Requests += r.polls
			row.NotModified += r.notModified
			row.Bytes += r.bytes
			days += r.seconds / (24 * 60 * 60)
			if d, known := r.delay(); known {
				feedDelays = append(feedDelays, d)
			}
			if r.found > 0 {
				feedPolls = append(feedPolls, float64(r.polls)/float64(r.found))
			}
			pollDelays = append(pollDelays, r.pollDelays...)
			if r.late > 0 {
				pollDelays = append(pollDelays, r.lateDelay)
			}
			entryDelays = append(entryDelays, r.delays...)
			if r.published > 0 {
				row.real = append(row.real, r.seconds/float64(r.published))
				row.predicted = append(row.predicted, r.wanted)
			}
			if r.published >= timelyPolls {
				for k, d := range r.pollDelays[:min(timelyPolls, len(r.pollDelays))] {
					timely[k] = append(timely[k], d)
				}
			}
		}
		row.Feeds = averages(mean(feedDelays), mean(feedPolls))
		row.Polls = averages(mean(pollDelays), float64(row.Requests)/float64(max(1, row.Found)))
		row.Entries = spread(entryDelays)
		row.perDay = float64(row.Requests) / max(1, days)
		for _, d := range timely {
			if len(d) == 0 {
				break
			}
			row.timely = append(row.timely, mean(d))
		}
		rows = append(rows, row)
	}
	return rows
}
