package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/fetch"
	"feedex/fulltext"
	"feedex/guard"
	"feedex/internal/sleep"
	"feedex/internal/when"
	"feedex/node"
	"feedex/reading"
	"feedex/safehtml"
)

const (
	// textPause is the time between two full texts that are fetched unasked, and between two looks at whether one is
	// due.
	textPause = 5 * time.Second
	// textsAtOnce is how many feeds have one fetched unasked at a time: a host may have one wait for a minute, and take
	// half of one to answer.
	textsAtOnce = 4
	// textHolds is for how long a page is not asked for again of which there is a text.
	textHolds = 24 * time.Hour
	// textFails is for how long a page from which no text came is not asked for again at a button.
	textFails = 10 * time.Minute
	// textTrouble is for how long a feed's pages are left alone, unless their server says for how long, when it did not
	// answer or with an error; reading.FullTextRest at most.
	textTrouble = time.Hour
	// parsingWait is how long a page waits for those before it to be read.
	parsingWait = time.Minute
	// articleTime is how long an article is looked for in a page. The worst pages that are known take a quarter of it.
	articleTime = 10 * time.Second
)

// fullTexts are the full texts of items, as their pages have them.
type fullTexts struct {
	host    *host
	ctx     context.Context // of the fetches
	safe    *safehtml.Sanitizer
	fetches joint[reading.FullText]
	parsing chan struct{} // a place for the one page in which an article is looked for
}

// newFullTexts makes the full texts of a node, which fetches some until ctx ends.
func newFullTexts(ctx context.Context, h *host) *fullTexts {
	return &fullTexts{host: h, ctx: ctx, safe: safehtml.New(), parsing: make(chan struct{}, 1)}
}

// A textWisher is who wants a full text.
type textWisher int

const (
	nobody   textWisher = iota // it is wanted of all that the feed publishes
	somebody                   // who is not the owner
	theOwner
)

// find fetches the full texts that are due until the context ends, of a feed one after another.
func (t *fullTexts) find() {
	every := cmp.Or(t.host.config.textPause, textPause)
	underway, ended := make(map[reading.ItemID]bool), make(chan reading.ItemID, textsAtOnce)
	for sleep.For(t.ctx, every) == nil {
		for len(ended) > 0 {
			delete(underway, <-ended)
		}
		if len(underway) == textsAtOnce {
			continue
		}
		id, err := t.host.store.FullTextDue(t.ctx, time.Now(), slices.Collect(maps.Keys(underway)))
		t.report(err)
		if err != nil || id == 0 || t.host.online(t.ctx) != nil {
			continue
		}
		underway[id] = true
		t.host.workers.Go(func() {
			_, err := t.get(t.ctx, id, true, nobody)
			t.report(err)
			ended <- id
		})
	}
}

// report logs an error of a full text that nobody waits for, unless the text itself says what it is.
func (t *fullTexts) report(err error) {
	known := errors.Is(err, reading.ErrRests) || errors.Is(err, reading.ErrFullText)
	if err != nil && !known && t.ctx.Err() == nil {
		t.host.config.Log.Warn("the full text of an entry cannot be kept", "err", err)
	}
}

// get is the full text of an item, from its page.
func (t *fullTexts) get(ctx context.Context, id reading.ItemID, show bool, by textWisher) (reading.FullText, error) {
	for {
		text, err := t.fetches.do(ctx, fmt.Sprint(id), &t.host.workers, func() (reading.FullText, error) {
			return t.fetch(id, show, by)
		})
		if by != theOwner || !errors.Is(err, errAstray) {
			return text, err
		}
		// The owner joined somebody who may not be led so far.
	}
}

