package query

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/search"
)

// An inquiry is one query while it is worked on, of a neighbor or of the owner: our own archive is looked
// through, neighbors are asked, and what they answer by the deadline is put together.
type inquiry struct {
	m        *Machine
	query    protocol.Query
	asker    *core.Link // nil for the owner
	deadline time.Time
	results  *search.Results
	title    *archive.Matcher   // of the title, which must fit
	words    []*archive.Matcher // one a word, for relevance
	cut      protocol.Cut
	left     int          // of the budget
	waiting  []candidate  // not asked yet, the best first
	asked    int          // neighbors
	open     int          // of them, those that have not answered
	answers  int          // of them, those that gave an answer
	useful   []*core.Link // of them, those that told of something new, and are paid once the asker pays
	over     bool

	since   time.Time // before it, others left something out for lack of room
	unknown bool      // one of them did not say so

	grown func(fresh []*search.Hit) // called when answers bring something new; nil for nobody
	done  func(hits []*search.Hit)  // called once, at the end
}

// newInquiry starts the clock of a query that is bounded.
func (m *Machine) newInquiry(q protocol.Query, asker *core.Link) *inquiry {
	f := q.Filter
	i := &inquiry{
		m: m, query: q, asker: asker, deadline: m.Now.Add(q.Wait), left: q.Budget,
		results: search.NewResults(f.Limit, f.Relevance),
		title:   titleMatcher(f.Title...),
	}
	if f.Relevance {
		for _, word := range slices.Concat(f.Title, f.Words) {
			i.words = append(i.words, titleMatcher(word))
		}
		if !f.Match.IsZero() {
			i.words = append(i.words, archive.NewMatcher(feed.Filter{Match: f.Match}))
		}
	}
	m.At(i.deadline, func() {
		if !i.over {
			i.cut |= protocol.CutTime
			i.end()
		}
	})
	return i
}

// begin takes in what our own archive has, and asks neighbors for what it may lack.
func (i *inquiry) begin(records []archive.Record) {
	for k := range records {
		if i.asker == nil || !i.m.feeds.Private(records[k].Entry.Feed) {
			i.add(protocol.NodeID{}, FoundHere(&records[k]))
		}
	}
	i.results.Trim(i.m.Now)
	if ids := len(i.query.Filter.IDs); ids == 0 || len(records) < ids {
		i.spread()
	}
	i.endIfAnswered()
}

// add takes in one entry of an answer. The zero id is our own archive.
func (i *inquiry) add(from protocol.NodeID, f protocol.Found) (h *search.Hit, fresh bool) {
	score := 0
	for _, m := range i.words {
		if m.Match(titled(&f)) {
			score++
		}
	}
	return i.results.Add(from, f, score)
}

// titleMatcher fits what has the words in its title.
func titleMatcher(words ...string) *archive.Matcher {
	return archive.NewMatcher(feed.Filter{Title: words})
}

// titled is a record of which nothing but the title is known.
func titled(f *protocol.Found) *archive.Record {
	r := &archive.Record{}
	r.Entry.Title = f.Title
	return r
}

// A candidate is a neighbor that may be asked.
type candidate struct {
	link *core.Link
	fit  int // see search.Order
}

// spread asks neighbors: in the order in which their subsets fit, as far as the budget goes.
func (i *inquiry) spread() {
	m := i.m
	var free []candidate
	var fits []int
	for _, p := range m.Table.All() {
		l := m.LinkTo(p.ID)
		switch fit := i.fit(l); {
		case l == i.asker:
		case i.asker != nil && l.Holder == i.asker.Holder && !l.ID().Hosted(): // homes may share an address
		case i.query.Hops <= 0:
			i.unasked(fit, protocol.CutHops)
		case (of(l).inquiries >= search.AtOnce || !of(l).queryLimit.Free(m.Now, i.kept())) && !m.Trusted(l.Holder):
			i.unasked(fit, protocol.CutRefused)
		default:
			free, fits = append(free, candidate{l, fit}), append(fits, fit)
		}
	}
	for _, k := range search.Order(fits, m.Rng) {
		i.waiting = append(i.waiting, free[k])
	}
	i.askNext()
}

// kept is how many of the queries that a neighbor answers are not for this inquiry: some are the owner's.
func (i *inquiry) kept() int {
	if i.asker == nil {
		return 0
	}
	return search.OwnPerMinute
}

// askNext asks as many more neighbors as what is left of the budget is for.
func (i *inquiry) askNext() {
	fits := make([]int, len(i.waiting))
	for k, c := range i.waiting {
		fits[k] = c.fit
	}
	shares := search.Split(i.left, i.query.Hops, fits)
	next := i.waiting[:len(shares)]
	i.waiting = i.waiting[len(shares):]
	for k, c := range next {
		i.ask(c, shares[k])
	}
}

// fit is at how many hops a neighbor advertises the feed that is looked for.
func (i *inquiry) fit(l *core.Link) int {
	if hops, ok := l.Peer.Hops(i.query.Filter.Feed); ok {
		return hops
	}
	return search.Unfit
}

