package feed

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseChapters(t *testing.T) {
	for text, want := range map[string][]Chapter{
		`{"version": "1.2.0", "chapters": [{"startTime": 168.9, "title": "Tides", "img": "https://x.example/a.png"},
			{"startTime": 0, "title": "Intro", "endTime": 20}, {"startTime": 30, "toc": false, "title": "A picture"},
			{"startTime": 40, "img": "https://x.example/b.png"}, {"title": "Nowhere"}, {"startTime": "50", "title": "Text"},
			{"startTime": -1, "title": "Before"}, {"startTime": 1e300, "title": "After"}, null, 7,
			{"startTime": 3600, "title": "<b>End</b>", "toc": true}]}`: {
			{0, "Intro"}, {168 * time.Second, "Tides"}, {time.Hour, "<b>End</b>"}},
		`{"chapters": [` + strings.Repeat(`{"startTime": 1, "title": "x"},`, 600) + `{}]}`: slices.Repeat(
			[]Chapter{{time.Second, "x"}}, MaxChapters),
		`{"chapters": []}`:   nil,
		`{"chapters": "no"}`: nil,
		`[]`:                 nil,
		`<!doctype html>`:    nil,
		`{"chapters": ` + strings.Repeat("[", 100_000):                                           nil,
		`{"chapters": [{"startTime": 1, "title": "x"}]}` + strings.Repeat(" ", MaxChaptersBytes): nil,
	} {
		got, err := ParseChapters([]byte(text))
		if !slices.Equal(got, want) || (want == nil) != errors.Is(err, ErrChapters) {
			t.Errorf("%.60s: %v, %v, want %v", text, got, err, want)
		}
	}
}
