package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"feedex/internal/datadir"
	"feedex/saving"
)

// savingName is the file in the data directory with the service that entries are saved to and what lets its owner in
// there. It is for the owner of the directory alone, and in no backup of the archive.
const savingName = "saving.json"

// A savedTo is the service that entries are saved to.
type savedTo struct {
	path   string
	client *saving.Client

	mu sync.Mutex // held while the file is read or replaced
}

func newSavedTo(data string) *savedTo {
	return &savedTo{path: filepath.Join(data, savingName), client: saving.NewClient()}
}

// service reads the service, the zero Service where there is none.
func (s *savedTo) service() (service saving.Service, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return service, nil
	}
	if err == nil {
		if err = json.Unmarshal(text, &service); err == nil {
			service, err = saving.NewService(service)
		}
	}
	if err != nil {
		return saving.Service{}, fmt.Errorf("read where entries are saved: %w", err)
	}
	return service, nil
}

// keep keeps another service, or none.
func (s *savedTo) keep(service saving.Service) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if service == (saving.Service{}) {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget where entries are saved: %w", err)
		}
		return nil
	}
	text, err := json.Marshal(service)
	if err == nil {
		err = datadir.Replace(s.path, text)
	}
	if err != nil {
		return fmt.Errorf("keep where entries are saved: %w", err)
	}
	return nil
}

// Service implements web.OwnerActions.
func (d dashboard) Service(context.Context) (saving.Service, error) {
	s, err := d.saved.service()
	return s.Shown(), err
}

// SaveTo implements web.OwnerActions.
func (d dashboard) SaveTo(_ context.Context, s saving.Service) error { return d.saved.keep(s) }

// Save implements web.OwnerActions.
func (d dashboard) Save(ctx context.Context, b saving.Bookmark) error {
	s, err := d.saved.service()
	if err != nil {
		return err
	}
	if s == (saving.Service{}) {
		return errors.New("no service is named any more")
	}
	return d.saved.client.Save(ctx, s, b)
}
