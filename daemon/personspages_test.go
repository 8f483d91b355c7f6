package daemon

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/protocol"
	"feedex/reader"
	"feedex/reading"
	"feedex/web"
)

// hiddenFeed has an address that is a secret.
const hiddenFeed = feed.URL("https://example.org/paid.xml?token=hunter2hunter2")

// A tenant is Ann's browser at pages for which everybody has to log in, where the feed with the secret address is
// followed too, of which she left out all.
type tenant struct {
	*household
	*visitor
	hidden reading.FeedID
}

func newTenant(t *testing.T) *tenant {
	t.Helper()
	h := newHousehold(t)
	ctx := t.Context()
	pages, err := newDashboard(ctx, h.host, func(*http.Request) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(reader.New(reader.Config{Source: ownersArchive{h.store, h.Shelf}, Entrance: h.door,
		Sync: h.host.syncAPIs(), Web: pages, Known: pages.LoggedIn,
		Metrics: http.HandlerFunc(h.host.metrics)}))
	t.Cleanup(s.Close)
	if err := h.host.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{hiddenFeed}}); err != nil {
		t.Fatal(err)
	}
	h.testLibrary.arrive(hiddenFeed, 3)
	hidden, err := h.FeedID(ctx, hiddenFeed)
	if err != nil || hidden == 0 {
		t.Fatal(hidden, err)
	}
	if err := h.ann.Unsubscribe(ctx, hidden); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, base: s.URL, Client: http.Client{Jar: jar, Transport: &http.Transport{}}}
	t.Cleanup(v.CloseIdleConnections)
	v.send("/login", "/login", url.Values{"password": {h.secrets["ann"]}})
	return &tenant{h, v, hidden}
}

// code is what a page answers with, or where it leads to.
func (a *tenant) code(path string) string {
	a.visitor.t.Helper()
	client := a.visitor.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(a.visitor.base + path)
	if err != nil {
		a.visitor.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + resp.Header.Get("Location"))
}

// entryPath is where the entry of a feed is that arrived as the nth.
func entryPath(u feed.URL, n int) string {
	e := feed.Entry{Feed: u, ID: strconv.Itoa(n)}
	return "/entries/" + e.EntryID().String()
}

// What a person does on the pages is theirs, on the disk, and nothing of another's.
func TestAPersonsPagesMarkForThemAlone(t *testing.T) {
	a := newTenant(t)
	number := strconv.FormatInt(int64(a.feed), 10)
	before := a.state(a.library)
	first := strings.TrimPrefix(entryPath(exampleFeed, 0), "/entries/")
	step := func(want, page, path string, fields ...string) string {
		t.Helper()
		form := url.Values{"person": {"1"}, "user": {"owner"}}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		shown := a.send(page, path, form)
		if got := a.state(a.ann); got != want {
			t.Errorf("%s %q: Ann has %s, want %s", path, fields, got, want)
		}
		if got := a.state(a.library); got != before {
			t.Errorf("%s %q: the owner has %s, want %s", path, fields, got, before)
		}
		return shown
	}
	if page := a.page("/entries"); !strings.Contains(page, "Unread (6)") || strings.Count(page, "title ") < 6 {
		t.Errorf("Ann does not see what she has:\n%s", page)
	}
	const entries = "/entries?person=1"
	step("5 unread 0 starred 1 read feed ", entries, "/mark?person=1", "entry", first, "as", "read")
	step("5 unread 1 starred 1 read feed ", entries, "/mark", "entry", first, "as", "starred")
	_, newest, _ := strings.Cut(a.page("/entries"), `name="newest" value="`)
	newest, _, _ = strings.Cut(newest, `"`)
	shown := step("0 unread 1 starred 6 read feed ", entries, "/read", "feed", "0", "next", "/entries", "newest",
		newest)
	_, key, ok := strings.Cut(shown, `name="undo" value="`)
	if !ok {
		t.Fatalf("it cannot be undone:\n%s", shown)
	}
	key, _, _ = strings.Cut(key, `"`)
	step("5 unread 1 starred 1 read feed ", entries, "/undo", "undo", key)
	step("5 unread 1 starred 1 read folder Sea feed Hers in Sea", "/feeds/"+number, "/adjust", "feed", number, "name",
		"Hers", "folders", "Sea", "weight", "9", "fulltext", "1", "fulltext-shown", "off")
	if k, err := a.store.Shelf(reading.Owner).FeedLook(t.Context(), int64(a.feed)); err != nil || k.FullText {
		t.Errorf("Ann has full texts fetched for all: %v", err)
	}
	a.want("/entries?show=all", "Hers")
	a.want("/feeds.opml", "Hers", string(exampleFeed))
	shown = step("0 unread 0 starred 0 read folder Sea", "/feeds/"+number, "/unfollow", "feed", number)
	_, key, _ = strings.Cut(shown, `name="undo" value="`)
	key, _, _ = strings.Cut(key, `"`)
	if page := a.page("/entries?show=all"); strings.Contains(page, "title 1") {
		t.Errorf("what Ann left out is listed:\n%s", page)
	}
	step("5 unread 1 starred 1 read folder Sea feed Hers in Sea", "/feeds", "/undo", "undo", key)
}

