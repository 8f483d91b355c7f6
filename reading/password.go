package reading

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Password lets one program of a person in. Its name is that of the user to that program.
//
// It is known by its hashes alone. It is made of 128 bits of chance, which nobody guesses, so that its hash need not be
// slow. One that the owner brought may be easier to guess for who has the archive, and everything with it.
type Password struct {
	Name    string
	Person  PersonID // who comes in by it
	Scope   Scope
	Hash    Hash      // HashOf it
	Fever   Hash      // FeverHash of the key that a program of the Fever API makes of it
	Created time.Time // whole seconds
	Used    time.Time // when somebody came in by it, written down once an hour at most; zero for never
	Epoch   int64     // how often all sessions were ended that it had begun
}

// A Scope is what a password opens.
type Scope string

// The scopes of passwords. ReaderScope is what feed readers do, by programs and at the dashboard: read, mark and star,
// title and file feeds, follow them and follow them no more. OwnerScope is all of that, and what else the dashboard has
// for its person: for the owner the node, with its settings and everybody's passwords, and for others the passwords of
// their readers.
const (
	ReaderScope Scope = "reader"
	OwnerScope  Scope = "owner"
)

// A Hash is the form in which a secret is kept: its SHA-256.
type Hash [sha256.Size]byte

// SecretBytes is how many bytes of chance a password holds. It is written as twice as many lower-case hexadecimal
// digits: some programs stumble over other characters in what they keep of it.
const SecretBytes = 16

// MaxPasswords is how many passwords there may be, and MaxOwnPasswords how many somebody who is not the owner may have
// made themselves, so that they leave room for others.
const (
	MaxPasswords    = 100
	MaxOwnPasswords = 10
)

// Why a password is not added.
var (
	ErrTaken     = errors.New("there is a password of that name: remove it first, or choose another name")
	ErrScope     = errors.New("passwords open no such thing")
	ErrPasswords = fmt.Errorf("there are %d passwords already: remove some", MaxPasswords)
	ErrOwn       = fmt.Errorf("you have %d passwords already: remove some", MaxOwnPasswords)
)

// NewPassword is the password of a name, of a person, made at now, that is spelled so.
func NewPassword(name, secret string, person PersonID, scope Scope, now time.Time) Password {
	return Password{Name: name, Person: person, Scope: scope, Hash: HashOf(secret),
		Fever: FeverHash(FeverKey(name, secret)), Created: time.Unix(now.Unix(), 0).UTC()}
}

// HashOf is the hash of a password, of which blanks around it are none.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(strings.TrimSpace(secret))) }

// FeverKey is the key that a program of the Fever API makes of a name and a password. That API is made of MD5; it does
// no harm where what is hashed is 128 bits of chance.
func FeverKey(name, secret string) string {
	sum := md5.Sum([]byte(name + ":" + secret))
	return hex.EncodeToString(sum[:])
}

// FeverHash is the hash of such a key, in letters of either case.
func FeverHash(key string) Hash {
	return sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(key))))
}

// CheckScope says why a password cannot have a scope.
func CheckScope(s Scope) error {
	if s != ReaderScope && s != OwnerScope {
		return fmt.Errorf("%w: %.40q: want %q or %q", ErrScope, s, ReaderScope, OwnerScope)
	}
	return nil
}

// maxPasswordName is how long the name of a password may be, in bytes.
const maxPasswordName = 64

// CheckPasswordName says why a password cannot have a name: ASCII letters, digits and some signs that need no escaping
// anywhere, and none that ends a name in HTTP's Basic authentication.
func CheckPasswordName(name string) error {
	for _, c := range name {
		if ('a' > c|0x20 || c|0x20 > 'z') && ('0' > c || c > '9') && !strings.ContainsRune("._-+@", c) {
			return fmt.Errorf("%w for a password: %.40q: want letters, digits and . _ - + @", ErrName, name)
		}
	}
	if name == "" || len(name) > maxPasswordName {
		return fmt.Errorf("%w for a password: want 1 to %d characters, not %d", ErrName, maxPasswordName, len(name))
	}
	return nil
}
