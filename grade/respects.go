package grade

import "fmt"

// conditionals: are requests for what the reader has conditional (RFC 9110 §13.1)?
func (t *tally) conditionals() Grade {
	n := t.conditional + t.unconditional
	g := Grade{Respect: "conditional requests", Mark: Good}
	switch {
	case n == 0:
		g.Mark, g.Reason = NotTested, "no document with a validator was asked for again"
	case t.unconditional == 0 && n == 1:
		g.Reason = "the request for a known document was conditional"
	case t.unconditional == 0:
		g.Reason = fmt.Sprintf("all %s for a known document were conditional", requests(n))
	default:
		g.Mark, g.Reason = byShare(t.unconditional, n),
			fmt.Sprintf("%d of %s for a known document were not conditional", t.unconditional, requests(n))
	}
	return g
}

// unmodified: do validators come back as the publisher gave them?
func (t *tally) unmodified() Grade {
	g := Grade{Respect: "validators", Mark: Good, Reason: "came back as they were given"}
	switch {
	case t.conditional == 0:
		g.Mark, g.Reason = NotTested, "none was sent back"
	case t.madeUp > 0:
		g.Mark, g.Reason = Poor, fmt.Sprintf("%d of %s carried one that the publisher never gave",
			t.madeUp, requests(t.conditional))
	case t.outdated > 0:
		g.Mark, g.Reason = byShare(t.outdated, t.conditional),
			fmt.Sprintf("%d of %s carried one of an older document", t.outdated, requests(t.conditional))
	}
	return g
}

// unconditionals: is a document that the reader has asked for as a whole once a day at most?
func (t *tally) unconditionals() Grade {
	g := Grade{Respect: "whole documents", Mark: Good,
		Reason: "none that the reader has was asked for as a whole twice within a day"}
	switch {
	case t.conditional+t.unconditional == 0:
		g.Mark, g.Reason = NotTested, "no document with a validator was asked for again"
	case t.daily > 0:
		g.Mark, g.Reason = Poor, fmt.Sprintf("%s for the whole of a known document came within a day of another",
			requests(t.daily))
	}
	return g
}

// freshness: is nothing asked for that is still fresh (RFC 9111 §4.2), for a day at most?
func (t *tally) freshness() Grade {
	g := Grade{Respect: "freshness", Mark: Good, Reason: "no document was asked for while it was fresh"}
	switch {
	case t.fresh == 0:
		g.Mark, g.Reason = NotTested, "no document that says how long it is fresh was asked for again"
	case t.early > 0:
		g.Mark, g.Reason = byShare(t.early, t.fresh), fmt.Sprintf("%d of %s came while the document was fresh",
			t.early, requests(t.fresh))
	}
	return g
}

// patience: is a Retry-After heeded?
func (t *tally) patience() Grade {
	g := Grade{Respect: "patience", Mark: Good, Reason: fmt.Sprintf("stayed away each time it was told to, %s",
		times(t.told))}
	switch {
	case t.told == 0:
		g.Mark, g.Reason = NotTested, "was never told to stay away"
	case t.impatient > 0:
		g.Mark, g.Reason = Poor, fmt.Sprintf("%s while it was told to stay away", requests(t.impatient))
	}
	return g
}

// subscribing: does a new feed cost one request?
func (t *tally) subscribing() Grade {
	g := Grade{Respect: "subscribing", Mark: Good, Reason: "took one request"}
	switch {
	case t.firsts == 0:
		g.Mark, g.Reason = NotTested, "no first request is in the log"
	case t.repeated > 0:
		g.Mark, g.Reason = Poor, fmt.Sprintf("%s within a minute of the first answer", requests(t.repeated))
	}
	return g
}

// repeats: is nothing asked for twice within a minute, as by a reader that is started again?
func (t *tally) repeats() Grade {
	g := Grade{Respect: "repeats", Mark: Good, Reason: "nothing was asked for again within a minute"}
	switch {
	case t.gaps == 0:
		g.Mark, g.Reason = NotTested, "nothing was asked for again"
	case t.again > 0:
		g.Mark, g.Reason = byShare(t.again, t.gaps), fmt.Sprintf("%s within a minute of an answer", requests(t.again))
	}
	return g
}

// goneForGood: does 410 end it?
func (t *tally) goneForGood() Grade {
	g := Grade{Respect: "gone", Mark: Good, Reason: "did not ask again for what is gone for good"}
	switch {
	case t.gone == 0:
		g.Mark, g.Reason = NotTested, "nothing was gone for good"
	case t.afterGone > 0:
		g.Mark, g.Reason = Poor, fmt.Sprintf("%s for what is gone for good", requests(t.afterGone))
	}
	return g
}

// pace: does an hour pass between requests, where the publisher does not itself allow less?
func (t *tally) pace() Grade {
	g := Grade{Respect: "pace", Mark: Good, Reason: "an hour at least between requests, or what the publisher allows"}
	switch {
	case t.gaps == 0:
		g.Mark, g.Reason = NotTested, "nothing was asked for again"
	case t.hasty > 0:
		g.Mark, g.Reason = Poor, fmt.Sprintf("%d of %s came within 10 minutes of the one before",
			t.hasty, requests(t.gaps))
	case t.uninvited > 0:
		g.Mark, g.Reason = Fair, fmt.Sprintf("%d of %s came within an hour of the one before",
			t.uninvited, requests(t.gaps))
	}
	return g
}

// byShare is the mark for n of all being wrong, which is above 0: up to one in a hundred is fair.
func byShare(n, all int) Mark {
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
