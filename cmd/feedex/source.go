package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"feedex/archive"
	"feedex/archive/sqlite"
	"feedex/daemon"
	"feedex/feed"
)

// A source is where a query finds entries: a running node, or the archive that one left.
type source interface {
	archive.Searcher
	// titles are the names of the feeds, as far as the source knows them.
	titles(ctx context.Context) map[feed.URL]string
	close()
}

// openSource finds the source for a data directory.
func openSource(data string) (source, error) {
	client, err := daemon.Dial(data)
	if err == nil {
		return nodeSource{client}, nil
	}
	if !errors.Is(err, daemon.ErrNotRunning) {
		return nil, advised(err, data)
	}
	r, err := sqlite.OpenReader(daemon.DatabasePath(data), sqlite.Config{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, advised(fmt.Errorf("there is no archive in %s and %w there", data, daemon.ErrNotRunning), data)
	case err != nil:
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return fileSource{r}, nil
}

// A nodeSource asks a running node.
type nodeSource struct{ *daemon.Client }

func (s nodeSource) close() { s.Close() }

func (s nodeSource) titles(ctx context.Context) map[feed.URL]string {
	out := make(map[feed.URL]string)
	list, _ := s.Feeds(ctx) // without titles, hosts must do
	for i := range list {
		out[list[i].URL] = list[i].Title
	}
	return out
}

// A fileSource reads an archive.
type fileSource struct{ *sqlite.Reader }

func (s fileSource) close() { s.Close() }

func (s fileSource) titles(ctx context.Context) map[feed.URL]string {
	out := make(map[feed.URL]string)
	list, _ := s.Feeds(ctx) // likewise
	for i := range list {
		out[list[i].URL] = list[i].Title
	}
	return out
}
