package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"feedex/feed"
	"feedex/opml"
)

// settingsPage is where the owner changes what the node follows.
type settingsPage struct {
	Feeds  []feedLine
	Status Status
	Done   string // what was done a moment ago, "" for nothing
	Host   string // under which the node was reached
	User   string // who has logged in, "" for nobody

	Passwords []passwordLine // where somebody has
}

func (h *Handler) settings(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.Now()
	p := &settingsPage{Done: h.done(r), Host: r.Host, User: userOf(ctx)}
	var err error
	if p.Status, err = h.Source.Status(ctx); err != nil {
		return view{}, err
	}
	feeds, err := h.Source.Feeds(ctx)
	if err != nil && p.Status.Storage == "" {
		return view{}, err
	}
	if p.User != "" {
		list, err := h.Source.Passwords(ctx)
		if err != nil {
			return view{}, err
		}
		for i := range list {
			p.Passwords = append(p.Passwords, passwordLine{list[i].Name, moment{list[i].Created, now}, moment{list[i].Used, now}})
		}
	}
	for i := range feeds {
		p.Feeds = append(p.Feeds, h.line(&feeds[i], now))
	}
	slices.SortFunc(p.Feeds, func(a, b feedLine) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) })
	return view{Page: "settings", Title: "Settings", Nav: "/settings", Body: p}, nil
}

// done is what a form did, as the address to which it led says.
func (h *Handler) done(r *http.Request) string {
	n, _ := strconv.ParseInt(r.FormValue("n"), 10, 64)
	switch r.FormValue("done") {
	case "followed":
		if n == 0 {
			return "That feed is followed already."
		}
		return "The feed is followed. It will be polled in a moment."
	case "unfollowed":
		return "The feed is not followed any more. Its entries stay."
	case "password":
		return "The password is removed. Whoever used it is locked out."
	}
	return ""
}

// follow follows the feed that a form names.
func (h *Handler) follow(_ http.ResponseWriter, r *http.Request) (string, error) {
	raw := strings.TrimSpace(r.PostFormValue("url"))
	if raw != "" && !strings.Contains(raw, "://") && !strings.HasPrefix(raw, "feed:") {
		raw = "https://" + raw
	}
	u, err := feed.ParseURL(raw)
	if err != nil {
		return "", refusal{http.StatusBadRequest, "That is no address of a feed", "A feed's address begins with https:// or http://. " + err.Error() + "."}
	}
	added, err := h.Source.Follow(r.Context(), []opml.Feed{{URL: u}})
	if err != nil {
		return "", err
	}
	return "/settings?done=followed&n=" + strconv.Itoa(added), nil
}

// unfollow follows a feed no more.
func (h *Handler) unfollow(_ http.ResponseWriter, r *http.Request) (string, error) {
	number, err := strconv.ParseInt(r.PostFormValue("feed"), 10, 64)
	if err != nil {
		return "", ErrNone
	}
	return "/settings?done=unfollowed", h.Source.Unfollow(r.Context(), number)
}
