package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/grade"
	"feedex/safehtml"
)

// A timeline goes back for a day, or for a few intervals of the feed where these are longer, up to a week.
const (
	shortestTimeline  = 24 * time.Hour
	longestTimeline   = 7 * 24 * time.Hour
	timelineIntervals = 3
)

// maxHappened is how many events of each kind a timeline shows at most.
const maxHappened = 300

// timelineSpan is how far back the timeline of a feed goes that is polled so often: whole days.
func timelineSpan(interval time.Duration) time.Duration {
	const day = 24 * time.Hour
	days := (timelineIntervals*min(interval, longestTimeline) + day - 1) / day
	return min(max(days*day, shortestTimeline), longestTimeline)
}

// A timeline draws what became of a feed of late: what neighbors brought and when others polled above, own polls below,
// and a line from each entry to the poll by which the publisher confirmed it. So its length is how much earlier the
// entry came.
type timeline struct {
	scale
	Ticks   []tick
	Brought []mark // entries from neighbors
	Others  []mark // polls by other nodes, as neighbors told
	Own     []mark // entries that an own poll brought first
	Polls   []mark
	Links   []pollLink
	Summary string
	Events  []incident // the same in words, the latest first

	unchanged, failed, confirmed int // polls, polls and entries
}

// A scale is the stretch of time that a timeline shows.
type scale struct {
	begin, now time.Time
	span       time.Duration
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
	Clock string
	What  string
	Title string // of the entry, which What leads to, "" for none
	After string // what follows it
	Grade string // "near", "bad" or ""
	Entry string // path of the entry, "" for none
	polls int    // by other nodes, since then
}

// Name is what the scale shows: the "last 24 hours".
func (s scale) Name() string {
	if s.span <= shortestTimeline {
		return "last 24 hours"
	}
	return fmt.Sprintf("last %d days", s.span/(24*time.Hour))
}

// shows reports whether a time is on the scale.
func (s scale) shows(t time.Time) bool { return !t.Before(s.begin) && !t.After(s.now) }

// at is where a time is on the scale.
func (s scale) at(t time.Time) string {
	return inPercent(100 * max(0, float64(t.Sub(s.begin))/float64(s.span)))
}

// clock says when something was, so that it is known which day of the scale is meant.
func (s scale) clock(t time.Time) string {
	if s.span > shortestTimeline {
		return t.In(s.now.Location()).Format("Mon 15:04")
	}
	return t.In(s.now.Location()).Format("15:04")
}

// ticks are eight full hours or so.
func (s scale) ticks() (list []tick) {
	every := 3
	for _, longer := range []int{6, 12, 24} {
		if time.Duration(8*every)*time.Hour < s.span {
			every = longer
		}
	}
	begin := s.begin.In(s.now.Location()).Truncate(time.Hour)
	for hour := begin.Add(time.Hour); hour.Before(s.now); hour = hour.Add(time.Hour) {
		if hour.Hour()%every != 0 {
			continue
		}
		label := hour.Format("15:04")
		if hour.Hour() == 0 && s.span > shortestTimeline {
			label = hour.Format("Mon 2")
		}
		list = append(list, tick{s.at(hour), label, every < 24 && hour.Hour()%(2*every) != 0})
	}
	return list
}

// newTimeline draws what happened within a span until now.
func newTimeline(safe *safehtml.Sanitizer, happened Happened, span time.Duration, now time.Time) timeline {
	t := timeline{scale: scale{begin: now.Add(-span), now: now, span: span}}
	t.Ticks = t.ticks()
	for i := range happened.Requests {
		t.addRequest(&happened.Requests[i])
	}
	for _, at := range happened.Heard {
		t.addHeard(at)
	}
	for i := range happened.Entries {
		t.addEntry(&happened.Entries[i], safe)
	}
	sortEvents(t.Events)
	t.Events = joined(t.Events)
	t.Summary = t.sum()
	return t
}

// tell adds an incident.
func (t *timeline) tell(at time.Time, e incident) {
	e.At, e.Clock = moment{at, t.now}, t.clock(at)
	t.Events = append(t.Events, e)
}