// fetch fetches a full text and keeps it, or why there is none; what was had is never lost to that, and not asked for
// where it is only to be shown again. Where it may be there another time the page is asked for again, a few times, and
// the pages of its feed are left alone for a while.
func (t *fullTexts) fetch(id reading.ItemID, show bool, by textWisher) (text reading.FullText, err error) {
	kept, err := t.host.store.FullText(t.ctx, id)
	if err != nil {
		return kept, err
	}
	if ask, err := t.worthAsking(&kept, show, by); !ask {
		return kept, err
	}
	of, entry, err := t.published(id)
	if err != nil {
		return text, err
	}
	html, again, failed := t.ask(&of, &entry, by)
	rests := restingHost{}
	switch {
	case t.ctx.Err() != nil:
		return text, t.ctx.Err()
	case errors.Is(failed, reading.ErrRests): // nobody was asked
		return kept, failed
	case failed != nil && kept.HTML != "":
		return kept, t.keepWhatWasHad(id)
	case errors.As(failed, &rests): // nobody was asked, and it is no trouble of the page
		if by == nobody {
			err = t.rest(of.URL, rests.until)
		}
		kept.Problem = failed.Error() // which is told, and not kept
		return kept, cmp.Or(err, fmt.Errorf("%w: %w", reading.ErrFullText, failed))
	}
	text = reading.FullText{Item: id, HTML: html, At: time.Now().Truncate(time.Second).UTC(), Shown: show || kept.Shown}
	if failed != nil {
		text = reading.FullText{Item: id, Problem: failed.Error(), At: text.At, Troubles: kept.Troubles}
	}
	if again > 0 {
		if text.Troubles++; text.Troubles < reading.FullTextTroubles {
			text.Again = text.At.Add(again)
		}
	}
	err = t.host.durably(t.ctx, func(d reading.Database) error {
		d.KeepFullText(text)
		if by == nobody && again > 0 {
			d.DeferFullTexts(of.URL, text.At.Add(again))
		}
		return nil
	})
	t.host.changes.Add(1)
	t.host.news.Add(1)
	if err == nil && failed != nil {
		err = fmt.Errorf("%w: %w", reading.ErrFullText, failed)
	}
	return text, err
}

// holds is for how long a page is not asked for again of which there is a text.
func (t *fullTexts) holds() time.Duration { return cmp.Or(t.host.config.textHolds, textHolds) }

// worthAsking reports whether the page of a text is to be asked for, beside what is kept of it. The error is why not,
// where who wishes for it is to hear that.
func (t *fullTexts) worthAsking(kept *reading.FullText, show bool, by textWisher) (bool, error) {
	now := time.Now()
	if kept.HTML != "" {
		return (!show || kept.Shown) && when.Due(now, kept.At.Add(t.holds()), t.holds()) &&
			when.Due(now, kept.Again, reading.FullTextRest), nil
	}
	further := by == theOwner && kept.Problem == errAstray.Error()
	if kept.Problem != "" && by != nobody && !further && !when.Due(now, kept.At.Add(textFails), textFails) {
		return false, fmt.Errorf("%w: %s", reading.ErrFullText, kept.Problem)
	}
	return true, nil
}

// published is an item's entry, as its feed has it, and the feed.
func (t *fullTexts) published(id reading.ItemID) (of archive.Feed, e feed.Entry, err error) {
	record, number, err := t.host.store.ItemRecord(t.ctx, id)
	if err == nil && number == 0 {
		err = reading.ErrNoItem
	}
	if err == nil {
		of, err = t.host.store.NumberedFeed(t.ctx, number)
	}
	return of, record.Entry, err
}

// keepWhatWasHad has a page left alone for a while from which no text came, and keeps the text of before, which may be
// shown, or not, since the page was asked for.
func (t *fullTexts) keepWhatWasHad(id reading.ItemID) error {
	again := time.Now().Add(max(t.holds(), textFails)).Truncate(time.Second).UTC()
	return t.host.durably(t.ctx, func(d reading.Database) error {
		kept, err := t.host.store.FullText(t.ctx, id)
		kept.Again = again
		if err == nil && kept.HTML != "" {
			d.KeepFullText(kept)
		}
		return err
	})
}

// rest has the pages of a feed left alone until their host wants to be asked again.
func (t *fullTexts) rest(u feed.URL, until time.Time) error {
	until = when.Earlier(until, time.Now().Add(reading.FullTextRest))
	return t.host.durably(t.ctx, func(d reading.Database) error { d.DeferFullTexts(u, until); return nil })
}

// The words for why there is no full text.
var (
	errUnlinked   = errors.New("the entry names no page")
	errUnfollowed = errors.New("its feed is not followed any more")
	errAstray     = errors.New("its page is on another site, where nobody is to learn that the feed is followed")
	errNoMore     = errors.New("the page gives no more text than the feed does")
	errSlowPage   = errors.New("the page takes too long to read")
	errBusy       = errors.New("other pages were being read for too long")
)

// ask asks for the page of an entry and finds the article there. Where there is none it says for how long it is not
// worth asking again, 0 for good. Nobody but the owner has another site learn of a feed of which it is not to.
func (t *fullTexts) ask(of *archive.Feed, e *feed.Entry, by textWisher) (html string, again time.Duration, err error) {
	at, err := feed.ParseURL(e.Link)
	stay := by != theOwner && quiet(of)
	switch {
	case err != nil:
		return "", 0, errUnlinked
	case !of.Subscribed:
		return "", 0, errUnfollowed
	case stay && !mayAsk(of, at):
		return "", 0, errAstray
	}
	got, err := t.host.getResource(t.ctx, fetch.Want{URL: at, For: of.URL, Accept: "text/html, application/xhtml+xml",
		MaxBytes: fulltext.MaxPageBytes, SameSite: stay})
	if err != nil { // its host wants to be left alone, or the node rests
		return "", textTrouble, err
	}
	if a := &got.Answer; stay && errors.Is(a.Err, fetch.ErrElsewhere) {
		return "", 0, errAstray
	} else if a.Err != nil {
		return "", trouble(a), pageProblem(a.Err)
	}
	switch html, err = t.article(&got); {
	case errors.Is(err, errBusy):
		return "", textTrouble, err
	case err != nil:
		return "", 0, err
	}
	if len(t.safe.Text(html)) <= len(t.safe.Text(cmp.Or(e.Content, e.Summary))) {
		return "", 0, errNoMore
	}
	return html, 0, nil
}

