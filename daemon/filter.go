package daemon

import (
	"time"

	"feedex/feed"
)

// A searchRequest is a feed.Filter in JSON.
type searchRequest struct {
	Feed      feed.URL  `json:"feed,omitempty"`
	Words     []string  `json:"words,omitempty"`
	Title     []string  `json:"title,omitempty"`
	Match     string    `json:"match,omitempty"` // as feed.ParseMatch reads it
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	IDs       []string  `json:"ids,omitempty"`
	Limit     int       `json:"limit,omitempty"`
	Relevance bool      `json:"relevance,omitempty"`
	Dated     bool      `json:"dated,omitempty"`
	Shareable bool      `json:"shareable,omitempty"`
	NoSecrets bool      `json:"no_secrets,omitempty"`
}

func newSearch(f feed.Filter) searchRequest {
	s := searchRequest{
		Feed: f.Feed, Words: f.Words, Title: f.Title, Since: f.Since, Until: f.Until,
		Match: f.Match.String(), Limit: f.Limit, Relevance: f.Relevance, Dated: f.Dated, Shareable: f.Shareable,
		NoSecrets: f.NoSecrets,
	}
	for _, id := range f.IDs {
		s.IDs = append(s.IDs, id.String())
	}
	return s
}

// filter is the inverse of newSearch. It fails on a malformed id or match.
func (s *searchRequest) filter() (feed.Filter, error) {
	f := feed.Filter{
		Feed: s.Feed, Words: s.Words, Title: s.Title, Since: s.Since, Until: s.Until,
		Limit: s.Limit, Relevance: s.Relevance, Dated: s.Dated, Shareable: s.Shareable,
		NoSecrets: s.NoSecrets,
	}
	if s.Match != "" {
		m, err := feed.ParseMatch(s.Match)
		if err != nil {
			return feed.Filter{}, err
		}
		f.Match = m
	}
	for _, text := range s.IDs {
		id, err := feed.ParseEntryID(text)
		if err != nil {
			return feed.Filter{}, err
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}
