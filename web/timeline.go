package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedex/grade"
	"feedex/safehtml"
)

// timelineSpan is how far back a timeline goes.
const timelineSpan = 24 * time.Hour

// maxHappened is how many events of each kind a timeline shows at most.
const maxHappened = 300

// A timeline draws what became of a feed within a day: what neighbors brought above, own polls below, and a line from
// each entry to the poll by which the publisher confirmed it. So its length is how much earlier the entry came.
type timeline struct {
	Ticks   []tick
	Brought []mark // entries from neighbors
	Own     []mark // entries that an own poll brought first
	Polls   []mark
	Links   []pollLink
	Summary string
	Events  []incident // the same in words, the latest first
}

// A tick is a full hour.
type tick struct {
	X, Label string
	Minor    bool // its label is left out on a narrow screen
}

// A mark is one event in the drawing.
type mark struct {
	X     string
	Class string // "", "open" for an entry that no own poll has confirmed; "same" or "failed" for a poll
	Title string
}

// A pollLink leads from an entry to the poll that confirmed it.
type pollLink struct{ From, To string }

// An incident is one in the life of a feed, in words.
type incident struct {
	At    moment
	What  string
	Grade string // "near", "bad" or ""
	Entry string // path of the entry, "" for none
}

// newTimeline draws what happened until now.
func (h *Handler) newTimeline(happened Happened, now time.Time) timeline {
	var t timeline
	begin := now.Add(-timelineSpan)
	at := func(when time.Time) string {
		return inPercent(100 * float64(when.Sub(begin)) / float64(timelineSpan))
	}
	inside := func(when time.Time) bool { return !when.Before(begin) && !when.After(now) }
	for hour := begin.Local().Truncate(time.Hour).Add(time.Hour); hour.Before(now); hour = hour.Add(time.Hour) {
		if hour.Hour()%3 == 0 {
			t.Ticks = append(t.Ticks, tick{at(hour), hour.Format("15:04"), hour.Hour()%6 != 0})
		}
	}
	var unchanged, failed, confirmed int
	for i := range happened.Requests {
		r := &happened.Requests[i]
		if !inside(r.At) {
			continue
		}
		when := moment{r.At, now}
		m := mark{X: at(r.At), Title: when.Clock() + ", own poll: " + answerOf(r)}
		e := incident{At: when, What: "Own poll: " + answerOf(r)}
		switch {
		case r.Unmodified():
			m.Class = "same"
			unchanged++
		case r.Refused():
			m.Class, e.Grade = "failed", "bad"
			failed++
		}
		t.Polls, t.Events = append(t.Polls, m), append(t.Events, e)
	}
	for i := range happened.Entries {
		a := &happened.Entries[i]
		title, seen := cmp.Or(safehtml.Title(a.Title), "an entry without a title"), moment{a.Seen, now}
		path := "/entries/" + a.ID.String()
		if a.Source == "" {
			if inside(a.Seen) {
				t.Own = append(t.Own, mark{X: at(a.Seen), Title: seen.Clock() + ", by an own poll: " + title})
				t.Events = append(t.Events,
					incident{At: seen, What: "An own poll brought “" + title + "”", Entry: path})
			}
			continue
		}
		if inside(a.Seen) {
			m := mark{X: at(a.Seen), Class: "open", Title: seen.Clock() + ", from a neighbor: " + title}
			if !a.Polled.IsZero() {
				m.Class = ""
				m.Title += fmt.Sprintf(", %s before an own poll listed it", span(a.Polled.Sub(a.Seen)))
			}
			t.Brought = append(t.Brought, m)
			t.Events = append(t.Events, incident{At: seen, What: fmt.Sprintf("%s brought “%s”", a.Source, title),
				Grade: "near", Entry: path})
		}
		if !a.Polled.IsZero() && inside(a.Polled) {
			confirmed++
			from := at(a.Seen)
			if !inside(a.Seen) {
				from = "0%"
			}
			t.Links = append(t.Links, pollLink{from, at(a.Polled)})
			t.Events = append(t.Events, incident{At: moment{a.Polled, now}, Entry: path,
				What: fmt.Sprintf("The publisher listed “%s”, %s after a neighbor had brought it", title,
					span(a.Polled.Sub(a.Seen)))})
		}
	}
	sortEvents(t.Events)
	t.Summary = "In the last 24 hours this node asked the publisher " + count(len(t.Polls), "time", "times")
	if unchanged > 0 {
		t.Summary += ", " + strconv.Itoa(unchanged) + " of them in vain"
	}
	if failed > 0 {
		t.Summary += ", and was refused or got no answer " + count(failed, "time", "times")
	}
	t.Summary += fmt.Sprintf(". Neighbors brought %s, own polls %d. Own polls then listed %d that neighbors had "+
		"brought.",
		count(len(t.Brought), "entry", "entries"), len(t.Own), confirmed)
	return t
}

// answerOf says how a publisher answered a request.
func answerOf(r *grade.Request) string {
	switch {
	case r.Status == 0:
		return "no answer"
	case r.Unmodified():
		return "nothing has changed"
	case r.Status == http.StatusOK:
		return "a document of " + bytesOf(r.Bytes)
	case r.Status == http.StatusIMUsed:
		return "what is new, in " + bytesOf(r.Bytes)
	case r.Status >= 300 && r.Status < 400:
		return fmt.Sprintf("sent on to another address (%d)", r.Status)
	}
	text := fmt.Sprintf("refused with %d", r.Status)
	if name := http.StatusText(r.Status); name != "" {
		text += " " + strings.ToLower(name)
	}
	if r.RetryAfter > 0 {
		text += fmt.Sprintf(", to be asked again after %s", span(r.RetryAfter))
	}
	return text
}
