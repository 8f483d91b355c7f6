package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"feedex/archive"
	"feedex/opml"
)

// An importPage tells what came of a list of feeds.
type importPage struct {
	of            string // whose it is
	Added, Listed int
	Problems      []opml.Problem
	More          int        // problems besides
	Kept          []keptLine // feeds that stay on the node
	MoreKept      int        // of them besides
	Repeated      []string   // places of the list that brought nothing new
	MoreRepeated  int        // of them besides
}

// A keptLine is a feed that stays on the node.
type keptLine struct{ Address, Why string }

const (
	// maxProblems is how many problems of a list are told one by one.
	maxProblems = 200
	// keptImports is of how many imports the page is kept.
	keptImports = 8
)

// imports are the results of the latest imports, by their number from 1. They are gone with the process.
type imports struct {
	mu   sync.Mutex
	list [keptImports]importPage
	last int
}

// add keeps what came of an import and returns its number.
func (i *imports) add(p importPage) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last++
	i.list[i.last%keptImports] = p
	return i.last
}

// at is the result of the import with that number, if that is still known and the person's.
func (i *imports) at(number int, of string) (importPage, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if number <= 0 || number > i.last || number <= i.last-keptImports {
		return importPage{}, false
	}
	p := i.list[number%keptImports]
	return p, p.of == of
}

// importList has the person read all feeds of a list that a form brings.
func (h *desk) importList(_ http.ResponseWriter, r *http.Request) (string, error) {
	list, err := readList(r)
	if err != nil {
		return "", err
	}
	unread, err := readBacklog(r)
	if err != nil {
		return "", err
	}
	p := importPage{of: viewerOf(r.Context()).String(), Listed: len(list.Feeds), Problems: list.Problems}
	followed, err := h.Shelf.Follow(r.Context(), list.Feeds, unread)
	if err != nil {
		return "", err
	}
	if !viewerOf(r.Context()).owns() {
		followed.Kept = nil // what stays on the node is its owner's to know
	}
	p.Added, p.MoreKept = followed.Added, max(0, len(followed.Kept)-maxProblems)
	for _, k := range followed.Kept[:len(followed.Kept)-p.MoreKept] {
		p.Kept = append(p.Kept, keptLine{address(k.Feed), k.Why})
	}
	p.MoreRepeated = max(0, len(followed.Repeated)-maxProblems)
	for _, again := range followed.Repeated[:len(followed.Repeated)-p.MoreRepeated] {
		p.Repeated = append(p.Repeated, fmt.Sprintf("line %d: %s %s", again.Line, address(again.Feed), again.Reason))
	}
	p.Problems = append(p.Problems, followed.Problems...)
	p.More = max(0, len(p.Problems)-maxProblems)
	p.Problems = p.Problems[:len(p.Problems)-p.More]
	return "/imported/" + strconv.Itoa(h.imports.add(p)), nil
}

// readBacklog is how much of what there is already a form leaves unread.
func readBacklog(r *http.Request) (archive.Backlog, error) {
	text := r.PostFormValue("unread")
	if text == "" {
		return archive.UsualBacklog, nil
	}
	b, err := archive.ParseBacklog(text)
	if err != nil {
		err = clientError{http.StatusBadRequest, "That is no number of entries",
			"How many entries are left unread: " + err.Error() + ". Nothing was changed."}
	}
	return b, err
}

// readList is the list of feeds that a form brings.
func readList(r *http.Request) (l opml.List, err error) {
	file, _, err := r.FormFile("list")
	if errors.Is(err, http.ErrNotMultipart) || errors.Is(err, http.ErrMissingFile) {
		return l, clientError{http.StatusBadRequest, "No file was chosen",
			"Choose the OPML file that your reader exported. Nothing was changed."}
	}
	if err != nil {
		return l, err
	}
	defer file.Close()
	document, err := io.ReadAll(file)
	if err != nil {
		return l, err
	}
	if l, err = opml.Read(document); err != nil {
		return l, clientError{http.StatusBadRequest, "That file could not be read",
			"It is no list of feeds: " + err.Error() + ". Nothing was changed."}
	}
	return l, nil
}

// imported shows what came of a list.
func (h *desk) imported(r *http.Request) (view, error) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return view{}, ErrNone
	}
	p, ok := h.imports.at(number, viewerOf(r.Context()).String())
	if !ok {
		return view{}, ErrNone
	}
	return view{Page: "imported", Title: "Feeds imported", Nav: "/settings", Body: &p}, nil
}
