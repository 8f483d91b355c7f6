package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

func (n *aNode) CountedFilters(context.Context) ([]reading.CountedFilter, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.filters), nil
}

func (n *aNode) Filters(ctx context.Context) (list []reading.NamedFilter, err error) {
	counted, err := n.CountedFilters(ctx)
	for _, f := range counted {
		list = append(list, f.NamedFilter)
	}
	return list, err
}

func (n *aNode) KeepFilter(_ context.Context, id reading.FilterID, w reading.FilterWish) (reading.FilterID, error) {
	w, _, err := w.Checked()
	if err != nil {
		return 0, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	kept := reading.CountedFilter{Caught: 7, Latest: noon, NamedFilter: reading.NamedFilter{FilterWish: w}}
	for i := range n.filters {
		switch f := &n.filters[i]; {
		case f.ID == id && f.Words == w.Words:
			f.FilterWish = w
			return id, nil
		case f.ID == id:
			n.removed = append(n.removed, *f)
			n.lastFilter++
			kept.ID = n.lastFilter
			*f = kept
			return kept.ID, nil
		case f.Name == w.Name:
			return 0, reading.ErrFilterName
		}
	}
	n.lastFilter++
	kept.ID = n.lastFilter
	n.filters = append(n.filters, kept)
	return kept.ID, nil
}

func (n *aNode) KeepFilterAgain(_ context.Context, id, instead reading.FilterID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	of := func(id reading.FilterID) func(reading.CountedFilter) bool {
		return func(f reading.CountedFilter) bool { return f.ID == id }
	}
	i := slices.IndexFunc(n.removed, of(id))
	if i < 0 {
		return reading.ErrNoFilter
	}
	n.filters = append(slices.DeleteFunc(n.filters, of(instead)), n.removed[i])
	return nil
}

func (n *aNode) TryFilter(_ context.Context, m feed.Match) (int, map[reading.Rule]int, error) {
	if m.String() == "slow" {
		return 0, nil, archive.ErrSlow
	}
	return 7, map[reading.Rule]int{reading.RuleMute: 5, reading.RuleFull: 1}, nil
}

func (n *aNode) MoveFilter(_ context.Context, id, before reading.FilterID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := func(id reading.FilterID) int {
		return slices.IndexFunc(n.filters, func(f reading.CountedFilter) bool { return f.ID == id })
	}
	f := n.filters[at(id)]
	n.filters = slices.Delete(n.filters, at(id), at(id)+1)
	n.filters = slices.Insert(n.filters, at(before), f)
	return nil
}

func (n *aNode) RemoveFilter(_ context.Context, id reading.FilterID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.filters = slices.DeleteFunc(n.filters, func(f reading.CountedFilter) bool {
		if f.ID == id {
			n.removed = append(n.removed, f)
		}
		return f.ID == id
	})
	return nil
}

func (n *aNode) ActOnPast(_ context.Context, id reading.FilterID) (time.Time, error) {
	return noon, n.acted(id, 5)
}

func (n *aNode) TakeBack(_ context.Context, id reading.FilterID, moment time.Time) error {
	n.takenBack = append(n.takenBack, moment)
	return n.acted(id, 0)
}

func (n *aNode) acted(id reading.FilterID, on int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.filters {
		if n.filters[i].ID == id {
			n.filters[i].Acted = on
		}
	}
	return nil
}

// The owner tries words, hears where something is wrong with them, keeps a filter, changes its place, has its rule act,
// and takes back all of that.
func TestFilters(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	page := func(path string, has ...string) string {
		t.Helper()
		text := get(b.h, path, "Cookie", b.cookie).Body.String()
		for _, s := range has {
			if !strings.Contains(text, s) {
				t.Errorf("%s has no %q:\n%s", path, s, text)
			}
		}
		return text
	}
	sent := func(path string, code int, fields ...string) *httptest.ResponseRecorder {
		t.Helper()
		w := b.post(path, b.form(fields...))
		if w.Code != code {
			t.Errorf("%s %q: %d, want %d: %s", path, fields, w.Code, code, w.Body)
		}
		return w
	}
	post := func(path string, code int, fields ...string) string {
		t.Helper()
		return sent(path, code, fields...).Header().Get("Location")
	}
	page("/filters", "Keep a search")
	page("/search?q=a%22b", `href="/filters?words=a%22b#new"`, `<title>a&#34;b · Archive · feedex</title>`)
	page("/entries?q=a%22b", `href="/filters?words=a%22b#new"`, `<title>a&#34;b · Entries · feedex</title>`)
	page("/entries?q=a+OR+b&feed=1", `href="/filters?words=%28a&#43;OR&#43;b%29&#43;feed%3A%22https`)
	if text := page("/entries?q=a&feed=2"); strings.Contains(text, "/filters?words=") {
		t.Errorf("a search of a feed with a secret address can be kept:\n%s", text)
	}
	page("/filters?words=a", "it would catch 7 entries.", `<ul class="list" aria-live="off">`) // a list is not read out
	if text := page("/filters?words=slow", "in the last month"); strings.Contains(text, "would catch ") {
		t.Errorf("of what takes too long it says %s", text)
	}
	page("/filters?words=a&rule=mute", "would catch 7 entries; to have the rule act on them too would mute 5 entries.")
	page("/filters?words=a&rule=full", "would ask for the full text of 1 entry.")
	page("/filters?words=storm+NOT+%28", "column 12", "<code>storm NOT (<mark>…</mark></code>")
	page("/filters?words=NOT+nothing", "What it would have caught in the last month", "catches everything that arrives")
	post("/filters", http.StatusSeeOther, "words", "a", "name", "One/two", "folder", "News", "rule", "mute")
	post("/filters", http.StatusSeeOther, "words", "b", "name", "Two")
	for _, c := range []struct {
		code         int
		fields, want []string
	}{
		{http.StatusUnprocessableEntity, []string{"words", "c", "name", "Two"}, []string{`value="Two"`,
			reading.ErrFilterName.Error()[1:], "it would catch 7 entries."}},
		{http.StatusUnprocessableEntity, []string{"words", "c", "name", "", "folder", "News"}, []string{`value="News"`,
			"want one line of"}},
		{http.StatusUnprocessableEntity, []string{"words", "c (", "name", "Three", "standing", "1"},
			[]string{`value="Three"`, "<code>c (<mark>…</mark></code>", `name="standing" value="1" checked`}},
		{http.StatusUnprocessableEntity, []string{"words", "feed:example.org", "name", "Four", "standing", "1"},
			[]string{`name="standing" value="1" checked`}},
		{http.StatusOK, []string{"words", "c", "try", "1", "standing", "1", "rule", "label", "label", "recipes"},
			[]string{`value="c"`, "it would catch 7 entries", `name="standing" value="1" checked`, `value="recipes"`}},
		{http.StatusOK, []string{"words", "c", "try", "1", "id", "1"}, []string{`name="id" value="1"`, `value="c"`}},
	} {
		text := sent("/filters", c.code, c.fields...).Body.String()
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q comes back without %s:\n%s", c.fields, want, text)
			}
		}
	}
	if len(n.filters) != 2 {
		t.Errorf("what is wrong or tried is kept: %+v", n.filters)
	}
	page("/filters", "One/two", `href="/filter/One%2Ftwo.atom"`, "Have the rule act",
		`href="/entries?show=labelled&amp;filter=1"`)
	page("/entries?filter=1", `<h1 dir="auto">One/two</h1>`, "<title>One/two · feedex</title>",
		`filter=1" aria-current="true"`)
	page("/filters?edit=1", "Change a filter", `value="One/two"`, "would mute 5 entries")
	page(post("/filters", http.StatusSeeOther, "id", "1", "words", "a", "name", "Uno", "rule", "mute"),
		"another address now")
	again := page(post("/filters", http.StatusSeeOther, "id", "1", "words", "a", "name", "Uno \u200b", "rule", "mute"))
	if strings.Contains(again, "another address now") {
		t.Error("a name that is kept as it was is said to be another")
	}
	post("/filters/change", http.StatusSeeOther, "id", "2", "do", "up", "before", "1")
	if n.filters[0].Name != "Two" || n.filters[1].Name != "Uno" {
		t.Errorf("the order is %+v", n.filters)
	}
	undo := func(to string) {
		t.Helper()
		key := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(page(to))
		if key == nil {
			t.Fatalf("%s offers no undo", to)
		}
		post("/undo", http.StatusSeeOther, "undo", key[1])
	}
	acted := post("/filters/change", http.StatusSeeOther, "id", "1", "do", "act")
	page("/filters", "5 times", "Take back what the rule did")
	undo(acted)
	post("/filters/change", http.StatusSeeOther, "id", "1", "do", "back")
	if n.filters[1].Acted != 0 || !slices.Equal(n.takenBack, []time.Time{noon, {}}) {
		t.Errorf("after an undo: %+v, and taken back is what was done at %v", n.filters, n.takenBack)
	}
	undo(post("/filters/change", http.StatusSeeOther, "id", "2", "do", "remove"))
	if len(n.filters) != 2 || n.filters[1].Name != "Two" || n.filters[1].ID != 2 {
		t.Errorf("after an undo: %+v", n.filters)
	}

	// What a rule did is there again with the filter that was removed, or has got other words.
	post("/filters/change", http.StatusSeeOther, "id", "1", "do", "act")
	removed := post("/filters/change", http.StatusSeeOther, "id", "1", "do", "remove")
	page(removed, "Uno is removed. What its rule did stays done, and can be taken back once the removal is undone.")
	undo(removed)
	page("/filters", "5 times", "Take back what the rule did")
	changed := post("/filters", http.StatusSeeOther, "id", "1", "words", "z", "name", "Uno", "rule", "mute")
	if text := page("/filters", "<bdi>z</bdi>"); strings.Contains(text, "5 times") {
		t.Errorf("by other words a rule did what it did by the old ones:\n%s", text)
	}
	undo(changed)
	if text := page("/filters", "5 times", "<bdi>a</bdi>"); strings.Contains(text, "<bdi>z</bdi>") {
		t.Errorf("after an undo both words are there:\n%s", text)
	}
	if to := post("/filters", http.StatusSeeOther, "id", "1", "words", "a", "name", "Uno"); strings.Contains(page(to),
		`name="undo" value=`) {
		t.Error("an undo is offered of what the form can change again")
	}
	if strings.Contains(page("/filters"), "told its words") {
		t.Error("neighbors are said to be told the words of filters of which nobody said so")
	}
	post("/filters", http.StatusSeeOther, "words", "d", "name", "Four", "standing", "1")
	last := &n.filters[len(n.filters)-1]
	last.Trouble, last.Found, last.Asked = "there was no neighbor to ask", 1, noon
	page("/filters", "Neighbors are told its words (last time: ",
		"Nothing came of it: there was no neighbor to ask.",
		"1 entry of feeds that nobody here follows is in its feed.")
	page("/filters?edit="+fmt.Sprint(last.ID), `name="standing" value="1" checked`)
	if text := sent("/filters", http.StatusOK, "id", fmt.Sprint(last.ID), "words", "d", "name", "Four", "try",
		"1").Body.String(); strings.Contains(text, `name="standing" value="1" checked`) {
		t.Errorf("who tries words without the tick has it after that:\n%s", text)
	}
	if strings.Contains(page("/filters?words=d+%28&name=Four&standing=1"), `name="standing" value="1" checked`) {
		t.Error("a link says that neighbors are to be asked")
	}
	post("/filters", http.StatusSeeOther, "id", fmt.Sprint(last.ID), "words", "d", "name", "Four")
	if last.Standing {
		t.Error("neighbors are asked for a filter of which the owner took that back")
	}
	post("/filters/change", http.StatusNotFound, "id", "99", "do", "remove")
	post("/filters/change", http.StatusNotFound, "id", "1", "do", "shout")
}

