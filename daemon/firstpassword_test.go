package daemon

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/internal/logtest"
	"feedex/reading"
)

// fileOf is a file with that text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A node that is told of a file has the owner's password from there, from the first start on, and not anew at each: one
// that was made or taken back since stays so until it is removed.
func TestTheFirstPasswordComesFromAFile(t *testing.T) {
	data, path := t.TempDir(), fileOf(t, "correct horse battery\n")
	opens := func(n *testNode, password string) bool {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, "http://"+n.at.Reader+"/opml", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "192.0.2.1") // by a web server: the client may be anywhere
		r.SetBasicAuth("owner", password)
		resp, err := http.DefaultClient.Do(r)
		statusOf(t, resp, err)
		return resp.StatusCode == http.StatusOK
	}
	n := startNode(t, Config{Data: data, PasswordFile: path})
	if !opens(n, "correct horse battery") || opens(n, "correct horse") {
		t.Error("the password of the file does not let in, or another does")
	}
	v := newVisitor(t, n)
	if page := v.send("/login", "/login", map[string][]string{"password": {"correct horse battery"},
		"next": {"/settings"}}); !strings.Contains(page, "Log out owner") {
		t.Errorf("logging in leads to\n%s", page)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}

	log, said := logtest.Overhear()
	n = startNode(t, Config{Data: data, PasswordFile: fileOf(t, "another horse battery"), Log: log})
	said.Wait(t, "the password file holds another password than there is; to have it made, stop the node and remove "+
		"the other: feedex password remove owner")
	if !opens(n, "correct horse battery") || opens(n, "another horse battery") {
		t.Error("another file changed the password")
	}
	if err := n.client.RemovePassword(t.Context(), "owner"); err != nil {
		t.Fatal(err)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	n = startNode(t, Config{Data: data, PasswordFile: path})
	if !opens(n, "correct horse battery") {
		t.Error("a password that was removed is not made anew")
	}
}

// A mark that an editor put in front is no part of the password, and says where the file is in UTF-16.
func TestPasswordFilesWithAMark(t *testing.T) {
	for _, text := range []string{"\ufefftwelve chars\r\n",
		"\xff\xfet\x00w\x00e\x00l\x00v\x00e\x00 \x00c\x00h\x00a\x00r\x00s\x00\r\x00\n\x00"} {
		if got, err := readFirst(fileOf(t, text)); err != nil || got != "twelve chars" {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
}

// Where no password can be made of a file the node does not start, and says what to do. Where there is one it does
// whatever the file is.
func TestPasswordFilesThatAreNone(t *testing.T) {
	d := ondisk.MustOpen(t, filepath.Join(t.TempDir(), "feedex.db"))
	defer d.Close()
	if err := committed(d, func(d reading.Database) error {
		return d.KeepPassword(reading.NewPassword("phone", "the phone's own one", reading.Owner, reading.ReaderScope,
			time.Now()))
	}); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		fileOf(t, ""):                       "openssl rand -hex 16",
		fileOf(t, "elevenchars\n"):          "one line of 12 characters or more",
		fileOf(t, "ééééééééééé"):            "one line of 12 characters or more",
		fileOf(t, "two lines\nof a secret"): "one line of 12 characters or more",
		fileOf(t, "not UTF-8 at all \xff"):  "one line of 12 characters or more",
		fileOf(t, "the phone's own one"):    `the password named "phone"; put another into it`,
		filepath.Join(t.TempDir(), "none"):  "no such file",
		t.TempDir():                         "directory",
	}
	log := slog.New(slog.DiscardHandler)
	for path, want := range files {
		err := makeFirst(t.Context(), d, path, log)
		if !errors.Is(err, ErrPasswordFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if err := makeFirst(t.Context(), d, fileOf(t, "twelve chars"), log); err != nil {
		t.Errorf("twelve characters: %v", err)
	}
	for path := range files {
		if err := makeFirst(t.Context(), d, path, log); err != nil {
			t.Errorf("where there is a password: %v", err)
		}
	}
	if list, err := d.Passwords(t.Context()); err != nil || len(list) != 2 || list[0].Name != "owner" ||
		list[0].Scope != reading.OwnerScope {
		t.Errorf("Passwords = %+v, %v", list, err)
	}
}
