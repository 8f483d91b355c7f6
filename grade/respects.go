package grade

import "fmt"

// A respect is one thing by which a reader is judged.
type respect struct {
	name      string
	occasions int     // for doing it right or wrong
	untested  string  // the reason where there was none
	good      string  // the reason where nothing was wrong
	faults    []fault // of which the first that occurred decides
}

// A fault is how often something was wrong, and what that means.
type fault struct {
	times  int
	mark   Rating
	reason string
}

// grade is the mark in this respect.
func (r *respect) grade() Grade {
	if r.occasions == 0 {
		return Grade{r.name, NotTested, r.untested}
	}
	for _, f := range r.faults {
		if f.times > 0 {
			return Grade{r.name, f.mark, f.reason}
		}
	}
	return Grade{r.name, Good, r.good}
}

// respects are all that readers are judged by.
func (t *hostTally) respects() []respect {
	known := t.conditional + t.unconditional // requests for a document that the reader has
	conditional := fmt.Sprintf("all %s for a known document were conditional", requests(known))
	if known == 1 {
		conditional = "the request for a known document was conditional"
	}
	const noneKnown = "no document with a validator was asked for again"
	const noneAgain = "nothing was asked for again"
	return []respect{
		// Are requests for what the reader has conditional (RFC 9110 §13.1)?
		{"conditional requests", known, noneKnown, conditional, []fault{
			share(t.unconditional, known, "for a known document were not conditional")}},
		// Do validators come back as the publisher gave them?
		{"validators", t.conditional, "none was sent back", "came back as they were given", []fault{
			{t.madeUp, Poor, part(t.madeUp, t.conditional, "carried one that the publisher never gave")},
			share(t.outdated, t.conditional, "carried one of an older document")}},
		// Is a document that the reader has asked for as a whole once a day at most?
		{"whole documents", known, noneKnown, "none that the reader has was asked for as a whole twice within a day",
			[]fault{{t.daily, Poor, requests(t.daily) +
				" for the whole of a known document came within a day of another"}}},
		// Is nothing asked for that is still fresh (RFC 9111 §4.2), for a day at most?
		{"freshness", t.fresh, "no document that says how long it is fresh was asked for again",
			"no document was asked for while it was fresh", []fault{
				share(t.early, t.fresh, "came while the document was fresh")}},
		// Is a Retry-After heeded?
		{"patience", t.told, "was never told to stay away", "stayed away each time it was told to, " + times(t.told),
			[]fault{{t.impatient, Poor, requests(t.impatient) + " while it was told to stay away"}}},
		// Does a new feed cost one request?
		{"subscribing", t.firsts, "no first request is in the log", "took one request",
			[]fault{{t.repeated, Poor, requests(t.repeated) + " within a minute of the first answer"}}},
		// Is nothing asked for twice within a minute, as by a reader that is started again?
		{"repeats", t.gaps, noneAgain, "nothing was asked for again within a minute",
			[]fault{{t.again, byShare(t.again, t.gaps), requests(t.again) + " within a minute of an answer"}}},
		// Does 410 end it?
		{"gone", t.gone, "nothing was gone for good", "did not ask again for what is gone for good",
			[]fault{{t.afterGone, Poor, requests(t.afterGone) + " for what is gone for good"}}},
		// Does an hour pass between requests, where the publisher does not itself allow less?
		{"pace", t.gaps, noneAgain, "an hour at least between requests, or what the publisher allows", []fault{
			{t.hasty, Poor, part(t.hasty, t.gaps, "came within 10 minutes of the one before")},
			{t.uninvited, Fair, part(t.uninvited, t.gaps, "came within an hour of the one before")}}},
	}
}

// part says that n of all requests did something.
func part(n, all int, did string) string { return fmt.Sprintf("%d of %s %s", n, requests(all), did) }

// share is a fault that one in a hundred requests is forgiven for.
func share(n, all int, did string) fault { return fault{n, byShare(n, all), part(n, all, did)} }

// byShare is the mark for n of all being wrong, which is above 0: up to one in a hundred is fair.
func byShare(n, all int) Rating {
	if n*100 <= all {
		return Fair
	}
	return Poor
}

// requests is a number of requests in words.
func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// times is how often, in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
