package daemon

import (
	"context"
	"errors"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
)

// Finder returns what finds the feed that a person means by an address, as they may type it to follow it: without
// https:// in front, at the node's own address for readers, or one that led to the feed. It is nil where the node
// follows none of that, and u then the address itself.
func Finder(ctx context.Context, o control.Owner) (find func(typed string) (f *node.FeedStatus, u feed.URL, err error),
	err error) {
	list, err := o.Feeds(ctx)
	if err != nil {
		return nil, err
	}
	report, err := o.Status(ctx)
	if err != nil {
		return nil, err
	}
	followed := make(map[feed.URL]*node.FeedStatus)
	led := make(map[feed.URL][]*node.FeedStatus) // by the address that led to them
	for i := range list {
		f := &list[i]
		followed[f.URL], led[f.Page] = f, append(led[f.Page], f)
		if f.Former != f.Page {
			led[f.Former] = append(led[f.Former], f)
		}
	}
	return func(typed string) (*node.FeedStatus, feed.URL, error) {
		tries, err := feed.ParseTyped(typed)
		for i, u := range tries {
			if tries[i], err = published(ctx, o, u, report.Reader, report.ReaderHosts); err != nil &&
				!errors.Is(err, errMadeHere) {
				return nil, "", err
			}
			if f := followed[tries[i]]; f != nil {
				return f, f.URL, nil
			}
			if to := led[tries[i]]; len(to) == 1 {
				return to[0], to[0].URL, nil
			}
		}
		if len(tries) == 0 {
			return nil, "", err
		}
		return nil, tries[0], nil
	}, nil
}
