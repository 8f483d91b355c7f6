package reading

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Person reads what the node follows, with marks, folders, titles and passwords of their own.
type Person struct {
	ID      PersonID
	Name    string
	Created time.Time // whole seconds; zero for the owner of an archive from before there were several
}

// A PersonID names a person: from 1, never used again.
type PersonID int64

// Owner is the person whose the node is. There is always one.
const Owner PersonID = 1

// OwnerName is the name that the owner has.
const OwnerName = "owner"

const (
	// MaxPeople is how many people there may be: what arrives is noted for each of them.
	MaxPeople = 32
	// FirstLatest is of how many of the latest entries a new person has some unread, at most archive.FirstUnread of
	// each feed: a first page, and not all that others have read for years.
	FirstLatest = 1000
	// RemovedFor is longer than people and filters that were removed can be had back. What says that it was removed
	// further ahead was so by a clock that was ahead.
	RemovedFor = 24 * time.Hour
	// maxPersonName is how long the name of a person may be, in bytes.
	maxPersonName = 64
)

// Why a person is not added, found or removed.
var (
	ErrPerson = errors.New("there is a person of that name: choose another name")
	ErrPeople = fmt.Errorf("there are %d people already: remove some", MaxPeople)
	ErrNobody = errors.New("there is no such person")
	ErrOwner  = errors.New("the owner stays")
)

// People keeps who reads.
type People interface {
	// AddPerson adds a person at a moment, to whom the latest entries are unread. The error is ErrPerson or ErrPeople;
	// nothing is changed then. The name is such as PersonName makes.
	AddPerson(at time.Time, name string) (PersonID, error)
	// HidePerson has a person be in no list from a moment on, and come in nowhere. What is theirs stays until
	// RemovePerson, but for their passwords; their name is free. The owner stays.
	HidePerson(at time.Time, id PersonID)
	// ShowPerson has one who was hidden be there again, by the name that they had. The error is ErrPerson, or ErrNobody
	// where they are gone; nothing is changed then.
	ShowPerson(p Person) error
	// RemovePerson takes a person's passwords, folders and titles away at once, and at most limit of their marks. It
	// reports whether there are more of these; the person goes with the last. It is no error if there is none. The
	// owner stays.
	RemovePerson(id PersonID, limit int) (more bool)
}

// A PeopleList reads what People keeps.
type PeopleList interface {
	// People returns all people, ordered by ID: the owner first.
	People(ctx context.Context) ([]Person, error)
	// HiddenPeople returns those who were hidden then or before, or more than RemovedFor after that, ordered likewise.
	HiddenPeople(ctx context.Context, upTo time.Time) ([]PersonID, error)
	// Belongings counts what would go with a person.
	Belongings(ctx context.Context, id PersonID) (Belongings, error)
}

// Belongings are what a person has. Unread is what is of the feeds that they read.
type Belongings struct{ Passwords, Folders, Unread, Starred, Labels, Filters, Receivers int }

// PersonName is the name of a person as it is kept: one line of text.
func PersonName(raw string) (string, error) {
	name := nameOf(raw)
	if name == "" || len(name) > maxPersonName {
		return "", fmt.Errorf("%w for a person: %.40q: want one line of 1 to %d bytes", ErrName, raw, maxPersonName)
	}
	return name, nil
}

// Named is the person of a name. The error is ErrNobody where there is none.
func Named(list []Person, name string) (Person, error) {
	for _, p := range list {
		if nameOf(p.Name) == nameOf(name) {
			return p, nil
		}
	}
	return Person{}, fmt.Errorf("%w: %.40q; see 'feedex person list'", ErrNobody, name)
}
