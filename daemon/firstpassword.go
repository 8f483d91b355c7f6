package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"feedex/feed"
	"feedex/reading"
)

// firstName is the name of the password that is made of a file, and minFirst how long it must be, in characters: it is
// the one password that a person may have chosen.
const (
	firstName = "owner"
	minFirst  = 12
)

// ErrPasswordFile means that no password can be made of Config.PasswordFile.
var ErrPasswordFile = errors.New("no password can be made of the password file")

// makeFirst makes the owner's password of what is in a file, unless there is one of that name: it can be taken back and
// made anew as every other, and a file that stays where it is changes nothing then.
func makeFirst(ctx context.Context, d reading.Database, path string, log *slog.Logger) error {
	if path == "" {
		return nil
	}
	list, err := d.Passwords(ctx)
	if err != nil {
		return fmt.Errorf("look for passwords: %w", err)
	}
	secret, err := readFirst(path)
	named := func(p reading.Password) bool { return p.Name == firstName }
	if i := slices.IndexFunc(list, named); i >= 0 {
		if err == nil && list[i].Hash != reading.HashOf(secret) {
			log.Warn("the password file holds another password than there is; to have it made, stop the node and "+
				"remove the other: feedex password remove "+firstName, "file", path)
		}
		return nil
	}
	same := func(p reading.Password) bool { return p.Hash == reading.HashOf(secret) }
	if i := slices.IndexFunc(list, same); i >= 0 && err == nil {
		err = fmt.Errorf("%w: %s holds the password named %q; put another into it", ErrPasswordFile, path, list[i].Name)
	}
	if err != nil {
		return err
	}
	err = committed(d, func(d reading.Database) error {
		return d.KeepPassword(reading.NewPassword(firstName, secret, reading.Owner, reading.OwnerScope, time.Now()))
	})
	if err != nil {
		return fmt.Errorf("make the password of %s: %w", path, err)
	}
	log.Info("made the owner's password of a file", "user", firstName, "file", path)
	return nil
}

// readFirst is the password in a file.
func readFirst(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w; make it by 'openssl rand -hex 16', or name none", ErrPasswordFile, err)
	}
	text = feed.UTF8(text)
	secret := strings.TrimSpace(string(text))
	if n := utf8.RuneCountInString(secret); n < minFirst || strings.ContainsAny(secret, "\r\n") || !utf8.Valid(text) {
		return "", fmt.Errorf("%w: %s has to hold one line of %d characters or more; make it by 'openssl rand -hex 16'",
			ErrPasswordFile, path, minFirst)
	}
	return secret, nil
}
