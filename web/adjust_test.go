package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/reading"
)

// feedFormOf is the form of feed 1 as a browser sends it that changes nothing but those fields.
func feedFormOf(b *browser, changes url.Values) url.Values {
	form := url.Values{"token": {b.token}, "feed": {"1"}, "name": {"My news"}, "folders": {"Daily\r\nOld"},
		"private-shown": {"off"}, "discreet-shown": {"off"}, "sharing": {"stars"}, "sharing-shown": {"stars"},
		"weight": {"3"}, "policy": {"auto"}, "value": {"15m"},
		"age": {"1.5"}}
	maps.Copy(form, changes)
	return form
}

// adjustedNode is a node whose feed 1 is followed in a way of its own.
func adjustedNode(t *testing.T) *aNode {
	n := newNode(t)
	k := n.known[1]
	k.Name, k.Folders, k.Weight, k.Policy = "My news", []string{"Daily", "Old"}, 3, "auto:15m"
	k.Sharing = archive.SharesStars
	k.Limits = archive.Limits{Age: 36 * time.Hour}
	n.known[1] = k
	n.passwords = []reading.Password{reading.NewPassword("phone", "secret", reading.Owner, reading.OwnerScope, noon)}
	return n
}

// The page of a feed has all that the command line sets of it in one form. What the form does not change is not said
// again: a feed that its owner says nothing of is another than one that they call public.
func TestAFeedIsAdjusted(t *testing.T) {
	n := adjustedNode(t)
	b := newBrowser(t, newHandler(t, n))
	page := get(b.h, "/feeds/1").Body.String()
	for _, want := range []string{`<h1 dir="auto">My news</h1>`, "Daily\nOld</textarea>", `name="weight" value="3"`,
		"<option selected>auto</option>",
		`<option value="stars" selected>my stars</option>`, `name="value" value="15m"`, `name="age" value="1.5"`,
		`name="count" value=""`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	w := b.post("/adjust", feedFormOf(b, nil))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/feeds/1?done=saved" || len(n.adjusted) != 0 ||
		len(n.kept) != 0 {
		t.Errorf("%d to %q, said %+v and %q of what did not change", w.Code, w.Header().Get("Location"), n.adjusted,
			n.kept)
	}
	if page := get(b.h, "/feeds/1?done=saved").Body.String(); !strings.Contains(page, "<p>Saved.</p>") {
		t.Error("nothing says that it was saved")
	}
	b.post("/adjust", feedFormOf(b, url.Values{"name": {" The news "}, "folders": {" Daily \r\n\r\nNew\r\n"},
		"private": {"1"}, "discreet": {"1"}, "sharing": {"nothing"},
		"weight": {"100"}, "policy": {"fixed"}, "value": {"1d"}, "age": {""},
		"count": {"500"}, "size": {"0.5"}}))
	a := n.arranged[len(n.arranged)-1]
	if a.Feed != 1 || *a.Name != " The news " || !slices.Equal(a.Into, []string{"New"}) ||
		!slices.Equal(a.Out, []string{"Old"}) {
		t.Errorf("arranged %+v", a)
	}
	if len(n.adjusted) != 1 || !slices.Equal(n.kept, []string{"1 {500000 0s 500}"}) {
		t.Fatalf("said %+v and %q", n.adjusted, n.kept)
	}
	if s := n.adjusted[0]; s.number != 1 || !*s.Private || !*s.Discreet ||
		*s.Sharing != archive.SharesNothing || s.Weight != 100 || *s.Policy != "fixed:24h" {
		t.Errorf("said %+v", s)
	}
	b.post("/adjust", feedFormOf(b, url.Values{"policy": {""}, "value": {""}}))
	if s := n.adjusted[1]; *s.Policy != "" || s.Private != nil || s.Discreet != nil || s.Sharing != nil ||
		s.Weight != 0 {
		t.Errorf("said %+v of the node's own policy", s)
	}
	if w := b.post("/adjust", url.Values{"token": {b.token}, "feed": {"9"}}); w.Code != http.StatusNotFound {
		t.Errorf("a feed that nobody knows: %d", w.Code)
	}
}

// Where the second half of the form cannot be saved, the page says what was.
func TestWhatWasSavedOfAForm(t *testing.T) {
	for fails, want := range map[string]string{
		"adjust": "Its title and folders are saved; how it is followed and how much is kept are not: This node has",
		"keep": "and how it is followed are saved; how much is kept is not: " + reading.ErrRests.Error() +
			": the disk is full: free some space.",
	} {
		n := adjustedNode(t)
		n.fails = fails
		b := newBrowser(t, newHandler(t, n))
		w := b.post("/adjust", feedFormOf(b, url.Values{"weight": {"7"}, "count": {"50"}}))
		page := w.Body.String()
		if w.Code < 400 || (w.Code == 503) != (fails == "keep") || strings.Count(page, want) != 1 {
			t.Errorf("where it cannot %s: %d,\n%s", fails, w.Code, page)
		}
	}
}

// A folder that cannot be is said beside the field, whoever files a feed there.
func TestAFolderOfATakenName(t *testing.T) {
	n, ann, h := newHome(t, true)
	for password, of := range map[string]*aNode{"secret": n, "hers": ann} {
		b := enterBy(t, h, password)
		for _, of.refused = range []error{reading.ErrFilterName, reading.ErrFolders} {
			w := b.post("/adjust", feedFormOf(b, url.Values{"folders": {"Storms"}, "value": {""}, "policy": {""}}))
			page := w.Body.String()
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(page, "Storms</textarea>") ||
				!strings.Contains(page, of.refused.Error()[1:]+".") {
				t.Errorf("%s, %v: %d\n%s", password, of.refused, w.Code, page)
			}
		}
	}
}

// What a field cannot hold is said beside it; the form has what was typed, and nothing is changed.
func TestWhatIsWrongStandsBesideTheField(t *testing.T) {
	n := adjustedNode(t)
	b := newBrowser(t, newHandler(t, n))
	for _, test := range []struct{ field, text, want string }{
		{"folders", strings.Repeat("x", 400), "Not a name for a folder"},
		{"weight", "101", "from 1 to 100"},
		{"weight", "-1", "from 1 to 100"},
		{"value", "soon", "no time above 0"},
		{"value", `"><script>`, "no time above 0"},
		{"policy", "hourly", "hourly"},
		{"policy", "post-rate", "takes no value"},
		{"policy", "", "Choose a policy"},
		{"age", "-3", "number of days"},
		{"age", "NaN", "number of days"},
		{"age", "1e300", "number of days"},
		{"age", "Inf", "number of days"},
		{"count", "1.5", "whole number from 1 on"},
		{"count", "0", "whole number from 1 on"},
		{"size", "1e-9", "megabytes above 0"},
		{"size", "9e99", "megabytes above 0"},
	} {
		w := b.post("/adjust", feedFormOf(b, url.Values{"name": {"Typed"}, test.field: {test.text}}))
		page := w.Body.String()
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(page, test.want) ||
			!strings.Contains(page, `value="Typed"`) || !strings.Contains(page, `<details class="narrow" open>`) ||
			!strings.Contains(page, `aria-invalid="true"`) ||
			strings.Contains(page, "<script>\"") || strings.Contains(page, "data-live") { // its address has no page
			t.Errorf("%s %q: %d, want %q:\n%s", test.field, test.text, w.Code, test.want, page)
		}
		wantSound(t, "/adjust", w)
	}
	if len(n.arranged)+len(n.adjusted)+len(n.kept) != 0 {
		t.Errorf("changed %+v, %+v, %q", n.arranged, n.adjusted, n.kept)
	}
}

// Who has not logged in may keep more from neighbors, and tells them nothing that they were not to know.
func TestOnlyTheOwnerTellsNeighborsMore(t *testing.T) {
	n := adjustedNode(t)
	k := n.known[1]
	k.Withheld, k.Discreet, k.Status.Kept = true, true, "you keep it private"
	n.known[1] = k
	b := newBrowser(t, newHandler(t, n))
	// An older page, or one without the boxes, does not know that they are checked now, and says nothing of it.
	for _, shown := range []string{"off", ""} {
		w := b.post("/adjust", feedFormOf(b, url.Values{"private-shown": {shown}, "discreet-shown": {shown}}))
		if w.Code != http.StatusSeeOther || len(n.adjusted) != 0 {
			t.Errorf("boxes that were %q: %d, said %+v", shown, w.Code, n.adjusted)
		}
	}
	unchecked := feedFormOf(b, url.Values{"private-shown": {"on"}, "discreet-shown": {"on"}, "sharing": {"labels"}})
	if w := b.post("/adjust", unchecked); w.Code != http.StatusUnprocessableEntity || len(n.adjusted) != 0 ||
		strings.Count(w.Body.String(), "Log in first") != 3 {
		t.Errorf("%d without a password, said %+v", w.Code, n.adjusted)
	} else {
		wantSound(t, "/adjust", w)
	}
	b.login("secret", "/")
	unchecked.Set("token", b.token)
	if w := b.post("/adjust", unchecked); w.Code != http.StatusSeeOther || len(n.adjusted) != 1 ||
		*n.adjusted[0].Private || *n.adjusted[0].Discreet {
		t.Errorf("%d with one, said %+v", w.Code, n.adjusted)
	}
	// Of a feed that stays for the look of its address, the form says nothing: the question above it does.
	k.Withheld, k.Discreet, k.Status.Undecided = false, false, true
	n.known[1] = k
	if page := get(b.h, "/feeds/1").Body.String(); strings.Contains(page, `name="private"`) ||
		!strings.Contains(page, "May neighbors know of this feed?") {
		t.Error("the form asks as well")
	}
}

// The form of a feed that was unfollowed meanwhile changes nothing.
func TestAFeedThatIsNotFollowedIsNotAdjusted(t *testing.T) {
	n := adjustedNode(t)
	k := n.known[1]
	k.Subscribed = false
	n.known[1] = k
	b := newBrowser(t, newHandler(t, n))
	w := b.post("/adjust", feedFormOf(b, url.Values{"name": {"Another"}, "weight": {"7"}}))
	if w.Code != http.StatusConflict || len(n.arranged)+len(n.adjusted)+len(n.kept) != 0 {
		t.Errorf("%d, changed %+v, %+v, %q", w.Code, n.arranged, n.adjusted, n.kept)
	}
}
