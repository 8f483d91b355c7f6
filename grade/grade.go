package grade

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Rating is how well a reader does in one respect, the better the less.
type Rating int

// The marks. NotTested is for what there was no occasion for.
const (
	NotTested Rating = iota
	Good
	Fair
	Poor
)

// marks are the words for them.
var marks = []string{"not tested", "good", "fair", "poor"}

// String is the mark as a word.
func (m Rating) String() string {
	if m < 0 || int(m) >= len(marks) {
		return fmt.Sprintf("Rating(%d)", int(m))
	}
	return marks[m]
}

// MarshalText writes the mark as its word.
func (m Rating) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Rating) UnmarshalText(text []byte) error {
	i := slices.Index(marks, string(text))
	if i < 0 {
		return fmt.Errorf("read mark: %q is none", text)
	}
	*m = Rating(i)
	return nil
}

// A Grade is the mark in one respect, with the reason in words.
type Grade struct {
	Respect string `json:"respect"`
	Mark    Rating `json:"mark"`
	Reason  string `json:"reason"`
}

// An Assessment is that of the reader by a publisher who serves one host.
type Assessment struct {
	Host      string    `json:"host"`
	Since     time.Time `json:"since"`     // the first request in the log
	Addresses int       `json:"addresses"` // of feeds, pages and icons
	Requests  int       `json:"requests"`
	Unchanged int       `json:"unchanged"` // answered "not modified"
	Failed    int       `json:"failed"`    // refused, or not answered
	Grades    []Grade   `json:"grades"`    // all respects, in the same order for every host
}

// Mark is the worst of the grades.
func (h *Assessment) Mark() (worst Rating) {
	for _, g := range h.Grades {
		worst = max(worst, g.Mark)
	}
	return worst
}

// Hosts grades a log, host by host, ordered by name. The log need not be complete at its beginning, nor in order.
func Hosts(log []Request) []Assessment {
	log = slices.Clone(log)
	slices.SortStableFunc(log, func(a, b Request) int { return a.At.Compare(b.At) })
	tallies := make(map[string]*hostTally)
	for i := range log {
		name := log[i].host()
		if tallies[name] == nil {
			tallies[name] = newTally()
			tallies[name].since = log[i].At
		}
		tallies[name].add(&log[i])
	}
	hosts := make([]Assessment, 0, len(tallies))
	for name, t := range tallies {
		hosts = append(hosts, Assessment{
			Host: name, Since: t.since, Addresses: len(t.feeds), Requests: t.requests, Unchanged: t.unchanged,
			Failed: t.failed, Grades: t.grades(),
		})
	}
	slices.SortFunc(hosts, func(a, b Assessment) int { return cmp.Compare(a.Host, b.Host) })
	return hosts
}

// grades are the marks in all respects.
func (t *hostTally) grades() []Grade {
	respects := t.respects()
	list := make([]Grade, len(respects))
	for i := range respects {
		list[i] = respects[i].grade()
	}
	return list
}
