package daemon

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"feedex/reading"
)

// ErrNoPassword means that there is no password of that name.
var ErrNoPassword = errors.New("there is no such password")

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
		return fmt.Errorf("remove password %q: %w", name, ErrNoPassword)
	}
	return nil
}

// AddPassword implements Maintenance.
func (h *host) AddPassword(ctx context.Context, name string) (secret string, err error) {
	err = h.write(ctx, func(d desk) error {
		secret, err = addPassword(d, name)
		return asked(err)
	})
	return secret, err
}

// RemovePassword implements Maintenance.
func (h *host) RemovePassword(ctx context.Context, name string) error {
	return h.write(ctx, func(d desk) error { return asked(removePassword(d, name)) })
}

// asked is err as an error of the client.
func asked(err error) error {
	if err != nil {
		return badRequest{err}
	}
	return nil
}

// AddPassword implements Maintenance.
func (k *OfflineArchive) AddPassword(_ context.Context, name string) (string, error) {
	secret, err := addPassword(k.store, name)
	if lost := k.store.Commit(); lost != nil {
		err = lost
	}
	return secret, err
}

// RemovePassword implements Maintenance.
func (k *OfflineArchive) RemovePassword(_ context.Context, name string) error {
	err := removePassword(k.store, name)
	if lost := k.store.Commit(); lost != nil {
		err = lost
	}
	return err
}

// A passwordRequest is the body of a request about a password.
type passwordRequest struct {
	Name string `json:"name"`
}

// A passwordAnswer is the answer to the making of one.
type passwordAnswer struct {
	Secret string `json:"secret"`
}

func servePasswordAdd(k Maintenance) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var p passwordRequest
		if !readBody(w, r, &p, maxControlBytes) {
			return
		}
		secret, err := k.AddPassword(r.Context(), p.Name)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, passwordAnswer{secret})
	}
}

// AddPassword implements Maintenance.
func (c *Client) AddPassword(ctx context.Context, name string) (string, error) {
	var a passwordAnswer
	err := c.do(ctx, "POST", "/password/add", passwordRequest{name}, &a)
	return a.Secret, err
}

// RemovePassword implements Maintenance.
func (c *Client) RemovePassword(ctx context.Context, name string) error {
	return c.do(ctx, "POST", "/password/remove", passwordRequest{name}, nil)
}
