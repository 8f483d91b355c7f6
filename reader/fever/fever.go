// Package fever lets feed readers in that speak the Fever API, version 3: they read, mark and star, and see folders as
// groups; to subscribe is not part of that API. A reader that is asked for a server takes
//
//	http://127.0.0.1:7791/fever/
//
// together with the name of an app password as its user, and that password. Of these two the reader makes a key, which
// is in every request. There is no specification that all of them keep to, so this follows what they really send:
// selectors and arguments come in the query, in the body, or in both.
package fever

import (
	"context"
	"net/http"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

type handler struct {
	syncapi.Config
	Library reading.Library // of the person who asks; nil before somebody came in
	text    reading.Text
}

// Paths lists the beginnings of the paths at which the handler serves. The last is where FreshRSS has it.
func Paths() []string { return []string{"/fever", "/api/fever.php"} }

// New makes the handler. It answers whatever path it stands at.
func New(cfg syncapi.Config) http.Handler {
	return syncapi.Guard(&handler{Config: cfg.WithDefaults(), text: reading.NewText()})
}

// version is that of the API.
const version = 3

// An answer holds what was selected. Its lists are nil where they were not, and empty where there is nothing in them.
type answer struct {
	Version   int        `json:"api_version"`
	Auth      int        `json:"auth"`
	Refreshed int64      `json:"last_refreshed_on_time"` // Unix time
	Groups    []group    `json:"groups,omitzero"`
	Feeds     []feed     `json:"feeds,omitzero"`
	Members   []member   `json:"feeds_groups,omitzero"`
	Favicons  []favicon  `json:"favicons,omitzero"`
	Total     *int       `json:"total_items,omitempty"`
	Links     []struct{} `json:"links,omitzero"` // those of the "hot" page, which the node does not have
	Unread    *string    `json:"unread_item_ids,omitempty"`
	Saved     *string    `json:"saved_item_ids,omitempty"`

	items []reading.ItemID // which follow
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		h.fail(w, syncapi.Refuse(http.StatusMethodNotAllowed, "Only GET and POST work here."))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	asked, err := parse(w, r)
	if err != nil {
		h.fail(w, syncapi.Refuse(http.StatusBadRequest, "The body cannot be read: %v", err))
		return
	}
	visitor, err := h.Entrance.FeverVisitor(r.Context(), asked.value("api_key"))
	switch {
	case err != nil:
	case visitor.Name == "":
		// a reader that may not come in learns no more than this, with status 200
		err = syncapi.Reply(w, http.StatusOK, jsonType, struct {
			Version int `json:"api_version"`
			Auth    int `json:"auth"`
		}{version, 0})
	default:
		personal := *h
		personal.Library = visitor.Library
		err = personal.serve(w, r, asked)
	}
	if err != nil {
		h.fail(w, err)
	}
}

const jsonType = "application/json; charset=utf-8"

// serve answers a reader that may come in: with the items, which are the last in the answer, as they come out of the
// archive.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, asked values) error {
	a, err := h.answer(r.Context(), asked)
	if err != nil {
		return err
	}
	if !asked.has("items") {
		return syncapi.Reply(w, http.StatusOK, jsonType, a)
	}
	head, err := syncapi.JSON(a)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", jsonType)
	begun, err := syncapi.List(w, strings.TrimSuffix(string(head), "}\n")+`,"items":[`+"\n",
		h.Library.Items(r.Context(), a.items), func(i *reading.Item) any { return h.item(i) }, "]}\n")
	return syncapi.Whole(r.Context(), h.Log, begun, err)
}

// answer does what is asked and then gathers what is selected.
func (h *handler) answer(ctx context.Context, asked values) (*answer, error) {
	if asked.has("mark") {
		if err := h.mark(ctx, asked); err != nil {
			return nil, err
		}
	}
	feeds, err := h.Library.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	a := &answer{Version: version, Auth: 1}
	for i := range feeds {
		if polled := feeds[i].Polled; !polled.IsZero() {
			a.Refreshed = max(a.Refreshed, polled.Unix())
		}
	}
	if asked.has("groups") {
		if a.Groups, err = h.groups(ctx, feeds); err != nil {
			return nil, err
		}
	}
	if asked.has("feeds") {
		a.Feeds = h.feeds(feeds)
	}
	if asked.has("groups") || asked.has("feeds") {
		a.Members = members(feeds)
	}
	if asked.has("favicons") {
		if a.Favicons, err = h.favicons(ctx, feeds); err != nil {
			return nil, err
		}
	}
	if asked.has("items") {
		if err := h.items(ctx, a, asked); err != nil {
			return nil, err
		}
	}
	if asked.has("links") {
		a.Links = []struct{}{}
	}
	if asked.has("unread_item_ids") {
		if a.Unread, err = h.ids(ctx, reading.Stream{Read: reading.No}); err != nil {
			return nil, err
		}
	}
	if asked.has("saved_item_ids") {
		if a.Saved, err = h.ids(ctx, reading.Stream{Starred: reading.Yes}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// fail answers a request that was not.
func (h *handler) fail(w http.ResponseWriter, err error) {
	no := syncapi.Refused(w, err, http.StatusBadRequest, h.Log, "answer a reader of the Fever API")
	if no.Code == http.StatusTooManyRequests {
		no.Why += "."
	}
	http.Error(w, no.Why, no.Code)
}
