package daemon

import (
	"crypto/ed25519"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"feedex/internal/asnobody"
)

// A node draws its key once, for its owner alone, and has it at each start.
func TestTheKeyIsKept(t *testing.T) {
	data, log := t.TempDir(), slog.New(slog.DiscardHandler)
	first, err := nodeKey(data, log)
	if err != nil || len(first) != ed25519.PrivateKeySize {
		t.Fatalf("drew %d bytes, %v", len(first), err)
	}
	if again, err := nodeKey(data, log); err != nil || !again.Equal(first) {
		t.Errorf("at the next start it has another key, %v", err)
	}
	info, err := os.Stat(keyPath(data))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, %v", keyPath(data), info.Mode(), err)
	}
	linked := t.TempDir()
	if err := os.Symlink(keyPath(data), keyPath(linked)); err != nil {
		t.Skip("no symbolic link can be made here, as on Windows: ", err)
	}
	if same, err := nodeKey(linked, log); err != nil || !same.Equal(first) {
		t.Errorf("by a link it has another key, %v", err)
	}
	nowhere := t.TempDir()
	if err := os.Symlink(filepath.Join(nowhere, "none"), keyPath(nowhere)); err != nil {
		t.Fatal(err)
	}
	if _, err := nodeKey(nowhere, log); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in place of a link that leads nowhere it draws a key: %v", err)
	}
	if other, err := nodeKey(t.TempDir(), log); err != nil || other.Equal(first) {
		t.Errorf("another node has the same key, %v", err)
	}
}

// A file that is no key is never replaced, and the error says what to do.
func TestAKeyThatIsNone(t *testing.T) {
	const x25519 = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB\n" +
		"-----END PRIVATE KEY-----\n" // of X25519, which signs nothing
	const broken = "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n"
	for _, text := range []string{"", "not a key", broken, x25519} {
		data := t.TempDir()
		if err := os.WriteFile(keyPath(data), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := nodeKey(data, slog.New(slog.DiscardHandler)); err == nil ||
			!strings.Contains(err.Error(), "put back the file as it was, or remove it") {
			t.Errorf("%q is a key: %v", text, err)
		}
		if kept, err := os.ReadFile(keyPath(data)); err != nil || string(kept) != text {
			t.Errorf("%q was replaced by %q, %v", text, kept, err)
		}
	}
}

// Where the key belongs to somebody else the error says what to do.
func TestAKeyOfSomebodyElse(t *testing.T) {
	if !asnobody.Run(t) {
		return
	}
	data := t.TempDir()
	if err := os.WriteFile(keyPath(data), nil, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := nodeKey(data, slog.New(slog.DiscardHandler)); !errors.Is(err, fs.ErrPermission) ||
		!strings.Contains(err.Error(), "give it to the user as whom the node runs") {
		t.Errorf("it ended with %v", err)
	}
}

// Where a new key cannot be kept the node runs without one, and says so.
func TestAKeyThatCannotBeKept(t *testing.T) {
	if !asnobody.Run(t) {
		return
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o500); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	key, err := nodeKey(data, slog.New(slog.NewTextHandler(&said, nil)))
	if key != nil || err != nil || !strings.Contains(said.String(), "has no key in this run") {
		t.Errorf("it has a key: %v, %v; it said %q", key != nil, err, said.String())
	}
}
