package web

import (
	"net/http"

	"feedex/reading"
)

// A pageRoute is what is at an address, and for whom. What is not named as a reader's is the owner's alone.
type pageRoute struct {
	pattern string
	// everybody is what it is to all, also those who have not logged in where that is required.
	everybody http.HandlerFunc
	// reader is what it is to whoever reads, at their desk: to the owner too, unless owner is something else.
	reader deskHandler
	owner  http.HandlerFunc
}

// A deskHandler answers at the desk of the person who asks.
type deskHandler func(d *desk, w http.ResponseWriter, r *http.Request)

// routes are all that the handler serves.
func (h *Handler) routes() []pageRoute {
	open := func(pattern string, f http.HandlerFunc) pageRoute { return pageRoute{pattern: pattern, everybody: f} }
	reads := func(pattern string, f deskHandler) pageRoute { return pageRoute{pattern: pattern, reader: f} }
	more := func(pattern string, f deskHandler, owner http.HandlerFunc) pageRoute {
		return pageRoute{pattern: pattern, reader: f, owner: owner}
	}
	owns := func(pattern string, f http.HandlerFunc) pageRoute { return pageRoute{pattern: pattern, owner: f} }
	// shown is a form that takes a password also where the pages take none, and else says why.
	shown := func(why error, do func(http.ResponseWriter, *http.Request) (string, error)) http.HandlerFunc {
		return h.change(func(w http.ResponseWriter, r *http.Request) (string, error) {
			if !loggedIn(r.Context()) {
				return "", why
			}
			return do(w, r)
		})
	}
	return []pageRoute{
		// Everybody's: the way in, and what tells nothing.
		open("GET /login", h.page(h.loginPage)),
		open("POST /login", h.change(h.login)),
		open("POST /logout", h.change(h.logout)),
		open("GET "+offlinePath, h.page(h.offline)),
		open("GET "+workerPath, h.worker),
		open("GET "+manifestPath, h.manifest),
		open("GET /assets/{name}", h.assets.serve),
		open("GET "+reading.IconPath+"{word}", h.icon),

		// A reader's, and in the same form the owner's.
		reads("GET /entries", pageAt((*desk).entries)),
		reads("GET /entries/{id}", pageAt((*desk).entry)),
		reads("GET /entries/{id}/open", (*desk).open),
		reads("GET /pictures/{feed}/{code}/{address}", (*desk).picture),
		reads("GET /feeds.opml", (*desk).export),
		reads("GET /imported/{number}", pageAt((*desk).imported)),
		reads("GET /passwords/{word}", pageAt((*desk).password)),
		reads("GET /live", (*desk).serveLive),
		reads("POST /follow", changeAt((*desk).follow)),
		reads("POST /import", formAt(maxFileBytes, (*desk).importList)),
		reads("POST /mark", changeAt((*desk).mark)),
		reads("POST /label", changeAt((*desk).label)),
		reads("POST /read", changeAt((*desk).markAll)),
		reads("POST /refresh", changeAt((*desk).refresh)),
		reads("POST /undo", changeAt((*desk).undo)),
		reads("POST /unfollowed", changeAt((*desk).refollow)),
		reads("POST /pictures", changeAt((*desk).showPictures)),
		reads("POST /fulltext", changeAt((*desk).fullText)),
		reads("POST /look", changeAt((*desk).setLook)),
		reads("POST /save", changeAt((*desk).save)),
		reads("POST /saving", changeAt((*desk).setService)),
		reads("POST /sharing", changeAt((*desk).setShareLink)),
		reads("/", pageAt(func(*desk, *http.Request) (view, error) { return view{}, ErrNone })),

		// A reader's, of which the owner has more.
		more("GET /{$}", (*desk).toEntries, h.page(h.home)),
		more("GET /feeds", pageAt((*desk).subscriptions), h.page(h.feeds)),
		more("GET /feeds/{number}", pageAt((*desk).subscription), h.page(h.feed)),
		more("GET /search", pageAt((*desk).search), h.page(h.searchFurther)),
		more("GET /settings", pageAt((*desk).preferences), h.page(h.settings)),
		more("POST /adjust", changeAt((*desk).arrange), h.change(h.adjust)),
		more("POST /unfollow", changeAt((*desk).unsubscribe), h.change(h.unfollow)),
		more("POST /passwords", changeAt((*desk).addOwnPassword), shown(errLogin, h.addPassword)),
		more("POST /passwords/remove", changeAt((*desk).removeOwnPassword), shown(errLogin, h.removePassword)),

		// The owner's.
		owns("GET /recommended", h.page(h.recommended)),
		owns("GET /starred", h.page(h.starred)),
		owns("GET /neighbors", h.page(h.neighbors)),
		owns("GET /join", h.page(h.invited)),
		owns("GET /search/network", h.searchNetwork),
		owns("GET /filters", h.page(h.filters)),
		owns("GET /notifications", h.page(h.receivers)),
		owns("GET /people/{number}", h.page(h.person)),
		owns("POST /people", shown(errPeople, h.addPerson)),
		owns("POST /people/remove", shown(errPeople, h.removePerson)),
		owns("POST /filters", h.change(h.keepFilter)),
		owns("POST /filters/change", h.change(h.changeFilter)),
		owns("POST /notifications", shown(errReceivers, h.addReceiver)),
		owns("POST /notifications/try", shown(errReceivers, h.tryReceiver)),
		owns("POST /notifications/remove", shown(errReceivers, h.removeReceiver)),
		owns("POST /decline", h.change(h.decline)),
		owns("POST /share", h.change(h.share)),
		owns("POST /join", h.change(h.join)),
		owns("POST /sources", h.change(h.nameSource)),
		owns("POST /sources/remove", h.change(h.forgetSource)),
		owns("POST /dht", h.change(h.answerDHT)),
	}
}

