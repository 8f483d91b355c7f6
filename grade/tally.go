package grade

import "time"

const (
	// longestFresh is the longest that a reader is held to: nobody who states months means a news feed.
	longestFresh = 24 * time.Hour
	// unconditionalEvery is how often a reader may ask for all of a document that it has.
	unconditionalEvery = 24 * time.Hour
	// settling is the time after an answer in which the same request cannot find anything.
	settling = time.Minute
	// polite is how long publishers that do not say it themselves want a reader to wait, hasty what nobody excuses.
	polite, hasty = time.Hour, 10 * time.Minute
)

// A hostTally is the sum of the requests to one host.
type hostTally struct {
	urls  map[string]*visited
	feeds map[string]*known
	// until is when the host, or one URL of it, may be asked again.
	until map[string]time.Time

	since                             time.Time // the first request
	requests, unchanged, failed       int
	conditional, unconditional, daily int // of requests for what the reader has; of the latter, those within a day
	outdated, madeUp                  int // validators that were once right, and that never were
	fresh, early                      int // requests for what had said how long it is fresh; of these, too early
	told, impatient                   int // answers with a Retry-After; requests before it was over
	firsts, repeated                  int // first requests; further ones within a minute of an answer to one
	again                             int // requests within a minute of an answer, other than those
	gone, afterGone                   int // answers that a feed is gone for good; requests after one
	gaps, uninvited, hasty            int // pairs of requests; of these, within an hour, and within minutes
}

// visited is the knowledge that a reader has of one URL.
type visited struct {
	last    time.Time // the last answer that told what the document is
	fresh   time.Time // until when that may be used
	invited bool      // it said so itself
	first   bool      // it was the answer to the first request
	gone    bool
	asked   time.Time // when it was asked for last, and there was an answer of any kind
}

// known is the knowledge that a reader has of one feed.
type known struct {
	latest Validators
	given  map[string]bool // all there ever were
	full   time.Time       // when it last asked for all of it
}

func newTally() *hostTally {
	return &hostTally{
		urls: make(map[string]*visited), feeds: make(map[string]*known), until: make(map[string]time.Time),
	}
}

// add takes in the next request.
func (t *hostTally) add(r *Request) {
	u, f := t.urls[r.URL], t.feeds[r.Name()]
	if u == nil {
		u = new(visited)
		t.urls[r.URL] = u
	}
	if f == nil {
		f = &known{given: make(map[string]bool)}
		t.feeds[r.Name()] = f
	}
	t.requests++
	t.timing(r, u)
	t.validators(r, f)
	t.answer(r, u, f)
}

// timing judges when the request was made.
func (t *hostTally) timing(r *Request, u *visited) {
	if r.First {
		t.firsts++
	}
	if r.At.Before(t.until[""]) || r.At.Before(t.until[r.URL]) {
		t.impatient++
	}
	if u.gone {
		t.afterGone++
	}
	if !u.last.IsZero() {
		switch soon := r.At.Sub(u.last) < settling; {
		case soon && u.first:
			t.repeated++
		case soon:
			t.again++
		}
		if u.invited {
			t.fresh++
			if r.At.Before(u.fresh) {
				t.early++
			}
		}
	}
	if !u.asked.IsZero() {
		t.gaps++
		gap := r.At.Sub(u.asked)
		if gap < polite && (!u.invited || r.At.Before(u.fresh)) {
			t.uninvited++
			if gap < hasty {
				t.hasty++
			}
		}
	}
	if r.Status != 0 {
		u.asked = r.At
	}
}

// validators judges what the request said of the version that the reader has.
func (t *hostTally) validators(r *Request, f *known) {
	if f.latest.none() {
		return // nothing is known to be known
	}
	if r.Sent.none() {
		t.unconditional++
		if !f.full.IsZero() && r.At.Sub(f.full) < unconditionalEvery {
			t.daily++
		}
		return
	}
	t.conditional++
	for _, v := range [...]struct{ sent, latest string }{
		{r.Sent.ETag, f.latest.ETag}, {r.Sent.LastModified, f.latest.LastModified},
	} {
		switch {
		case v.sent == "" || v.sent == v.latest:
		case f.given[v.sent]:
			t.outdated++
		default:
			t.madeUp++
		}
	}
}

// answer notes what the reader was told.
func (t *hostTally) answer(r *Request, u *visited, f *known) {
	if r.Sent.none() {
		f.full = r.At
	}
	if r.RetryAfter > 0 {
		t.told++
		t.until[r.scope()] = r.At.Add(r.RetryAfter)
	}
	u.gone = r.Status == 410
	switch {
	case r.Unmodified():
		t.unchanged++
		f.latest = f.latest.over(r.Sent).over(r.Got)
	case r.full():
		f.latest = r.Got
	case u.gone:
		t.gone++
	case r.Refused():
		t.failed++
	}
	if r.answered() {
		f.given[f.latest.ETag], f.given[f.latest.LastModified] = true, true
		u.last, u.first, u.invited = r.At, r.First, r.Fresh > 0
		u.fresh = r.At.Add(min(r.Fresh, longestFresh))
	}
}
