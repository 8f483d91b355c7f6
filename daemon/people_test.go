package daemon

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/reader"
	"feedex/reading"
	"feedex/web"
)

// A household is a library on a socket that two people read: the owner by the password "phone", and Ann by "ann".
type household struct {
	*testLibrary
	ann     *library
	base    string
	secrets map[string]string // by the names of passwords
	feed    reading.FeedID
}

func newHousehold(t *testing.T) *household {
	t.Helper()
	l := newLibrary(t)
	ctx := t.Context()
	h := &household{testLibrary: l, secrets: make(map[string]string)}
	var err error
	if h.feed, err = l.Subscribe(ctx, exampleFeed); err != nil {
		t.Fatal(err)
	}
	if err := l.host.AddPerson(ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	l.arrive(exampleFeed, 6)
	for name, person := range map[string]string{"phone": "", "ann": "Ann"} {
		h.secrets[name], err = l.host.AddPassword(ctx, control.PasswordRequest{Name: name, Person: person,
			Scope: reading.ReaderScope})
		if err != nil {
			t.Fatal(err)
		}
	}
	people, err := l.store.People(ctx)
	if err != nil || len(people) != 2 {
		t.Fatalf("people: %+v, %v", people, err)
	}
	h.ann = l.host.libraryOf(people[1].ID)
	s := httptest.NewServer(reader.New(reader.Config{Source: ownersArchive{l.store, l.Shelf}, Entrance: l.door,
		Sync: l.host.syncAPIs()}))
	t.Cleanup(s.Close)
	h.base, l.host.at.Reader = s.URL, s.Listener.Addr().String()
	return h
}

// basic is what shows a password under a user name.
func basic(user, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret))
}