// pageAt serves a page at a desk.
func pageAt(make func(*desk, *http.Request) (view, error)) deskHandler {
	return func(d *desk, w http.ResponseWriter, r *http.Request) {
		d.page(func(r *http.Request) (view, error) { return make(d, r) })(w, r)
	}
}

// changeAt serves a form at a desk.
func changeAt(do func(*desk, http.ResponseWriter, *http.Request) (string, error)) deskHandler {
	return formAt(maxFormBytes, do)
}

// formAt serves a form of so many bytes at most, at a desk.
func formAt(limit int64, do func(*desk, http.ResponseWriter, *http.Request) (string, error)) deskHandler {
	return func(d *desk, w http.ResponseWriter, r *http.Request) {
		d.form(limit, func(w http.ResponseWriter, r *http.Request) (string, error) { return do(d, w, r) })(w, r)
	}
}

// errOwners is for what is not a reader's.
var errOwners = clientError{http.StatusForbidden, "This is the owner’s",
	"It is open to whoever logs in with an owner’s password."}

// admit serves a route to whom it is for.
func (h *Handler) admit(t pageRoute) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch c := viewerOf(r.Context()); {
		case t.everybody != nil:
			t.everybody(w, r)
		case c == (viewer{}):
			h.refuse(w, r)
		case t.owner != nil && c.owns():
			t.owner(w, r)
		case t.reader != nil:
			by := ""
			if !c.settles() {
				by = c.Name
			}
			t.reader(&desk{h.kit, h.Source.Of(c.Person, by)}, w, r)
		default:
			h.show(w, r, h.visitor(w, r), h.failure(r, errOwners))
		}
	}
}

// refuse answers who has not logged in where that is required.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path != "/live" && r.URL.Path != "/search/network" {
		http.Redirect(w, r, loginFor(r.URL.RequestURI(), ""), http.StatusSeeOther)
		return
	}
	http.Error(w, "Log in first.", http.StatusUnauthorized)
}
