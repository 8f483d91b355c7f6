package experiment

import (
	"fmt"
	"math"
)

// pollingTables are the tables of the Polling report.
func pollingTables(rows []PollingRow) []Table {
	modes := Table{
		Title:   "Average delay in minutes, polls per item, and error (Table 1)",
		Columns: []string{"policy", "by feeds: delay", "polls/item", "error", "by polls: delay", "polls/item", "error"},
		Notes: []string{
			"By feeds: the mean over feeds, those left out in which the policy found nothing. By polls: over all " +
				"polls, so that busy feeds count most.",
			"Delay until a poll finds entries, or until the end for those that none found. Error: delay times polls " +
				"per item.",
		},
	}
	stated := Table{Title: "The same as Urbansky states it", Columns: modes.Columns}
	for _, r := range rows {
		modes.row(append(append([]string{r.Policy}, averageCells(r.Feeds)...), averageCells(r.Polls)...)...)
		if r.stated != nil {
			stated.row(append(append([]string{r.Policy}, averageCells(r.stated[0])...),
				averageCells(r.stated[1])...)...)
		}
	}
	cost := Table{
		Title: "Entries, requests and bytes (Figure 2)",
		Columns: []string{"policy", "entries", "delay median", "mean", "95th", "missed", "unread", "requests",
			"a feed a day", "of these 304", "MB"},
		Notes: []string{
			"Delays of entries in minutes. Missed entries left the document before a poll; unread ones are still in " +
				"it at the end.",
		},
	}
	for _, r := range rows {
		known := float64(max(1, r.Published))
		cost.row(r.Policy, fmt.Sprint(r.Published), wholeMinutes(r.Entries.Median), wholeMinutes(r.Entries.Mean),
			wholeMinutes(r.Entries.P95),
			fmt.Sprintf("%.2f%%", 100*float64(r.Missed)/known), fmt.Sprintf("%.2f%%", 100*float64(r.Late)/known),
			fmt.Sprint(r.Requests), fmt.Sprintf("%.1f", r.perDay),
			percent(float64(r.NotModified)/float64(max(1, r.Requests))),
			fmt.Sprintf("%.0f", float64(r.Bytes)/1e6))
	}
	return []Table{modes, stated, cost}
}

// averageCells are the columns of one mode.
func averageCells(a Averages) []string {
	return []string{wholeMinutes(a.Delay), fmt.Sprintf("%.2f", a.Polls), fmt.Sprintf("%.0f", a.Error)}
}

// wholeMinutes writes a delay, given in seconds, in minutes: whole ones from ten on.
func wholeMinutes(seconds float64) string {
	if seconds < 600 {
		return minutes(seconds)
	}
	return fmt.Sprintf("%.0f", math.Round(seconds/60))
}
