package sqlite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"feedex/archive"
)

// lastingSecret is that of the archive at path.
func lastingSecret(t *testing.T, path string) []byte {
	t.Helper()
	s := openFile(t, path)
	secret, err := s.LastingSecret()
	if err != nil || len(secret) != 32 || bytes.Equal(secret, make([]byte, 32)) {
		t.Fatalf("a lasting secret of %d bytes, %v", len(secret), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return secret
}

// A copy of the file has the secret of the archive, another archive has another.
func TestLastingSecret(t *testing.T) {
	folder := t.TempDir()
	path, backup := filepath.Join(folder, "archive.db"), filepath.Join(folder, "backup.db")
	secret := lastingSecret(t, path)
	if err := openFile(t, path).Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, backup} {
		if !bytes.Equal(lastingSecret(t, path), secret) {
			t.Errorf("%s has another secret", path)
		}
	}
	if bytes.Equal(lastingSecret(t, filepath.Join(folder, "other.db")), secret) {
		t.Error("another archive has the same secret")
	}
}

// An archive from before there was one draws its own, once, and keeps what it knows.
func TestMigrateToLastingSecret(t *testing.T) {
	path := olderArchive(t, 17, fmt.Sprintf(`UPDATE state SET indexed = 7; INSERT INTO feeds (id, url, secret, kept) VALUES (1, '%s', 0, 1)`, news))
	secret := lastingSecret(t, path)
	if !bytes.Equal(lastingSecret(t, path), secret) {
		t.Error("it is another when the archive is opened again")
	}
	s := openFile(t, path)
	if got, want := s.LoadFeeds(), (archive.Feed{URL: news}); len(got) != 1 || got[0] != want {
		t.Errorf("LoadFeeds = %+v, want %+v", got, want)
	}
	var indexed int
	if s.row(`SELECT indexed FROM state`, nil, &indexed); indexed != 7 {
		t.Errorf("indexed is %d, want 7", indexed)
	}
}

// Where something else is in its place the file is damaged, and Verify says so.
func TestLastingSecretThatIsDamaged(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	const harm = `PRAGMA ignore_check_constraints = ON; UPDATE state SET lasting_secret = x'0102'`
	if _, err := s.conn.ExecContext(t.Context(), harm); err != nil {
		t.Fatal(err)
	}
	_, err := s.LastingSecret()
	wantCause(t, err, ErrDamaged, s.path)
	var problems []string
	err = s.Verify(t.Context(), func(int64) {}, func(p string) { problems = append(problems, p) })
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0], "state") {
		t.Errorf("Verify tells %q, %v", problems, err)
	}
}
