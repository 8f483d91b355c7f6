package daemon

import (
	"context"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
)

// Unsubscribe implements reading.Editor. The feeds are the owner's: who else wants one no more leaves it out.
func (l *library) Unsubscribe(ctx context.Context, id reading.FeedID) error {
	if l.person != reading.Owner {
		return l.write(ctx, func(p reading.Pen) error { l.note(p, id); p.LeaveOut(id); return nil })
	}
	u, err := l.FeedOf(ctx, id)
	if err == nil && u != "" && l.by != "" {
		err = l.write(ctx, func(p reading.Pen) error { l.note(p, id); return nil })
	}
	if err != nil || u == "" {
		return err
	}
	return l.host.Unsubscribe(ctx, u)
}

// note notes that a program is about to unfollow a feed.
func (l *library) note(p reading.Pen, id reading.FeedID) {
	if l.by != "" {
		p.NoteUnfollowed(time.Now(), id, l.by)
	}
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
