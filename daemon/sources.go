package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"feedex/control"
	"feedex/internal/datadir"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/reading"
)

const (
	// sourcesName is the file in the data directory that holds the trackers and static neighbors that the owner named
	// while the node ran, one a line.
	sourcesName = "sources"
	// maxSources is how many that may be.
	maxSources = 32
	// sourceWait is how long its owner waits for what a tracker or a neighbor says that was named, and lookAtSource how
	// often it is looked for.
	sourceWait   = 5 * time.Second
	lookAtSource = 50 * time.Millisecond
)

// sources are the trackers and static neighbors that the owner named while the node ran, beside those of the settings.
type sources struct {
	path     string
	changing sync.Mutex               // of what follows, by one after another
	read     bool                     // whether what was named in earlier runs is among the names
	names    atomic.Pointer[[]string] // in the order in which they were named
}

// newSources are those that were named in earlier runs. While their file cannot be read there are none, and what it may
// have is not written over.
func newSources(c *Config) *sources {
	s := &sources{path: filepath.Join(c.Data, sourcesName)}
	s.names.Store(new([]string))
	if err := s.load(); err != nil {
		c.Log.Error("trackers and neighbors that were named before are left out", "err", err)
	}
	return s
}

// load reads what was named in earlier runs, if it was not read yet. What makes no sense in the file is left out.
func (s *sources) load() error {
	if s.read {
		return nil
	}
	text, err := datadir.Read(s.path, datadir.Small)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if name, _, err := control.ReadSource(line); err == nil && !slices.Contains(names, name) &&
			len(names) < maxSources {
			names = append(names, name)
		}
	}
	s.read = true
	s.names.Store(&names)
	return nil
}

// named are those that were named and the settings do not name.
func (h *host) named() (list []string) {
	for _, name := range *h.sources.names.Load() {
		if !h.settled(name) {
			list = append(list, name)
		}
	}
	return list
}

// settled reports whether the settings name a tracker or a static neighbor.
func (h *host) settled(name string) bool {
	return slices.Contains(h.config.Node.Trackers, name) || slices.Contains(h.config.Node.Peers, name)
}

// allSources are the trackers and static neighbors of the settings, and those that were named.
func (h *host) allSources() (s node.Sources) {
	s.Trackers, s.Peers = slices.Clone(h.config.Node.Trackers), slices.Clone(h.config.Node.Peers)
	for _, name := range h.named() {
		if _, tracker, _ := control.ReadSource(name); tracker {
			s.Trackers = append(s.Trackers, name)
		} else {
			s.Peers = append(s.Peers, name)
		}
	}
	return s
}

// NameSource implements control.Owner.
func (h *host) NameSource(ctx context.Context, text string) (s node.SourceStatus, err error) {
	name, _, err := control.ReadSource(text)
	if err != nil {
		return s, err
	}
	err = h.changeSources(ctx, func(names []string) ([]string, error) {
		switch {
		case slices.Contains(names, name) || h.settled(name):
			return names, nil
		case len(names) >= maxSources:
			return nil, control.BadRequest{Err: fmt.Errorf("%d trackers and neighbors are named already: remove some",
				maxSources)}
		}
		return append(names, name), nil
	})
	if err != nil {
		return s, err
	}
	waiting, cancel := context.WithTimeout(ctx, sourceWait)
	defer cancel()
	for {
		now, err := look(ctx, h.loop, func(n *node.Node) (s node.SourceStatus, err error) {
			if n == nil {
				return s, reading.ErrRests
			}
			list := n.Status().Sources
			if i := slices.IndexFunc(list, func(s node.SourceStatus) bool { return s.Name == name }); i >= 0 {
				s = list[i]
			}
			return s, nil
		})
		if err != nil || !now.Asked.IsZero() || sleep.For(waiting, lookAtSource) != nil {
			now.Name = cmp.Or(now.Name, name)
			return now, err
		}
	}
}

// ForgetSource implements control.Owner.
func (h *host) ForgetSource(ctx context.Context, name string) error {
	name = strings.TrimSpace(name)
	return h.changeSources(ctx, func(names []string) ([]string, error) {
		i := slices.Index(names, name)
		switch {
		case h.settled(name):
			return nil, control.BadRequest{Err: errors.New("the settings name it: take it out of tracker or peer " +
				"there (see 'feedex config'), or of how the node is started")}
		case i < 0:
			return nil, control.BadRequest{Err: fmt.Errorf("%.80q was not named: see 'feedex status'", name)}
		}
		return slices.Delete(names, i, i+1), nil
	})
}

// changeSources keeps other names durably, and has the node find neighbors by those.
func (h *host) changeSources(ctx context.Context, change func(names []string) ([]string, error)) error {
	h.sources.changing.Lock()
	defer h.sources.changing.Unlock()
	if err := h.sources.load(); err != nil {
		return fmt.Errorf("nothing was changed, as what was named before cannot be read: %w", err)
	}
	before := *h.sources.names.Load()
	names, err := change(slices.Clone(before))
	if err != nil || slices.Equal(names, before) {
		return err
	}
	text := strings.Join(append(names, ""), "\n")
	if err := datadir.Replace(h.sources.path, []byte(text)); err != nil {
		return err
	}
	h.sources.names.Store(&names)
	h.changes.Add(1)
	// Who has gone has changed the file, so the node goes by it all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	return h.command(ctx, h.allSources())
}
