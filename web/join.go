package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/invitation"
	"feedex/node"
	"feedex/protocol"
)

// An Inviter makes neighbors of nodes by invitations, trackers and names.
type Inviter interface {
	// SiteFeeds asks a site, as invitation.IsSite has its name, which feeds its nodes share.
	SiteFeeds(ctx context.Context, name string) ([]feed.URL, error)
	// Join follows the feeds of an invitation, and makes a neighbor of the node there, or of one that the site there
	// names. It returns its id once there is a link. Feeds are followed also where there is none.
	Join(ctx context.Context, i invitation.Invitation) (protocol.NodeID, error)
	// NameSource has the node find neighbors by a tracker, by its URL, or have a neighbor always, by its host:port or
	// the name of a site. It waits a moment for what comes of that at first, and returns it.
	NameSource(ctx context.Context, name string) (node.SourceStatus, error)
	// ForgetSource takes that back.
	ForgetSource(ctx context.Context, name string) error
}

// ownInvitation is the node's own invitation as its owner may give it to others.
type ownInvitation struct {
	Link string
	Code template.HTML // QR
	None string        // why there is none
	Said string        // the host:port that it is by, if its owner said it
	Ask  bool          // whether another would be of use
}

func (s *Status) ownInvitation(said string) ownInvitation {
	said = strings.TrimSpace(said)
	own := ownInvitation{Said: said}
	i, err := s.Invitation(said, s.At)
	own.Ask = !errors.Is(err, node.ErrNoKey)
	var code string
	if err == nil {
		code, err = i.SVG()
	}
	if err != nil {
		own.None = err.Error()
		return own
	}
	own.Link, own.Code = i.String(), template.HTML(code)
	return own
}

// joinPage says where an invitation leads, and offers the feeds that it names.
type joinPage struct {
	invitation.Invitation
	Link    string
	Site    bool
	Tracker string // its URL, "" for an invitation
}

// errInvitation is for a text that is no invitation, or a site that has none.
func errInvitation(err error) error {
	return clientError{http.StatusBadRequest, "That leads to no node", err.Error() + "."}
}

// invited shows an invitation that was pasted. A site is asked for what it names: only where our own page asks so.
func (h *Handler) invited(r *http.Request) (view, error) {
	p := &joinPage{Link: r.FormValue("link")}
	var err error
	v := view{Page: "join", Title: "Invitation", Nav: "/neighbors", Body: p}
	if p.Invitation, err = invitation.Read(p.Link); err != nil {
		if at, tracker := invitation.Tracker(p.Link); tracker {
			p.Tracker, v.Title = at, "A tracker"
			return v, nil
		}
		return view{}, errInvitation(err)
	}
	if p.Site = invitation.IsSite(p.Host); p.Site {
		if err := h.own(r); err != nil {
			return view{}, err
		}
		if p.Feeds, err = h.Source.SiteFeeds(r.Context(), p.Host); err != nil {
			if _, tracker := invitation.Tracker(p.Link); tracker {
				err = fmt.Errorf("%w; if that is the URL of a tracker, name it on the settings page", err)
			}
			return view{}, errInvitation(err)
		}
	}
	return v, nil
}

// join follows an invitation, with those of its feeds that were chosen, or has the node ask a tracker from now on.
func (h *Handler) join(_ http.ResponseWriter, r *http.Request) (string, error) {
	link := r.PostFormValue("link")
	i, err := invitation.Read(link)
	if at, tracker := invitation.Tracker(link); err != nil && tracker {
		return h.addSource(r, at)
	}
	if err != nil {
		return "", errInvitation(err)
	}
	i.Feeds = nil
	for _, text := range r.PostForm["feed"] {
		u, err := feed.ParseURL(text)
		if err == nil && len(i.Feeds) >= invitation.MaxFeeds {
			err = errors.New("there are too many feeds")
		}
		if err != nil {
			return "", errInvitation(err)
		}
		i.Feeds = append(i.Feeds, u)
	}
	if _, err := h.Source.Join(r.Context(), i); err != nil {
		text := "There is no link: " + err.Error() + "."
		if len(i.Feeds) > 0 {
			text += " The feeds that you chose are followed all the same."
		}
		return "", clientError{http.StatusUnprocessableEntity, "No new neighbor", text}
	}
	return "/neighbors", nil
}

// A sourceLine is a tracker or a neighbor that the owner has always, as the settings page shows it.
type sourceLine struct {
	node.SourceStatus
	At    moment // when it was asked
	Named bool   // while the node ran, so that it can be taken back
}

func sourceLines(s *Status, now time.Time) (list []sourceLine) {
	for _, source := range s.Sources {
		list = append(list, sourceLine{source, moment{source.Asked, now}, slices.Contains(s.Named, source.Name)})
	}
	return list
}

// nameSource has the node find neighbors by what a form names.
func (h *Handler) nameSource(_ http.ResponseWriter, r *http.Request) (string, error) {
	return h.addSource(r, r.PostFormValue("name"))
}

// addSource does that, and leads to where it is shown and taken back.
func (h *Handler) addSource(r *http.Request, name string) (string, error) {
	s, err := h.Source.NameSource(r.Context(), name)
	if err != nil {
		return "", clientError{http.StatusUnprocessableEntity, "Nothing was added", sentence(err.Error())}
	}
	return h.said(r, "/settings", foundAt(&s)), nil
}

// foundAt says what was found where a tracker or a neighbor was named, and what becomes of it.
func foundAt(s *node.SourceStatus) string {
	kind := "a neighbor"
	if s.Tracker {
		kind = "a tracker"
	}
	text := s.Name + " is of use as " + kind + "."
	if s.Problem != "" {
		text = s.Name + " was taken for " + kind + ", and is of no use so far: " +
			strings.TrimSuffix(s.Problem, ".") + "."
	} else if s.Asked.IsZero() {
		text = s.Name + " was taken for " + kind + ", and was not asked yet."
	}
	text += " It is asked from now on, and after each start, until it is removed below."
	if u, err := url.Parse(s.Name); err == nil && s.Tracker && s.Problem != "" && invitation.IsSite(u.Hostname()) {
		text += " If it is a site that names nodes, name it as " + u.Hostname() + " alone."
	}
	return text
}

// forgetSource takes that back.
func (h *Handler) forgetSource(_ http.ResponseWriter, r *http.Request) (string, error) {
	name := r.PostFormValue("name")
	if err := h.Source.ForgetSource(r.Context(), name); err != nil {
		return "", clientError{http.StatusUnprocessableEntity, "Nothing was removed", sentence(err.Error())}
	}
	return h.canUndo(r, "/settings", undo{What: name + " is asked no more. A link that there is remains.",
		Back: "/settings", undo: func(ctx context.Context) error {
			_, err := h.Source.NameSource(ctx, name)
			return err
		}}), nil
}
