package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"feedex/reading"
)

// A bulletin is what a receiver is told at one time, of one entry or of several.
type bulletin struct {
	// id is the same when the same is sent again, and another where more came meanwhile: who drops what they have had
	// would lose that.
	id       string
	messages []reading.Message // the oldest first; none where somebody tries the receiver
	more     int               // so many entries there are beside them
}

// What others wrote of an entry is told as far as this, in bytes. A link that is longer is left out.
const (
	maxTitle = 300
	maxName  = 100
	maxLink  = 2000
)

// maxLines is of how many entries a bulletin for people has the titles.
const maxLines = 20

// newBulletin makes one, whose id begins so.
func newBulletin(idOf string, messages []reading.Message, more int) *bulletin {
	for i := range messages {
		m := &messages[i]
		m.Title, m.Feed = shortened(m.Title, maxTitle), shortened(m.Feed, maxName)
		m.Filter = shortened(m.Filter, maxName)
		if len(m.Link) > maxLink {
			m.Link = ""
		}
	}
	return &bulletin{
		id:       fmt.Sprintf("%s-%d-%d", idOf, messages[0].ID, messages[len(messages)-1].ID),
		messages: messages,
		more:     more,
	}
}

// title is one line: of one entry its title, of several how many there are and what caught them.
func (b *bulletin) title() string {
	switch {
	case len(b.messages) == 0:
		return "feedex can reach you"
	case len(b.messages)+b.more == 1:
		return called(&b.messages[0])
	}
	return shortened(fmt.Sprintf("%d entries: %s", len(b.messages)+b.more, strings.Join(b.filters(), ", ")), maxTitle)
}

// bare is the bulletin without what others wrote, all of it or of what is not confirmed.
func (b *bulletin) bare(all bool) *bulletin {
	bare := &bulletin{id: b.id, messages: slices.Clone(b.messages), more: b.more}
	for i := range bare.messages {
		if m := &bare.messages[i]; all || m.Unconfirmed {
			m.Title, m.Feed, m.Link = "An entry that cannot be told here", "", ""
		}
	}
	return bare
}

// text is what stands below the title.
func (b *bulletin) text() string { return b.lines(false) }

// lines are the text, with the pages of the entries where it is all that people see of a bulletin.
func (b *bulletin) lines(links bool) string {
	if len(b.messages) == 0 {
		return "This is what you asked for: a message to see that it comes."
	}
	var lines []string
	for i := range b.latest() {
		m := &b.messages[len(b.messages)-1-i]
		line, from := "• "+called(m), source(m)
		switch {
		case len(b.messages)+b.more == 1:
			line = strings.TrimPrefix(from+" · "+m.Filter, " · ")
		case m.Title == "":
			line = "• " + from
		case from != "":
			line += " (" + from + ")"
		}
		if links && m.Link != "" {
			line += " " + m.Link
		}
		lines = append(lines, line)
	}
	if rest := len(b.messages) + b.more - len(lines); rest > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(lines, "\n")
}

// latest is how many of the messages have a line of their own.
func (b *bulletin) latest() int { return min(len(b.messages), maxLines) }

// filters are the names of what caught the entries, each once, in their order.
func (b *bulletin) filters() []string {
	var names []string
	for i := range b.messages {
		if !slices.Contains(names, b.messages[i].Filter) {
			names = append(names, b.messages[i].Filter)
		}
	}
	slices.Sort(names)
	return names
}

// link is the page of the one entry, "" of several.
func (b *bulletin) link() string {
	if len(b.messages)+b.more != 1 {
		return ""
	}
	return b.messages[0].Link
}

// called is the title of an entry, or the name of its feed where it has neither a title nor a text.
func called(m *reading.Message) string { return cmp.Or(m.Title, m.Feed) }

// source is where an entry is from: its feed, and that one neighbor alone says so, if that is so. Who made it up, with
// a page of his own, would have the node speak for him else.
func source(m *reading.Message) string {
	if m.Unconfirmed {
		return strings.TrimPrefix(m.Feed+", not confirmed", ", ")
	}
	return m.Feed
}

// letter is the text of a mail, which has room for the page of each entry.
func (b *bulletin) letter() string {
	if len(b.messages) == 0 {
		return b.text() + "\n"
	}
	var text strings.Builder
	for i := range b.messages {
		m := &b.messages[len(b.messages)-1-i]
		fmt.Fprintf(&text, "%s\n%s · %s\n", called(m), source(m), m.Filter)
		if m.Link != "" {
			fmt.Fprintf(&text, "%s\n", m.Link)
		}
		text.WriteString("\n")
	}
	if b.more > 0 {
		fmt.Fprintf(&text, "And %d more.\n", b.more)
	}
	return text.String()
}
