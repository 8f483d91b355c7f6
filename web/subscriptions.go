package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"feedex/feed"
	"feedex/opml"
	"feedex/reading"
)

// A subscriptionsPage lists the feeds that a person reads.
type subscriptionsPage struct {
	Feeds      []subscriptionLine
	Query      string // what the names are to contain
	Total      int
	Unfollowed []unfollower
	pager
}

// A subscriptionLine is a feed as its reader's list has it.
type subscriptionLine struct {
	Path, Entries string // addresses of its page, and of its entries
	Title, URL    string
	Icon          string
	Folders       []string
	Unread        int64
	Errors        int  // failed polls in a row
	Choose        bool // between the feeds that a web page names
}

// subscriptions lists what the person reads.
func (h *desk) subscriptions(r *http.Request) (view, error) {
	ctx := r.Context()
	p := &subscriptionsPage{Query: strings.TrimSpace(r.FormValue("q"))}
	var err error
	if p.Unfollowed, err = h.unfollowed(r); err != nil {
		return view{}, err
	}
	list, err := h.Shelf.Subscriptions(ctx)
	if err != nil {
		return view{}, err
	}
	p.Total = len(list)
	for i := range list {
		f := &list[i]
		number := strconv.FormatInt(int64(f.ID), 10)
		l := subscriptionLine{Path: pathOfFeed(int64(f.ID)), Entries: "/entries?show=unread&feed=" + number,
			Title: titleOf(f.URL, f.Name, f.Title), URL: address(f.URL), Icon: f.Icon.Path(),
			Unread: int64(f.Unread), Errors: f.Errors, Choose: f.Choose, Folders: f.FolderNames()}
		if matches(p.Query, append([]string{l.Title, l.URL}, l.Folders...)...) {
			p.Feeds = append(p.Feeds, l)
		}
	}
	slices.SortStableFunc(p.Feeds, func(a, b subscriptionLine) int {
		return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	})
	p.pager = newPager(r, len(p.Feeds), queryOf("q", p.Query))
	p.Feeds = part(p.pager, p.Feeds)
	return view{Page: "subscriptions", Title: "Feeds", Nav: "/feeds", Body: p}, nil
}

// A subscriptionPage is a feed as its reader has it.
type subscriptionPage struct {
	KnownFeed
	Title   string
	Address string
	Secret  bool // its URL is one, and stays off the page
	Last    moment
	Latest  []headline
	Form    feedForm
	Named   []namedFeed // feeds that the web page names which is there instead
}

// subscription is the page of a feed.
func (h *desk) subscription(r *http.Request) (view, error) {
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64) // of what is none there is no feed
	return h.subscriptionView(r, number, nil)
}

// subscriptionView is the page of a feed, with a form that could not be taken as it was sent, if that is not nil.
func (h *desk) subscriptionView(r *http.Request, number int64, sent *feedForm) (view, error) {
	now := h.now(r)
	k, err := h.Shelf.Known(r.Context(), number)
	if err != nil {
		return view{}, err
	}
	k.Link, k.About = webLink(k.Link), h.safe.Opening(k.About, longestAbout)
	p := &subscriptionPage{KnownFeed: k, Title: titleOf(k.URL, k.Name, k.Title), Address: address(k.URL),
		Secret: k.URL.Secret(), Last: moment{k.LastSuccess, now},
		Form: personsForm(&k)}
	list, err := h.Shelf.Headlines(r.Context(),
		reading.HeadlineQuery{Feed: number, Secret: true, Limit: latestOnFeed})
	if err != nil {
		return view{}, err
	}
	p.Latest = h.headlines(list, false, now)
	if sent != nil {
		p.Form = *sent
	}
	p.Named = named(&k.Feed, false)
	return view{Page: "subscription", Title: p.Title, Nav: "/feeds", Body: p}, nil
}

// arrange titles and files a feed as its form says.
func (h *desk) arrange(_ http.ResponseWriter, r *http.Request) (string, error) {
	k, err := h.knownOf(r)
	if err != nil {
		return "", err
	}
	f := readFeedForm(r)
	a := f.arrangement(&k)
	a.FullText = nil // which is for all people, and the owner's to say
	err = h.file(r.Context(), &f, a)
	if f.Bad() {
		return "", badForm{func() (view, error) { return h.subscriptionView(r, k.Number, &f) }}
	}
	return pathOfFeed(k.Number) + "?done=saved", err
}

// knownOf is the feed that a form is about.
func (h *desk) knownOf(r *http.Request) (KnownFeed, error) {
	number, err := feedOf(r)
	if err != nil {
		return KnownFeed{}, err
	}
	return h.Shelf.Known(r.Context(), number)
}

// pathOfFeed is where the page of a feed is.
func pathOfFeed(number int64) string { return "/feeds/" + strconv.FormatInt(number, 10) }

