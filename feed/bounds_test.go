package feed_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"feedex/feed"
)

// Entries of any length are read within bounds, and as many as there are: those that begin alike stay apart, and have
// the same ids the next time, whatever is edited in the text.
func TestLongFieldsAreCut(t *testing.T) {
	long := strings.Repeat("ä", 250_000)
	const link = "http://example.com/"
	for name, item := range map[string]string{
		"guid":  "<item><guid>" + long + "%d</guid></item>",
		"title": "<item><title>" + long + "%d</title></item>",
		"link":  "<item><title>a</title><link>" + link + long + "%d</link></item>",
		"copy": "<item><guid>%d</guid><category>" + long + "</category><source url='http://a/" + long + "'>" + long +
			"</source></item>",
	} {
		var ids []feed.EntryID
		for _, edited := range []string{"", "<description>edited</description>"} {
			text := "<title>" + long + "</title><link>http://a/" + long + "</link>"
			for i := range 2 {
				text += strings.Replace(fmt.Sprintf(item, i), "</item>", edited+"</item>", 1)
			}
			doc, err := feed.Parse(goldenURL, "", []byte(channel(text)), goldenTime)
			if err != nil || len(doc.Entries) != 2 {
				t.Fatalf("%s: %v", name, err)
			}
			if n := len(fmt.Sprint(doc)); n > 60_000 || !utf8.ValidString(fmt.Sprint(doc)) {
				t.Errorf("%s: %d bytes stay", name, n)
			}
			for i := range doc.Entries {
				e := &doc.Entries[i]
				ids = append(ids, e.EntryID())
				if name == "link" && len(e.Link) <= feed.MaxLinkBytes {
					t.Errorf("of a link so much stays as leads to somewhere else: %d bytes", len(e.Link))
				}
			}
		}
		if ids[0] == ids[1] || ids[0] != ids[2] || ids[1] != ids[3] {
			t.Errorf("%s: ids are %v", name, ids)
		}
	}
	for _, most := range []feed.Entry{{ID: strings.Repeat("a", 4096)}, {Title: strings.Repeat("a", 8192)},
		{Link: link + strings.Repeat("a", 4096-len(link))}} {
		doc, err := feed.Parse(goldenURL, "", []byte(channel("<item><guid>"+most.ID+"</guid><title>"+most.Title+
			"</title><link>"+most.Link+"</link></item>")), goldenTime)
		if most.Feed = goldenURL; err != nil || !doc.Entries[0].Equal(&most) {
			t.Errorf("%.30v: %.30v, %v", most, doc, err)
		}
	}
}
