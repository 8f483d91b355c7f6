package backfill

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/internal/when"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

const (
	// gapsEvery is how often the node looks for gaps in its feeds that others may fill.
	gapsEvery = 10 * time.Minute
	// gapAgain is how long a gap that nobody could fill is left alone at least, and gapSoon one about which nobody
	// answered.
	gapAgain, gapSoon = 6 * time.Hour, time.Hour
	// gapAging is the share of a gap's age for which it is left alone, as 1/gapAging: how many entries are missing is a
	// guess, and nobody may have the last of them.
	gapAging = 4
	// pastEvery is the time between two steps into the past: a document of a publisher's archive, or one query. It
	// is all that a node does for the past of all its feeds together.
	pastEvery = 30 * time.Second
)

// ErrLater is wrapped by the error of a PastSource that asked no publisher, and may another time.
var ErrLater = errors.New("nobody is asked now")

// Config says how a Worker works. Keep must be set where there are Pasts.
type Config struct {
	Network node.QueryNetwork // whom the node may ask by itself
	Pasts   bool              // whether pasts are filled in, beside gaps
	Every   time.Duration     // between two steps into the past; default half a minute
	// Keep notes how far the past of a feed is.
	Keep func(context.Context, node.Backfilled) error
	Log  *slog.Logger
}

// A Worker fills in what nobody asks for: gaps, each as a whole, and the pasts of feeds, one small step at a time and
// the feeds in turn. How far a past is stands in its archive.Past and outlives the process; what is stored twice,
// because the process ended in between, is stored once. Neighbors are asked about no feed that is private, or
// followed discreetly: there the owner has to ask.
type Worker struct {
	config Config
	node   PastSource
	hops   int                            // as in a Span; 0 where nobody but publishers is asked
	pause  time.Duration                  // likewise
	tried  map[feed.URL]time.Time         // gaps that others were asked about
	last   feed.URL                       // whose turn it was to have its past filled in
	seen   map[feed.URL]map[feed.URL]bool // documents of publishers' archives that led on, by feed
}

// NewWorker makes a Worker for a node.
func NewWorker(n PastSource, c Config) *Worker {
	c.Every = cmp.Or(c.Every, pastEvery)
	return &Worker{config: c, node: n, hops: hopsOf(c.Network), seen: make(map[feed.URL]map[feed.URL]bool)}
}

// hopsOf is how far the network is asked. Neighbors know from its adverts that the node follows a feed, so that asking
// them tells nobody anything; others only hear of it where the owner always asks.
func hopsOf(s node.QueryNetwork) int {
	switch s {
	case node.AlwaysNetwork:
		return protocol.DefaultQueryHops
	case node.NeverNetwork:
		return 0
	}
	return 1
}

// Run works until ctx ends. Failed work is tried again the next time.
func (w *Worker) Run(ctx context.Context) {
	every := w.config.Every
	if !w.config.Pasts {
		every = gapsEvery
	}
	for swept := time.Now(); sleep.For(ctx, every) == nil; {
		if w.hops > 0 && time.Since(swept) >= gapsEvery {
			swept = time.Now()
			_ = w.fillGaps(ctx, swept)
		}
		if w.config.Pasts {
			_ = w.stepBack(ctx, time.Now())
		}
	}
}