// follow has the person read a feed: what a form names by its address, the feed there or that of the site, or one that
// the node knows by its number.
func (h *desk) follow(_ http.ResponseWriter, r *http.Request) (string, error) {
	if r.PostFormValue("feed") != "" {
		k, err := h.knownOf(r)
		if err != nil {
			return "", err
		}
		err = h.Shelf.TakeUp(r.Context(), k.Number)
		if errors.Is(err, reading.ErrNoFeed) {
			err = noFeed(k.URL, err.Error())
		}
		return pathOfFeed(k.Number), err
	}
	wish := FollowWish{Anyway: r.PostFormValue("anyway") != ""}
	var err error
	if wish.Tries, err = typedAddress(r); err != nil {
		return "", err
	}
	if wish.Backlog, err = readBacklog(r); err != nil {
		return "", err
	}
	wish.Page, _ = strconv.ParseInt(r.PostFormValue("page"), 10, 64)
	f, err := h.Shelf.FollowAt(r.Context(), wish)
	switch {
	case err != nil:
		return "", err
	case f.Unread:
		return "", unread{wish, f.Problem}
	case f.Number == 0:
		return "", noFeed(wish.Tries[0], "there is no feed: "+f.Problem)
	case f.Choose:
		return pathOfFeed(f.Number), nil
	case f.New && r.PostFormValue("next") == recommendedPath:
		return h.canUndo(r, recommendedPath, undo{What: address(wish.Tries[0]) + " is followed.", Back: recommendedPath,
			undo: func(ctx context.Context) error { return h.Shelf.Unsubscribe(ctx, reading.FeedID(f.Number)) }}), nil
	}
	text, err := h.followed(r.Context(), &f)
	return h.said(r, "/settings", text), err
}

// followed says what came of a wish to follow a feed.
func (h *desk) followed(ctx context.Context, f *FollowedAt) (string, error) {
	k, err := h.Shelf.Known(ctx, f.Number)
	name := titleOf(k.URL, k.Name, k.Title)
	if a := address(k.URL); a != name {
		name += ", " + a + ","
	}
	text := name + " is followed"
	switch {
	case !f.New:
		return text + " already.", err
	case f.Problem != "":
		text += ", but could not be had yet: " + f.Problem + "."
	case k.LastPoll.IsZero():
		text += ". It will be polled in a moment."
	default:
		text += "."
	}
	if f.Kept != "" && viewerOf(ctx).owns() {
		text += " It stays on this node: " + f.Kept + "."
	}
	if f.Undecided && viewerOf(ctx).owns() {
		text += " Its page lets you say otherwise."
	}
	return text, err
}

// noFeed says that there is none at an address, and what to do.
func noFeed(at feed.URL, why string) error {
	return clientError{http.StatusUnprocessableEntity, "There is no feed", "At " + address(at) + " " + why +
		". Nothing is followed. Look on the site for a link to its RSS or Atom feed, and follow that."}
}

// An unread is that an address could not be read, and is not followed for that.
type unread struct {
	FollowWish
	Problem string
}

func (u unread) Error() string { return u.Address() + " could not be read: " + u.Problem }

// Address is what could not be read, as a page may show it.
func (u unread) Address() string { return address(u.Tries[0]) }

// typedAddress is what the address in a form may be.
func typedAddress(r *http.Request) ([]feed.URL, error) {
	tries, err := feed.ParseTyped(r.PostFormValue("url"))
	if err != nil {
		return nil, clientError{http.StatusBadRequest, "That is no address of a feed", sentence(err.Error())}
	}
	return tries, nil
}

// unsubscribe has the person read a feed no more, as their reader would.
func (h *desk) unsubscribe(_ http.ResponseWriter, r *http.Request) (string, error) {
	k, err := h.knownOf(r)
	if err != nil {
		return "", err
	}
	const back = "/feeds"
	if err := h.Shelf.Unsubscribe(r.Context(), reading.FeedID(k.Number)); err != nil || !k.Reads {
		return back, err
	}
	return h.canUndo(r, back, undo{
		What: "You read " + titleOf(k.URL, k.Name, k.Title) + " no more.", Back: pathOfFeed(k.Number),
		undo: func(ctx context.Context) error { return h.Shelf.TakeUp(ctx, k.Number) },
	}), nil
}

// export lists the feeds that the person reads as OPML, without those whose URL is a secret.
func (h *desk) export(w http.ResponseWriter, r *http.Request) {
	feeds, err := h.Shelf.Subscriptions(r.Context())
	var b bytes.Buffer
	if err == nil {
		feeds = slices.DeleteFunc(feeds, func(f reading.FollowedFeed) bool { return f.URL.Secret() })
		err = opml.Write(&b, reading.ListOf(feeds), h.Now())
	}
	if err != nil {
		h.show(w, r, h.visitor(w, r), h.failure(r, err))
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/x-opml; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="feedex.opml"`)
	header.Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes()) // a browser that went away wants none
}

// preferences are what a person settles for themselves.
func (h *desk) preferences(r *http.Request) (view, error) {
	p := preferencesPage{savingSection: h.savingSection(r.Context())}
	if viewerOf(r.Context()).settles() {
		list, err := h.Shelf.OwnPasswords(r.Context())
		if err != nil {
			return view{}, err
		}
		p.Settles = true
		for _, one := range list {
			p.Passwords = append(p.Passwords, passwordLine{Name: one.Name, Owner: one.Scope == reading.OwnerScope,
				Created: moment{one.Created, h.now(r)}, Used: moment{one.Used, h.now(r)}})
		}
	}
	return view{Page: "preferences", Title: "Settings", Nav: "/settings", Body: &p}, nil
}

// A preferencesPage is the settings of somebody who is not the owner.
type preferencesPage struct {
	Settles   bool // their passwords are listed, made and removed here
	Passwords []passwordLine
	savingSection
}

// toEntries leads to what there is to read, which is a reader's first page.
func (h *desk) toEntries(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/entries", http.StatusSeeOther)
}