// addRequest adds an own poll.
func (t *timeline) addRequest(r *grade.Request) {
	if !t.shows(r.At) {
		return
	}
	m := mark{X: t.at(r.At), Title: t.clock(r.At) + ", own poll: " + answerOf(r)}
	e := incident{What: "Own poll: " + answerOf(r)}
	switch {
	case r.Unmodified():
		m.Class = "same"
		t.unchanged++
	case r.Refused():
		m.Class, e.Grade = "failed", "bad"
		t.failed++
	}
	t.Polls = append(t.Polls, m)
	t.tell(r.At, e)
}

// addHeard adds a poll by another node.
func (t *timeline) addHeard(at time.Time) {
	if t.shows(at) {
		t.Others = append(t.Others, mark{X: t.at(at), Title: t.clock(at) + ", a poll by another node"})
		t.tell(at, incident{polls: 1})
	}
}

// addEntry adds an entry that came, and the poll that confirmed it.
func (t *timeline) addEntry(a *archive.Appearance, safe *safehtml.Sanitizer) {
	title := cmp.Or(safehtml.Title(a.Title), safe.Opening(a.Lead, safehtml.LongestOpening), "an entry without a title")
	path := "/entries/" + a.ID.String()
	if a.Source == "" {
		if t.shows(a.Seen) {
			t.Own = append(t.Own, mark{X: t.at(a.Seen), Title: t.clock(a.Seen) + ", by an own poll: " + title})
			t.tell(a.Seen, incident{What: "An own poll brought", Title: title, Entry: path})
		}
		return
	}
	if t.shows(a.Seen) {
		m := mark{X: t.at(a.Seen), Class: "open", Title: t.clock(a.Seen) + ", from a neighbor"}
		if !a.Polled.IsZero() {
			m.Class = ""
			m.Title += fmt.Sprintf(", %s before an own poll listed it", span(a.Polled.Sub(a.Seen)))
		}
		m.Title += ": " + title // at the end, as a <title> within a drawing holds no <bdi>
		t.Brought = append(t.Brought, m)
		t.tell(a.Seen, incident{What: a.Source + " brought", Title: title, Grade: "near", Entry: path})
	}
	if !a.Polled.IsZero() && t.shows(a.Polled) {
		t.confirmed++
		t.Links = append(t.Links, pollLink{t.at(a.Seen), t.at(a.Polled)})
		t.tell(a.Polled, incident{Entry: path, What: "The publisher listed", Title: title,
			After: fmt.Sprintf(", %s after a neighbor had brought it", span(a.Polled.Sub(a.Seen)))})
	}
}

// joined makes one of polls by other nodes between which nothing else happened.
func joined(events []incident) []incident {
	list := events[:0]
	for _, e := range events {
		if last := len(list) - 1; e.polls > 0 && last >= 0 && list[last].polls > 0 {
			list[last].polls += e.polls
			list[last].What = fmt.Sprintf("Other nodes polled it, %d times since %s", list[last].polls, e.Clock)
			continue
		} else if e.polls > 0 {
			e.What = "Another node polled it"
		}
		list = append(list, e)
	}
	return list
}

// sum says in a few sentences what is drawn.
func (t *timeline) sum() string {
	text := "In the " + t.Name() + " this node asked the publisher " + count(len(t.Polls), "time", "times")
	if t.unchanged > 0 {
		text += ", " + strconv.Itoa(t.unchanged) + " of them in vain"
	}
	if t.failed > 0 {
		text += ", and was refused or got no answer " + count(t.failed, "time", "times")
	}
	text += "."
	if n := len(t.Others); n > 0 {
		text += " It heard of " + count(n, "poll", "polls") + " by other nodes."
	}
	return text + fmt.Sprintf(" Neighbors brought %s, own polls %d. Own polls then listed %d that neighbors had "+
		"brought.", count(len(t.Brought), "entry", "entries"), len(t.Own), t.confirmed)
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
