package nextcloud

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"feedex/feed"
	"feedex/reading"
	"feedex/syncapi"
)

type (
	folderObject struct {
		ID     reading.FolderID `json:"id"`
		Name   string           `json:"name"`
		Opened bool             `json:"opened"`
		Feeds  []int            `json:"feeds"` // which feeds say themselves
	}
	// A feedObject is a feed as readers want it.
	feedObject struct {
		ID       reading.FeedID    `json:"id"`
		URL      feed.URL          `json:"url"`
		Title    string            `json:"title"`
		Favicon  *string           `json:"faviconLink"` // null for none
		Added    int64             `json:"added"`       // Unix time
		Folder   *reading.FolderID `json:"folderId"`    // null for none
		Unread   int               `json:"unreadCount"`
		Ordering int               `json:"ordering"`
		Site     string            `json:"link"`
		Pinned   bool              `json:"pinned"`
		Errors   int               `json:"updateErrorCount"`
		Error    string            `json:"lastUpdateError"`
	}
	feedList struct {
		Feeds   []feedObject   `json:"feeds"`
		Starred int            `json:"starredCount"`
		Newest  reading.ItemID `json:"newestItemId,omitempty"`
	}
)

// folderOf is the one folder that a feed is shown in, 0 for none.
func folderOf(s *reading.FollowedFeed) reading.FolderID {
	if len(s.Folders) == 0 {
		return 0
	}
	return s.Folders[0].ID
}

// list is the list of all feeds that are followed, or of the one feed where that is not 0.
func (h *handler) list(r *request, only reading.FeedID) (*feedList, error) {
	ctx := r.Context()
	feeds, err := h.Library.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	l := &feedList{Feeds: []feedObject{}}
	if l.Starred, err = h.Library.Size(ctx, reading.Stream{Starred: reading.Yes}); err != nil {
		return nil, err
	}
	newest, err := h.Library.IDs(ctx, reading.Stream{}, reading.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		l.Newest = newest[0]
	}
	for i := range feeds {
		s := &feeds[i]
		if only != 0 && s.ID != only {
			continue
		}
		o := feedObject{
			ID: s.ID, URL: s.URL, Title: s.Called(), Unread: s.Unread, Site: s.Site, Errors: s.Errors,
			Error: s.Error,
		}
		if !s.Since.IsZero() {
			o.Added = s.Since.Unix()
		}
		if icon := syncapi.IconURL(r.Request, s.Icon); icon != "" {
			o.Favicon = &icon
		}
		if f := folderOf(s); f != 0 {
			o.Folder = &f
		}
		l.Feeds = append(l.Feeds, o)
	}
	return l, nil
}

func (h *handler) feeds(w http.ResponseWriter, r *request) error {
	l, err := h.list(r, 0)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, l)
}

// subscribe follows a feed. To follow one that is followed is no error: a reader that asks again gets what it wants.
func (h *handler) subscribe(w http.ResponseWriter, r *request) error {
	u, err := feed.ParseTyped(r.args.text("url"))
	if err != nil {
		return syncapi.Refuse(http.StatusUnprocessableEntity, "This is not the URL of a feed: %v", err)
	}
	a := reading.Arrangement{URL: u[0]}
	if a.Into, err = h.wanted(r); err != nil {
		return err
	}
	id, err := h.Library.Subscribe(r.Context(), u...)
	if errors.Is(err, reading.ErrNoFeed) {
		return syncapi.Refuse(http.StatusUnprocessableEntity, "%v", err)
	}
	if err != nil {
		return err
	}
	if a.URL, a.Feed = "", id; len(a.Into) > 0 {
		if err := h.Library.Arrange(r.Context(), a); err != nil {
			return err
		}
	}
	l, err := h.list(r, id)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, l)
}

// wanted is the name of the folder that the arguments name, none for that of feeds in none.
func (h *handler) wanted(r *request) ([]string, error) {
	id := reading.FolderID(r.args.number("folderId", 0))
	if id == 0 {
		return nil, nil
	}
	f, err := h.folder(r.Context(), id)
	return []string{f.Name}, err
}

func (h *handler) folder(ctx context.Context, id reading.FolderID) (reading.Folder, error) {
	folders, err := h.Library.Folders(ctx)
	if err != nil {
		return reading.Folder{}, err
	}
	i := slices.IndexFunc(folders, func(f reading.Folder) bool { return f.ID == id })
	if i < 0 {
		return reading.Folder{}, errMissing
	}
	return folders[i], nil
}

