// Package backfill fills in entries of the past. A Span says of what: of what its owner asks for, of a gap between two
// polls, or of what was published before a feed was followed. A Worker fills in the spans that nobody asks for.
package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/reading"
)

const (
	// backfillPause is the time between two requests to the publisher, and between two queries after those that follow
	// one another at once.
	backfillPause = 7 * time.Second
	// maxRounds, in queries, and maxPages bound what is done for a Span.
	maxRounds, maxPages = 1000, 500
	// pageText is for how much text, in bytes, a document that nobody asked for counts as one more: what all of them
	// hold is 200 MB at most.
	pageText = 400 << 10
	// maxListed bounds what a Report lists of what went wrong.
	maxListed = 1000
	// pastAgain is how long a feed is left alone whose publisher, or neighbors, could not be asked, or did not tell of
	// all. The time that neighbors are left alone grows by pastGrowth with each time in a row that nothing came: an
	// hour, six, a day and a half, nine days.
	pastAgain, pastGrowth = time.Hour, 6
	longestAgain          = pastAgain * pastGrowth * pastGrowth * pastGrowth
	// pastTries is how often in a row a publisher's archive cannot be read before neighbors are asked for the rest, and
	// pastReturns how often in a row neighbors are come back to before what is lacking is given up.
	pastTries, pastReturns = 3, 4
)

// A PastSource is the part of a control.Owner that is needed to fill in the past.
type PastSource interface {
	Feeds(ctx context.Context) ([]node.FeedStatus, error)
	Query(ctx context.Context, q control.QueryRequest, each func(control.QueryPart) error) error
	Pull(ctx context.Context, list []control.Remote) (control.PullReport, error)
	FetchArchive(ctx context.Context, u, page feed.URL) (control.ArchiveDocument, error)
}

// A Span is a part of the past of a feed. Entries of it that were stored stay, whatever ends the filling in: a
// repetition downloads from others only what is still missing.
type Span struct {
	Feed feed.URL
	// Since and Until bound the entries' times, as in feed.Filter. Zero is open.
	Since, Until time.Time
	// Publisher asks the publisher for the documents of its archive (RFC 5005 §4), if it has one; Network asks
	// neighbors, and those beyond them.
	Publisher, Network bool
	Hops               int // how far the network is asked, as in a query
	// Pause is the time between two requests. Default 7 s.
	Pause time.Duration
}

// A Report is how far a Span is filled in or, at its end, what came of it, in JSON.
type Report struct {
	Feed      feed.URL  `json:"feed"`
	Network   int       `json:"network"`           // entries that others gave
	Publisher int       `json:"publisher"`         // entries of the publisher's archive
	Pages     int       `json:"pages"`             // documents of the publisher that were read
	Back      time.Time `json:"back,omitzero"`     // how far back it looked, in the part that it is at
	Problem   string    `json:"problem,omitempty"` // why others were not asked
	// Unanswered says that no neighbor answered, or none did any more: what others have before Back is not known, and
	// may be found another time. Asked is how many neighbors the last query went to, Again how many queries repeated
	// one that not all had answered in time.
	Unanswered bool     `json:"unanswered"`
	Asked      int      `json:"asked"`
	Again      int      `json:"again,omitempty"`
	Cut        []string `json:"cut,omitempty"` // why others may have more (protocol.Cut)
	// PublisherProblem is why the publisher's archive was not read to its end.
	PublisherProblem string `json:"publisher_problem,omitempty"`

	// The gaps that are left: entries of which others told and that nobody gave, and those of which nothing is known
	// but that there were some.
	Missing []control.Remote       `json:"missing,omitempty"`
	Gap     *archive.Gap           `json:"gap,omitempty"`
	Refused []control.RefusedFetch `json:"refused,omitempty"` // nodes asked in vain
}

// Run fills in what n can get, and calls each with how far it is. An error ends it early; what others and the
// publisher refuse does not.
func (s Span) Run(ctx context.Context, n PastSource, each func(Report)) (Report, error) {
	f := newFilling(s, n)
	f.each = each
	past := archive.Past{Stage: archive.PastPublisher, Since: s.Since}
	for s.Publisher && past.Stage == archive.PastPublisher {
		err := f.step(ctx, time.Now(), &past)
		if err == nil && past.Stage == archive.PastPublisher {
			err = sleep.For(ctx, f.Pause)
		}
		if err != nil {
			return f.Report, err
		}
	}
	past = archive.Past{Stage: archive.PastNetwork, Since: s.Since, Back: s.Until}
	for s.Network && past.Stage == archive.PastNetwork {
		if err := f.step(ctx, time.Now(), &past); err != nil {
			return f.Report, err
		}
	}
	feeds, err := n.Feeds(ctx)
	if err != nil {
		return f.Report, err
	}
	if i := slices.IndexFunc(feeds, func(x node.FeedStatus) bool { return x.URL == s.Feed }); i >= 0 {
		f.Gap = feeds[i].Gap
	}
	return f.Report, nil
}

// A filling is a Span that is filled in. How far it is stands in an archive.Past, which may outlive it.
type filling struct {
	Span
	Report
	node    PastSource
	each    func(Report)
	patient bool              // those who have nothing to say now are come back to, and nobody waits for the end
	seen    map[feed.URL]bool // documents of the publisher's archive that led on; nil before the first
	queries int               // that were made
	page    pageSize
}

func newFilling(s Span, n PastSource) *filling {
	s.Pause = cmp.Or(s.Pause, backfillPause)
	return &filling{Span: s, Report: Report{Feed: s.Feed}, node: n, each: func(Report) {},
		page: pageSize{largestPage, largestPage}}
}

