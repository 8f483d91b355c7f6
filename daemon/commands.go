package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/reading"
	"feedex/safehtml"
)

// usage is what commands there are.
const usage = "I know:\nsubscribe URL\nunsubscribe URL or number\nlist, or list WORDS\nmute 2h\nunmute"

const (
	// maxListed is of how many feeds a list has the titles.
	maxListed = 40
	// maxListedTitle is how long one may be there, in letters.
	maxListedTitle = 50
)

// obey does what a person says by a message that was sent then: nothing that a feed reader of theirs could not do, but
// for muting what tells them. Each command may be done twice and does the same. See notify.Config.
func (h *host) obey(ctx context.Context, p reading.PersonID, text string, sent time.Time) (string, error) {
	people, err := h.store.People(ctx)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(people, func(someone reading.Person) bool { return someone.ID == p }) {
		return "", reading.ErrNobody // who was removed a moment ago is not answered
	}
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	answer := usage
	l := h.libraryOf(p)
	switch strings.ToLower(word) {
	case "subscribe":
		answer, err = l.subscribeTo(ctx, rest)
	case "unsubscribe":
		answer, err = l.unsubscribeFrom(ctx, rest)
	case "list":
		answer, err = l.listed(ctx, rest)
	case "mute":
		answer, err = h.mute(ctx, p, rest, sent)
	case "unmute":
		answer, err = h.mute(ctx, p, "0h", sent)
	}
	again := ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, reading.ErrRests) ||
		errors.Is(err, archive.ErrFull)
	if err != nil && !again {
		return "Not done: " + plain(err).Error(), nil
	}
	return answer, err
}

// subscribeTo follows what is at an address that somebody typed.
func (l *library) subscribeTo(ctx context.Context, address string) (string, error) {
	tries, err := feed.ParseTyped(address)
	if err != nil {
		return "", err
	}
	id, err := l.Subscribe(ctx, tries...)
	if err != nil {
		return "", err
	}
	f, err := l.follows(ctx, func(f *reading.FollowedFeed) bool { return f.ID == id })
	if err != nil || f == nil {
		return "You follow it.", err
	}
	return fmt.Sprintf("You follow %d %s.", id, listedTitle(f)), nil
}

// unsubscribeFrom follows a feed no more that is named by its number or its address.
func (l *library) unsubscribeFrom(ctx context.Context, name string) (string, error) {
	number, err := strconv.ParseInt(name, 10, 64)
	var urls []feed.URL
	if err != nil {
		if urls, err = feed.ParseTyped(name); err != nil {
			return "", err
		}
	}
	f, err := l.follows(ctx, func(f *reading.FollowedFeed) bool {
		return slices.Contains(urls, f.URL) || number > 0 && f.ID == reading.FeedID(number)
	})
	switch {
	case err != nil:
		return "", err
	case f == nil:
		return "You do not follow that; \"list\" says what you follow.", nil
	}
	if err := l.Unsubscribe(ctx, f.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("You follow %d %s no more; what there is of it stays.", f.ID, listedTitle(f)), nil
}

// follows is the feed that the person follows and that is meant, nil where there is none.
func (l *library) follows(ctx context.Context, meant func(*reading.FollowedFeed) bool) (*reading.FollowedFeed, error) {
	list, err := l.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if meant(&list[i]) {
			return &list[i], nil
		}
	}
	return nil, nil
}

// listed are the feeds that the person follows, those with these words in what they are called where there are any.
func (l *library) listed(ctx context.Context, words string) (string, error) {
	list, err := l.Subscriptions(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n := 0
	for i := range list {
		title := listedTitle(&list[i])
		if !strings.Contains(strings.ToLower(title), strings.ToLower(words)) {
			continue
		}
		if n++; n <= maxListed {
			fmt.Fprintf(&b, "\n%d %s", list[i].ID, title)
		}
	}
	switch {
	case n == 0 && words == "":
		return "You follow nothing yet.", nil
	case n == 0:
		return fmt.Sprintf("You follow nothing that is called so, of %d feeds.", len(list)), nil
	case n > maxListed:
		fmt.Fprintf(&b, "\nand %d more: list WORDS finds them", n-maxListed)
	}
	return "You follow:" + b.String(), nil
}

// listedTitle is what a feed is called in an answer: nothing that is a secret of its address.
func listedTitle(f *reading.FollowedFeed) string {
	title := []rune(safehtml.Label(cmp.Or(f.Name, f.Title, f.URL.Redacted())))
	if len(title) > maxListedTitle {
		title = append(title[:maxListedTitle-1], '…')
	}
	return string(title)
}

// mute has a person told nothing for a while, from when they said so.
func (h *host) mute(ctx context.Context, p reading.PersonID, span string, sent time.Time) (string, error) {
	d, err := when.Span(span)
	if err != nil || d > reading.MaxMute {
		return "", fmt.Errorf("%.20q: want a span of time such as 30m, 2h or 3d, 30d at most", span)
	}
	until := time.Time{}
	if end := sent.Add(d); d > 0 && end.After(time.Now()) {
		until = end
	}
	if err := h.write(ctx, func(d reading.Database) error { d.Mute(p, until); return nil }); err != nil {
		return "", err
	}
	h.teller.Wake()
	if until.IsZero() {
		return "You are told of what is new.", nil
	}
	return "You are told nothing until " + until.Format("2 Jan 15:04 MST") + ".", nil
}
