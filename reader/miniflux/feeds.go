package miniflux

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedex/discover"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
	"feedex/syncapi"
)

// A feedObject is a feed as readers want it.
type feedObject struct {
	ID       reading.FeedID `json:"id"`
	User     int            `json:"user_id"`
	URL      feed.URL       `json:"feed_url"`
	Site     string         `json:"site_url"`
	Title    string         `json:"title"`
	Checked  time.Time      `json:"checked_at"`
	Error    string         `json:"parsing_error_message"`
	Errors   int            `json:"parsing_error_count"`
	Disabled bool           `json:"disabled"`
	Crawler  bool           `json:"crawler"`
	Hidden   bool           `json:"hide_globally"`
	Category category       `json:"category"`
	Icon     *iconRef       `json:"icon"` // null for none
}

func (h *handler) feedObject(s *reading.FollowedFeed) feedObject {
	o := feedObject{
		ID: s.ID, User: self, URL: s.URL, Site: s.Site, Title: s.Called(),
		Checked: s.Polled.UTC().Truncate(time.Second), Error: s.Error, Errors: s.Errors, Category: categoryOf(s),
		Crawler: s.FullText,
	}
	if s.Icon.ID != 0 {
		o.Icon = &iconRef{s.ID, s.Icon.ID}
	}
	return o
}

func (h *handler) feeds(w http.ResponseWriter, r *http.Request) error {
	return h.feedList(w, r, category{})
}

// feedList answers with the feeds of a category, or with all where that is none.
func (h *handler) feedList(w http.ResponseWriter, r *http.Request, in category) error {
	feeds, err := h.Library.Subscriptions(r.Context())
	if err != nil {
		return err
	}
	list := []feedObject{}
	for i := range feeds {
		if o := h.feedObject(&feeds[i]); in.ID == 0 || o.Category.ID == in.ID {
			list = append(list, o)
		}
	}
	return reply(w, http.StatusOK, list)
}

// asked is the feed that the path names. The error is errMissing where it is not followed.
func (h *handler) asked(r *http.Request) (*reading.FollowedFeed, error) {
	n, err := id[reading.FeedID](r, "feed")
	if err != nil {
		return nil, err
	}
	return syncapi.Feed(r.Context(), h.Library, n, errMissing)
}

func (h *handler) feed(w http.ResponseWriter, r *http.Request, s *reading.FollowedFeed) error {
	return reply(w, http.StatusOK, h.feedObject(s))
}

func (h *handler) subscribe(w http.ResponseWriter, r *http.Request) error {
	var wish struct {
		URL      string           `json:"feed_url"`
		Category reading.FolderID `json:"category_id"`
		Crawler  bool             `json:"crawler"`
	}
	if err := body(w, r, &wish); err != nil {
		return err
	}
	u, err := feed.ParseTyped(wish.URL)
	if err != nil {
		return refuse("This is not the URL of a feed: %v", err)
	}
	a := reading.Arrangement{URL: u[0]}
	if wish.Category != 0 && wish.Category != unfiled {
		c, err := h.folder(r.Context(), wish.Category)
		if err != nil {
			return err
		}
		a.Into = []string{c.Title}
	}
	n, err := h.Library.Subscribe(r.Context(), u...)
	if err != nil {
		return unfound(err)
	}
	if wish.Crawler {
		a.FullText = &wish.Crawler
	}
	if a.URL, a.Feed = "", n; len(a.Into) > 0 || wish.Crawler {
		if err := h.Library.Arrange(r.Context(), a); err != nil {
			return err
		}
	}
	return reply(w, http.StatusCreated, map[string]reading.FeedID{"feed_id": n})
}

// unfound is Miniflux's answer where there is no feed at an address.
func unfound(err error) error {
	if errors.Is(err, reading.ErrNoFeed) || errors.Is(err, reading.ErrUnread) {
		return syncapi.Refuse(http.StatusInternalServerError, "%v", err)
	}
	return err
}

