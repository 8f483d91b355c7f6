package daemon

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"feedex/control"
	"feedex/reading"
)

// addPassword makes a password and keeps its hashes.
func addPassword(d reading.Passwords, name string) (secret string, err error) {
	if err := reading.CheckPasswordName(name); err != nil {
		return "", err
	}
	var chance [reading.SecretBytes]byte
	crand.Read(chance[:])
	secret = hex.EncodeToString(chance[:])
	return secret, d.KeepPassword(reading.NewPassword(name, secret, time.Now()))
}

func removePassword(d reading.Passwords, name string) error {
	if !d.DropPassword(name) {
		return fmt.Errorf("remove password %q: %w", name, control.ErrNoPassword)
	}
	return nil
}

// AddPassword implements control.Maintenance.
func (h *host) AddPassword(ctx context.Context, name string) (secret string, err error) {
	err = h.write(ctx, func(d desk) error {
		secret, err = addPassword(d, name)
		return asked(err)
	})
	return secret, err
}

// RemovePassword implements control.Maintenance.
func (h *host) RemovePassword(ctx context.Context, name string) error {
	return h.write(ctx, func(d desk) error { return asked(removePassword(d, name)) })
}

// asked is err as an error of the client.
func asked(err error) error {
	if err != nil {
		return control.BadRequest{Err: err}
	}
	return nil
}

// AddPassword implements control.Maintenance.
func (k *OfflineArchive) AddPassword(_ context.Context, name string) (string, error) {
	secret, err := addPassword(k.store, name)
	if lost := k.store.Commit(); lost != nil {
		err = lost
	}
	return secret, err
}

// RemovePassword implements control.Maintenance.
func (k *OfflineArchive) RemovePassword(_ context.Context, name string) error {
	err := removePassword(k.store, name)
	if lost := k.store.Commit(); lost != nil {
		err = lost
	}
	return err
}