// A filter that labels is kept with the name of the label, tried with it, and listed with it; another rule has none.
func TestFilterThatLabels(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	keep := func(values ...string) int {
		t.Helper()
		form := url.Values{"token": {b.token}, "name": {"Food"}, "words": {"soup"}, "label": {"recipes"}}
		for i := 0; i < len(values); i += 2 {
			form.Set(values[i], values[i+1])
		}
		return b.post("/filters", form).Code
	}
	if code := keep("rule", "label", "try", "1"); code != http.StatusOK || len(n.filters) != 0 {
		t.Errorf("tried: %d", code)
	}
	page := get(b.h, "/filters?words=soup&rule=label&label=recipes", "Cookie", b.cookie).Body.String()
	if !strings.Contains(page, `name="label" value="recipes"`) || !strings.Contains(page, "would label 0 entries") {
		t.Errorf("tried:\n%s", page)
	}
	for i, rule := range []reading.Rule{reading.RuleLabel, reading.RuleStar} {
		if code := keep("rule", string(rule), "name", fmt.Sprint("Food ", i)); code != http.StatusSeeOther {
			t.Errorf("%s: %d", rule, code)
		}
	}
	if len(n.filters) != 2 || n.filters[0].Label != "recipes" || n.filters[1].Label != "" {
		t.Errorf("filters: %+v", n.filters)
	}
	if page := get(b.h, "/filters", "Cookie", b.cookie).Body.String(); !strings.Contains(page, "label recipes") {
		t.Errorf("the list does not say what a filter does:\n%s", page)
	}
	if code := keep("rule", "label", "label", " ", "name", "x"); code != http.StatusUnprocessableEntity {
		t.Errorf("without a label: %d", code)
	}
}
