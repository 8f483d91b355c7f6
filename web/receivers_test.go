package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/reading"
	"feedex/web"
)

// aTeller is the part of aNode that has receivers.
type aTeller struct {
	receivers []web.ReceiverState
	tried     []string
	problem   error
}

func (n *aTeller) Receivers(context.Context) ([]web.ReceiverState, error) { return n.receivers, nil }
func (n *aTeller) PushKey() string                                        { return "BKey" }

func (n *aTeller) AddReceiver(_ context.Context, r reading.Receiver) error {
	if n.problem == nil {
		n.receivers = append(n.receivers, web.ReceiverState{Receiver: r, Shown: r.Address})
	}
	return n.problem
}

func (n *aTeller) RemoveReceiver(_ context.Context, name string) error {
	n.receivers = slices.DeleteFunc(n.receivers, func(r web.ReceiverState) bool { return r.Name == name })
	return nil
}

func (n *aTeller) TryReceiver(_ context.Context, name string) error {
	n.tried = append(n.tried, name)
	return n.problem
}

// The owner adds receivers as a form has them, tries and removes them. What they answer is text, and secrets are shown
// to nobody.
func TestNotifications(t *testing.T) {
	n := newNode(t)
	n.passwords = []reading.Password{reading.NewPassword("laptop", "secret", reading.Owner, reading.OwnerScope, noon)}
	storms := reading.CountedFilter{NamedFilter: reading.NamedFilter{ID: 7}}
	storms.Name = "<Storms>"
	n.filters = []reading.CountedFilter{storms}
	b := newBrowser(t, newHandler(t, n))
	b.login("secret", "/")
	page := func() string {
		t.Helper()
		return get(b.h, "/notifications", "Cookie", b.cookie).Body.String()
	}
	post := func(path string, code int, form url.Values) string {
		t.Helper()
		form.Set("token", b.token)
		w := b.post(path, form)
		if w.Code != code {
			t.Errorf("%s %v: %d, want %d", path, form, w.Code, code)
		}
		return w.Body.String()
	}
	if text := page(); !strings.Contains(text, `data-key="BKey"`) || !strings.Contains(text, "&lt;Storms&gt;") {
		t.Errorf("the page is\n%s", text)
	}
	form := url.Values{"name": {"phone"}, "kind": {"ntfy"}, "address": {"https://ntfy.example/x"}, "secret": {"s3cret"},
		"filter": {"7"}, "local": {"1"}, "from": {"22:00"}, "to": {"07:30"}, "digest": {"08:00, 18:00"}, "most": {"5"}}
	post("/notifications", http.StatusSeeOther, form)
	if len(n.receivers) != 1 {
		t.Fatalf("there are %+v", n.receivers)
	}
	r := &n.receivers[0]
	if r.Kind != reading.Ntfy || r.Secret != "s3cret" || !slices.Equal(r.Only, []reading.FilterID{7}) || !r.Local ||
		r.Hours.QuietFrom != 22*60 || r.Hours.QuietTo != 7*60+30 || r.Hours.Most != 5 ||
		!slices.Equal(r.Hours.Digest, []reading.TimeOfDay{480, 1080}) {
		t.Errorf("added %+v", r.Receiver)
	}
	r.Problem, r.Waiting = "it answers <b>502</b>", 3
	text := page()
	if strings.Contains(text, "s3cret") || strings.Contains(text, "<b>502") ||
		!strings.Contains(text, "at 08:00, 18:00, not from 22:00 to 07:30") || !strings.Contains(text, "502") {
		t.Errorf("the page is\n%s", text)
	}
	for field, bad := range map[string]string{"filter": "x", "from": "25:00", "to": "22:00", "digest": "soon",
		"most": "0"} {
		wrong := url.Values{}
		for name, values := range form {
			wrong[name] = values
		}
		wrong.Set(field, bad)
		text := post("/notifications", http.StatusUnprocessableEntity, wrong)
		for _, name := range []string{"name", "kind", "address", "from", "to", "digest", "most"} {
			if !strings.Contains(text, `value="`+wrong.Get(name)+`"`) {
				t.Errorf("with a wrong %s the form comes back without its %s:\n%s", field, name, text)
			}
		}
		if strings.Contains(text, "s3cret") || strings.Contains(text, "strconv") ||
			!strings.Contains(text, "The secret has to be typed again.") {
			t.Errorf("with a wrong %s the page is\n%s", field, text)
		}
	}
	if len(n.receivers) != 1 {
		t.Errorf("a form that is wrong adds %+v", n.receivers)
	}
	n.problem = reading.ErrTold
	if text := post("/notifications", http.StatusUnprocessableEntity, form); !strings.Contains(text,
		`name="filter" value="7" checked`) {
		t.Errorf("the form comes back without its filter:\n%s", text)
	}
	n.problem = nil
	r.Name = "this browser"
	if text := page(); !strings.Contains(text, `value="browser 2"`) {
		t.Errorf("one more browser is called\n%s", text)
	}
	r.Name, r.Only = "phone", []reading.FilterID{}
	if text := page(); !strings.Contains(text, "its filters are gone") {
		t.Errorf("who is told nothing is not warned:\n%s", text)
	}
	post("/notifications/try", http.StatusSeeOther, url.Values{"name": {"phone"}})
	n.problem = errors.New("it answers <502>")
	if text := post("/notifications/try", http.StatusBadGateway, url.Values{"name": {"phone"}}); !strings.Contains(text,
		"It answers &lt;502&gt;") || len(n.tried) != 2 {
		t.Errorf("a trial that fails says\n%s", text)
	}
	n.problem = reading.ErrReceivers
	post("/notifications", http.StatusUnprocessableEntity, form)
	n.problem = nil
	r.Heard, r.Muted = "m7", noon.Add(time.Hour)
	to := b.post("/notifications/remove", url.Values{"token": {b.token}, "name": {"phone"}}).Header().Get("Location")
	gone := b.page(to).Body.String()
	if len(n.receivers) != 0 || !strings.Contains(gone, "phone is removed.") || strings.Contains(gone, "s3cret") {
		t.Errorf("still there: %+v, or not named:\n%s", n.receivers, gone)
	}
	n.problem = reading.ErrNoFilter // which was removed meanwhile
	if text := post("/undo", http.StatusBadRequest, url.Values{"undo": {undoIn(t, gone)}}); !strings.Contains(text,
		"It was not added") {
		t.Errorf("what cannot be brought back says\n%s", text)
	}
	n.problem = nil
	post("/undo", http.StatusSeeOther, url.Values{"undo": {undoIn(t, gone)}})
	if len(n.receivers) != 1 || n.receivers[0].Secret != "s3cret" || n.receivers[0].Heard != "m7" ||
		!n.receivers[0].Muted.Equal(noon.Add(time.Hour)) {
		t.Errorf("brought back: %+v", n.receivers)
	}
	post("/notifications/remove", http.StatusNotFound, url.Values{"name": {"none"}})
}

// Who has not logged in neither sees receivers nor changes them.
func TestNotificationsNeedALogin(t *testing.T) {
	n := newNode(t)
	n.receivers = []web.ReceiverState{{Receiver: reading.Receiver{Name: "phone"}, Shown: "https://ntfy.example/x"}}
	b := newBrowser(t, newHandler(t, n))
	if text := get(b.h, "/notifications", "Cookie", b.cookie).Body.String(); strings.Contains(text, "ntfy.example") ||
		strings.Contains(text, "<form method") || !strings.Contains(text, "/login?next=/notifications") {
		t.Errorf("who is nobody sees\n%s", text)
	}
	for _, path := range []string{"/notifications", "/notifications/try", "/notifications/remove"} {
		form := url.Values{"token": {b.token}, "name": {"phone"}, "kind": {"webhook"},
			"address": {"https://evil.example/"}}
		if w := b.post(path, form); w.Code != http.StatusForbidden || len(n.receivers) != 1 || len(n.tried) > 0 {
			t.Errorf("%s: %d, %+v", path, w.Code, n.receivers)
		}
	}
}
