package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"feedex/daemon"
	"feedex/feed"
	"feedex/node"
)

const (
	// askedEvery is how often a node is asked how far it is with its first polls.
	askedEvery = 500 * time.Millisecond
	// firstPollsTime is how long to wait for them: a node begins with most of its feeds within a minute.
	firstPollsTime = time.Minute
	// maxUnreachable is how many feeds that failed are told one by one.
	maxUnreachable = 20
)

// tellFirstPolls waits until the node has polled each of the feeds once, firstPollsTime at most, and tells which of
// them it did not get and why. The node goes on by itself however that ends.
func tellFirstPolls(ctx context.Context, w io.Writer, client *daemon.Client, list []feed.URL) error {
	if len(list) == 0 {
		return nil
	}
	line := newProgress(w, "first polls")
	ticks := time.NewTicker(askedEvery)
	defer ticks.Stop()
	timeout := time.After(firstPollsTime)
	for ended := false; ; {
		known, err := client.Feeds(ctx)
		if err != nil {
			line.end()
			return err
		}
		failed, waiting := firstPolls(known, list)
		line.at(int64(len(list)-waiting), int64(len(list)), grouped)
		if waiting == 0 || ended {
			line.end()
			tellPages(w, known, list)
			tellUnreachable(w, failed, waiting)
			return nil
		}
		select {
		case <-ticks.C:
		case <-timeout:
			ended = true
		case <-ctx.Done():
			line.end()
			tellUnreachable(w, failed, waiting)
			return context.Cause(ctx)
		}
	}
}

// firstPolls are those of the feeds of which the first poll failed, and how many were not polled yet.
func firstPolls(known []node.FeedStatus, list []feed.URL) (failed []node.FeedStatus, waiting int) {
	status := make(map[feed.URL]node.FeedStatus, len(known))
	for _, f := range known {
		status[f.URL] = f
		if _, ok := status[f.Page]; !ok && f.Page != "" {
			status[f.Page] = f // it is followed in the place of that page
		}
	}
	for _, u := range list {
		switch f, ok := status[u]; {
		case !ok: // a page, and what it names was followed already
		case !f.Asked():
			waiting++
		case f.LastError != "":
			failed = append(failed, f)
		}
	}
	return failed, waiting
}

// tellPages tells which feeds of a list turned out to be web pages, and what is followed in their place.
func tellPages(w io.Writer, known []node.FeedStatus, list []feed.URL) {
	named := make(map[feed.URL]feed.URL)
	for _, f := range known {
		named[f.Page] = f.URL
	}
	told := 0
	for _, u := range list {
		to := named[u]
		if to == "" {
			continue
		}
		if told++; told > maxUnreachable {
			fmt.Fprintln(w, "more web pages were followed by the feeds that they name, see 'feedex feeds'")
			return
		}
		fmt.Fprintf(w, "%s is a web page: following %s, which it names\n", printable(string(u)), printable(string(to)))
	}
}

// tellUnreachable tells which feeds could not be had.
func tellUnreachable(w io.Writer, failed []node.FeedStatus, waiting int) {
	for i, f := range failed {
		if i == maxUnreachable {
			fmt.Fprintf(w, "%s more could not be had, see 'feedex feeds'\n",
				plural(int64(len(failed)-i), "feed", "feeds"))
			break
		}
		if len(f.Names) > 0 {
			fmt.Fprintf(w, "%s is a web page that names %s. Follow those that you want:%s\n", printable(string(f.URL)),
				plural(int64(len(f.Names)), "feed", "feeds"), choices(lent(&f)))
			continue
		}
		fmt.Fprintf(w, "%s could not be had: %s\n", printable(string(f.URL)), feedError(&f))
	}
	if waiting > 0 {
		fmt.Fprintf(w, "%s yet to be asked for, see 'feedex feeds'\n", plural(int64(waiting), "feed is", "feeds are"))
	}
}
