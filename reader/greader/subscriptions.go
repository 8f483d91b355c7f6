package greader

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"feedex/feed"
	"feedex/reading"
	"feedex/syncapi"
)

// feedURL is the URL of a stream, or what a person may mean by what they typed.
func feedURL(s string) ([]feed.URL, error) {
	return feed.ParseTyped(strings.TrimPrefix(strings.TrimSpace(s), feedPath))
}

// quickAdd follows a feed, or the first that a page names. Its stream has the name that it has in the list.
func (h *handler) quickAdd(w http.ResponseWriter, r *request) error {
	type answer struct {
		Query  string `json:"query"`
		Found  int    `json:"numResults"`
		Stream string `json:"streamId,omitempty"`
		Name   string `json:"streamName,omitempty"`
		Error  string `json:"error,omitempty"`
	}
	query := r.params.get("quickadd")
	u, err := feedURL(query)
	if err != nil {
		return writeJSON(w, answer{Query: query, Error: err.Error()})
	}
	id, err := h.Library.Subscribe(r.Context(), u...)
	if errors.Is(err, reading.ErrNoFeed) {
		return writeJSON(w, answer{Query: query, Error: err.Error()})
	}
	if err != nil {
		return err
	}
	c, err := h.catalog(r.Context())
	if err != nil {
		return err
	}
	name := u[0].Host()
	if f := c.byID[id]; f != nil {
		name = f.Called()
	}
	return writeJSON(w, answer{Query: query, Found: 1, Stream: streamID(id), Name: name})
}

// subscriptionEdit follows feeds, follows them no more, or titles and files them. RSS Guard has all parameters in the
// query.
func (h *handler) subscriptionEdit(w http.ResponseWriter, r *request) error {
	streams := r.params.Values["s"]
	if len(streams) == 0 {
		return syncapi.Refuse(http.StatusBadRequest, "s says which feed to edit.")
	}
	into, out := labels(r.params.Values["a"]), labels(r.params.Values["r"])
	titles := r.params.Values["t"]
	for i, stream := range streams {
		var title *string
		if i < len(titles) && titles[i] != "" {
			title = &titles[i]
		}
		if err := h.edit(r, strings.TrimSpace(stream), reading.Arrangement{Name: title, Into: into,
			Out: out}); err != nil {
			return err
		}
	}
	return answer(w, nil)
}

// labels are the names of labels and folders among tags.
func labels(tags []string) (names []string) {
	for _, tag := range tags {
		if name := label(strings.TrimSpace(tag)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// edit does what a request wants with one feed.
func (h *handler) edit(r *request, stream string, a reading.Arrangement) error {
	c, err := h.catalog(r.Context())
	if err != nil {
		return err
	}
	f := c.feed(stream)
	switch action := r.params.get("ac"); {
	case action == "unsubscribe" && f == nil:
		return nil
	case action == "unsubscribe":
		return h.Library.Unsubscribe(r.Context(), f.ID)
	case action == "subscribe" && f == nil:
		u, err := feedURL(stream)
		if err == nil {
			err = c.noFolder(a.Into) // before there is a feed without
		}
		if err != nil {
			return syncapi.Refuse(http.StatusBadRequest, "%v", err)
		}
		a.Feed, err = h.Library.Subscribe(r.Context(), u...)
		if errors.Is(err, reading.ErrNoFeed) {
			return syncapi.Refuse(http.StatusBadRequest, "%v", err)
		}
		if err != nil {
			return err
		}
	case action != "subscribe" && action != "edit" && action != "":
		return syncapi.Refuse(http.StatusBadRequest, "ac is one of subscribe, unsubscribe and edit.")
	case f == nil:
		return syncapi.Refuse(http.StatusNotFound, "This feed is not followed.")
	default:
		a.Feed = f.ID
	}
	if a.Name == nil && len(a.Into)+len(a.Out) == 0 {
		return nil
	}
	return h.Library.Arrange(r.Context(), a)
}

// named is the folder or the label that a request names by s or t, 0 and 0 if there is none.
func (h *handler) named(r *request) (folder reading.FolderID, of reading.LabelID, err error) {
	c, err := h.catalog(r.Context())
	if err != nil {
		return 0, 0, err
	}
	name := cmp.Or(label(r.params.get("s")), r.params.get("t"))
	if folder, of = c.folder(name), c.label(name); folder == 0 && of == 0 && c.filter(name) != 0 {
		err = syncapi.Refuse(http.StatusBadRequest, syncapi.FilterFixed)
	}
	return folder, of, err
}

func (h *handler) renameTag(w http.ResponseWriter, r *request) error {
	name := label(r.params.get("dest"))
	if name == "" {
		return syncapi.Refuse(http.StatusBadRequest, "dest is the label's new name: user/-/label/NAME.")
	}
	folder, of, err := h.named(r)
	switch {
	case err != nil:
	case folder != 0:
		err = h.Library.RenameFolder(r.Context(), folder, name)
	case of != 0:
		err = h.Library.RenameLabel(r.Context(), of, name)
	}
	return answer(w, err)
}

func (h *handler) disableTag(w http.ResponseWriter, r *request) error {
	folder, of, err := h.named(r)
	switch {
	case err != nil:
	case folder != 0:
		err = h.Library.RemoveFolder(r.Context(), folder)
	case of != 0:
		err = h.Library.RemoveLabel(r.Context(), of)
	}
	return answer(w, err)
}

// importPath is where a list of feeds is sent, as OPML and not as a form.
const importPath = "/subscription/import"

func (h *handler) subscriptionImport(w http.ResponseWriter, r *request) error {
	return answer(w, syncapi.Import(r.Context(), h.Library, r.raw))
}

func (h *handler) subscriptionExport(w http.ResponseWriter, r *request) error {
	return syncapi.Export(r.Context(), h.Library, w, "text/x-opml; charset=utf-8")
}