// asked is the feed that the path names.
func (h *handler) asked(r *request) (*reading.FollowedFeed, error) {
	id, err := r.number("id")
	if err != nil {
		return nil, err
	}
	return syncapi.Feed(r.Context(), h.Library, reading.FeedID(id), errMissing)
}

// refresh has a feed polled, or all that are read where feedId is 0 or not given. With Nextcloud it is the
// administrator's, whose cron updates the feed of whoever userId names; RSS Guard sends it for each feed that its user
// updates, if told to. Here it is about whoever asks: a person's programs may poll no feed but theirs.
func (h *handler) refresh(w http.ResponseWriter, r *request) error {
	only, all := reading.FeedID(r.args.number("feedId", -1)), r.args.text("feedId") == ""
	feeds, err := h.Library.Subscriptions(r.Context())
	if err != nil {
		return err
	}
	var ids []reading.FeedID
	for i := range feeds {
		if id := feeds[i].ID; all || only == 0 || only == id {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 && !all && only != 0 {
		return errMissing
	}
	said, err := h.Library.Refresh(r.Context(), ids...)
	syncapi.SayLater(w, said)
	return done(w, err)
}

func (h *handler) unsubscribe(w http.ResponseWriter, r *request) error {
	s, err := h.asked(r)
	if err == nil {
		err = h.Library.Unsubscribe(r.Context(), s.ID)
	}
	return done(w, err)
}

// moveFeed files a feed in a folder, and takes it out of all others.
func (h *handler) moveFeed(w http.ResponseWriter, r *request) error {
	s, err := h.asked(r)
	if err != nil {
		return err
	}
	a := reading.Arrangement{Feed: s.ID, Out: s.FolderNames()}
	if a.Into, err = h.wanted(r); err == nil {
		err = h.Library.Arrange(r.Context(), a)
	}
	return done(w, err)
}

func (h *handler) renameFeed(w http.ResponseWriter, r *request) error {
	s, err := h.asked(r)
	if err != nil {
		return err
	}
	name := r.args.text("feedTitle")
	return done(w, h.Library.Arrange(r.Context(), reading.Arrangement{Feed: s.ID, Name: &name}))
}

func (h *handler) folders(w http.ResponseWriter, r *request) error {
	folders, err := h.Library.Folders(r.Context())
	if err != nil {
		return err
	}
	filters, err := syncapi.FilterFolders(r.Context(), h.Library)
	if err != nil {
		return err
	}
	return replyFolders(w, append(folders, filters...))
}

func replyFolders(w http.ResponseWriter, folders []reading.Folder) error {
	list := []folderObject{}
	for _, f := range folders {
		list = append(list, folderObject{f.ID, f.Name, true, []int{}})
	}
	return reply(w, http.StatusOK, map[string][]folderObject{"folders": list})
}

func (h *handler) addFolder(w http.ResponseWriter, r *request) error {
	id, err := h.Library.AddFolder(r.Context(), r.args.text("name"))
	if err != nil {
		return err
	}
	f, err := h.folder(r.Context(), id)
	if err != nil {
		return err
	}
	return replyFolders(w, []reading.Folder{f})
}

// askedFolder is the folder that the path names.
func (h *handler) askedFolder(r *request) (reading.Folder, error) {
	id, err := r.number("id")
	if err != nil {
		return reading.Folder{}, err
	}
	if syncapi.FilterOf(reading.FolderID(id)) != 0 {
		return reading.Folder{}, syncapi.Refuse(http.StatusUnprocessableEntity, syncapi.FilterFixed)
	}
	return h.folder(r.Context(), reading.FolderID(id))
}

func (h *handler) renameFolder(w http.ResponseWriter, r *request) error {
	f, err := h.askedFolder(r)
	if err == nil {
		err = syncapi.RenameFolder(r.Context(), h.Library, f.ID, r.args.text("name"), http.StatusConflict)
	}
	return done(w, err)
}

// removeFolder removes a folder. Its feeds stay, other than with Nextcloud: what cannot be undone is not done in
// passing.
func (h *handler) removeFolder(w http.ResponseWriter, r *request) error {
	f, err := h.askedFolder(r)
	if err == nil {
		err = h.Library.RemoveFolder(r.Context(), f.ID)
	}
	return done(w, err)
}
