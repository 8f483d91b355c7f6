package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
)

const (
	// pastEvery is the time between two steps into the past: a document of a publisher's archive, or one query. It
	// is all that a node does for the past of all its feeds together.
	pastEvery = 30 * time.Second
	// pastAgain is how long a feed is left alone whose publisher, or neighbors, could not be asked, or did not tell of
	// all. The time that neighbors are left alone grows by pastGrowth with each time in a row that nothing came: an
	// hour, six, a day and a half, nine days.
	pastAgain, pastGrowth = time.Hour, 6
	// pastTries is how often in a row a publisher's archive cannot be read before neighbors are asked for the rest, and
	// pastReturns how often in a row neighbors are come back to before what is lacking is given up.
	pastTries, pastReturns = 3, 4
)

// A pastFiller fills in what feeds published before they were followed, one small step at a time, the feeds in turn.
// How far each is stands in its node.PastStatus and outlives the process; what is stored twice, because the process
// ended in between, is stored once.
type pastFiller struct {
	owner control.Owner
	keep  func(context.Context, node.Backfilled) error
	log   func(feed.URL, archive.Past, string)
	hops  int           // as in Backfill; 0 where nobody but publishers is asked
	pause time.Duration // as in Backfill

	last feed.URL                       // whose turn it was
	seen map[feed.URL]map[feed.URL]bool // documents of publishers' archives that led on, by feed
}

func newPastFiller(o control.Owner, keep func(context.Context, node.Backfilled) error,
	log func(feed.URL, archive.Past, string),
	hops int) *pastFiller {
	return &pastFiller{owner: o, keep: keep, log: log, hops: hops, pause: backfillPause,
		seen: make(map[feed.URL]map[feed.URL]bool)}
}

// run makes steps until ctx ends, with a pause between two.
func (p *pastFiller) run(ctx context.Context, pause time.Duration) {
	for rest(ctx, pause) == nil {
		_ = p.step(ctx, time.Now()) // what fails is tried again
	}
}

// step does something for the feed whose turn it is, if there is one.
func (p *pastFiller) step(ctx context.Context, now time.Time) error {
	feeds, err := p.owner.Feeds(ctx)
	if err != nil {
		return err
	}
	turn := slices.IndexFunc(feeds, func(f node.FeedStatus) bool { return f.URL > p.last })
	for i := range feeds {
		f := &feeds[(max(turn, 0)+i)%len(feeds)]
		if p.helpable(f) && due(now, f.Past.Again) {
			p.last = f.URL
			return p.help(ctx, now, f.URL, archive.Past(*f.Past))
		}
	}
	return nil
}

// due reports whether it is time; a time that is further away than any wait is of a clock that was wrong.
func due(now, at time.Time) bool {
	wait := at.Sub(now)
	return wait <= 0 || wait > pastAgain*pastGrowth*pastGrowth*pastGrowth
}

// helpable reports whether the next step for the feed can be made. Neighbors are asked about feeds only that one of
// them has, as their adverts say: they know from ours that we follow it, so that asking tells them nothing.
func (p *pastFiller) helpable(f *node.FeedStatus) bool {
	switch {
	case f.Past == nil || f.Private:
		return false
	case f.Past.Stage == archive.PastNetwork:
		return p.hops > 0 && !f.Discreet && f.Offered > 0
	}
	return f.Past.Stage == archive.PastPublisher
}

// help makes the next step for a feed.
func (p *pastFiller) help(ctx context.Context, now time.Time, u feed.URL, past archive.Past) error {
	step := p.ask
	if past.Stage == archive.PastPublisher {
		step = p.read
	}
	problem, err := step(ctx, now, u, &past)
	if err != nil {
		return err
	}
	p.log(u, past, problem)
	return p.keep(ctx, node.Backfilled{Feed: u, Past: past})
}

// read reads the next document of the publisher's archive, or says why that cannot be done.
func (p *pastFiller) read(ctx context.Context, now time.Time, u feed.URL,
	past *archive.Past) (problem string, err error) {
	page, err := p.owner.FetchArchive(ctx, u, past.Page)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, control.ErrRests):
		return "", err
	case err != nil:
		past.Tries++
		past.Again = now.Add(pastAgain)
		if past.Tries >= pastTries {
			endPublisher(past)
			delete(p.seen, u)
		}
		return err.Error(), nil
	}
	seen := p.seen[u]
	if seen == nil {
		seen = map[feed.URL]bool{"": true, u: true, past.Page: true}
		p.seen[u] = seen
	}
	problem = turnPage(past, page, seen)
	if past.Stage != archive.PastPublisher {
		delete(p.seen, u)
	}
	return problem, nil
}

// turnPage notes that the document of the publisher's archive was read that was next, and what is wrong with where it
// leads.
func turnPage(past *archive.Past, page control.ArchiveDocument, seen map[feed.URL]bool) (problem string) {
	past.Steps++
	past.Filled += page.Stored
	past.Tries, past.Again = 0, time.Time{}
	if !page.Oldest.IsZero() {
		past.Back = page.Oldest
	}
	if past.Page, problem = (Backfill{Since: past.Since}).prevArchive(page, past.Steps, seen); past.Page == "" {
		endPublisher(past)
	}
	return problem
}