// What has a secret address is on no page of a person who does not read it, whatever they ask for, and the address on
// none at all.
func TestSecretsAreNotForOthers(t *testing.T) {
	a := newTenant(t)
	ctx := t.Context()
	number := strconv.FormatInt(int64(a.hidden), 10)
	for _, path := range []string{"/feeds/" + number, "/entries?feed=" + number + "&show=all", "/search?feed=" + number,
		entryPath(hiddenFeed, 0)} {
		if got := a.code(path); got != "404" {
			t.Errorf("%s: %s", path, got)
		}
	}
	hers := func() (seen int) {
		for _, path := range []string{"/entries?show=all", "/entries?show=all&sort=published", "/entries?q=title",
			"/search?q=title", "/search?q=title&sort=relevance", "/search?since=1960-01-01", "/feeds", "/feeds.opml",
			"/settings"} {
			page := a.page(path)
			if strings.Contains(page, "hunter2") || strings.Contains(page, "paid.xml") {
				t.Errorf("%s shows the address:\n%s", path, page)
			}
			if strings.Contains(page, entryPath(hiddenFeed, 1)) || strings.Contains(page, "/feeds/"+number) {
				seen++
			}
		}
		return seen
	}
	if seen := hers(); seen > 0 {
		t.Errorf("%d pages show what Ann does not read", seen)
	}
	for _, path := range []string{"/follow", "/unfollow", "/adjust", "/refresh"} {
		found := formToken.FindStringSubmatch(a.page("/settings"))
		resp, err := a.PostForm(a.visitor.base+path, url.Values{"token": {found[1]}, "feed": {number}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	if got := a.state(a.ann); got != "6 unread 0 starred 0 read feed " {
		t.Errorf("Ann has %s", got)
	}
	if err := a.ann.Unsubscribe(ctx, a.feed); err != nil {
		t.Fatal(err)
	}
	left := strconv.FormatInt(int64(a.feed), 10)
	resp, err := a.PostForm(a.visitor.base+"/refresh", url.Values{"feed": {left}, "next": {"/entries?feed=" + left},
		"token": {formToken.FindStringSubmatch(a.page("/settings"))[1]}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(page), "There is no feed to poll.") {
		t.Errorf("of a feed that Ann has left out a refresh says %s, %v:\n%s", resp.Status, err, page)
	}
	mine := "Of my own"
	if err := a.library.Arrange(ctx, reading.Arrangement{URL: exampleFeed, Name: &mine}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/search?feed=" + strconv.FormatInt(int64(a.feed), 10), "/search?q=title",
		"/entries?q=title"} {
		if page := a.page(path); strings.Contains(page, mine) {
			t.Errorf("%s shows what the owner calls the feed:\n%s", path, page)
		}
	}
	if err := a.ann.takeIn(ctx, archive.UsualBacklog, a.feed); err != nil {
		t.Fatal(err)
	}
	herTitle := "Of hers"
	if err := a.ann.Arrange(ctx, reading.Arrangement{URL: exampleFeed, Name: &herTitle}); err != nil {
		t.Fatal(err)
	}
	a.want("/search?q=title", herTitle)
	if err := a.ann.takeIn(ctx, archive.UsualBacklog, a.hidden); err != nil {
		t.Fatal(err)
	}
	if seen := hers(); seen != 7 {
		t.Errorf("%d pages show what Ann reads, want 7: all but her list and the settings", seen)
	}
	a.want(entryPath(hiddenFeed, 0), "title 0")
}

// A person's session is none at what is not a page: nothing that an owner's session opens, as the owner's list of
// feeds. It ends when the person goes.
func TestAPersonsSessionOpensPagesAlone(t *testing.T) {
	a := newTenant(t)
	for _, path := range []string{"/opml", "/metrics", "/archive?q=title", "/all.atom", "/feeds/1.atom",
		"/filter/a.atom", "/feed/" + string(exampleFeed)} {
		if got := a.code(path); got != "401" {
			t.Errorf("%s: %s", path, got)
		}
	}
	for path, want := range map[string]string{"/": "303 /entries", "/neighbors": "403", "/filters": "403",
		"/people/2": "403", "/entries": "200"} {
		if got := a.code(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if err := a.host.RemovePerson(t.Context(), "Ann"); err != nil {
		t.Fatal(err)
	}
	if got := a.code("/entries"); got != "303 /login?next=%2Fentries" {
		t.Errorf("after Ann is removed: %s", got)
	}
}

// An open page of a person is told of what came and of what they marked, and of nothing that others do or that becomes
// of the node.
func TestLiveIsOfThePersonsOwn(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	source := dashboard{View: h.store, entrance: h.door, host: h.host}
	versions := func() [2]uint64 {
		return [2]uint64{source.Of(reading.Owner, "").Version(), source.Of(2, "").Version()}
	}
	tell := func(note node.Note) func() error {
		return func() error {
			_, err := chore(ctx, h.host.loop, func() (bool, error) { h.host.tell(time.Now(), note); return true, nil })
			return err
		}
	}
	mark := reading.Mark{Read: reading.Yes}
	for _, c := range []struct {
		what       string
		do         func() error
		owner, ann bool
	}{
		{"the owner marks", func() error { return h.library.Mark(ctx, []reading.ItemID{1}, mark) }, true, false},
		{"Ann marks", func() error { return h.ann.Mark(ctx, []reading.ItemID{1}, mark) }, false, true},
		{"a neighbor is lost", tell(node.Unlinked{Peer: protocol.NodeID{}}), true, false},
		{"entries arrive", tell(node.Arrived{Feed: exampleFeed}), true, true},
	} {
		before := versions()
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		now := versions()
		if now[0] != before[0] != c.owner || now[1] != before[1] != c.ann {
			t.Errorf("%s: from %d to %d", c.what, before, now)
		}
	}
}

// With a password that opens all that is hers Ann makes passwords for her own readers, a few, and removes them. Those
// of others, and what opens all, are not hers to remove; and nothing of the node is open to her.
func TestAPersonMakesTheirPasswords(t *testing.T) {
	a := newTenant(t)
	ctx := t.Context()
	all, err := a.host.AddPassword(ctx, control.PasswordRequest{Name: "desk", Person: "Ann", Scope: reading.OwnerScope})
	if err != nil {
		t.Fatal(err)
	}
	if text := a.send("/settings", "/logout", url.Values{}); !strings.Contains(text, "Log in") {
		t.Fatalf("she cannot log out:\n%s", text)
	}
	a.send("/login", "/login", url.Values{"password": {all}})
	for path, want := range map[string]string{"/neighbors": "403", "/filters": "403", "/people/2": "403",
		"/opml": "401", "/metrics": "401", "/entries": "200"} {
		if got := a.code(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	a.visitor.Client.CheckRedirect = nil
	text := a.send("/settings", "/passwords", url.Values{"name": {"tablet"}, "person": {"owner"}, "scope": {"owner"}})
	secret := regexp.MustCompile(`<code>([0-9a-f]{32})</code>`).FindStringSubmatch(text)
	if secret == nil {
		t.Fatalf("no password is shown:\n%s", text)
	}
	v, err := a.door.Visitor(ctx, secret[1])
	if l, ok := v.Library.(*library); err != nil || !ok || l.person != a.ann.person || v.Name != "tablet" {
		t.Errorf("it lets in %+v, %v", v, err)
	}
	names := func() (list []string) {
		passwords, err := a.store.Passwords(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range passwords {
			list = append(list, p.Name+" "+string(p.Scope))
		}
		return list
	}
	want := []string{"ann reader", "desk owner", "phone reader", "tablet reader"}
	pages := pagesLibrary{library: a.ann}
	for _, name := range []string{"phone", "desk", "none"} {
		if _, err := pages.RemoveOwnPassword(ctx, name); !errors.Is(err, web.ErrNone) {
			t.Errorf("removing %s: %v", name, err)
		}
	}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	// It is refused at once, and had back as it was, with when it was used last and the sessions that it began.
	kept := func() reading.Password {
		p, err := a.store.Password(ctx, reading.HashOf(secret[1]), false)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := a.host.write(ctx, func(d reading.Database) error { d.EndSessions("tablet"); return nil }); err != nil {
		t.Fatal(err)
	}
	before := kept()
	text = a.send("/settings", "/passwords/remove", url.Values{"name": {"tablet"}})
	undo := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(text)
	if undo == nil || !strings.Contains(text, "The password tablet is removed") || kept() != (reading.Password{}) {
		t.Fatalf("it is not removed:\n%s", text)
	}
	a.send("/settings", "/undo", url.Values{"undo": {undo[1]}})
	if got := kept(); got != before || got.Used.IsZero() || got.Epoch != 1 {
		t.Errorf("it came back as %+v, want %+v", got, before)
	}
	back, err := pages.RemoveOwnPassword(ctx, "tablet")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pages.AddOwnPassword(ctx, "a b"); !errors.Is(err, reading.ErrName) {
		t.Errorf("a name that cannot be one: %v", err)
	}
	for i := range reading.MaxOwnPasswords {
		_, err := pages.AddOwnPassword(ctx, fmt.Sprint("more", i))
		if full := i >= reading.MaxOwnPasswords-2; full != errors.Is(err, reading.ErrOwn) || !full && err != nil {
			t.Errorf("password %d more: %v", i, err)
		}
	}
	if err := back(ctx); !errors.Is(err, reading.ErrOwn) {
		t.Errorf("one too many came back: %v", err)
	}
}

// Another person follows feeds as the owner does: so much as they say is unread to them, of feeds too that the node
// follows for others, for which nobody is asked again; and what cannot be read is followed only where they say so.
func TestAPersonFollowsAsTheOwnerDoes(t *testing.T) {
	var titles []string
	for i := range archive.FirstUnread + 5 {
		titles = append(titles, fmt.Sprint("Title ", i))
	}
	owners, hers, gone := startFeed(t, titles...), startFeed(t, titles...), startFeed(t)
	gone.allowed = func(*http.Request) bool { return false }
	n := startNode(t, Config{Subscribe: []feed.URL{owners.url}})
	ctx := t.Context()
	if err := n.client.FirstPolls(ctx, []feed.URL{owners.url}, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	owners.mu.Lock()
	owners.allowed = func(r *http.Request) bool { t.Errorf("asked again by %s", r.UserAgent()); return true }
	owners.mu.Unlock()
	if err := n.client.AddPerson(ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	secret, err := n.client.AddPassword(ctx, control.PasswordRequest{Name: "ann", Person: "Ann",
		Scope: reading.ReaderScope})
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, n)
	v.send("/login", "/login", url.Values{"password": {secret}})
	v.want("/entries", fmt.Sprintf("Unread (%d)", archive.FirstUnread))
	v.send("/feeds", "/unfollow", url.Values{"feed": {"1"}})
	v.want("/entries", "Unread (0)")
	without := strings.TrimPrefix(string(owners.url), "http://") // for which https is tried first
	for _, says := range []string{"Test, " + without + ", is followed.", "is followed already."} {
		page := v.send("/settings", "/follow", url.Values{"url": {without}, "unread": {"2"}})
		if !strings.Contains(page, says) {
			t.Errorf("her settings lack %q:\n%s", says, page)
		}
		v.want("/entries", fmt.Sprintf("Unread (%d)", archive.FirstUnread)) // as before
	}
	v.send("/settings", "/follow", url.Values{"url": {strings.TrimPrefix(string(hers.url), "http://")},
		"unread": {"3"}})
	v.want("/entries", fmt.Sprintf("Unread (%d)", archive.FirstUnread+3))
	newVisitor(t, n).want("/entries", fmt.Sprintf("Unread (%d)", 2*archive.FirstUnread))

	form := url.Values{"url": {string(gone.url)}, "token": {formToken.FindStringSubmatch(v.page("/settings"))[1]}}
	resp, err := v.PostForm(v.base+"/follow", form)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(text), "HTTP 403") {
		t.Errorf("what cannot be read: %s, %v\n%s", resp.Status, err, text)
	}
	v.want("/feeds", "2 feeds.")
	page := v.send("/settings", "/follow", url.Values{"url": {string(gone.url)}, "anyway": {"1"}})
	if !strings.Contains(page, "is followed, but could not be had yet: ") {
		t.Errorf("it is not followed anyway:\n%s", page)
	}
	v.want("/feeds", "3 feeds.")
}

// Credentials of a feed go to what its page names alone: to no other path of its host, and onto no page.
func TestCredentialsAreNotLent(t *testing.T) {
	f := startFeed(t, "A title")
	secret := feed.URL(strings.Replace(string(f.url), "http://", "http://ann:pa55@", 1))
	n := startNode(t, Config{Subscribe: []feed.URL{secret}})
	if err := n.client.FirstPolls(t.Context(), []feed.URL{secret}, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var shown []string
	f.mu.Lock()
	f.allowed = func(r *http.Request) bool { shown = append(shown, r.Header.Get("Authorization")); return false }
	f.mu.Unlock()
	v := newVisitor(t, n)
	form := url.Values{"url": {strings.Replace(string(f.url), "feed.xml", "other.xml", 1)}, "page": {"1"},
		"token": {formToken.FindStringSubmatch(v.page("/settings"))[1]}}
	resp, err := v.PostForm(v.base+"/follow", form)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusUnprocessableEntity || strings.Contains(string(text), "pa55") {
		t.Errorf("the page is %s, %v:\n%s", resp.Status, err, text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(shown) == 0 || strings.Join(shown, "") != "" {
		t.Errorf("its host was shown %q", shown)
	}
}

// A list that a person brings says which of its places brought them nothing new, whoever else follows the feeds.
func TestAPersonBringsAList(t *testing.T) {
	a := newTenant(t)
	ctx := t.Context()
	pages := pagesLibrary{library: a.ann}
	const another = feed.URL("https://example.net/another.xml")
	list := []opml.Outline{{URL: hiddenFeed, Line: 1}, {URL: exampleFeed, Line: 2}, {URL: another, Line: 3},
		{URL: another, Line: 4}, {URL: hiddenFeed, Line: 5}}
	a.testLibrary.arrive(hiddenFeed, 5) // two of which are new
	got, err := pages.Follow(ctx, list, 1)
	want := web.FollowedList{Added: 2, Repeated: []web.Repetition{
		{Line: 2, Feed: exampleFeed, Reason: "is followed already"},
		{Line: 4, Feed: another, Reason: "stands in line 3 already"},
		{Line: 5, Feed: hiddenFeed, Reason: "is followed already"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	a.testLibrary.arrive(another, 2)
	for l, want := range map[*library]int{a.library: 6 + 5 + 2, a.ann: 6 + 3 + 1 + 1} {
		if got, err := l.Size(ctx, unread); err != nil || got != want {
			t.Errorf("to person %d %d are unread, %v, want %d", l.person, got, err, want)
		}
	}
}
