package feed

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Chapter is a part of what an entry has to be heard or seen.
type Chapter struct {
	Start time.Duration // whole seconds
	Title string        // as it was published
}

// ErrChapters is wrapped by what ParseChapters says of a text that has none.
var ErrChapters = errors.New("what is there are no chapters")

// Bounds of a file of chapters. Podcasts of many hours have a hundred, in some dozen kilobytes.
const (
	MaxChaptersBytes = 512 << 10
	MaxChapters      = 500 // the first ones stay
)

// ParseChapters reads a file of chapters (https://github.com/Podcastindex-org/podcast-namespace/, "JSON Chapters"), in
// the order in which they begin. Those that have no title, or that are not for a table of contents, are left out.
func ParseChapters(text []byte) ([]Chapter, error) {
	var file struct {
		Chapters []json.RawMessage `json:"chapters"`
	}
	if len(text) > MaxChaptersBytes {
		return nil, fmt.Errorf("%w: more than %d KiB", ErrChapters, MaxChaptersBytes>>10)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%w of a form that is known", ErrChapters)
	}
	var list []Chapter
	for _, raw := range file.Chapters {
		var c struct {
			Start *float64 `json:"startTime"`
			Title string   `json:"title"`
			TOC   *bool    `json:"toc"`
		}
		if json.Unmarshal(raw, &c) != nil || c.Start == nil || *c.Start < 0 || *c.Start > MaxDuration.Seconds() ||
			strings.TrimSpace(c.Title) == "" || c.TOC != nil && !*c.TOC {
			continue
		}
		if list = append(list, Chapter{time.Duration(*c.Start) * time.Second, c.Title}); len(list) == MaxChapters {
			break
		}
	}
	if len(list) == 0 {
		return nil, ErrChapters
	}
	slices.SortStableFunc(list, func(a, b Chapter) int { return cmp.Compare(a.Start, b.Start) })
	return list, nil
}
