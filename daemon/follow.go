package daemon

import (
	"context"
	"net"
	"strings"

	"feedex/feed"
	"feedex/node"
	"feedex/opml"
)

// Followed is what came of following a list.
type Followed struct {
	New        int         // feeds that were not followed before and are now
	Duplicates []Duplicate // the others, in the order of the list
}

// A Duplicate is a feed of a list that brought nothing new.
type Duplicate struct {
	opml.Feed
	First int // the line at which the list named it before, 0 where the node followed it already
}

// Follow has a node follow every feed of a list. One at the node's own address for readers, as a reader has it that reads
// through the node, is the feed behind that. It calls progress as it goes on, with how many of the new feeds are
// followed. Where it returns an error Followed says how far it came; a repetition follows the rest.
func Follow(ctx context.Context, o Owner, list []opml.Feed, progress func(done, total int)) (Followed, error) {
	var f Followed
	known, err := o.Feeds(ctx)
	if err != nil {
		return f, err
	}
	report, err := o.Status(ctx)
	if err != nil {
		return f, err
	}
	first := make(map[feed.URL]int) // lines, 0 for what is followed already
	for i := range known {
		first[known[i].URL] = 0
	}
	var urls []feed.URL
	for _, l := range list {
		l.URL = published(l.URL, report.Reader)
		if line, ok := first[l.URL]; ok {
			f.Duplicates = append(f.Duplicates, Duplicate{l, line})
			continue
		}
		first[l.URL] = l.Line
		urls = append(urls, l.URL)
	}
	for f.New < len(urls) {
		part := urls[f.New:min(len(urls), f.New+subscribeStep)]
		if err := o.Subscribe(ctx, node.Subscribe{Feeds: part}); err != nil {
			return f, err
		}
		f.New += len(part)
		progress(f.New, len(urls))
	}
	return f, nil
}

// published is where a feed is published that a list has at the address of a node's reader, "host:port"; others are as
// they are.
func published(u feed.URL, reader string) feed.URL {
	_, port, err := net.SplitHostPort(reader)
	if err != nil || !u.Local() {
		return u
	}
	before, after, ok := strings.Cut(string(u), ":"+port+"/feed/")
	if !ok || strings.Count(before, "/") != 2 { // it is no port
		return u
	}
	if behind, err := feed.ParseURL(after); err == nil {
		return behind
	}
	return u
}