// endPublisher ends the reading of the publisher's archive: neighbors are next.
func endPublisher(past *archive.Past) {
	*past = archive.Past{Stage: archive.PastNetwork, Since: past.Since, Filled: past.Filled}
}

// pageRead notes that a document of a feed was read, for the owner or not: where it is the next one that would be read
// to fill in the feed's past, that is done. Before the first poll it may be the feed's own, which leads to that past.
func (h *host) pageRead(ctx context.Context, u, at feed.URL, page control.ArchiveDocument) error {
	past, err := look(ctx, h, func(n *node.Node) (past *node.PastStatus, err error) {
		if n != nil {
			past = n.Past(u)
		}
		return past, nil
	})
	if err != nil || past == nil {
		return err
	}
	next := archive.Past(*past)
	switch {
	case next.Stage == archive.PastPoll && at == "" && page.PrevArchive != "":
		next.Stage, next.Page = archive.PastPublisher, page.PrevArchive
	case next.Stage == archive.PastPublisher && at != "" && next.Page == at:
		_ = turnPage(&next, page, map[feed.URL]bool{"": true, u: true, at: true})
	default:
		return nil
	}
	return h.command(ctx, node.Backfilled{Feed: u, Past: next})
}

// ask asks neighbors once, or says why that cannot be done. At the end of their past it begins again later where
// something was lacking.
func (p *pastFiller) ask(ctx context.Context, now time.Time, u feed.URL,
	past *archive.Past) (problem string, err error) {
	if past.Lack != "" && past.Back.Equal(past.Left) {
		past.Lack = "" // it begins again there
	}
	past.Again = time.Time{}
	got := BackfillReport{page: pageSize{largestPage, largestPage}}
	next, more, err := Backfill{Feed: u, Since: past.Since, Hops: p.hops, Pause: p.pause}.ask(ctx, p.owner,
		past.Back, &got)
	if err != nil {
		return "", err
	}
	if past.Filled += got.Network; got.Network > 0 {
		past.Tries = 0
	}
	if past.Steps++; got.Problem != "" {
		leaveForLater(now, past, cutTime)
		return got.Problem, nil
	}
	if len(got.Missing) > 0 {
		got.lack(cutRefused)
	}
	lack(past, got.Cut...)
	past.Back = next
	switch {
	case past.Steps >= maxRounds && more:
		lack(past, cutLimit)
		past.Stage = archive.PastDone
	case more:
	case past.Lack == "" || past.Steps >= maxRounds:
		past.Stage = archive.PastDone
	default:
		past.Back = past.Left
		leaveForLater(now, past)
	}
	return "", nil
}

// cutRefused is why entries are missing that others told of, and why nothing was heard of some (protocol.CutRefused).
const cutRefused = "refused"

// lack notes why others may have more of what was asked for last.
func lack(past *archive.Past, why ...string) {
	if past.Lack == "" && len(why) > 0 {
		past.Left = past.Back
	}
	reasons := strings.Fields(past.Lack)
	for _, reason := range why {
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	past.Lack = strings.Join(reasons, " ")
}

// leaveForLater has neighbors asked again after a while, or no more where nothing has come for long. What is lacking
// then is for those reasons as well.
func leaveForLater(now time.Time, past *archive.Past, why ...string) {
	wait := pastAgain
	for range past.Tries {
		wait *= pastGrowth
	}
	if past.Tries++; past.Tries > pastReturns || past.Steps >= maxRounds {
		lack(past, why...)
		past.Stage, past.Again = archive.PastDone, time.Time{}
		return
	}
	past.Again = now.Add(wait)
}

// fillPasts has the node fill in what its feeds published before they were followed, as far as its owner wants.
func (h *host) fillPasts(ctx context.Context) {
	if h.config.Node.Backfill == 0 {
		return
	}
	keep := func(ctx context.Context, ev node.Backfilled) error { return h.command(ctx, ev) }
	newPastFiller(unasked{h}, keep, h.logPast, gapHops(h.config.Node.QueryNetwork)).run(ctx, h.config.pastPause)
}

// logPast tells how a step went.
func (h *host) logPast(u feed.URL, past archive.Past, problem string) {
	switch {
	case problem != "":
		h.config.Log.Info("the past of a feed is not filled in to its end", "feed", shown(u), "entries", past.Filled,
			"err", problem)
	case past.Lack != "" && (past.Stage == archive.PastDone || !past.Again.IsZero()):
		h.config.Log.Info("the past of a feed is filled in as far as neighbors told", "feed", shown(u), "entries",
			past.Filled, "lack", past.Lack, "again", past.Again)
	case past.Stage == archive.PastDone:
		h.config.Log.Info("the past of a feed is filled in", "feed", shown(u), "entries", past.Filled)
	default:
		h.config.Log.Debug("the past of a feed is being filled in", "feed", shown(u), "entries", past.Filled,
			"back", past.Back)
	}
}