// unasked notes why a neighbor was not asked. One that is not known to have anything of the feed is no loss, but for
// the owner, who would have had its answer a little later.
func (i *inquiry) unasked(fit int, why protocol.Cut) {
	later := why == protocol.CutRefused || why == protocol.CutTime
	if i.query.Filter.Feed == "" || fit != search.Unfit || later && i.asker == nil {
		i.cut |= why
	}
}

// ask passes the query on to a neighbor, with a share of the budget.
func (i *inquiry) ask(c candidate, share int) {
	m, l, left := i.m, c.link, i.deadline.Sub(i.m.Now)
	wait, ok := search.ChildWait(left, l.RTT)
	switch {
	case m.LinkTo(l.ID()) != l:
		return // it has gone meanwhile
	case !ok:
		i.unasked(c.fit, protocol.CutTime)
		return
	}
	i.left -= 1 + share
	q := i.query
	q.Hops, q.Budget, q.Wait = q.Hops-1, share, wait
	q.Filter.Shareable = false // it says nothing to others
	i.asked++
	i.open++
	of(l).inquiries++
	of(l).queryLimit.Take(m.Now)
	m.Call(core.Target{Node: l.ID()}, l.Token, protocol.QueryFeed{Query: q}, left, func(a core.Answered) {
		of(l).inquiries--
		i.answered(l, share, a)
	})
}

// answered takes in how a neighbor answered. Being late is no failure: it has others to ask.
func (i *inquiry) answered(l *core.Link, share int, a core.Answered) {
	late := a.Err != nil && core.CodeOf(a.Err) == 0 && !i.m.Now.Before(i.deadline)
	if !late {
		i.m.AnsweredBy(l, a, func(core.Answered) {})
	}
	if i.over {
		return
	}
	i.open--
	switch answer, ok := a.Reply.(protocol.Answer); {
	case late:
		i.cut |= protocol.CutTime
	case a.Err != nil || !ok:
		i.cut |= protocol.CutRefused
		if core.CodeOf(a.Err) != 0 || a.Unsent {
			i.left += share // it asked nobody
		}
	default:
		i.left += min(answer.Left, share)
		i.take(l, answer)
	}
	i.askNext()
	i.endIfAnswered()
}

// take puts an answer to what there is.
func (i *inquiry) take(l *core.Link, a protocol.Answer) {
	m := i.m
	if err := search.Check(i.query.Filter, a); err != nil {
		i.cut |= protocol.CutRefused
		m.membership.Punish(l.Holder, incentive.BadAnswer, 0)
		return
	}
	i.answers++
	i.cut |= a.Cut
	if a.Cut&protocol.CutLimit != 0 {
		i.since = when.Later(i.since, a.CompleteSince)
		i.unknown = i.unknown || a.CompleteSince.IsZero()
	}
	var fresh []*search.Hit
	useful := false
	for _, f := range a.Found {
		if f.Holders = m.holdersOf(l, &f); len(f.Holders) == 0 || m.feeds.Private(f.Feed) || f.Title != "" &&
			!i.title.Match(titled(&f)) {
			continue
		}
		h, isNew := i.add(l.ID(), f)
		if isNew {
			fresh = append(fresh, h)
			useful = useful || m.Shared.Known([]feed.EntryID{h.ID})[0].Digest != h.Digest
		}
	}
	i.results.Trim(m.Now)
	switch {
	case useful && i.asker == nil:
		m.exchange.Earn(l, RelayPrice, true)
	case useful:
		i.useful = append(i.useful, l)
	}
	fresh = slices.DeleteFunc(fresh, func(h *search.Hit) bool { return !i.results.Keeps(h) })
	if i.grown != nil && len(fresh) > 0 {
		i.grown(fresh)
	}
}

// share pays those that told of something new out of what the asker paid for the list. If each got as much, or got it
// although the asker paid nothing, neighbors that invent answers for each other would earn more than they pay.
func (i *inquiry) share(paid incentive.Credit) {
	for _, l := range i.useful {
		i.m.exchange.Earn(l, paid/incentive.Credit(len(i.useful)), false)
	}
}

// endIfAnswered ends the inquiry where nobody is left to answer.
func (i *inquiry) endIfAnswered() {
	if i.open == 0 {
		i.end()
	}
}

// end answers with what there is.
func (i *inquiry) end() {
	if i.over {
		return
	}
	i.over = true
	for _, c := range i.waiting {
		i.unasked(c.fit, protocol.CutBudget)
	}
	hits, more := i.results.Hits(i.m.Now)
	if more {
		i.cut |= protocol.CutLimit
	}
	i.done(hits)
}

// completeSince is since when nothing was left out for lack of room (protocol.Answer.CompleteSince), where left are the
// hits that did not fit into the answer.
func (i *inquiry) completeSince(left ...*search.Hit) (since time.Time) {
	f := i.query.Filter
	if i.unknown || !archive.NewMatcher(f).Dated() {
		return time.Time{}
	}
	since = when.Later(i.since, i.results.CompleteSince())
	for _, h := range left {
		since = when.Later(since, search.After(search.Time(&h.Found)))
	}
	return since
}
