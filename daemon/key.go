package daemon

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"feedex/internal/datadir"
	"feedex/reading"
)

// keyName is the file in the data directory that holds the node's private key, as PKCS #8 in PEM.
const keyName = "node.key"

// keyPath is where the private key of the node on a data directory lies.
func keyPath(data string) string { return filepath.Join(data, keyName) }

// OwnFiles are the texts, by their names, of the files beside the archive of a data directory that make its node the
// one it is: its private key, the trackers and neighbors that were named while it ran, the answer about the DHT, and
// the services that entries are saved to. Without a key the error wraps fs.ErrNotExist; others may be missing.
func OwnFiles(data string) (map[string][]byte, error) {
	files, err := os.ReadDir(data)
	if err != nil {
		return nil, err
	}
	texts := make(map[string][]byte)
	for _, f := range files {
		var p reading.PersonID
		path := filepath.Join(data, f.Name())
		_, _ = fmt.Sscanf(f.Name(), "saving-%d.json", &p)
		switch path {
		case keyPath(data), filepath.Join(data, sourcesName), filepath.Join(data, dhtName),
			savingPath(data, reading.Owner), savingPath(data, p):
			text, err := datadir.Read(path, datadir.Small)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it went meanwhile
			}
			if err != nil {
				return nil, err
			}
			texts[f.Name()] = text
		}
	}
	if _, has := texts[keyName]; !has {
		return nil, fmt.Errorf("%s: %w", keyPath(data), fs.ErrNotExist)
	}
	return texts, nil
}

// nodeKey is the private key of the node on a data directory, drawn where there is none yet. A file that is no key is
// an error: with another key the node would lose its standing with all neighbors. Where a new one cannot be kept, as on
// a full disk, the node has none, and neighbors know it by its address.
func nodeKey(data string, log *slog.Logger) (ed25519.PrivateKey, error) {
	path := keyPath(data)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // nor a link, which may lead nowhere for a moment
		private, err := newKey(path)
		if err != nil {
			log.Warn("the node has no key in this run; free some space in its data directory", "err", err)
		}
		return private, nil
	}
	// A link is followed, as to where secrets are mounted: what the node reads here it shows to nobody. A backup, which
	// root may make of what belongs to somebody else, follows none.
	at, err := filepath.EvalSymlinks(path)
	var text []byte
	if err == nil {
		text, err = datadir.Read(at, datadir.Small)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: give it to the user as whom the node runs", err) // as root's are in a service's directory
	}
	if err != nil {
		return nil, fmt.Errorf("read the node's key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, badKey(path, errors.New("no PEM in it"))
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, is := key.(ed25519.PrivateKey)
	if err == nil && !is {
		err = fmt.Errorf("a %T", key)
	}
	if err != nil {
		return nil, badKey(path, err)
	}
	return private, nil
}

func badKey(path string, err error) error {
	return fmt.Errorf("the node's key in %s is none of Ed25519 (%w): put back the file as it was, or remove it, "+
		"and the node begins anew under another key", path, err)
}

// newKey draws a key, and keeps it before anybody hears of it.
func newKey(path string) (ed25519.PrivateKey, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("draw the node's key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("keep the node's key: %w", err)
	}
	if err := datadir.Replace(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return nil, fmt.Errorf("keep the node's key: %w", err)
	}
	return private, nil
}
