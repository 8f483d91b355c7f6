package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/internal/when"
)

// archivePath is where the archive is searched.
const archivePath = "/archive"

const (
	// maxAnswerEntries is the most entries of an answer.
	maxAnswerEntries = 200
	// maxAnswerBytes bounds the texts of an answer.
	maxAnswerBytes = 16 << 20
	// searchTime is how long a search may take.
	searchTime = 5 * time.Second
)

// archiveResults are the answer to a search in JSON. Members are only ever added. Texts are as published, which is
// what scripts want that compare, convert or keep them; a script that shows them in a browser sanitizes them, as the
// Atom form and the pages do. No browser shows the answer itself as a page: it is JSON, and says that it is nothing
// else.
type archiveResults struct {
	Query    string        `json:"query"`              // the words, as they were asked for
	Entries  []jsonl.Entry `json:"entries"`            // newest arrival first, or what fits best
	More     bool          `json:"more"`               // there are more than are listed
	Unranked bool          `json:"unranked,omitempty"` // not everything was ranked in time
}

// serveArchive answers a search, as JSON or as Atom. An entry of a feed whose URL is a secret is shown only to clients
// that know it: other users of the machine may ask.
func (h *handler) serveArchive(w http.ResponseWriter, r *http.Request, query string) {
	values, err := url.ParseQuery(query)
	if err == nil {
		err = checkFormat(values.Get("format"))
	}
	f, err2 := archiveFilter(values, time.Now())
	if err = errors.Join(err, err2); err != nil {
		say(w, http.StatusBadRequest, "%v", err)
		return
	}
	limit := f.Limit
	f.Limit++ // to see whether there are more
	f.NoSecrets = f.Feed == ""
	ctx, cancel := context.WithTimeoutCause(r.Context(), searchTime, archive.ErrSlow)
	defer cancel()
	records, err := h.Source.Search(ctx, f)
	switch {
	case errors.Is(err, archive.ErrCut):
	case errors.Is(err, archive.ErrSlow) || errors.Is(err, context.DeadlineExceeded):
		w.Header().Set("Retry-After", "10")
		say(w, http.StatusServiceUnavailable, "The search was given up after %s: %v.", searchTime, archive.ErrSlow)
		return
	case err != nil:
		h.fail(w, "search archive", err)
		return
	}
	records, more := truncate(records, limit)
	header := w.Header()
	header.Set("Cache-Control", "private, no-store")
	header.Add("Vary", "Accept")
	if wantsAtom(values.Get("format"), r.Header.Get("Accept")) {
		h.serveFound(w, r, values.Get("q"), records)
		return
	}
	header.Set("Content-Type", "application/json")
	if r.Method == http.MethodHead {
		return
	}
	a := archiveResults{Query: values.Get("q"), Entries: jsonl.Entries(records), More: more,
		Unranked: errors.Is(err, archive.ErrCut)}
	if err := json.NewEncoder(w).Encode(a); err != nil {
		h.Log.Debug("search result not sent", "err", err)
	}
}

// truncate is as many of the records as may be answered, and whether there are more.
func truncate(records []archive.Record, limit int) (shown []archive.Record, more bool) {
	bytes := 0
	for i := range records {
		e := &records[i].Entry
		if bytes += len(e.Title) + len(e.Summary) + len(e.Content); len(shown) == limit || bytes > maxAnswerBytes &&
			len(shown) > 0 {
			return shown, true
		}
		shown = append(shown, records[i])
	}
	return shown, len(records) > limit
}

// archiveFilter reads what is asked for. Parameters that it does not know mean nothing.
func archiveFilter(values url.Values, now time.Time) (feed.Filter, error) {
	f := feed.Filter{Title: values["title"], Limit: feed.DefaultLimit}
	if q := values.Get("q"); strings.TrimSpace(q) != "" {
		m, err := feed.ParseMatch(q)
		if err != nil {
			return f, fmt.Errorf("q: %w", err)
		}
		f.Ask(m)
	}
	if text := values.Get("feed"); text != "" {
		u, err := feed.ParseURL(text)
		if err != nil {
			return f, fmt.Errorf("feed: %w", err)
		}
		f.Feed = u
	}
	for name, t := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := values.Get(name); text != "" {
			moment, err := when.Moment(text, now)
			if err != nil {
				return f, fmt.Errorf("%s: %w: want a date (2025-01-31), a time (2025-01-31T15:04:05Z) or a span "+
					"before now (36h, 2y)", name, err)
			}
			*t = moment
		}
	}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxAnswerEntries {
			return f, fmt.Errorf("limit: want a number from 1 to %d", maxAnswerEntries)
		}
		f.Limit = n
	}
	switch order := values.Get("order"); order {
	case "", "newest":
	case "relevance":
		f.Relevance = true
	default:
		return f, fmt.Errorf(`order: want "newest" or "relevance", not %q`, order)
	}
	return f, nil
}

func checkFormat(format string) error {
	switch format {
	case "", "json", "atom":
		return nil
	}
	return fmt.Errorf(`format: want "json" or "atom", not %q`, format)
}

// wantsAtom reports whether an answer is to be Atom: where the format says so or, if it says nothing, where
// that is accepted and JSON is not named.
func wantsAtom(format, accept string) bool {
	if format != "" {
		return format == "atom"
	}
	return strings.Contains(accept, "application/atom+xml") && !strings.Contains(accept, "application/json")
}
