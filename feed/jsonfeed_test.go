package feed_test

import (
	"fmt"
	"testing"

	"feedex/feed"
)

// The size of a file is what its publisher says, in whatever way, and none where that is no number.
func TestSizesOfJSONFeed(t *testing.T) {
	for said, want := range map[string]int64{
		`12`: 12, `"12"`: 12, `12.9`: 12, `"1e3"`: 1000, `9007199254740993`: 1<<53 + 1, `"9007199254740993"`: 1<<53 + 1,
		`"NaN"`: 0, `"-Inf"`: 0, `1e300`: 0, `"x"`: 0, `null`: 0,
	} {
		text := fmt.Sprintf(`{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [{"id": "1",
			"title": "T", "tags": "x", "attachments": [{"url": "https://example.com/a.mp3", "mime_type": "audio/mpeg",
			"size_in_bytes": %s}]}]}`, said)
		doc, err := feed.Parse(goldenURL, "", []byte(text), goldenTime)
		if err != nil || len(doc.Entries) != 1 || len(doc.Entries[0].Enclosures) != 1 ||
			doc.Entries[0].Enclosures[0].Length != want {
			t.Errorf("%s: %+v, %v; want %d", said, doc, err, want)
		}
	}
}
