package fever

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

type (
	group struct {
		ID    reading.FolderID `json:"id"`
		Title string           `json:"title"`
	}
	feed struct {
		ID      reading.FeedID `json:"id"`
		Favicon reading.IconID `json:"favicon_id"`
		Title   string         `json:"title"`
		URL     string         `json:"url"`
		Site    string         `json:"site_url"`
		Spark   int            `json:"is_spark"`
		Updated int64          `json:"last_updated_on_time"` // Unix time
	}
	// A favicon is the picture of feeds.
	favicon struct {
		ID   reading.IconID `json:"id"`
		Data string         `json:"data"`
	}
	// A member is a group with its feeds.
	member struct {
		Group reading.FolderID `json:"group_id"`
		Feeds string           `json:"feed_ids"` // separated by commas
	}
)

// The group of the feeds that are in no folder. There must be one: readers take a feed without a group for gone, or
// fail.
const (
	unfiled      reading.FolderID = 1<<31 - 1
	unfiledTitle                  = "Without a folder"
)

// groups are the folders, and that of the feeds in none if there are such.
func (h *handler) groups(ctx context.Context, feeds []reading.FollowedFeed) ([]group, error) {
	folders, err := h.Library.Folders(ctx)
	if err != nil {
		return nil, err
	}
	list := []group{}
	for _, f := range folders {
		list = append(list, group{f.ID, f.Name})
	}
	if slices.ContainsFunc(feeds, func(s reading.FollowedFeed) bool { return len(s.Folders) == 0 }) {
		list = append(list, group{unfiled, unfiledTitle})
	}
	return list, nil
}

func (h *handler) feeds(feeds []reading.FollowedFeed) []feed {
	list := []feed{}
	for i := range feeds {
		s := &feeds[i]
		f := feed{ID: s.ID, Favicon: s.Icon.ID, Title: s.Called(), URL: string(s.URL), Site: s.Site}
		if !s.Polled.IsZero() {
			f.Updated = s.Polled.Unix()
		}
		list = append(list, f)
	}
	return list
}

// maxFavicons is how many bytes of pictures an answer has: it is held in memory twice.
const maxFavicons = 16 << 20

// favicons are the pictures of the feeds, each once.
func (h *handler) favicons(ctx context.Context, feeds []reading.FollowedFeed) ([]favicon, error) {
	list, size := []favicon{}, 0
	seen := map[reading.IconID]bool{0: true}
	for i := range feeds {
		id := feeds[i].Icon.ID
		if seen[id] {
			continue
		}
		seen[id] = true
		icon, err := h.Library.Icon(ctx, id)
		if err != nil {
			return nil, err
		}
		if size += len(icon.Content); icon.ID == 0 || size > maxFavicons {
			continue
		}
		_, data := syncapi.IconData(&icon)
		list = append(list, favicon{id, data})
	}
	return list, nil
}

// members says which feeds are in which group: each in one at least.
func members(feeds []reading.FollowedFeed) []member {
	in := make(map[reading.FolderID][]string)
	for i := range feeds {
		id := strconv.FormatInt(int64(feeds[i].ID), 10)
		for _, f := range feeds[i].Folders {
			in[f.ID] = append(in[f.ID], id)
		}
		if len(feeds[i].Folders) == 0 {
			in[unfiled] = append(in[unfiled], id)
		}
	}
	list := []member{}
	for id, ids := range in {
		list = append(list, member{id, strings.Join(ids, ",")})
	}
	slices.SortFunc(list, func(a, b member) int { return cmp.Compare(a.Group, b.Group) })
	return list
}
