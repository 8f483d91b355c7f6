package web_test

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"feedex/reading"
)

// givenLabels are the labels that a node has, and the items of each.
type givenLabels struct {
	labels  []reading.Label
	given   map[reading.LabelID][]reading.ItemID
	refused error // why none can be given, and no folder be filed in
}

func (n aShelf) Labels(context.Context) ([]reading.Label, error) { return n.labels, nil }

func (n aShelf) LabelsOn(_ context.Context, ids []reading.ItemID) (map[reading.ItemID][]reading.Label, error) {
	on := make(map[reading.ItemID][]reading.Label)
	for _, l := range n.labels {
		for _, id := range ids {
			if slices.Contains(n.given[l.ID], id) {
				on[id] = append(on[id], l)
			}
		}
	}
	return on, nil
}

func (n aShelf) Label(_ context.Context, ids []reading.ItemID, raw string, has bool) error {
	name, err := reading.LabelName(raw)
	if err = cmp.Or(err, n.refused); err != nil {
		return err
	}
	i := slices.IndexFunc(n.labels, func(l reading.Label) bool { return l.Name == name })
	if i < 0 {
		i, n.aNode.labels = len(n.labels), append(n.labels, reading.Label{ID: reading.LabelID(len(n.labels) + 1),
			Name: name})
	}
	id := n.aNode.labels[i].ID
	if n.given == nil {
		n.aNode.given = make(map[reading.LabelID][]reading.ItemID)
	}
	n.given[id] = slices.DeleteFunc(n.given[id], func(item reading.ItemID) bool { return slices.Contains(ids, item) })
	if has {
		n.given[id] = append(n.given[id], ids...)
	}
	return nil
}

// A label is given and taken away on the page of an entry; lists show it, and it has a list of its own.
func TestLabels(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	page := func(path string, wanted, unwanted []string) {
		t.Helper()
		w := get(b.h, path, "Cookie", b.cookie)
		shown := w.Body.String()
		wantSound(t, path, w)
		for _, text := range wanted {
			if !strings.Contains(shown, text) {
				t.Errorf("%s does not say %s:\n%s", path, text, shown)
			}
		}
		for _, text := range unwanted {
			if strings.Contains(shown, text) {
				t.Errorf("%s says %s:\n%s", path, text, shown)
			}
		}
	}
	harbor := n.path(t, "Harbor")
	id := strings.TrimPrefix(harbor, "/entries/")
	label := func(entry, name, as string) int {
		t.Helper()
		w := b.post("/label", url.Values{"token": {b.token}, "entry": {entry}, "label": {name}, "as": {as},
			"next": {harbor}})
		if w.Code == http.StatusSeeOther && w.Header().Get("Location") != harbor {
			t.Errorf("%s leads to %q", name, w.Header().Get("Location"))
		}
		return w.Code
	}
	const shown, list = `Label </span><bdi>＜b＞ recipes</bdi>`, "/entries?show=labelled&label=1"
	page(harbor, []string{"Label it"}, []string{"Take away"})
	page("/entries?show=all", nil, []string{"labelled"})
	if code := label(id, " <b>  recipes ", ""); code != http.StatusSeeOther || len(n.given[1]) != 1 {
		t.Errorf("%d, labels %v", code, n.given)
	}
	page(harbor, []string{shown, "Take away", `<option value="＜b＞ recipes">`,
		`href="` + strings.ReplaceAll(list, "&", "&amp;") + `"`}, nil)
	page("/entries?show=all", []string{shown}, nil)
	page("/entries?q=ferry", []string{shown}, nil)
	page(list, []string{shown, `<h1 dir="auto">＜b＞ recipes</h1>`, "Harbor", "/open?show=labelled&amp;label=1"},
		[]string{"Lighthouse", "Mark all read", "Refresh", `aria-label="Which entries"`})
	page(harbor+strings.TrimPrefix(list, "/entries"), []string{"Back to the list"}, nil)
	if w := get(b.h, "/entries?label=7", "Cookie", b.cookie); w.Code != http.StatusNotFound {
		t.Errorf("a label that is not there: %d", w.Code)
	}

	secret := strings.TrimPrefix(n.path(t, "Confidential"), "/entries/")
	for entry, want := range map[string]int{secret: http.StatusNotFound, "x": http.StatusNotFound} {
		if code := label(entry, "mine", ""); code != want || len(n.labels) != 1 {
			t.Errorf("%s: %d, labels %v", entry, code, n.labels)
		}
	}
	if code := label(id, "＜b＞ recipes", "taken"); code != http.StatusSeeOther || len(n.given[1]) != 0 {
		t.Errorf("%d, labels %v", code, n.given)
	}
	page(harbor, nil, []string{"Take away"})
	page(list, []string{"Nothing has this label."}, nil)
	for _, n.refused = range []error{reading.ErrFilterName, reading.ErrLabels, reading.ErrEntryLabels} {
		w := b.post("/label", url.Values{"token": {b.token}, "entry": {id}, "label": {"Storms"}})
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "The label is not given") ||
			!strings.Contains(w.Body.String(), n.refused.Error()[1:]) {
			t.Errorf("%v: %d %s", n.refused, w.Code, w.Body)
		}
	}
	if code := label(id, " ", ""); code != http.StatusBadRequest {
		t.Errorf("no name: %d", code)
	}
}

// The list of a label goes on, page by page.
func TestListOfALabel(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	for i := range 50 {
		n.add(newsURL, "Tide "+strconv.Itoa(i), "", noon, n.entries[1].Source)
		if err := (aShelf{aNode: n}).Label(t.Context(), []reading.ItemID{n.items[n.entries[i].Seq].ID}, "tides",
			true); err != nil {
			t.Fatal(err)
		}
	}
	first := get(b.h, "/entries?label=1", "Cookie", b.cookie).Body.String()
	const older = "?show=labelled&amp;label=1&amp;before=11"
	if !strings.Contains(first, older) || strings.Contains(first, ">Harbor<") {
		t.Errorf("the first page does not lead to %s:\n%s", older, first)
	}
	second := get(b.h, "/entries?label=1&before=11", "Cookie", b.cookie).Body.String()
	if !strings.Contains(second, ">Harbor<") || strings.Contains(second, "Older entries") {
		t.Errorf("the second page:\n%s", second)
	}
}
