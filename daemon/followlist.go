package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/reading"
)

// Followed is the outcome of following a list.
type Followed struct {
	New        []feed.URL      // feeds that were not followed before and are now, in the order of the list
	Duplicates []Duplicate     // the others, likewise
	Kept       []node.Withheld // of the new feeds, those that stay on the node, likewise
	Problems   []opml.Problem  // folders that cannot be made, each in the line of the first feed that is followed there
}

// A Duplicate is a place in a list that brought nothing new, or a feed that was followed already.
type Duplicate struct {
	opml.Outline
	First int // the line at which the list named it before, 0 where the node followed it already, or madeHere
}

// madeHere is the First of what the node itself makes.
const madeHere = -1

// Reason says why it brought nothing new, after the feed's URL.
func (d *Duplicate) Reason() string {
	switch {
	case d.First > 0:
		return fmt.Sprintf("stands in line %d already", d.First)
	case d.First == madeHere:
		return "is not followed: " + errMadeHere.Error()
	}
	return "is followed already"
}

// Follow has a node follow every feed of a list, titled and filed as there but for folders that cannot be made. Titles
// that the owner gave to feeds stay, and folders that they are in besides those of the list. One at the node's own
// address for readers, as a reader has it that reads through the node, is the feed behind that. Of the new ones so much
// is unread. It calls progress as it goes on, with how many of the new feeds are followed. Where it returns an error
// Followed says how far it came; a repetition follows the rest.
func Follow(ctx context.Context, o control.Owner, list []opml.Outline, unread archive.Backlog,
	progress func(done, total int)) (Followed, error) {
	var f Followed
	known, err := o.Feeds(ctx)
	if err != nil {
		return f, err
	}
	report, err := o.Status(ctx)
	if err != nil {
		return f, err
	}
	var urls, before []feed.URL
	first := make(map[feed.URL]int) // lines, 0 for what is followed already
	became := make(map[feed.URL]feed.URL)
	for i := range known {
		if known[i].Unfollowed {
			continue
		}
		became[known[i].Page], became[known[i].Former] = known[i].URL, known[i].URL // in the place of these
		first[known[i].URL] = 0
		before = append(before, known[i].URL)
	}
	arranged := make(map[feed.URL]*reading.Arrangement) // of the feeds that are followed then
	folders := make(map[string]int)                     // lines that name one first
	for _, l := range list {
		l.URL, err = published(ctx, o, l.URL, report.Reader, report.ReaderHosts)
		if errors.Is(err, errMadeHere) {
			if !strings.Contains(string(l.URL), "/filter/") { // a list of this node's own has its filters, too
				f.Duplicates = append(f.Duplicates, Duplicate{l, madeHere})
			}
			continue
		} else if err != nil {
			return f, err
		}
		l.URL = cmp.Or(became[l.URL], l.URL)
		if name := reading.FolderOf(l.Folder); folders[name] == 0 {
			folders[name] = l.Line
		}
		again := arranged[l.URL] != nil
		filed := file(arranged, &l)
		if a := arranged[l.URL]; a.Listed == "" {
			a.Listed = l.Title
		}
		if filed && again {
			continue // it is in several folders
		}
		if line, ok := first[l.URL]; ok {
			f.Duplicates = append(f.Duplicates, Duplicate{l, line})
			continue
		}
		first[l.URL] = l.Line
		urls = append(urls, l.URL)
	}
	step := func(s node.Subscribe, list []reading.Arrangement) error {
		list, err := reading.Checked(list) // which bounds what is sent
		if err != nil {
			return err
		}
		none, err := o.FollowList(ctx, s, list)
		for _, n := range none {
			if line := folders[n.Name]; line >= 0 {
				folders[n.Name] = -1 // told once
				f.Problems = append(f.Problems, opml.Problem{Line: line, Name: n.Name,
					Reason: "the folder is not made, and its feeds are followed without it: " + n.Reason})
			}
		}
		return err
	}
	for part := range slices.Chunk(saidOf(arranged, before), control.ListStep) {
		if err := step(node.Subscribe{}, part); err != nil {
			return f, err
		}
	}
	for part := range slices.Chunk(urls, control.ListStep) {
		if err := step(node.Subscribe{Feeds: part, Backlog: unread}, saidOf(arranged, part)); err != nil {
			return f, err
		}
		f.New = urls[:len(f.New)+len(part)]
		progress(len(f.New), len(urls))
	}
	f.Kept, err = kept(ctx, o, f.New)
	return f, err
}