// step makes a step at the stage at which a past is.
func (f *filling) step(ctx context.Context, now time.Time, past *archive.Past) error {
	if past.Stage == archive.PastPublisher {
		return f.read(ctx, now, past)
	}
	return f.ask(ctx, now, past)
}

// read reads the next document of the publisher's archive, the feed's own where none is named, or notes why that cannot
// be done.
func (f *filling) read(ctx context.Context, now time.Time, past *archive.Past) error {
	p, err := f.node.FetchArchive(ctx, f.Span.Feed, past.Page)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, reading.ErrRests), f.patient && errors.Is(err, ErrLater):
		return err
	case err != nil:
		f.PublisherProblem = err.Error()
		past.Again = now.Add(pastAgain)
		if past.Tries++; past.Tries >= pastTries || !f.patient {
			endPublisher(past)
		}
		return nil
	}
	f.Pages++
	f.Report.Publisher += p.Stored
	if !p.Oldest.IsZero() {
		f.Back = p.Oldest
	}
	f.each(f.Report)
	if f.patient {
		past.Steps += int(p.Bytes / pageText)
	}
	if f.seen == nil {
		f.seen = map[feed.URL]bool{"": true, f.Span.Feed: true, past.Page: true}
	}
	f.PublisherProblem = turnPage(past, p, f.seen)
	return nil
}

// turnPage notes that the document of the publisher's archive was read that was next, and returns what is wrong with
// where it leads. It adds to the documents that were seen.
func turnPage(past *archive.Past, p control.ArchiveDocument, seen map[feed.URL]bool) (problem string) {
	past.Steps++
	past.Filled += p.Stored
	past.Tries, past.Again = 0, time.Time{}
	if !p.Oldest.IsZero() {
		past.Back = p.Oldest
	}
	switch {
	case p.PrevArchive == "", p.Listed > 0 && p.Newest.Before(past.Since):
	case seen[p.PrevArchive]:
		problem = fmt.Sprintf("its archive leads back to %s", p.PrevArchive.Redacted())
	case past.Steps >= maxPages:
		problem = fmt.Sprintf("its archive has more than %d documents, or large ones", maxPages)
	default:
		past.Page, seen[p.PrevArchive] = p.PrevArchive, true
		return ""
	}
	endPublisher(past)
	return problem
}

// endPublisher ends the reading of the publisher's archive: neighbors are next.
func endPublisher(past *archive.Past) {
	*past = archive.Past{Stage: archive.PastNetwork, Since: past.Since, Filled: past.Filled}
}

// Read notes that the document of feed u at a URL, "" for the feed's own, was read for the owner: where it is the next
// one that would be read to fill in the feed's past, that is done, and changed is true. Before the first poll it may be
// the feed's own, which leads to that past.
func Read(past *archive.Past, u, at feed.URL, p control.ArchiveDocument) (changed bool) {
	switch {
	case past.Stage == archive.PastPoll && at == "" && p.PrevArchive != "":
		past.Stage, past.Page = archive.PastPublisher, p.PrevArchive
	case past.Stage == archive.PastPublisher && at != "" && past.Page == at:
		_ = turnPage(past, p, map[feed.URL]bool{"": true, u: true, at: true})
	default:
		return false
	}
	return true
}

// ask asks neighbors once, from past.Back back, or notes why that cannot be done. Where nobody waits for the end, it
// begins again later where something was lacking.
func (f *filling) ask(ctx context.Context, now time.Time, past *archive.Past) error {
	if past.Lack != "" && past.Back.Equal(past.Left) {
		past.Lack = "" // it begins again there
	}
	past.Again = time.Time{}
	had := f.Report.Network
	next, more, err := f.askBack(ctx, past.Back)
	if err != nil {
		return err
	}
	if came := f.Report.Network - had; came > 0 {
		past.Filled += came
		past.Tries = 0
	}
	if past.Steps++; f.Problem != "" {
		f.leaveForLater(now, past, cutTime)
		return nil
	}
	f.each(f.Report)
	if f.patient && len(f.Missing) > 0 {
		f.Cut = with(f.Cut, cutRefused)
	}
	lack(past, f.Cut...)
	past.Back = next
	switch {
	case more && max(past.Steps, f.queries) >= maxRounds:
		f.Cut = with(f.Cut, cutLimit)
		lack(past, cutLimit)
		past.Stage = archive.PastDone
	case more:
	case past.Lack == "" || past.Steps >= maxRounds:
		past.Stage = archive.PastDone
	default:
		past.Back = past.Left
		f.leaveForLater(now, past)
	}
	return nil
}

// lack notes in a past why others may have more of what was asked for last.
func lack(past *archive.Past, why ...string) {
	if past.Lack == "" && len(why) > 0 {
		past.Left = past.Back
	}
	past.Lack = strings.Join(with(strings.Fields(past.Lack), why...), " ")
}

// leaveForLater has neighbors asked again after a while, or no more where somebody waits for the end or nothing has
// come for long. Entries that are lacking then are so for those reasons as well.
func (f *filling) leaveForLater(now time.Time, past *archive.Past, why ...string) {
	wait := pastAgain
	for range past.Tries {
		wait *= pastGrowth
	}
	if past.Tries++; past.Tries > pastReturns || past.Steps >= maxRounds || !f.patient {
		lack(past, why...)
		past.Stage, past.Again = archive.PastDone, time.Time{}
		return
	}
	past.Again = now.Add(wait)
}