// ask is the answer to a request.
func (h *household) ask(method, target, authorization, body string) (code int, answer string) {
	h.t.Helper()
	r, err := http.NewRequest(method, h.base+target, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", authorization)
	r.Header.Set("X-Auth-User", "phone")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// state is what a person has: how much is unread and starred, the folders, and the feeds with title and folders.
func (h *household) state(l *library) string {
	h.t.Helper()
	ctx := h.t.Context()
	unread, err1 := l.Size(ctx, unread)
	starred, err2 := l.Size(ctx, starred)
	changed, err3 := l.Size(ctx, reading.Stream{Unlisted: true, Read: reading.Yes})
	folders, err4 := l.Folders(ctx)
	feeds, err5 := l.Subscriptions(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		h.t.Fatal(err)
	}
	text := fmt.Sprint(unread, " unread ", starred, " starred ", changed, " read")
	for _, f := range folders {
		text += " folder " + f.Name
	}
	for _, f := range feeds {
		text += " feed " + f.Name
		for _, d := range f.Folders {
			text += " in " + d.Name
		}
	}
	return text
}

// What comes by a password of one person changes what is theirs, by every API, and nothing of another's, whatever it
// says: whose it wants to be, or numbers that are another's.
func TestAPasswordIsOfItsPersonAlone(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	mine := "Mine"
	if err := h.Arrange(ctx, reading.Arrangement{Feed: h.feed, Name: &mine, Into: []string{"Owner's"}}); err != nil {
		t.Fatal(err)
	}
	folders, err := h.Folders(ctx)
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	owners, before := folders[0].ID, h.state(h.library)
	secret := h.secrets["ann"]
	login, name := "GoogleLogin auth="+secret, basic("ann", secret)
	key := "&api_key=" + reading.FeverKey("ann", secret)
	for _, c := range []struct{ method, target, authorization, body, want string }{
		{"POST", "/reader/api/0/edit-tag", login, "i=1&a=user/1/state/com.google/read&user=phone&person=owner",
			"5 unread 0 starred 1 read feed "},
		{"POST", "/reader/api/0/edit-tag?person=1&userId=phone", login, "i=2&a=user/phone/state/com.google/starred",
			"5 unread 1 starred 1 read feed "},
		{"POST", "/fever/?api&user=phone&person=1", "", "mark=item&as=read&id=3" + key,
			"4 unread 1 starred 2 read feed "},
		{"PUT", "/v1/entries", name, `{"entry_ids":[4],"status":"read","user_id":1,"person":1}`,
			"3 unread 1 starred 3 read feed "},
		{"PUT", "/v1/entries/5/bookmark?user_id=1", name, "", "3 unread 2 starred 3 read feed "},
		{"PUT", "/index.php/apps/news/api/v1-2/items/5/read?userId=phone", name, `{"userId":"phone"}`,
			"2 unread 2 starred 4 read feed "},
		{"POST", "/reader/api/0/subscription/edit", login, "ac=edit&s=feed/" + fmt.Sprint(h.feed) +
			"&t=Hers&a=user/-/label/Hers&r=user/-/label/Owner's",
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"PUT", fmt.Sprintf("/v1/categories/%d", owners), name, `{"title":"Taken"}`,
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"DELETE", fmt.Sprintf("/v1/categories/%d", owners), name, "",
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"PUT", fmt.Sprintf("/v1/categories/%d/mark-all-as-read", owners), name, "",
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"PUT", fmt.Sprintf("/index.php/apps/news/api/v1-2/folders/%d", owners), name, `{"name":"Taken"}`,
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"DELETE", fmt.Sprintf("/index.php/apps/news/api/v1-2/folders/%d", owners), name, "",
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"POST", "/fever/?api", "", fmt.Sprintf("mark=group&as=read&id=%d&before=99999999999%s", owners, key),
			"2 unread 2 starred 4 read folder Hers feed Hers in Hers"},
		{"PUT", "/v1/users/2/mark-all-as-read", name, "", "0 unread 2 starred 6 read folder Hers feed Hers in Hers"},
		{"POST", "/reader/api/0/subscription/edit", login, "ac=unsubscribe&s=feed/" + fmt.Sprint(h.feed),
			"0 unread 0 starred 0 read folder Hers"},
		{"POST", "/v1/feeds", name, `{"feed_url":"` + string(exampleFeed) + `"}`,
			"0 unread 2 starred 6 read folder Hers feed Hers in Hers"},
		{"DELETE", fmt.Sprintf("/v1/feeds/%d", h.feed), name, "", "0 unread 0 starred 0 read folder Hers"},
		{"POST", "/reader/api/0/subscription/import", login, `<opml><body><outline xmlUrl="` + string(exampleFeed) +
			`"/></body></opml>`, "0 unread 2 starred 6 read folder Hers feed Hers in Hers"},
		{"DELETE", fmt.Sprintf("/v1/feeds/%d", h.feed), name, "", "0 unread 0 starred 0 read folder Hers"},
		{"POST", "/reader/api/0/subscription/import", login, `<opml><body><outline xmlUrl="` + h.base + "/feed/" +
			string(exampleFeed) + `"/></body></opml>`, "0 unread 2 starred 6 read folder Hers feed Hers in Hers"},
	} {
		code, answer := h.ask(c.method, c.target, c.authorization, c.body)
		if got := h.state(h.ann); got != c.want {
			t.Errorf("%s %s: %d %.80s: Ann has %s, want %s", c.method, c.target, code, answer, got, c.want)
		}
		if got := h.state(h.library); got != before {
			t.Fatalf("%s %s: the owner has %s, want %s", c.method, c.target, got, before)
		}
	}
	for _, foreign := range []struct{ method, target, authorization, body string }{
		{"GET", "/v1/me", basic("phone", secret), ""},
		{"GET", "/index.php/apps/news/api/v1-2/feeds", basic("phone", secret), ""},
		{"POST", "/accounts/ClientLogin", "", "Email=phone&Passwd=" + secret},
		{"GET", "/opml", basic("phone", secret), ""},
	} {
		if code, answer := h.ask(foreign.method, foreign.target, foreign.authorization, foreign.body); code !=
			http.StatusUnauthorized {
			t.Errorf("%s with another's name: %d %s", foreign.target, code, answer)
		}
	}
	if _, answer := h.ask("POST", "/fever/?api", "", "api_key="+reading.FeverKey("phone", secret)); !strings.Contains(
		answer, `"auth":0`) {
		t.Errorf("Fever with another's name: %s", answer)
	}

	// The list of feeds is the visitor's too.
	for user, want := range map[string]string{"phone": "Mine", "ann": "Hers"} {
		code, list := h.ask("GET", "/opml", basic(user, h.secrets[user]), "")
		if !strings.Contains(list, `"`+want+`"`) {
			t.Errorf("/opml of %s: %d %s", user, code, list)
		}
	}
}

// Everybody reads by the same numbers what came, and with a person everything that is theirs goes, at once for their
// programs.
func TestRemovePerson(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	if err := h.ann.Mark(ctx, []reading.ItemID{1}, reading.Mark{Starred: reading.Yes}); err != nil {
		t.Fatal(err)
	}
	visitor, err := h.door.Visitor(ctx, h.secrets["ann"])
	if err != nil || visitor.Library == nil {
		t.Fatal(visitor, err)
	}
	before := h.state(h.library)
	if err := h.host.RemovePerson(ctx, reading.OwnerName); !errors.Is(err, reading.ErrOwner) {
		t.Errorf("the owner was removed: %v", err)
	}
	if err := h.host.RemovePerson(ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	if err := h.host.RemovePerson(ctx, "Ann"); !errors.Is(err, reading.ErrNobody) {
		t.Errorf("Ann was removed twice: %v", err)
	}
	if code, _ := h.ask("GET", "/v1/me", basic("ann", h.secrets["ann"]), ""); code != http.StatusUnauthorized {
		t.Errorf("Ann's password lets in: %d", code)
	}
	// A request of hers that had come in before marks nothing, and breaks nothing.
	if err := visitor.Library.Mark(ctx, []reading.ItemID{2}, reading.Mark{Read: reading.Yes}); !errors.Is(err,
		reading.ErrNobody) {
		t.Errorf("Mark = %v", err)
	}
	if _, err := visitor.Library.AddFolder(ctx, "A"); !errors.Is(err, reading.ErrNobody) {
		t.Errorf("AddFolder = %v", err)
	}
	if got := h.state(h.library); got != before {
		t.Errorf("the owner has %s, want %s", got, before)
	}
	if _, err := h.host.AddPassword(ctx, control.PasswordRequest{Name: "ann", Person: "Ann",
		Scope: reading.ReaderScope}); !errors.Is(err, reading.ErrNobody) {
		t.Errorf("a password of nobody: %v", err)
	}
}

// Somebody who is removed on a page comes in nowhere at once, and comes back with all that is theirs, what came
// meanwhile too, until that can be undone no more, when it is erased.
func TestARemovedPersonComesBack(t *testing.T) {
	h := newHousehold(t)
	h.host.config.Data = t.TempDir()
	h.host.data = h.host.config.Data
	ctx := t.Context()
	source := dashboard{View: h.store, entrance: h.door, host: h.host}
	if err := h.ann.Mark(ctx, []reading.ItemID{1}, reading.Mark{Starred: reading.Yes}); err != nil {
		t.Fatal(err)
	}
	saved := savingPath(h.host.config.Data, h.ann.person)
	if err := os.WriteFile(saved, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	enters := func() bool {
		code, _ := h.ask("GET", "/v1/me", basic("ann", h.secrets["ann"]), "")
		return code == http.StatusOK
	}
	remove := func() (back func(context.Context) error) {
		t.Helper()
		back, err := source.RemovePerson(ctx, "Ann")
		if err != nil || enters() {
			t.Fatalf("removed: %v, and Ann comes in: %v", err, enters())
		}
		err = h.ann.Mark(ctx, []reading.ItemID{2}, reading.Mark{Read: reading.Yes})
		if !errors.Is(err, reading.ErrNobody) {
			t.Errorf("Mark = %v", err)
		}
		return back
	}
	before := h.state(h.ann)
	back := remove()
	if _, err := source.RemovePerson(ctx, "Ann"); !errors.Is(err, reading.ErrNobody) {
		t.Errorf("removed twice: %v", err)
	}
	h.arrive(exampleFeed, 7) // one more
	now := time.Now()
	if err := errors.Join(h.host.eraseHidden(ctx, now.Add(web.UndoTime)), back(ctx)); err != nil {
		t.Fatal(err)
	}
	if got, want := h.state(h.ann), strings.Replace(before, "6 unread", "7 unread", 1); got != want || !enters() {
		t.Errorf("Ann came back with %s, want %s, and comes in: %v", got, want, enters())
	}

	// Of what took a name of hers meanwhile it is said.
	back = remove()
	other := control.PasswordRequest{Name: "ann", Scope: reading.ReaderScope}
	if _, err := h.host.AddPassword(ctx, other); err != nil {
		t.Fatal(err)
	}
	if err := back(ctx); !errors.Is(err, reading.ErrTaken) || !strings.Contains(err.Error(), "Ann is there again") {
		t.Errorf("though a name is taken: %v", err)
	}

	back = remove()
	if err := h.host.AddPerson(ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	if err := back(ctx); !errors.Is(err, reading.ErrPerson) {
		t.Errorf("beside another of her name: %v", err)
	}
	if err := h.host.eraseHidden(ctx, now.Add(web.UndoTime+2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(h.host.RemovePerson(ctx, "Ann"), back(ctx)); !errors.Is(err, reading.ErrNobody) {
		t.Errorf("after all is erased: %v", err)
	}
	_, err := os.Stat(saved)
	if got := h.state(h.ann); !errors.Is(err, fs.ErrNotExist) || got != "0 unread 0 starred 7 read feed " {
		t.Errorf("Ann has %s, and where she saves to: %v", got, err)
	}
}

// A node erases after a restart who was removed before it.
func TestARestartErasesWhoWasRemoved(t *testing.T) {
	data := t.TempDir()
	store := ondisk.MustOpen(t, DatabasePath(data))
	id, err := store.AddPerson(time.Now(), "Ann")
	store.HidePerson(time.Now().Add(-time.Hour), id)
	if err := errors.Join(err, store.Commit(), store.Close()); err != nil {
		t.Fatal(err)
	}
	startNode(t, Config{Data: data, retainPause: time.Millisecond})
	view, left := ondisk.View(t, DatabasePath(data)), []reading.PersonID{id}
	for end := time.Now().Add(patience); len(left) > 0 && time.Now().Before(end); breathe() {
		if left, err = view.HiddenPeople(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if len(left) > 0 {
		t.Errorf("there are still %v", left)
	}
}

// What programs unfollow is known by the name of their password, and followed again as it was, for the owner and for
// others, unless they follow it again themselves. What is unfollowed without a program is not told of.
func TestProgramsThatUnfollow(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	source := dashboard{View: h.store, entrance: h.door, host: h.host}
	const weight = 7
	if err := h.host.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{exampleFeed}, Weight: weight}); err != nil {
		t.Fatal(err)
	}
	told := func(p reading.PersonID) (text string) {
		list, err := source.Of(p, "").Unfollowed(ctx, time.Now().Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list {
			text += u.By + " " + string(u.URL) + " "
		}
		return text
	}
	for _, c := range []struct {
		name   string
		person reading.PersonID
	}{{"ann", h.ann.person}, {"phone", reading.Owner}} {
		pages, want := source.Of(c.person, ""), c.name+" "+string(exampleFeed)+" "
		unfollow := func() {
			t.Helper()
			h.miniflux("DELETE", fmt.Sprint("/v1/feeds/", h.feed), c.name, http.StatusNoContent)
			if reads, err := pages.Known(ctx, int64(h.feed)); err != nil || reads.Reads {
				t.Fatalf("%s unfollows nothing: %v", c.name, err)
			}
		}
		unfollow()
		h.miniflux("DELETE", fmt.Sprint("/v1/feeds/", h.feed), c.name, http.StatusNotFound)
		if got := told(c.person); got != want {
			t.Errorf("%s unfollowed: told %q, want %q", c.name, got, want)
		}
		list, err := pages.Unfollowed(ctx, time.Time{})
		if err := cmp.Or(err, pages.Refollow(ctx, list)); err != nil {
			t.Fatal(err)
		}
		got, err := pages.Known(ctx, int64(h.feed))
		if told := told(c.person); err != nil || !got.Reads || got.Weight != weight || told != "" {
			t.Errorf("%s has it again: %+v, %v, told %q", c.name, got, err, told)
		}
		unfollow()
		if err := cmp.Or(pages.TakeUp(ctx, int64(h.feed)), pages.Unsubscribe(ctx, h.feed)); err != nil {
			t.Fatal(err)
		}
		if got := told(c.person); got != "" {
			t.Errorf("what a page unfollowed is told of as by %q", got)
		}
		if err := pages.TakeUp(ctx, int64(h.feed)); err != nil {
			t.Fatal(err)
		}
	}
}

// What the owner's programs unfollow the node goes on with for a week, for others and for the owner, who misses nothing
// by taking it back, on a page or by any command; then the node follows it no more.
func TestProgramsUnfollowNothingForTheNode(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	owner := personal{h.host, h.host.libraryOf(reading.Owner)}
	came, first := 6, h.feed
	wants := func(what string, reads, follows bool) {
		t.Helper()
		status, err := h.host.feed(ctx, exampleFeed)
		all, err2 := owner.Feeds(ctx)
		listed := slices.DeleteFunc(slices.Clone(all), func(f node.FeedStatus) bool { return f.Unfollowed })
		own, err3 := h.Reads(ctx, int64(first))
		others, err4 := h.ann.Reads(ctx, int64(first))
		if err := errors.Join(err, err2, err3, err4); err != nil || own != reads || len(listed) == 1 != reads ||
			len(all) == 1 != follows || status != nil != follows || others != follows {
			t.Errorf("%s: the owner reads it %v, %d are listed, the node follows %+v, Ann %v: %v", what, own,
				len(all), status, others, err)
		}
	}
	// unfollow has a phone unfollow it, and an entry come.
	unfollow := func() {
		t.Helper()
		h.miniflux("DELETE", fmt.Sprint("/v1/feeds/", first), "phone", http.StatusNoContent)
		came++
		h.arrive(exampleFeed, came)
		wants("unfollowed", false, true)
	}
	for name, follow := range map[string]func() error{
		"feedex subscribe, of several": func() error {
			return owner.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{exampleFeed}})
		},
		"by its address at the node": func() error {
			here := feed.URL("http://" + h.host.at.Reader + "/feed/" + string(exampleFeed))
			return owner.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{here}})
		},
		"feedex subscribe": func() error {
			s, err := owner.FollowAddress(ctx, control.FollowAddress{
				Subscribe: node.Subscribe{Feeds: []feed.URL{exampleFeed}}})
			if !s.New {
				err = cmp.Or(err, errors.New("it is no new feed"))
			}
			return err
		},
		"feedex import": func() error {
			f, err := Follow(ctx, owner, []opml.Outline{{URL: exampleFeed}}, archive.UsualBacklog, func(int, int) {})
			if len(f.New) != 1 {
				err = cmp.Or(err, fmt.Errorf("%+v", f))
			}
			return err
		},
		"a program": func() error { _, err := h.Subscribe(ctx, exampleFeed); return err },
	} {
		unfollow()
		if err := follow(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wants(name, true, true)
		h.wantSize(name, unread, came)
	}

	unfollow()
	if err := owner.Unsubscribe(ctx, exampleFeed); err != nil {
		t.Fatal(err)
	}
	wants("feedex unsubscribe", false, false)
	if gone, err := h.Unfollowed(ctx, time.Time{}); err != nil || len(gone) != 0 {
		t.Errorf("then programs unfollowed %+v, %v", gone, err)
	}
	const ahead = 10 * 365 * 24 * time.Hour // the clock was
	for i, after := range []time.Duration{web.UnfollowedFor - time.Minute, web.UnfollowedFor + time.Minute,
		time.Minute - web.UnfollowedFor, -ahead} {
		err := owner.Subscribe(ctx, following(exampleFeed))
		unfollow()
		for range 2 {
			if err := errors.Join(err, h.host.endUnfollowed(ctx, time.Now().Add(after))); err != nil {
				t.Fatal(err)
			}
			wants(fmt.Sprint("after ", after), false, i%2 == 0)
		}
	}
	if _, err := h.ann.Subscribe(ctx, exampleFeed); err != nil {
		t.Fatal(err)
	}
	wants("Ann follows it anew, for all", true, true)
}

// miniflux has a program ask by Miniflux's API.
func (h *household) miniflux(method, target, user string, want int) {
	h.t.Helper()
	if code, answer := h.ask(method, target, basic(user, h.secrets[user]), ""); code != want {
		h.t.Errorf("%s %s of %s: %d %s", method, target, user, code, answer)
	}
}
