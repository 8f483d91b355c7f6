package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"feedex/archive"
	"feedex/reading"
	"feedex/safehtml"
	"feedex/saving"
)

// settingsPage is where the owner changes what the node follows.
type settingsPage struct {
	Feeds []feedLine // a page of them
	pager
	Status Status
	Done   string         // what was done a moment ago, "" for nothing
	Undo   *undo          // likewise, nil for nothing that can be undone
	Host   string         // under which the node was reached
	User   string         // that has logged in, "" for none
	Saving saving.Service // what entries are saved to, without what lets its owner in
	// Unsaved is why nothing can be saved that could be, "" where nothing is wrong
	Unsaved string

	Sources   []sourceLine
	Passwords []passwordLine // where somebody has
	People    []personLine   // likewise
}

func (h *Handler) settings(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	p := &settingsPage{Done: h.done(r), Undo: h.undoOf(r), Host: r.Host, User: userOf(ctx)}
	var err error
	if p.Saving, err = h.Source.Service(ctx); err != nil {
		p.Unsaved = safehtml.Line(err.Error())
	}
	if p.Status, err = h.Source.Status(ctx); err != nil {
		return view{}, err
	}
	p.Sources = sourceLines(&p.Status, now)
	feeds, err := h.Source.Feeds(ctx)
	if err != nil && p.Status.Storage == "" {
		return view{}, err
	}
	if p.User != "" {
		list, err := h.Source.Passwords(ctx)
		if err != nil {
			return view{}, err
		}
		if p.People, err = h.people(r); err != nil {
			return view{}, err
		}
		names := make(map[reading.PersonID]string)
		for _, one := range p.People {
			names[one.ID] = one.Name
		}
		for _, one := range list {
			line := passwordLine{Name: one.Name, Owner: one.Scope == reading.OwnerScope,
				Created: moment{one.Created, now}, Used: moment{one.Used, now}}
			if one.Person != reading.Owner {
				line.Person = names[one.Person]
			}
			p.Passwords = append(p.Passwords, line)
		}
	}
	for i := range feeds {
		p.Feeds = append(p.Feeds, h.line(&feeds[i], now))
	}
	slices.SortFunc(p.Feeds, byTitle)
	p.pager = newPager(r, len(p.Feeds), "")
	p.Feeds = part(p.pager, p.Feeds)
	return view{Page: "settings", Title: "Settings", Nav: "/settings", Body: p}, nil
}

// done is the message about the result of a form, as the address to which it led says.
func (h *Handler) done(r *http.Request) string {
	n, _ := strconv.ParseInt(r.FormValue("n"), 10, 64)
	switch r.FormValue("done") {
	case "followed", "known":
		k, err := h.Source.Feed(r.Context(), n)
		if err != nil {
			return ""
		}
		name := titleOf(k.URL, cmp.Or(k.Name, k.Title))
		if a := address(k.URL); a != name {
			name += ", " + a + ","
		}
		if r.FormValue("done") == "known" {
			return name + " is followed already."
		}
		kept := ""
		if s := k.Status; s != nil && s.Kept != "" {
			kept = " It stays on this node: " + s.Kept + "."
			if s.Undecided {
				kept += " Its page lets you say otherwise."
			}
		}
		switch {
		case k.LastPoll.IsZero():
			return name + " is followed. It will be polled in a moment." + kept
		case k.LastError != "":
			return name + " is followed, but could not be had yet: " + k.LastError + "." + kept
		}
		return name + " is followed." + kept
	case "dht":
		return "The answer is kept. It can be changed below."
	case "source":
		return "It is asked from now on, and after each start. What came of it stands below, where " +
			"it can be removed."
	case "person":
		return "Somebody more reads here now. Make them a password for their reader."
	case "gone":
		return "They are removed, and all that was theirs."
	case "password":
		return "The password is removed. Whoever used it is locked out."
	}
	return ""
}

// follow follows the feed, or the feed of the site, that a form names.
func (h *Handler) follow(_ http.ResponseWriter, r *http.Request) (string, error) {
	wish := FollowWish{Anyway: r.PostFormValue("anyway") != ""}
	var err error
	if wish.Tries, err = typedAddress(r); err != nil {
		return "", err
	}
	if wish.Backlog, err = readBacklog(r); err != nil {
		return "", err
	}
	wish.Page, _ = strconv.ParseInt(r.PostFormValue("page"), 10, 64)
	f, err := h.Source.FollowAt(r.Context(), wish)
	number := strconv.FormatInt(f.Number, 10)
	switch {
	case err != nil:
		return "", err
	case f.Unread:
		return "", unread{wish, f.Problem}
	case f.Number == 0:
		return "", clientError{http.StatusUnprocessableEntity, "There is no feed",
			"At " + address(wish.Tries[0]) + " there is no feed: " + f.Problem +
				". Nothing is followed. Look on the site for a link to its RSS or Atom feed, and follow that."}
	case f.Choose:
		return "/feeds/" + number, nil
	case !f.New:
		return "/settings?done=known&n=" + number, nil
	case r.PostFormValue("next") == recommendedPath:
		return h.canUndo(r, recommendedPath, undo{What: address(wish.Tries[0]) + " is followed.", Back: recommendedPath,
			undo: func(ctx context.Context) error { return h.Source.Unfollow(ctx, f.Number) }}), nil
	}
	return "/settings?done=followed&n=" + number, nil
}

// readBacklog is how much of what there is already a form leaves unread.
func readBacklog(r *http.Request) (archive.Backlog, error) {
	text := r.PostFormValue("unread")
	if text == "" {
		return archive.UsualBacklog, nil
	}
	b, err := archive.ParseBacklog(text)
	if err != nil {
		err = clientError{http.StatusBadRequest, "That is no number of entries",
			"How many entries are left unread: " + err.Error() + ". Nothing was changed."}
	}
	return b, err
}

// An unread is that an address could not be read, and is not followed for that.
type unread struct {
	FollowWish
	Problem string
}

func (u unread) Error() string { return u.Address() + " could not be read: " + u.Problem }

// Address is what could not be read, as a page may show it.
func (u unread) Address() string { return address(u.Tries[0]) }

// unfollow follows a feed no more, which can be undone: how it was followed is remembered in the archive.
func (h *Handler) unfollow(_ http.ResponseWriter, r *http.Request) (string, error) {
	number, err := feedOf(r)
	if err != nil {
		return "", err
	}
	known, err := h.Source.Feed(r.Context(), number)
	if err != nil {
		return "", err
	}
	if err := h.Source.Unfollow(r.Context(), number); err != nil || !known.Subscribed {
		return "/settings", err
	}
	return h.canUndo(r, "/settings", undo{
		What: "Unfollowed " + titleOf(known.URL, cmp.Or(known.Name, known.Title)) + ". Its entries stay.",
		Back: "/feeds/" + strconv.FormatInt(number, 10),
		undo: func(ctx context.Context) error { return h.Source.FollowAgain(ctx, number) },
	}), nil
}

// answerDHT takes in whether the node may find neighbors by BitTorrent's DHT. Only "on" is a yes.
func (h *Handler) answerDHT(_ http.ResponseWriter, r *http.Request) (string, error) {
	return "/settings?done=dht#dht", h.Source.UseDHT(r.Context(), r.PostFormValue("use") == "on")
}
