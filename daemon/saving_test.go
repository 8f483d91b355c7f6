package daemon

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"feedex/guard"
	"feedex/node"
	"feedex/reading"
	"feedex/saving"
)

// What lets the owner in at a service is for the owner of the data directory alone, outlives a restart, and is gone
// once it is forgotten; a file that says nonsense is an error in words.
func TestSavedTo(t *testing.T) {
	data, token := t.TempDir(), ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
		w.Write([]byte(`{"id": 1, "bookmark": null}`)) //nolint:errcheck // the client says so
	}))
	t.Cleanup(s.Close)
	service := saving.Service{Kind: saving.Linkding, Address: s.URL, Token: "secret"}
	config := &Config{Data: data}
	if err := newSavedTo(config).keep(reading.Owner, service); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "saving.json")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	d := pagesLibrary{library: &library{person: reading.Owner}, saved: newSavedTo(config)}
	got, err := d.Service(t.Context())
	if err != nil || got != (saving.Service{Kind: saving.Linkding, Address: s.URL}) {
		t.Errorf("shown is %+v", got)
	}
	err = d.Save(t.Context(), saving.Bookmark{Link: "https://example.com/"})
	if err != nil || token != "Token secret" {
		t.Errorf("%v, with %q", err, token)
	}
	back, err1 := d.SaveTo(t.Context(), saving.Service{})
	if left, err := d.Service(t.Context()); err1 != nil || err != nil || left != (saving.Service{}) {
		t.Errorf("%v, %v, left is %+v", err1, err, left)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
	if err := d.Save(t.Context(), saving.Bookmark{}); err == nil {
		t.Error("saved nowhere")
	}
	if err := os.WriteFile(path, []byte(`{"kind": "linkding", "token": "secret"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(t.Context(), saving.Bookmark{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if err := back(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Save(t.Context(), saving.Bookmark{}); err != nil {
		t.Errorf("brought back it saves nothing: %v", err)
	}
}

// Another person has a service of their own, which goes with them. It is reached on the public Internet, where feeds of
// private networks may be read, and where the owner has theirs.
func TestSavedToOfAPerson(t *testing.T) {
	a := newHousehold(t)
	a.host.config.Data = t.TempDir()
	a.host.data = a.host.config.Data
	ctx, saved := t.Context(), 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		saved++
		w.Write([]byte(`{"id": 1, "bookmark": null}`)) //nolint:errcheck // the client says so
	}))
	t.Cleanup(s.Close)
	service := saving.Service{Kind: saving.Linkding, Address: s.URL, Token: "hers"}
	at := func(p reading.PersonID, c Config) pagesLibrary {
		c.Data = a.host.config.Data
		return pagesLibrary{library: a.host.libraryOf(p), saved: newSavedTo(&c)}
	}
	ann, bookmark := at(2, Config{}), saving.Bookmark{Link: "https://example.com/"}
	if _, err := ann.SaveTo(ctx, service); err != nil {
		t.Fatal(err)
	}
	if got, err := at(reading.Owner, Config{}).Service(ctx); err != nil || got != (saving.Service{}) {
		t.Errorf("the owner has %+v, %v", got, err)
	}
	if err := ann.Save(ctx, bookmark); !errors.Is(err, guard.ErrForbidden) || saved > 0 ||
		!strings.Contains(err.Error(), "private_host") {
		t.Errorf("in the private network: %v, %d requests", err, saved)
	}
	nowhere := service
	nowhere.Address = "http://nowhere.invalid"
	if _, err := ann.SaveTo(ctx, nowhere); err != nil {
		t.Fatal(err)
	}
	if err := ann.Save(ctx, bookmark); !errors.Is(err, guard.ErrForbidden) || strings.Contains(err.Error(), "lookup") {
		t.Errorf("what has no address: %v", err)
	}
	if _, err := ann.SaveTo(ctx, service); err != nil {
		t.Fatal(err)
	}
	for _, node := range []node.Config{{AllowLocal: true}, {PrivateHosts: []string{"127.0.0.1."}}} {
		if err := at(2, Config{Node: node}).Save(ctx, bookmark); err != nil {
			t.Errorf("with %+v: %v", node, err)
		}
	}
	if _, err := at(reading.Owner, Config{}).SaveTo(ctx, service); err != nil {
		t.Fatal(err)
	}
	if err := ann.Save(ctx, bookmark); err != nil {
		t.Errorf("where the owner's is: %v", err)
	}
	if err := a.host.RemovePerson(ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	if got, err := ann.Service(ctx); err != nil || got != (saving.Service{}) {
		t.Errorf("of Ann there is still %+v, %v", got, err)
	}
	// An archive that was put back knows nobody of the next number.
	if _, err := at(3, Config{}).SaveTo(ctx, service); err != nil {
		t.Fatal(err)
	}
	if err := a.host.AddPerson(ctx, "Bob"); err != nil {
		t.Fatal(err)
	}
	if got, err := at(3, Config{}).Service(ctx); err != nil || got != (saving.Service{}) {
		t.Errorf("Bob saves to %+v, %v", got, err)
	}
	if got, err := at(reading.Owner, Config{}).Service(ctx); err != nil || got == (saving.Service{}) {
		t.Errorf("with her the owner's went: %v", err)
	}
}