// kept are those of the feeds that stay on the node.
func kept(ctx context.Context, o control.Owner, urls []feed.URL) (list []node.Withheld, err error) {
	known, err := o.Feeds(ctx)
	status := make(map[feed.URL]*node.FeedStatus, len(known))
	for i := range known {
		status[known[i].URL] = &known[i]
	}
	for _, u := range urls {
		if s := status[u]; s != nil && s.Kept != "" {
			list = append(list, node.Withheld{Feed: u, Why: s.Kept, Undecided: s.Undecided})
		}
	}
	return list, err
}

// maxFiled is how many folders of a list one feed is put into at most.
const maxFiled = 20

// file notes the folder that a list has a feed in, and reports whether that is one more.
func file(arranged map[feed.URL]*reading.Arrangement, l *opml.Outline) bool {
	a := arranged[l.URL]
	if a == nil {
		a = &reading.Arrangement{URL: l.URL}
		arranged[l.URL] = a
	}
	if name := reading.FolderOf(l.Folder); name != "" && len(a.Into) < maxFiled && !slices.Contains(a.Into, name) {
		a.Into = append(a.Into, name)
		return true
	}
	return false
}

// saidOf is what a list says of those of the feeds of which it says something.
func saidOf(arranged map[feed.URL]*reading.Arrangement, urls []feed.URL) (list []reading.Arrangement) {
	for _, u := range urls {
		if a := arranged[u]; a != nil && (a.Listed != "" || len(a.Into) > 0) {
			list = append(list, *a)
		}
	}
	return list
}

// Import implements reading.Editor.
func (l *library) Import(ctx context.Context, list []opml.Outline) error {
	if _, err := l.follow(ctx, list, archive.UsualBacklog); err != nil {
		return fmt.Errorf("follow the feeds of a list: %w", err)
	}
	return nil
}

// follow has the person read the feeds of a list: new is what they did not read before, and so much of it is unread.
func (l *library) follow(ctx context.Context, list []opml.Outline, unread archive.Backlog) (Followed, error) {
	before, err := l.Subscriptions(ctx)
	if err != nil {
		return Followed{}, err
	}
	f, err := Follow(ctx, personal{l.host, l}, list, unread, func(int, int) {})
	if err != nil {
		return f, err
	}
	read := make(map[feed.URL]bool)
	for i := range before {
		read[before[i].URL] = true
	}
	f.Duplicates = slices.DeleteFunc(f.Duplicates, func(d Duplicate) bool {
		others := d.First == 0 && !read[d.URL] // the node follows it for them
		if others {
			f.New, read[d.URL] = append(f.New, d.URL), true
		}
		return others
	})
	ids := make([]reading.FeedID, len(f.New))
	for i, u := range f.New { // the list may name them by the node's own addresses, or by pages
		if ids[i], err = l.FeedID(ctx, u); err != nil {
			return f, err
		}
	}
	return f, l.takeIn(ctx, unread, ids...)
}

// followList follows feeds, and titles and files feeds for the person in the same step, without the folders that it
// returns.
func (l *library) followList(ctx context.Context, s node.Subscribe,
	list []reading.Arrangement) ([]control.NoFolder, error) {
	list, err := reading.Checked(list)
	if err != nil {
		return nil, control.BadRequest{Err: err}
	}
	defer l.host.written(l.person).Add(1)
	none, gone := []control.NoFolder{}, error(nil)
	if err := l.host.subscribe(ctx, s, func(*node.Node) {
		p := l.host.store.Pen(l.person)
		if p == nil {
			gone = reading.ErrNobody
			return
		}
		for i := range list {
			list[i].Into = slices.DeleteFunc(list[i].Into, func(name string) bool {
				err := p.FolderTaken(name)
				if err == nil {
					if _, ok := p.AddFolder(name); ok {
						return false
					}
					err = reading.ErrFolders
				}
				none = append(none, control.NoFolder{Name: name, Reason: err.Error()})
				return true
			})
		}
		p.Arrange(list)
	}); err != nil {
		return nil, err
	}
	return none, gone
}
