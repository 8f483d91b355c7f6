package reading_test

import (
	"fmt"
	"slices"
	"testing"

	"feedex/reading"
)

// A list has titles of the owner's own, and a feed in each folder that it is in.
func TestList(t *testing.T) {
	feeds := []reading.FollowedFeed{
		{URL: "https://example.org/?a=1&b=2", Title: "Storms & more"},
		{URL: "https://example.com/feed.xml", Name: "Mine", Title: "Theirs", Site: "https://example.com/",
			Folders: []reading.Folder{{ID: 1, Name: "A"}, {ID: 2, Name: "B › C"}}},
		{URL: "https://example.net/?token=abc123"},
	}
	var got []string
	for _, f := range reading.ListOf(feeds).Feeds {
		got = append(got, fmt.Sprintf("%s %q %q %q", f.URL, f.Title, f.Site, f.Folder))
	}
	want := []string{
		`https://example.com/feed.xml "Mine" "https://example.com/" ["A"]`,
		`https://example.com/feed.xml "Mine" "https://example.com/" ["B" "C"]`,
		`https://example.net/?token=abc123 "" "" []`, `https://example.org/?a=1&b=2 "Storms & more" "" []`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
