package miniflux

import (
	"context"
	"net/http"
	"slices"

	"feedex/reading"
	"feedex/syncapi"
)

// A category is a folder as readers want it.
type category struct {
	ID     reading.FolderID `json:"id"`
	User   int              `json:"user_id"`
	Title  string           `json:"title"`
	Hidden bool             `json:"hide_globally"`
	Feeds  *int             `json:"feed_count,omitempty"`
	Unread *int             `json:"total_unread,omitempty"`
}

// The category of the feeds that are in no folder: with Miniflux every feed is in one.
const (
	unfiled      reading.FolderID = 1<<31 - 1
	unfiledTitle                  = "Without a folder"
)

// categoryOf is the one category that a feed is shown in.
func categoryOf(s *reading.FollowedFeed) category {
	if len(s.Folders) == 0 {
		return category{ID: unfiled, User: self, Title: unfiledTitle}
	}
	return category{ID: s.Folders[0].ID, User: self, Title: s.Folders[0].Name}
}

// folders are all categories. The one of the feeds in no folder is always there, because a reader may want to move one
// there. Filters are categories too, at the end, with entries and without feeds.
func (h *handler) folders(ctx context.Context) ([]category, error) {
	folders, err := h.Library.Folders(ctx)
	if err != nil {
		return nil, err
	}
	var list []category
	for _, f := range folders {
		list = append(list, category{ID: f.ID, User: self, Title: f.Name})
	}
	list = append(list, category{ID: unfiled, User: self, Title: unfiledTitle})
	filters, err := syncapi.FilterFolders(ctx, h.Library)
	for _, f := range filters {
		list = append(list, category{ID: f.ID, User: self, Title: f.Name})
	}
	return list, err
}

// folder is a category. The error is errMissing where there is none of that number.
func (h *handler) folder(ctx context.Context, id reading.FolderID) (category, error) {
	list, err := h.folders(ctx)
	if err != nil {
		return category{}, err
	}
	i := slices.IndexFunc(list, func(c category) bool { return c.ID == id })
	if i < 0 {
		return category{}, errMissing
	}
	return list[i], nil
}

// askedFolder is the category that the path names.
func (h *handler) askedFolder(r *http.Request) (category, error) {
	n, err := id[reading.FolderID](r, "category")
	if err != nil {
		return category{}, err
	}
	return h.folder(r.Context(), n)
}

func (h *handler) categories(w http.ResponseWriter, r *http.Request) error {
	list, err := h.folders(r.Context())
	if err == nil && r.URL.Query().Get("counts") == "true" {
		err = h.count(r.Context(), list)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, list)
}

// count adds how many feeds and unread entries the categories have.
func (h *handler) count(ctx context.Context, list []category) error {
	feeds, err := h.Library.Subscriptions(ctx)
	if err != nil {
		return err
	}
	caught, err := h.Library.FilterCounts(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Feeds, list[i].Unread = new(int), new(int)
		for _, n := range caught {
			if syncapi.FolderOf(n.Of) == list[i].ID {
				*list[i].Unread = n.Unread
			}
		}
		for j := range feeds {
			if categoryOf(&feeds[j]).ID == list[i].ID {
				*list[i].Feeds++
				*list[i].Unread += feeds[j].Unread
			}
		}
	}
	return nil
}

func (h *handler) category(w http.ResponseWriter, r *http.Request, c category) error {
	return reply(w, http.StatusOK, c)
}

// A categoryWish is the body of a request for a category.
type categoryWish struct {
	Title string `json:"title"`
}

func (h *handler) addCategory(w http.ResponseWriter, r *http.Request) error {
	var wish categoryWish
	if err := body(w, r, &wish); err != nil {
		return err
	}
	n, err := h.Library.AddFolder(r.Context(), wish.Title)
	if err != nil {
		return err
	}
	c, err := h.folder(r.Context(), n)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, c)
}

// errFixed is for the category that is no folder.
var errFixed = refuse("The feeds in %q are in no folder: it can neither be renamed nor removed.", unfiledTitle)

// fixed says why a category cannot be changed.
func fixed(id reading.FolderID) error {
	switch {
	case id == unfiled:
		return errFixed
	case syncapi.FilterOf(id) != 0:
		return refuse(syncapi.FilterFixed)
	}
	return nil
}

func (h *handler) renameCategory(w http.ResponseWriter, r *http.Request, c category) error {
	var wish categoryWish
	if err := body(w, r, &wish); err != nil {
		return err
	}
	if err := fixed(c.ID); err != nil {
		return err
	}
	if err := syncapi.RenameFolder(r.Context(), h.Library, c.ID, wish.Title, http.StatusBadRequest); err != nil {
		return err
	}
	var err error
	if c.Title, err = reading.FolderName(wish.Title); err != nil {
		return err
	}
	return reply(w, http.StatusCreated, c)
}

// removeCategory removes a folder and leaves its feeds followed.
func (h *handler) removeCategory(w http.ResponseWriter, r *http.Request, c category) error {
	if err := fixed(c.ID); err != nil {
		return err
	}
	return done(w, h.Library.RemoveFolder(r.Context(), c.ID))
}
