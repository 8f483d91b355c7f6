package courtesy

import (
	"testing"
	"time"
)

// Which answers speak for the whole host.
func TestRefusals(t *testing.T) {
	shown, failing := PastPolls{Shown: true}, func(n int) PastPolls { return PastPolls{Shown: true, Errors: n} }
	for _, test := range []struct {
		name       string
		status     int
		retryAfter time.Duration
		feed       PastPolls
		forbids    bool
		want       bool
	}{
		{"429", 429, 0, PastPolls{}, false, true},
		{"429 with a time", 429, time.Hour, shown, false, true},
		{"503", 503, 0, shown, false, false},
		{"503 with a time", 503, time.Hour, PastPolls{}, false, true},
		{"500 with a time is about the feed", 500, time.Hour, shown, false, false},
		{"404", 404, 0, shown, false, false},
		{"403 with a time", 403, time.Hour, PastPolls{}, false, true},
		{"403 of a feed that was never shown", 403, 0, PastPolls{}, false, false},
		{"403 of a feed that was", 403, 0, shown, false, true},
		{"403 again is about the feed", 403, 0, failing(1), false, false},
		{"403 again of a host that is known for it", 403, 0, failing(1), true, true},
		{"403 of such a host, taken at its word", 403, 0, failing(maxForbidden), true, false},
		{"200", 200, 0, shown, true, false},
	} {
		if got := refused(Outcome{Status: test.status, RetryAfter: test.retryAfter}, test.feed,
			test.forbids); got != test.want {
			t.Errorf("%s: refused %v, want %v", test.name, got, test.want)
		}
	}
}

// Nodes that were told to come back at the same moment do not.
func TestRestsEndApart(t *testing.T) {
	hosts := newHosts()
	ends := make(map[time.Time]bool)
	for _, name := range []string{"a.example.com", "b.example.com", "c.example.com"} {
		v := hosts.visitors(name, 1)[0]
		hosts.Polled(epoch, v, Outcome{From: name, Status: 429, RetryAfter: time.Hour}, PastPolls{})
		if rest := hosts.Until(v).Sub(epoch); rest < time.Hour || rest >= 66*time.Minute {
			t.Errorf("%s is left alone for %v, want an hour and a tenth at most", name, rest)
		}
		ends[hosts.Until(v)] = true
	}
	if len(ends) != 3 {
		t.Errorf("three rests end at %d moments", len(ends))
	}
}

// A host that answers a feed again after a 403 is known for saying that in place of 429; one that goes on is not.
func TestHostsAreKnownForTheir403(t *testing.T) {
	for _, then := range []int{200, 403} {
		hosts := newHosts()
		v := hosts.visitors("news.example.com", 1)[0]
		hosts.Polled(epoch, v, Outcome{From: "news.example.com", Status: 403, Failed: true}, PastPolls{Shown: true})
		hosts.Polled(epoch, v, Outcome{From: "news.example.com", Status: then, Failed: then != 200},
			PastPolls{Shown: true, Errors: 1})
		if got := v.at.Forbids; got != (then == 200) {
			t.Errorf("403, then %d: known for it %v", then, got)
		}
	}
}

// A host that is slower than one that is not known is kept, and so is a rest while it lasts; the rest is forgotten.
func TestWhatIsKeptOfHosts(t *testing.T) {
	hosts := newHosts()
	v := hosts.visitors("news.example.com", 1)[0]
	answer := func(now time.Time, status int) (keep []KnownHost, drop []string) {
		hosts.Polled(now, v, Outcome{From: "news.example.com.", Status: status}, PastPolls{Shown: true})
		return hosts.Changes()
	}
	if keep, drop := answer(epoch, 200); len(keep)+len(drop) != 0 {
		t.Errorf("of a host that answers is kept %v, dropped %v", keep, drop)
	}
	if keep, _ := answer(epoch, 429); len(keep) != 1 || keep[0].Name != "news.example.com" ||
		keep[0].Budget != v.at.Budget {
		t.Fatalf("of one that refused is kept %v", keep)
	}
	for i := 1; ; i++ {
		keep, drop := answer(epoch.Add(time.Hour), 200)
		if len(drop) == 1 {
			if i < 30 || len(keep) != 0 || drop[0] != "news.example.com" {
				t.Errorf("after %d answers are kept %v, dropped %v", i, keep, drop)
			}
			break
		}
		if len(keep) != 1 || i > 40 {
			t.Fatalf("after %d answers are kept %v", i, keep)
		}
	}
	hosts.Recall(epoch, []KnownHost{{Name: "unheard.example.com"}})
	if keep, drop := hosts.Changes(); len(keep) != 0 || len(drop) != 1 || drop[0] != "unheard.example.com" {
		t.Errorf("of a host that nobody asks is kept %v, dropped %v", keep, drop)
	}
}

// The rest that a host is owed outlives the run, and a clock that was a year ahead does not silence its feeds.
func TestHostsOfAnotherClock(t *testing.T) {
	year := epoch.Add(365 * 24 * time.Hour)
	month := epoch.Add(LongestAway - time.Hour)
	for _, test := range []struct {
		name   string
		budget Budget
		want   time.Time // when it may be asked, the zero time for at once
	}{
		{"its bucket fills in a year", Budget{Gap: time.Minute, Spent: year}, time.Time{}},
		{"it may be asked in a year", Budget{Gap: time.Minute, Until: year, Spent: year}, time.Time{}},
		{"it was told to wait for 30 days and some",
			Budget{Gap: time.Hour, Until: month, Spent: month.Add(4 * time.Hour)}, month},
		{"it is busy for a minute", Budget{Gap: time.Minute, Spent: epoch.Add(5 * time.Minute)},
			epoch.Add(time.Minute)},
	} {
		hosts := newHosts()
		v := hosts.visitors("news.example.com", 1)[0]
		hosts.Recall(epoch, []KnownHost{{"news.example.com", test.budget}})
		if got := v.Ready(); !got.Equal(test.want) && (got.After(epoch) || !test.want.IsZero()) {
			t.Errorf("%s: may be asked at %v, want %v", test.name, got, test.want)
		}
	}
}
