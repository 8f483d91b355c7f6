package trackerhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"feedex/internal/datadir"
	"feedex/tracker"
)

// load reads the list of an earlier run. A list that cannot be read is set aside: the nodes will
// call again, and an owner who wonders finds it.
func (t *registryHost) load() error {
	path := filepath.Join(t.config.Data, listName)
	text, err := datadir.Read(path, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read list: %w; make it readable or choose another directory with --data", err)
	}
	var entries []tracker.KnownNode
	if err := json.Unmarshal(text, &entries); err != nil {
		aside := path + ".damaged"
		t.config.Log.Warn("list of an earlier run is damaged; starting with an empty one", "err", err, "kept", aside)
		if err := os.Rename(path, aside); err != nil {
			return fmt.Errorf("set damaged list aside: %w", err)
		}
		return nil
	}
	loaded := t.registry.Load(time.Now(), entries)
	t.config.Log.Info("list of an earlier run loaded", "nodes", loaded)
	return nil
}

// saveNowAndThen writes the list to disk until ctx ends, and says where it is full.
func (t *registryHost) saveNowAndThen(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := t.save(); err != nil {
				t.config.Log.Error("list cannot be saved", "err", err)
			}
			t.complain(time.Now())
		}
	}
}

// complain says, once in complainEvery, that callers were turned away since it said so last because the list is full.
func (t *registryHost) complain(now time.Time) {
	s := t.status()
	if !s.Full || s.TurnedAway == t.turnedAway || now.Sub(t.complained) < complainEvery {
		return
	}
	t.config.Log.Warn("list is full: callers are turned away", "nodes", s.Known, "callers", s.TurnedAway-t.turnedAway)
	t.turnedAway, t.complained = s.TurnedAway, now
}

// save writes the list so that a crash leaves either the old one or the new one.
func (t *registryHost) save() error {
	t.mu.Lock()
	entries := t.registry.Snapshot(time.Now())
	t.mu.Unlock()
	text, err := json.Marshal(entries)
	if err != nil {
		return fmt.Errorf("save list: %w", err)
	}
	path := filepath.Join(t.config.Data, listName)
	err = datadir.Replace(path, text)
	t.mu.Lock()
	t.unsaved = err != nil
	t.mu.Unlock()
	if err != nil {
		return fmt.Errorf("save list: %w; free some space or choose another directory with --data", err)
	}
	return nil
}
