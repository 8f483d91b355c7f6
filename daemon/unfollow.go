package daemon

import (
	"context"
	"slices"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/node"
	"feedex/reading"
	"feedex/web"
)

// Unsubscribe implements reading.Editor. The feeds are the node's: a program leaves one out for its person, the owner
// as well, and so does on pages whoever is not the owner. What the owner's programs left out the node itself unfollows
// later, see endUnfollowed.
func (l *library) Unsubscribe(ctx context.Context, id reading.FeedID) error {
	if l.person != reading.Owner || l.by != "" {
		return l.write(ctx, func(p reading.Pen) error {
			if l.by != "" {
				p.NoteUnfollowed(time.Now(), id, l.by)
			}
			p.LeaveOut(id)
			return nil
		})
	}
	u, err := l.FeedOf(ctx, id)
	if err != nil || u == "" {
		return err
	}
	return l.host.Unsubscribe(ctx, u)
}

// endUnfollowed has the node follow no more what the owner's programs left out so long ago that pages say it no more.
func (h *host) endUnfollowed(ctx context.Context, now time.Time) error {
	l := h.libraryOf(reading.Owner)
	list, err := l.Unfollowed(ctx, time.Time{})
	for i := 0; i < len(list) && err == nil; i++ {
		if !when.Due(now, list[i].At.Add(web.UnfollowedFor), 2*web.UnfollowedFor) {
			continue
		}
		if err = h.Unsubscribe(ctx, list[i].URL); err == nil { // after a crash here it is done again
			err = l.takeIn(ctx, archive.NoBacklog, list[i].Feed)
		}
	}
	return err
}

// Refollow implements web.PersonalSource.
func (l pagesLibrary) Refollow(ctx context.Context, list []reading.Unfollowed) error {
	defer l.host.changes.Add(1)
	for part := range slices.Chunk(list, leaveStep) {
		var urls []feed.URL
		var ids []reading.FeedID
		for i := range part {
			urls, ids = append(urls, part[i].URL), append(ids, part[i].Feed)
		}
		if err := l.host.Subscribe(ctx, node.Subscribe{Feeds: urls}); err != nil {
			return err
		}
		if err := l.takeIn(ctx, archive.UsualBacklog, ids...); err != nil {
			return err
		}
	}
	return nil
}

// personal is the host as an Owner for a person: what they follow, title and file. To them so much is unread as they
// say, and what their programs unfollowed is followed anew when they follow it. The control socket serves the owner's.
type personal struct {
	*host
	library *library
}

var _ control.Owner = personal{}

// Arrange implements control.Owner.
func (p personal) Arrange(ctx context.Context, list []reading.Arrangement) error {
	return p.library.Arrange(ctx, list...)
}

// Feeds implements control.Owner.
func (p personal) Feeds(ctx context.Context) ([]node.FeedStatus, error) {
	list, err := p.host.Feeds(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := p.library.Unfollowed(ctx, time.Time{})
	for i := range list {
		list[i].Unfollowed = slices.ContainsFunc(gone, func(u reading.Unfollowed) bool { return u.URL == list[i].URL })
	}
	return list, err
}

// Unsubscribe implements control.Owner.
func (p personal) Unsubscribe(ctx context.Context, u feed.URL) error {
	err := p.host.Unsubscribe(ctx, u)
	if err == nil {
		_, err = p.takeBack(ctx, archive.NoBacklog, u)
	}
	return err
}

// Subscribe implements control.Owner.
func (p personal) Subscribe(ctx context.Context, s node.Subscribe) error {
	_, err := p.FollowList(ctx, s, nil)
	return err
}

// FollowList implements control.Owner.
func (p personal) FollowList(ctx context.Context, s node.Subscribe,
	list []reading.Arrangement) ([]control.NoFolder, error) {
	if p.library.person != reading.Owner {
		s.BacklogOf = int64(p.library.person)
	}
	s.Feeds = slices.Clone(s.Feeds)
	for i, u := range s.Feeds { // which stand for those that were unfollowed
		if at, err := published(ctx, p.host, u, p.at.Reader, p.config.ReaderHosts); err == nil {
			s.Feeds[i] = at
		}
	}
	none, err := p.library.followList(ctx, s, list)
	if err == nil {
		_, err = p.takeBack(ctx, s.Backlog, s.Feeds...)
	}
	return none, err
}

// FollowAddress implements control.Owner.
func (p personal) FollowAddress(ctx context.Context, w control.FollowAddress) (control.FollowedAddress, error) {
	s, err := p.host.FollowAddress(ctx, w)
	if err == nil && s.Feed != "" {
		var again bool
		again, err = p.takeBack(ctx, w.Backlog, s.Feed)
		s.New = s.New || again
	}
	return s, err
}

// takeBack has the person read those of the feeds again that their programs unfollowed, and reports whether there were
// any.
func (p personal) takeBack(ctx context.Context, unread archive.Backlog, feeds ...feed.URL) (any bool, err error) {
	gone, err := p.library.Unfollowed(ctx, time.Time{})
	if err != nil || len(gone) == 0 {
		return false, err
	}
	var ids []reading.FeedID
	for _, u := range feeds {
		id, err := p.library.FeedID(ctx, u)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(gone, func(u reading.Unfollowed) bool { return u.Feed == id }) {
			ids = append(ids, id)
		}
	}
	return len(ids) > 0, p.library.takeIn(ctx, unread, ids...)
}