// article is the article of a page, which is looked for after those before it. The error is errBusy where they take too
// long. A page that takes too long goes on to hold the place of the next, so that no more
// than one processor has to do with such.
func (t *fullTexts) article(page *fetch.Resource) (string, error) {
	type found struct {
		html string
		err  error
	}
	waiting, cancel := context.WithTimeoutCause(t.ctx, parsingWait, errBusy)
	defer cancel()
	if !enter(waiting, t.parsing) {
		return "", context.Cause(waiting)
	}
	ctx, cancel := context.WithTimeoutCause(t.ctx, articleTime, errSlowPage)
	defer cancel()
	done := make(chan found, 1)
	t.host.workers.Go(func() {
		defer leavePlace(t.parsing)
		html, err := fulltext.Article(page.URL, page.Type, page.Body)
		done <- found{html, err}
	})
	select {
	case f := <-done:
		return f.html, f.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// trouble is for how long the pages of a feed are left alone after an answer without one, 0 where that is for good.
func trouble(a *node.Fetched) time.Duration {
	refused := errors.Is(a.Err, guard.ErrForbidden) || errors.Is(a.Err, fetch.ErrTooLarge)
	if a.Unreached || a.Status == http.StatusTooManyRequests || a.Status >= 500 || a.Status == 0 && !refused ||
		errors.Is(a.Err, context.DeadlineExceeded) {
		return min(max(a.RetryAfter, textTrouble), reading.FullTextRest)
	}
	return 0
}

// pageProblem is an error of a fetch in words about a page.
func pageProblem(err error) error {
	status := (*fetch.StatusError)(nil)
	if !errors.As(err, &status) {
		return err
	}
	what := "there is no page"
	switch code := status.Code; {
	case code == http.StatusNotFound, code == http.StatusGone:
		what = "the page is not there"
	case code == http.StatusUnauthorized, code == http.StatusPaymentRequired:
		what = "the page is for who has an account there"
	case code == http.StatusForbidden, code == http.StatusUnavailableForLegalReasons:
		what = "the publisher refuses us"
	case code == http.StatusTooManyRequests:
		what = "the publisher asks for fewer requests"
	case code >= 500:
		what = "the publisher's server is in trouble"
	}
	return fmt.Errorf("HTTP %d: %s", status.Code, what)
}

// FetchFullText implements reading.Editor.
func (l *library) FetchFullText(ctx context.Context, id reading.ItemID, show bool) (reading.FullText, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	for _, err := range l.Items(ctx, []reading.ItemID{id}) { // which the person reads
		if err != nil {
			return reading.FullText{}, err
		}
		by := somebody
		if l.person == reading.Owner {
			by = theOwner
		}
		t, err := l.host.texts.get(ctx, id, show, by)
		if t.Problem = l.toldOf(t.Problem); errors.Is(err, reading.ErrFullText) {
			err = fmt.Errorf("%w: %s", reading.ErrFullText, t.Problem)
		}
		if err == nil && show && !t.Shown {
			t.Shown, err = true, l.host.showFullText(ctx, id, true)
		}
		return t, err
	}
	return reading.FullText{}, reading.ErrNoItem
}

// showFullText says whether the full text of an item is shown in place of its feed's own.
func (h *host) showFullText(ctx context.Context, id reading.ItemID, shown bool) error {
	h.changes.Add(1)
	h.news.Add(1)
	return h.write(ctx, func(d reading.Database) error { d.ShowFullText(time.Now(), id, shown); return nil })
}

// textsAhead is how many full texts are in memory at a time as the records of a feed are read.
const textsAhead = 16

// Records implements archive.Channels: the entries as people read them, which is what programs that read feeds are for.
func (a ownersArchive) Records(ctx context.Context, seqs []int64) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for part := range slices.Chunk(seqs, textsAhead) {
			texts, err := a.FullTexts(ctx, part)
			if err != nil {
				yield(archive.Record{}, err)
				return
			}
			for r, err := range a.View.Records(ctx, part) {
				r.Entry.Content = cmp.Or(texts[r.Seq], r.Entry.Content)
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}