// fillGaps asks the network for the entries that feeds published between two polls and that are missing here. While the
// node rests nobody is asked; any other error is the feed's own.
func (w *Worker) fillGaps(ctx context.Context, now time.Time) error {
	feeds, err := w.node.Feeds(ctx)
	if err != nil {
		return err
	}
	tried := w.tried
	w.tried = make(map[feed.URL]time.Time) // without those that are gone
	for i := range feeds {
		if f := &feeds[i]; fillable(f) {
			wait := leftAlone(f, now)
			if at, ok := tried[f.URL]; ok && !when.Due(now, at.Add(wait), wait) {
				w.tried[f.URL] = at
			}
		}
	}
	for i := range feeds {
		f := &feeds[i]
		if _, lately := w.tried[f.URL]; lately || !fillable(f) {
			continue
		}
		got, err := Span{Feed: f.URL, Since: f.Gap.After, Until: f.Gap.Before, Network: true, Hops: w.hops,
			Pause: w.pause}.Run(ctx, w.node, func(Report) {})
		if ctx.Err() != nil || errors.Is(err, reading.ErrRests) {
			return err
		}
		if w.tried[f.URL] = now; err != nil {
			got.Problem = err.Error()
		} else if got.Unanswered {
			w.tried[f.URL] = now.Add(gapSoon - leftAlone(f, now))
		}
		w.config.Log.Info("asked the network for missed entries", "feed", f.URL.Redacted(), "entries", got.Network,
			"err", got.Problem)
	}
	return nil
}

// fillable reports whether the feed has a gap that others may be asked about.
func fillable(f *node.FeedStatus) bool { return f.Gap != nil && !f.Private && !f.Discreet }

// leftAlone is for how long the gap of a feed is left alone that was asked about.
func leftAlone(f *node.FeedStatus, now time.Time) time.Duration {
	return max(gapAgain, now.Sub(f.Gap.Before)/gapAging)
}

// stepBack makes a step into the past of the feed whose turn it is, if there is one, or of the next one where its
// publisher is asked later.
func (w *Worker) stepBack(ctx context.Context, now time.Time) error {
	feeds, err := w.node.Feeds(ctx)
	if err != nil {
		return err
	}
	turn := slices.IndexFunc(feeds, func(f node.FeedStatus) bool { return f.URL > w.last })
	var later error // nobody is asked for those before
	for i := range feeds {
		f := &feeds[(max(turn, 0)+i)%len(feeds)]
		if !w.helpable(f) || !when.Due(now, f.Past.Again, longestAgain) {
			continue
		}
		w.last = f.URL
		past := *f.Past
		x := newFilling(Span{Feed: f.URL, Since: past.Since, Hops: w.hops, Pause: w.pause}, w.node)
		if x.patient = true; past.Steps > 0 {
			x.seen = maps.Clone(w.seen[f.URL]) // what is not kept is read once more
		}
		if err := x.step(ctx, now, &past); errors.Is(err, ErrLater) {
			later = err
			continue
		} else if err != nil {
			return err
		}
		w.logPast(f.URL, &past, cmp.Or(x.PublisherProblem, x.Problem))
		if err := w.config.Keep(ctx, node.Backfilled{Feed: f.URL, From: *f.Past, Past: past}); err != nil {
			return err
		}
		if delete(w.seen, f.URL); past.Stage == archive.PastPublisher {
			w.seen[f.URL] = x.seen
		}
		return nil
	}
	return later
}

// helpable reports whether the next step for the feed can be made. Neighbors are asked about feeds only that one of
// them has, as their adverts say: they know from ours that we follow it, so that asking tells them nothing.
func (w *Worker) helpable(f *node.FeedStatus) bool {
	switch {
	case f.Past == nil || f.Private:
		return false
	case f.Past.Stage == archive.PastNetwork:
		return w.hops > 0 && !f.Discreet && f.Offered > 0
	}
	return f.Past.Stage == archive.PastPublisher
}

// logPast tells how a step went. That a feed has no past is nothing to tell of.
func (w *Worker) logPast(u feed.URL, past *archive.Past, problem string) {
	log := w.config.Log.With("feed", u.Redacted(), "entries", past.Filled)
	tell := log.Info
	if past.Filled == 0 {
		tell = log.Debug
	}
	switch {
	case problem != "":
		log.Info("the past of a feed is not filled in to its end", "err", problem)
	case past.Lack != "" && (past.Stage == archive.PastDone || !past.Again.IsZero()):
		tell("the past of a feed is filled in as far as neighbors told", "lack", past.Lack, "again", past.Again)
	case past.Stage == archive.PastDone:
		tell("the past of a feed is filled in")
	default:
		log.Debug("the past of a feed is being filled in", "back", past.Back)
	}
}