// discover lists the feeds that are at an address, for readers that ask before they follow one.
func (h *handler) discover(w http.ResponseWriter, r *http.Request) error {
	type found struct {
		Title string   `json:"title"`
		URL   feed.URL `json:"url"`
		Type  string   `json:"type"`
	}
	var wish struct {
		URL string `json:"url"`
	}
	if err := body(w, r, &wish); err != nil {
		return err
	}
	u, err := feed.ParseTyped(wish.URL)
	if err != nil {
		return refuse("This is no URL: %v", err)
	}
	var feeds []discover.SiteFeed
	for _, try := range u {
		if feeds, err = h.Library.Discover(r.Context(), try); !errors.Is(err, reading.ErrUnread) {
			break
		}
	}
	if errors.Is(err, reading.ErrNoFeed) {
		return errMissing
	}
	if err != nil {
		return unfound(err)
	}
	list := []found{}
	for _, f := range feeds {
		list = append(list, found{cmp.Or(safehtml.Label(f.Title), safehtml.Inert(string(f.URL))), f.URL,
			kindOf(f.Type)})
	}
	return reply(w, http.StatusOK, list)
}

// kindOf is the name that Miniflux has for a media type.
func kindOf(mediaType string) string {
	switch {
	case strings.Contains(mediaType, "atom"):
		return "atom"
	case strings.Contains(mediaType, "json"):
		return "json"
	}
	return "rss"
}

// changeFeed titles a feed, says whether its full texts are fetched, and moves it to a category, which takes it out of
// all folders that it was in. Fields that are sent as they were stay as they are.
func (h *handler) changeFeed(w http.ResponseWriter, r *http.Request, s *reading.FollowedFeed) error {
	var wish struct {
		Title    *string           `json:"title"`
		Category *reading.FolderID `json:"category_id"`
		Crawler  *bool             `json:"crawler"`
		Address  *string           `json:"feed_url"`
		Disabled bool              `json:"disabled"`
	}
	if err := body(w, r, &wish); err != nil {
		return err
	}
	if wish.Disabled || wish.Address != nil && elsewhere(*wish.Address, s.URL) {
		return refuse("A feed is neither paused nor given another address here: unsubscribe from it instead.")
	}
	a := reading.Arrangement{Feed: s.ID, FullText: wish.Crawler}
	if wish.Title != nil && *wish.Title != s.Called() {
		a.Name = wish.Title
	}
	if to := wish.Category; to != nil && *to != categoryOf(s).ID {
		a.Out = s.FolderNames()
		if *to != unfiled {
			c, err := h.folder(r.Context(), *to)
			if err != nil {
				return err
			}
			a.Into = []string{c.Title}
		}
	}
	if err := h.Library.Arrange(r.Context(), a); err != nil {
		return err
	}
	s, err := syncapi.Feed(r.Context(), h.Library, s.ID, errMissing)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, h.feedObject(s))
}

// elsewhere reports whether what a reader sends as a feed's address is another one: no other spelling, as the feed may
// have had when the reader asked (courtesy.Move).
func elsewhere(text string, u feed.URL) bool {
	given, err1 := url.Parse(strings.TrimSpace(text))
	known, err2 := url.Parse(string(u))
	return err1 != nil || err2 != nil || !feed.SameButSpelling(given, known)
}

func (h *handler) unsubscribe(w http.ResponseWriter, r *http.Request, s *reading.FollowedFeed) error {
	return done(w, h.Library.Unsubscribe(r.Context(), s.ID))
}

// counters are the numbers of unread entries by the feeds' ids. Those of read ones nobody has asked for yet.
func (h *handler) counters(w http.ResponseWriter, r *http.Request) error {
	feeds, err := h.Library.Subscriptions(r.Context())
	if err != nil {
		return err
	}
	unread := make(map[string]int)
	for i := range feeds {
		if f := &feeds[i]; f.Unread > 0 {
			unread[strconv.FormatInt(int64(f.ID), 10)] = f.Unread
		}
	}
	return reply(w, http.StatusOK, map[string]map[string]int{"reads": {}, "unreads": unread})
}
