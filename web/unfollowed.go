package web

import (
	"net/http"
	"slices"
	"time"

	"feedex/reading"
)

// UnfollowedFor is for how long pages say what feed readers unfollowed, and the node goes on with it.
const UnfollowedFor = 7 * 24 * time.Hour

// An unfollower is a password by which feed readers unfollowed feeds lately.
type unfollower struct {
	Name   string
	Titles []string // of the feeds, the latest first
	Last   moment
}

// unfollowed says what feed readers unfollowed lately that the person does not read since.
func (h *desk) unfollowed(r *http.Request) (by []unfollower, err error) {
	now := h.now(r)
	list, err := h.Shelf.Unfollowed(r.Context(), now.Add(-UnfollowedFor))
	for _, u := range list {
		if n := len(by); n == 0 || by[n-1].Name != u.By {
			by = append(by, unfollower{Name: u.By, Last: moment{u.At, now}})
		}
		last := &by[len(by)-1]
		last.Titles = append(last.Titles, titleOf(u.URL, u.Title))
	}
	return by, err
}

// refollow has the person read again what feed readers unfollowed lately by the password that a form names.
func (h *desk) refollow(_ http.ResponseWriter, r *http.Request) (string, error) {
	const back = "/feeds"
	list, err := h.Shelf.Unfollowed(r.Context(), h.Now().Add(-UnfollowedFor))
	list = slices.DeleteFunc(list, func(u reading.Unfollowed) bool { return u.By != r.PostFormValue("by") })
	if err == nil {
		err = h.Shelf.Refollow(r.Context(), list)
	}
	return h.said(r, back, "You follow "+count(len(list), "feed", "feeds")+" again."), err
}
