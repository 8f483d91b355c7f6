package sqlite

import (
	"crypto/rand"
	"fmt"
)

// secretBytes is the length of a lasting secret.
const secretBytes = 32

// LastingSecret returns 32 bytes of chance that belong to the archive: they are drawn when they are first asked for, and
// are on the disk when it returns, as after a Commit. A copy of the file has the same, an export has none. The error wraps
// ErrDamaged where there is something else in their place.
func (s *Store) LastingSecret() ([]byte, error) {
	var secret []byte
	if s.row(`SELECT lasting_secret FROM state`, nil, &secret) && secret == nil {
		secret = make([]byte, secretBytes)
		rand.Read(secret)
		s.write(`UPDATE state SET lasting_secret = ?`, secret)
	}
	if err := s.Commit(); err != nil {
		return nil, err
	}
	if len(secret) != secretBytes {
		return nil, wrap("read", s.path, fmt.Errorf("%w (a secret of %d bytes)", ErrDamaged, len(secret)))
	}
	return secret, nil
}
