package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

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
	if err := newSavedTo(data).keep(service); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, savingName)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	d := dashboard{saved: newSavedTo(data)}
	got, err := d.Service(t.Context())
	if err != nil || got != (saving.Service{Kind: saving.Linkding, Address: s.URL}) {
		t.Errorf("shown is %+v", got)
	}
	err = d.Save(t.Context(), saving.Bookmark{Link: "https://example.com/"})
	if err != nil || token != "Token secret" {
		t.Errorf("%v, with %q", err, token)
	}
	err1 := d.SaveTo(t.Context(), saving.Service{})
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
}
