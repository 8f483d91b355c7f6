package reading_test

import (
	"testing"

	"feedex/feed"
	"feedex/reading"
)

// Titles are never empty, with the owner's own before the publisher's.
func TestTitles(t *testing.T) {
	for _, c := range []struct {
		s    reading.FollowedFeed
		want string
	}{
		{reading.FollowedFeed{URL: "u", Title: "A & B", Name: "Mine"}, "Mine"},
		{reading.FollowedFeed{URL: "u", Title: "A & B"}, "A & B"},
		{reading.FollowedFeed{URL: "https://example.com/?a=1&lt=2"}, "https://example.com/?a=1＆lt=2"},
	} {
		if got := c.s.Called(); got != c.want {
			t.Errorf("%+v is called %q, want %q", c.s, got, c.want)
		}
	}
	for _, c := range []struct {
		e    feed.Entry
		want string
	}{
		{feed.Entry{Title: "1 < 2", Link: "l"}, "1 < 2"},
		{feed.Entry{Link: "https://example.com/?a=1&lt=2"}, "https://example.com/?a=1＆lt=2"},
		{feed.Entry{}, "(no title)"},
		{feed.Entry{Link: "https://example.com/", Summary: "<p>A short &lt;b&gt; post</p>"}, "A short ＜b＞ post"},
	} {
		i := reading.Item{Entry: c.e}
		if got := reading.NewText().Title(&i); got != c.want {
			t.Errorf("%+v has the title %q, want %q", c.e, got, c.want)
		}
	}
}

func TestHTML(t *testing.T) {
	text := reading.NewText()
	i := reading.Item{Entry: feed.Entry{Feed: "https://example.com/feed",
		Summary: `<a href="/a">s</a><script>x</script>`, Authors: []string{"A", "B"}}}
	if got, want := text.HTML(&i), `<a href="https://example.com/a">s</a>`; got != want {
		t.Errorf("HTML = %q, want %q", got, want)
	}
	i.Entry.Content, i.Entry.Link = `<img src="b.png">`, "https://example.org/x/y"
	if got, want := text.HTML(&i), `<img src="https://example.org/x/b.png">`; got != want {
		t.Errorf("HTML = %q, want %q", got, want)
	}
	if i.Author() != "A, B" || i.Link() != "https://example.org/x/y" {
		t.Errorf("Author %q, Link %q", i.Author(), i.Link())
	}
}
