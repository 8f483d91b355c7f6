package reading_test

import (
	"testing"

	"feedex/feed"
	"feedex/reading"
)

// Titles are plain text and never empty, with the owner's own before the publisher's.
func TestTitles(t *testing.T) {
	text := reading.NewText()
	for _, c := range []struct {
		s    reading.Subscription
		want string
	}{
		{reading.Subscription{URL: "u", Title: "A &amp; <b>B</b>\n C", Name: "Mine"}, "Mine"},
		{reading.Subscription{URL: "u", Title: "A &amp; <b>B</b>\n C"}, "A & B C"},
		{reading.Subscription{URL: "u", Title: " \n"}, "u"},
	} {
		if got := text.TitleOf(&c.s); got != c.want {
			t.Errorf("TitleOf(%+v) = %q, want %q", c.s, got, c.want)
		}
	}
	for _, c := range []struct {
		e    feed.Entry
		want string
	}{
		{feed.Entry{Title: "map<string> of 1 < 2", Link: "l"}, "map<string> of 1 < 2"},
		{feed.Entry{Title: "x &lt;y&gt;"}, "x <y>"},
		{feed.Entry{Title: "<br>", Link: "l"}, "l"},
		{feed.Entry{}, "(no title)"},
	} {
		if got := text.Title(&reading.Item{Entry: c.e}); got != c.want {
			t.Errorf("Title(%+v) = %q, want %q", c.e, got, c.want)
		}
	}
}

func TestHTML(t *testing.T) {
	text := reading.NewText()
	i := reading.Item{Entry: feed.Entry{Feed: "https://example.com/feed", Summary: `<a href="/a">s</a><script>x</script>`, Authors: []string{"A", "B"}}}
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
