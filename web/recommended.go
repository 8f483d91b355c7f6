package web

import (
	"context"
	"net/http"
	"strconv"

	"feedex/feed"
	"feedex/reading"
)

// recommendedPath is where feeds are suggested, to which who follows one of them returns.
const recommendedPath = "/recommended"

// latestOfSuggested is how many entries are shown of a feed that is suggested.
const latestOfSuggested = 3

// recommendedPage lists feeds that neighbors with like interests follow. Nothing is fetched for it.
type recommendedPage struct {
	Feeds []suggestedFeed
}

// A suggestedFeed is a feed as the list shows it.
type suggestedFeed struct {
	RecommendedFeed
	Name   string
	Latest []headline
}

func (h *Handler) recommended(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	list, err := h.Source.Recommended(ctx)
	if err != nil {
		return view{}, err
	}
	p := new(recommendedPage)
	for _, f := range list {
		s := suggestedFeed{RecommendedFeed: f, Name: titleOf(f.Feed, f.Title)}
		if f.Number > 0 {
			latest, err := h.Shelf.Headlines(ctx, reading.HeadlineQuery{Feed: f.Number, Limit: latestOfSuggested})
			if err != nil {
				return view{}, err
			}
			s.Latest = h.headlines(latest, false, now)
		}
		p.Feeds = append(p.Feeds, s)
	}
	return view{Page: "recommended", Title: "Feeds that others like you read", Nav: "/feeds", Body: p}, nil
}

// decline has a feed suggested no more.
func (h *Handler) decline(_ http.ResponseWriter, r *http.Request) (string, error) {
	u, err := feed.ParseURL(r.PostFormValue("url"))
	if err != nil {
		return "", clientError{http.StatusBadRequest, "That is no address of a feed", err.Error() + "."}
	}
	if err := h.Source.Decline(r.Context(), u, true); err != nil {
		return "", err
	}
	return h.canUndo(r, recommendedPath, undo{What: address(u) + " is suggested no more.", Back: recommendedPath,
		undo: func(ctx context.Context) error { return h.Source.Decline(ctx, u, false) }}), nil
}

// Why says who follows the feed.
func (f suggestedFeed) Why() string {
	others := count(f.Of, "like-minded neighbor", "like-minded neighbors")
	return strconv.Itoa(f.Followers) + " of your " + others + " follow it; they share " +
		count(f.Shared, "feed", "feeds") + " with you."
}
