package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/reading"
)

// refresh has a feed polled now, the feeds of a folder or all that the person reads, as far as publishers allow it. The
// page that it leads back to says what came of it.
func (h *desk) refresh(_ http.ResponseWriter, r *http.Request) (string, error) {
	number, err1 := strconv.ParseInt(cmp.Or(r.PostFormValue("feed"), "0"), 10, 64)
	folder, err2 := strconv.ParseInt(cmp.Or(r.PostFormValue("folder"), "0"), 10, 64)
	if errors.Join(err1, err2) != nil {
		return "", ErrNone
	}
	list, err := h.Shelf.Subscriptions(r.Context())
	if err != nil {
		return "", err
	}
	var ids []reading.FeedID
	for i := range list {
		f := &list[i]
		if (number == 0 || int64(f.ID) == number) && (folder == 0 || slices.ContainsFunc(f.Folders,
			func(in reading.Folder) bool { return in.ID == reading.FolderID(folder) })) {
			ids = append(ids, f.ID)
		}
	}
	if len(ids) == 0 && number != 0 { // of what the person knows of and does not read there is nothing to poll
		if _, err := h.Shelf.Known(r.Context(), number); err != nil {
			return "", err
		}
	}
	done, err := h.Shelf.Refresh(r.Context(), ids...)
	return withRefreshed(local(r.PostFormValue("next")), &done), err
}

// withRefreshed is the address of a page that says what came of a refresh, or of one that says nothing where that is
// nil.
func withRefreshed(address string, done *reading.RefreshResult) string {
	return withQuery(address, func(q url.Values) {
		for _, name := range []string{"done", "polled", "later", "from", "ended"} {
			q.Del(name)
		}
		if done == nil {
			return
		}
		q.Set("done", "refreshed")
		for name, n := range map[string]int64{"polled": int64(done.Polled), "later": int64(done.Later),
			"from": done.From.Unix(), "ended": int64(done.Ended)} {
			if n > 0 {
				q.Set(name, strconv.FormatInt(n, 10))
			}
		}
	})
}

// refreshed says what came of a refresh, as the address of a page has it, "" where that has nothing. Of what somebody
// writes into an address it takes numbers and a time alone.
func refreshed(r *http.Request, now time.Time) string {
	q := r.URL.Query()
	if q.Get("done") != "refreshed" {
		return ""
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(q.Get(name), 10, 32) // the nearest there is where it is out of bounds
		return max(n, 0)
	}
	var said []string
	say := func(n int64, one, many string) {
		if n > 0 {
			said = append(said, count(n, "feed "+one, "feeds "+many))
		}
	}
	say(number("polled"), "is polled in a moment", "are polled in a moment")
	from := moment{time.Unix(number("from"), 0), now}
	clock := from.Clock()
	if from.T.Sub(now) > 18*time.Hour {
		clock += from.T.In(now.Location()).Format(" on 2 January")
	}
	say(number("later"), "may be polled again from "+clock, "may be polled again, the first from "+clock)
	say(number("ended"), "has ended", "have ended")
	if said == nil {
		return "There is no feed to poll."
	}
	return strings.Join(said, "; ") + "."
}
