package web

import (
	"context"
	"net/http"
	"slices"

	"feedex/reading"
)

// settingsPage is where the owner changes what the node follows.
type settingsPage struct {
	Feeds []feedLine // a page of them
	pager
	Status Status
	Host   string // under which the node was reached
	savingSection

	Sources   []sourceLine
	Passwords []passwordLine // where somebody has
	People    []personLine   // likewise
}

func (h *Handler) settings(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	p := &settingsPage{Host: r.Host, savingSection: h.savingSection(ctx)}
	var err error
	if p.Status, err = h.Source.Status(ctx); err != nil {
		return view{}, err
	}
	p.Sources = sourceLines(&p.Status, now)
	feeds, err := h.Source.Feeds(ctx)
	if err != nil && p.Status.Storage == "" {
		return view{}, err
	}
	if loggedIn(ctx) {
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
		What: "Unfollowed " + titleOf(known.URL, known.Name, known.Title) + ". Its entries stay.",
		Back: pathOfFeed(number),
		undo: func(ctx context.Context) error { return h.Source.FollowAgain(ctx, number) },
	}), nil
}

// answerDHT takes in whether the node may find neighbors by BitTorrent's DHT. Only "on" is a yes.
func (h *Handler) answerDHT(_ http.ResponseWriter, r *http.Request) (string, error) {
	on := r.PostFormValue("use") == "on"
	if err := h.Source.UseDHT(r.Context(), on); err != nil {
		return "", err
	}
	answer := "The node does not find neighbors by BitTorrent’s DHT."
	if on {
		answer = "The node finds neighbors by BitTorrent’s DHT as well."
	}
	return h.said(r, "/settings", answer+" That can be changed below."), nil
}
