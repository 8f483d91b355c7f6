package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"feedex/fetch"
	"feedex/guard"
	"feedex/internal/datadir"
	"feedex/reading"
	"feedex/saving"
)

// savingPath is the file in the data directory with the service that a person's entries are saved to, and what lets the
// person in there. It is for the owner of the directory alone, and in no backup of the archive but one with its key.
func savingPath(data string, p reading.PersonID) string {
	name := "saving.json"
	if p != reading.Owner {
		name = fmt.Sprintf("saving-%d.json", p)
	}
	return filepath.Join(data, name)
}

// forgetService forgets it.
func forgetService(data string, p reading.PersonID) error {
	if err := os.Remove(savingPath(data, p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget where entries are saved: %w", err)
	}
	return nil
}

// A savedTo is the services that entries are saved to.
type savedTo struct {
	data    string
	private func(host string) bool // feeds may be read there, wherever that is
	client  *saving.Client
	guarded *saving.Client // for the public Internet

	mu sync.Mutex // held while a file is read or replaced
}

func newSavedTo(c *Config) *savedTo {
	return &savedTo{data: c.Data,
		private: func(host string) bool {
			return c.Node.AllowLocal || slices.ContainsFunc(c.Node.PrivateHosts,
				func(h string) bool { return fetch.SameHost(h, host) })
		},
		client:  saving.NewClient(guard.Dialer(nil)),
		guarded: saving.NewClient(guard.Dialer(guard.Web))}
}

// service reads the service of a person, the zero Service where there is none.
func (s *savedTo) service(p reading.PersonID) (service saving.Service, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := datadir.Read(savingPath(s.data, p), datadir.Small)
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

// keep keeps another service of a person, or none.
func (s *savedTo) keep(p reading.PersonID, service saving.Service) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if service == (saving.Service{}) {
		return forgetService(s.data, p)
	}
	text, err := json.Marshal(service)
	if err == nil {
		err = datadir.Replace(savingPath(s.data, p), text)
	}
	if err != nil {
		return fmt.Errorf("keep where entries are saved: %w", err)
	}
	return nil
}

// reach is what reaches a person's service. In private networks others than the owner have theirs where feeds may be
// read, or where the owner has named one: who holds somebody's password learns nothing of what else is there.
func (s *savedTo) reach(p reading.PersonID, to saving.Service) *saving.Client {
	owners, _ := s.service(reading.Owner)
	if p == reading.Owner || owners.Address == to.Address || s.private(to.Hostname()) {
		return s.client
	}
	return s.guarded
}

// Service implements web.Saver.
func (l pagesLibrary) Service(context.Context) (saving.Service, error) {
	s, err := l.saved.service(l.person)
	return s.Shown(), err
}

// SaveTo implements web.Saver.
func (l pagesLibrary) SaveTo(_ context.Context, s saving.Service) (back func(context.Context) error, err error) {
	before, _ := l.saved.service(l.person) // what cannot be read is replaced
	return func(context.Context) error { return l.saved.keep(l.person, before) }, l.saved.keep(l.person, s)
}

// Save implements web.Saver.
func (l pagesLibrary) Save(ctx context.Context, b saving.Bookmark) error {
	s, err := l.saved.service(l.person)
	if err != nil {
		return err
	}
	if s == (saving.Service{}) {
		return errors.New("no service is named any more")
	}
	client := l.saved.reach(l.person, s)
	err = client.Save(ctx, s, b)
	if client == l.saved.guarded {
		err = l.told(err)
	}
	return err
}
