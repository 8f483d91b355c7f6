package node

import (
	"testing"
	"time"

	"feedex/archive"
	"feedex/polling"
)

// What a host is owed outlives the node, and a clock that was a year ahead does not silence its feeds.
func TestHostsOfAnotherClock(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget polling.Budget
		asked  bool
	}{
		{"its bucket fills in a year", polling.Budget{Gap: time.Minute, Spent: epoch.Add(365 * 24 * time.Hour)}, true},
		{"it may be asked in a year", polling.Budget{Gap: time.Minute, Until: epoch.Add(365 * 24 * time.Hour), Spent: epoch.Add(365 * 24 * time.Hour)}, true},
		{"it was told to wait for 30 days and some", polling.Budget{Gap: time.Hour, Until: epoch.Add(33*24*time.Hour - time.Hour), Spent: epoch.Add(33*24*time.Hour + 3*time.Hour)}, false},
	} {
		w := newNetwork(t)
		h, asked := shared(w, "news.example.com", 3, func(_ int, f Fetch) Fetched { return listing(f.Feed, 1) })
		w.run(time.Second)
		h.kill()
		h.store.KeepHost(archive.Host{Name: "news.example.com", Budget: test.budget})
		*asked = nil
		h.start()
		w.run(25 * time.Hour)
		if got := len(*asked) > 0; got != test.asked {
			t.Errorf("%s: %d requests within a day", test.name, len(*asked))
		}
	}
}
