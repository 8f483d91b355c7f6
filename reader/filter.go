package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// filterPath is the path in front of the name of a person's filter.
const filterPath = "/filter/"

// A FilterSource has the filters of people, and what they caught.
type FilterSource interface {
	reading.FilterKeys
	Shelf(p reading.PersonID) reading.Shelf
}

// FilterPath is where the feed of a filter is, in a format.
func FilterPath(name, format string) string { return filterPath + url.PathEscape(name) + "." + format }

// A foundFilter is a filter whose feed is asked for.
type foundFilter struct {
	reading.NamedFilter
	shelf  reading.FilterList
	secret bool // the visitor is the person whose it is, and has feeds whose URL is a secret, too
}

// findFilter finds a filter of the visitor, or the owner's where nobody had to say who they are; by its key it is
// anybody's. Its feed names the key, so that a subscriber to it means the same one as its reader.
func (h *handler) findFilter(ctx context.Context, name, key string,
	visitor *reading.Visitor) (f foundFilter, err error) {
	if key != "" {
		k, err := h.Filters.FilterOf(ctx, key)
		if err != nil || k.Filter == 0 {
			return f, err
		}
		f.ID, f.Name, f.Key, f.shelf = k.Filter, k.Name, key, h.Filters.Shelf(k.Person)
		f.secret = k.Person == visitor.Person
		return f, nil
	}
	if f.shelf, f.secret = visitor.Library, true; visitor.Library == nil {
		if h.ByKey {
			return f, nil
		}
		f.shelf, f.secret = h.Filters.Shelf(reading.Owner), false
	}
	all, err := f.shelf.Filters(ctx)
	if err == nil {
		f.NamedFilter, err = reading.FilterNamed(all, name)
	}
	if errors.Is(err, reading.ErrNoFilter) {
		err = nil
	}
	return f, err
}

// caughtState is what the bytes of a filter's document depend on, of what it caught.
func caughtState(items []reading.CaughtItem) string {
	hash := sha256.New()
	for i := range items {
		c := &items[i]
		fmt.Fprintf(hash, "%d %d %q %q\n", c.Seq, c.Changed, c.Feed, c.Title)
	}
	return hex.EncodeToString(hash.Sum(nil)[:12])
}

// serveFilter serves what a filter caught last, of all feeds but, to others than its person, those whose URL is a
// secret. It has no archive documents: those are the feeds'.
func (h *handler) serveFilter(w http.ResponseWriter, r *http.Request, asked, query string, visitor *reading.Visitor) {
	none := func() {
		say(w, http.StatusNotFound, "There is no such filter. A filter is at %s<its name>.atom, .rss or .json; "+
			"'feedex filter list' has them.", filterPath)
	}
	format, ok := formatOf(extension(asked))
	name, err := url.PathUnescape(strings.TrimSuffix(asked, path.Ext(asked)))
	values, err2 := url.ParseQuery(query)
	if err := errors.Join(err, err2); !ok || err != nil || h.Filters == nil {
		none()
		return
	}
	ctx := r.Context()
	f, err := h.findFilter(ctx, name, values.Get("key"), visitor)
	if err != nil || f.ID == 0 {
		if err == nil {
			none()
			return
		}
		h.fail(w, "read filters", err)
		return
	}
	items, err := f.shelf.CaughtBy(ctx, f.ID, 0, f.secret, Window)
	if err != nil {
		h.fail(w, "read what a filter caught", err)
		return
	}
	d := &document{
		id: origin(r) + FilterPath(f.Name, "atom"), name: f.Name, site: origin(r) + "/",
		self: origin(r) + FilterPath(f.Name, format.name) + "?key=" + f.Key,
		hub:  h.hub(r), updated: time.Unix(0, 0), generator: h.Version, titles: make(map[feed.URL]string), safe: h.safe,
	}
	version := archive.FeedVersion{}
	seqs := make([]int64, len(items))
	for i := range items {
		seqs[i] = items[i].Seq
		d.titles[items[i].Feed] = items[i].Title
		version.Arrived = max(version.Arrived, int64(items[i].Item))
		if items[i].At.After(d.updated) {
			d.updated = items[i].At
		}
	}
	more := []string{f.Key, strconv.FormatInt(int64(f.ID), 10), strconv.FormatBool(f.secret)}
	// Of edits there is no time: the entity tag alone tells of them.
	if h.unchanged(w, r, d.etag(version, append(more, caughtState(items))...), time.Time{}) {
		return
	}
	delta := false
	// A version that a reader has is what the filter had up to an item, if that is still as it was.
	had := func(tag string) (archive.FeedVersion, bool) {
		number, _, _ := strings.Cut(strings.Trim(tag, `"`), ".")
		last, err := strconv.ParseInt(number, 10, 64)
		if err != nil || last < 1 || last >= version.Arrived {
			return archive.FeedVersion{}, false
		}
		before, err := f.shelf.CaughtBy(ctx, f.ID, reading.ItemID(last), f.secret, Window)
		if err != nil {
			return archive.FeedVersion{}, false
		}
		return d.baseOf(tag, append(more, caughtState(before))...)
	}
	if base, tag, ok := deltaBase(r, had); ok {
		seqs, delta = nil, true // what was found is as it was
		for i := range items {
			if int64(items[i].Item) > base.Arrived {
				seqs = append(seqs, items[i].Seq)
			}
		}
		markDelta(w.Header(), tag)
	}
	h.send(w, r, format, d, delta, h.Source.Records(ctx, seqs))
}
