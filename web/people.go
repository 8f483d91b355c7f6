package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"feedex/reading"
)

// A personLine is somebody who reads, as the settings list them.
type personLine struct {
	ID    reading.PersonID
	Name  string
	Owner bool
	Since moment
}

func (h *Handler) people(r *http.Request) (list []personLine, err error) {
	people, err := h.Source.People(r.Context())
	for _, p := range people {
		list = append(list, personLine{p.ID, p.Name, p.ID == reading.Owner, moment{p.Created, h.Now()}})
	}
	return list, err
}

// errPeople is for what only the owner may do.
var errPeople = clientError{http.StatusForbidden, "Log in first",
	"People are added and removed by the owner alone, with an owner's password."}

// addPerson adds somebody who reads.
func (h *Handler) addPerson(_ http.ResponseWriter, r *http.Request) (string, error) {
	name := r.PostFormValue("name")
	if err := h.Source.AddPerson(r.Context(), name); err != nil {
		return "", mendable(err, "Nobody was added", reading.ErrName, reading.ErrPerson, reading.ErrPeople)
	}
	return h.said(r, "/settings", name+" reads here now. Make them a password for their reader."), nil
}

// personPage says what goes with a person, and asks.
type personPage struct {
	reading.Person
	reading.Belongings
}

func (h *Handler) person(r *http.Request) (view, error) {
	people, err := h.Source.People(r.Context())
	if err != nil || !loggedIn(r.Context()) {
		return view{}, errors.Join(err, ErrNone)
	}
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64) // of what is none there is nobody
	for _, p := range people {
		if p.ID == reading.PersonID(number) && p.ID != reading.Owner {
			b, err := h.Source.Belongings(r.Context(), p.ID)
			return view{Page: "person", Title: "Remove " + p.Name, Nav: "/settings", Body: personPage{p, b}}, err
		}
	}
	return view{}, ErrNone
}

// removePerson removes somebody, which can be undone, and all that is theirs.
func (h *Handler) removePerson(_ http.ResponseWriter, r *http.Request) (string, error) {
	name := r.PostFormValue("name")
	back, err := h.Source.RemovePerson(r.Context(), name)
	if err != nil {
		return "", mendable(err, "Nobody was removed", reading.ErrNobody, reading.ErrOwner)
	}
	return h.canUndo(r, "/settings", undo{What: name + " is removed, and all that was theirs.", Back: "/settings",
		undo: func(ctx context.Context) error {
			return notMade(mendable(back(ctx), "Nobody was added", reading.ErrPerson))
		}}), nil
}
