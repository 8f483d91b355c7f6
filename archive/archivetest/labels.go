package archivetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// label gives items a label for good, or takes it from them.
func (d *desk) label(t testing.TB, name string, has bool, ids ...reading.ItemID) {
	t.Helper()
	if err := d.Label(time.Unix(50, 0), ids, name, has); err != nil {
		t.Fatal(err)
	}
	Commit(t, d.Database)
}

// wantLabels checks the labels of a person, and the items of each, the newest first.
func (d *desk) wantLabels(t testing.TB, want string) {
	t.Helper()
	got := ""
	all, err := d.Labels(t.Context())
	for _, l := range all {
		ids, err2 := d.Shelf.IDs(t.Context(), reading.Stream{Label: l.ID, Unlisted: true}, reading.Page{Limit: 100})
		got, err = got+fmt.Sprint(l.Name, ids, " "), errors.Join(err, err2)
	}
	if err != nil || got != want {
		t.Errorf("labels: %q (%v), want %q", got, err, want)
	}
}

// What a person labels is in the stream of the label, of theirs alone, until they take it away; it is a mark.
func testLabels(t *testing.T, a reading.Database) {
	owner, other := newHouseholdOf(t, a)
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, titled(1, "one"), titled(2, "two"), titled(3, "three"))
	a.Fill(time.Unix(20, 0), []archive.Record{titled(9, "past")})
	Commit(t, a)
	owner.Mark(time.Unix(30, 0), []reading.ItemID{3}, reading.Mark{Read: reading.Yes})
	owner.label(t, "recipes", true, 1, 3, 4, 99)
	owner.label(t, "at work", true, 3)
	other.label(t, "recipes", true, 2)
	owner.wantLabels(t, "at work[3] recipes[4 3 1] ")
	other.wantLabels(t, "recipes[2] ")
	changed := reading.Stream{Changed: time.Unix(50, 0)}
	WantIDs(t, owner, changed, 4, 3, 1)
	WantIDs(t, owner, unread, 2, 1)
	WantIDs(t, owner, reading.Stream{}, 3, 2, 1) // a label lists nothing

	all, _ := owner.Labels(t.Context())
	work, recipes := all[0], all[1]
	on, err := owner.LabelsOn(t.Context(), []reading.ItemID{1, 2, 3})
	if err != nil || len(on) != 2 || !slices.Equal(on[1], []reading.Label{recipes}) ||
		!slices.Equal(on[3], []reading.Label{work, recipes}) {
		t.Errorf("labels of items: %v, %v", on, err)
	}
	counts, err := owner.LabelCounts(t.Context())
	if err != nil || len(counts) != 1 || counts[0].Of != recipes.ID || counts[0].Unread != 1 ||
		counts[0].Newest.IsZero() {
		t.Errorf("unread with labels: %+v, %v", counts, err)
	}
	page, err := owner.Shelf.IDs(t.Context(), reading.Stream{Label: recipes.ID, Unlisted: true},
		reading.Page{After: 4, Limit: 1})
	if err != nil || !slices.Equal(page, []reading.ItemID{3}) {
		t.Errorf("a page of a label: %v, %v", page, err)
	}
	WantIDs(t, other, reading.Stream{Label: recipes.ID, Unlisted: true})
	labelled := reading.Stream{Label: recipes.ID, Unlisted: true}
	owner.MarkStream(time.Unix(60, 0), labelled, reading.Mark{Read: reading.Yes}, 9)
	Commit(t, a)
	WantIDs(t, owner, unread, 2)

	other.RemoveLabel(time.Unix(70, 0), recipes.ID, 9)
	if err := other.RenameLabel(recipes.ID, "stolen"); err != nil {
		t.Error(err)
	}
	owner.label(t, "recipes", false, 1, 2)
	owner.label(t, "nothing", false, 1)
	if err := owner.RenameLabel(work.ID, "home"); err != nil {
		t.Error(err)
	}
	Commit(t, a)
	owner.wantLabels(t, "home[3] recipes[4 3] ")
	steps := 1
	for owner.RemoveLabel(time.Unix(80, 0), recipes.ID, 1) {
		Commit(t, a)
		steps++
	}
	Commit(t, a)
	owner.wantLabels(t, "home[3] ")
	if steps != 3 {
		t.Errorf("removed in %d steps", steps)
	}
	WantIDs(t, owner, reading.Stream{Changed: time.Unix(80, 0)}, 4, 3)
	wantSound(t, owner)
}

// Labels, filters and folders share their names, and there is a bound to each.
func testLabelNames(t *testing.T, a reading.Database) {
	owner, other := newHouseholdOf(t, a)
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, titled(1, "one"), titled(2, "two"))
	owner.AddFolder("Papers")
	owner.add(t, "Storms", "storm", "")
	at, one := time.Unix(9, 0), []reading.ItemID{1}
	owner.label(t, "recipes", true, 1)
	other.label(t, "Papers", true, 1)
	all, _ := owner.Labels(t.Context())
	for name, want := range map[string]error{"Papers": reading.ErrFilterName, "Storms": reading.ErrFilterName,
		"recipes": nil, "new": nil} {
		if err := owner.RenameLabel(all[0].ID, name); !errors.Is(err, want) {
			t.Errorf("renamed to %s: %v", name, err)
		}
	}
	if err := owner.RenameLabel(all[0].ID, "recipes"); err != nil {
		t.Error(err)
	}
	owner.label(t, "other", true, 1)
	if err := owner.RenameLabel(all[0].ID, "other"); !errors.Is(err, reading.ErrLabelName) {
		t.Errorf("renamed to another: %v", err)
	}
	for name, what := range map[string]string{"Papers": "folder", "Storms": "filter"} {
		if err := owner.Label(at, one, name, true); !errors.Is(err, reading.ErrFilterName) ||
			err.Error() != reading.TakenBy(what, name).Error() {
			t.Errorf("a label %s: %v", name, err)
		}
	}
	for _, w := range []reading.FilterWish{{Name: "recipes", Words: "x"}, {Name: "x", Words: "x", Folder: "recipes"}} {
		if _, err := owner.AddFilter(at, w); !errors.Is(err, reading.ErrFilterName) {
			t.Errorf("filter %+v: %v", w, err)
		}
	}
	if owner.FolderTaken("recipes") == nil || owner.FolderTaken("Papers") != nil ||
		other.FolderTaken("recipes") != nil {
		t.Error("folders may have the name of a label, or not that of another person's")
	}
	for i := 2; i < reading.MaxEntryLabels; i++ {
		owner.label(t, fmt.Sprint("n", i), true, 1)
	}
	if err := owner.Label(at, []reading.ItemID{1, 2}, "n", true); !errors.Is(err, reading.ErrEntryLabels) {
		t.Errorf("too many labels of an entry: %v", err)
	}
	for i := reading.MaxEntryLabels; i < reading.MaxLabels; i++ {
		if err := owner.Label(at, []reading.ItemID{2}, fmt.Sprint("n", i), true); err != nil {
			t.Fatal(i, err)
		}
		if err := owner.Label(at, []reading.ItemID{2}, fmt.Sprint("n", i), false); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := owner.Label(at, []reading.ItemID{2}, "n", true); !errors.Is(err, reading.ErrLabels) {
		t.Errorf("too many labels: %v", err)
	}
	Commit(t, a)
	wantSound(t, owner)
}

// What somebody labelled is purged for nobody as long as they are here. What a first poll leaves read keeps its labels.
func testLabelsKeep(t *testing.T, a reading.Database) {
	owner, other := newHouseholdOf(t, a)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0)})
	records := []archive.Record{titled(1, "one"), titled(2, "two"), titled(3, "three")}
	Keep(t, a, records...)
	owner.label(t, "recipes", true, 1)
	other.label(t, "at work", true, 2)
	Keep(t, a, FeedRecords(news, 10, 10+archive.FirstUnread)...)
	owner.wantLabels(t, "recipes[1] ")
	WantIDs(t, owner, reading.Stream{Among: []reading.ItemID{1, 2}}, 1)
	purge := func(want string) {
		t.Helper()
		got := a.Purge(time.Unix(60, 0), []feed.EntryID{records[0].ID, records[1].ID, records[2].ID})
		Commit(t, a)
		if fmt.Sprint(got) != want {
			t.Errorf("purged %v, want %s", got, want)
		}
	}
	purge("[false false true]")
	people, _ := a.People(t.Context())
	if b, err := a.Belongings(t.Context(), people[1].ID); err != nil || b.Labels != 1 {
		t.Errorf("%+v would go with a person, %v", b, err)
	}
	for a.RemovePerson(people[1].ID, 1) {
		Commit(t, a)
	}
	Commit(t, a)
	owner.label(t, "recipes", false, 1)
	purge("[true true false]")
	owner.wantLabels(t, "recipes[] ")
	wantSound(t, owner)
}

// newHouseholdOf is an archive as its owner and another person have it.
func newHouseholdOf(t testing.TB, a reading.Database) (owner, other *desk) {
	t.Helper()
	id := addPerson(t, a, "other")
	Commit(t, a)
	return deskOf(a, reading.Owner), deskOf(a, id)
}

// labelling keeps a filter that labels.
func (d *desk) labelling(t testing.TB, name, words, label string) reading.FilterID {
	t.Helper()
	id, err := d.AddFilter(time.Unix(5, 0), reading.FilterWish{Name: name, Words: words, Rule: reading.RuleLabel,
		Label: label})
	if err != nil {
		t.Fatal(err)
	}
	Commit(t, d.Database)
	return id
}

// A rule labels what arrives beside the rule that acts first, and each that labels does, which is nothing that the
// person did. What is taken back are its own labels, and none that the person gave.
func testRulesLabel(t *testing.T, a reading.Database) {
	owner, other := newHouseholdOf(t, a)
	Follow(t, a, time.Unix(1, 0), news)
	read := owner.add(t, "read", "storm", reading.RuleRead)
	Keep(t, a, titled(1, "storm"))
	storms := owner.labelling(t, "Storms", "storm", "weather")
	seas := owner.labelling(t, "Seas", "sea", "at sea")
	again := owner.labelling(t, "Gales", "storm OR gale", "weather")
	other.labelling(t, "Hers", "sea", "hers")
	Keep(t, a, titled(2, "storm at sea"), titled(3, "gale"), titled(4, "calm"))
	owner.wantLabels(t, "at sea[2] weather[3 2] ")
	other.wantLabels(t, "hers[2] ")
	acted := func(want string) {
		t.Helper()
		list, err := owner.CountedFilters(t.Context())
		got := ""
		for _, f := range list {
			got += fmt.Sprint(f.Name, " ", f.Acted, " ")
		}
		if err != nil || got != want {
			t.Errorf("acted: %q (%v), want %q", got, err, want)
		}
	}
	acted("read 2 Storms 1 Seas 1 Gales 1 ")
	WantIDs(t, owner, unread, 4, 3)
	WantIDs(t, owner, reading.Stream{Changed: time.Unix(30, 0)})

	// What was labelled is news still, and what the person marked is none.
	for n, title := range map[int]string{3: "gale: a storm", 4: "no calm but a gale"} {
		edited := titled(n, title)
		edited.Seen = time.Unix(40, 0)
		if n == 4 {
			owner.Mark(time.Unix(35, 0), []reading.ItemID{4}, reading.Mark{Starred: reading.Yes})
		}
		Keep(t, a, edited)
	}
	owner.wantLabels(t, "at sea[2] weather[3 2] ")
	WantIDs(t, owner, unread, 4)
	acted("read 3 Storms 1 Seas 1 Gales 1 ")

	// On the past it acts beside others too, on what has not its label; a star does after it.
	on, err := owner.RulesOn(t.Context(), time.Unix(50, 0), []reading.ItemID{1, 2, 3, 4})
	if err != nil || on[reading.RuleLabel] != 4 || on[reading.RuleStar] != 0 || on[reading.RuleMute] != 1 {
		t.Errorf("rules would act on %v, %v", on, err)
	}
	owner.Catch(time.Unix(50, 0), storms, []reading.ItemID{1})
	owner.label(t, "weather", true, 4)
	if n := owner.Act(time.Unix(60, 0), storms, []reading.ItemID{1, 2, 3}); n != 1 {
		t.Errorf("acted on %d, want 1", n)
	}
	if n := owner.Act(time.Unix(60, 0), again, []reading.ItemID{3, 4}); n != 0 {
		t.Errorf("acted again on %d", n)
	}
	Commit(t, a)
	owner.wantLabels(t, "at sea[2] weather[4 3 2 1] ")

	// The person gives one as well, and takes another away; the rest is taken back, by a filter that is removed too.
	owner.label(t, "weather", true, 2)
	owner.label(t, "at sea", false, 2)
	if n := owner.Act(time.Unix(66, 0), seas, []reading.ItemID{2}); n != 0 {
		t.Errorf("gave again to %d what was taken away", n)
	}
	wish := reading.FilterWish{Name: "Storms", Words: "storm", Rule: reading.RuleLabel, Label: "at sea"}
	if same, err := owner.ChangeFilter(time.Unix(67, 0), storms, wish); err != nil || same != storms {
		t.Errorf("changed to %d, %v", same, err)
	}
	owner.TakeBack(time.Unix(70, 0), storms, time.Unix(60, 0), 9)
	Commit(t, a)
	owner.wantLabels(t, "at sea[] weather[4 3 2] ")
	owner.TakeBack(time.Unix(70, 0), storms, time.Time{}, 9)
	owner.RemoveFilter(time.Unix(71, 0), again)
	owner.TakeBack(time.Unix(72, 0), again, time.Time{}, 9)
	Commit(t, a)
	owner.wantLabels(t, "at sea[] weather[4 2] ")
	owner.TakeBack(time.Unix(73, 0), read, time.Time{}, 9)
	Commit(t, a)
	WantIDs(t, owner, unread, 4, 3, 1) // a label that was given by hand is a mark
	wantSound(t, owner)
}

// What a filter labelled is purged as any other, and loses its label where the first poll of a feed leaves it read.
func testRulesLabelKeepNothing(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	d.labelling(t, "All", "NOT nothing", "all")
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0)})
	record := titled(2, "two")
	Keep(t, a, titled(1, "one"), record)
	d.label(t, "mine", true, 1)
	d.label(t, "all", true, 1)
	d.wantLabels(t, "all[2 1] mine[1] ")
	if got := a.Purge(time.Unix(60, 0), []feed.EntryID{record.ID}); !got[0] {
		t.Error("what a filter labelled is kept")
	}
	Keep(t, a, titled(3, "three"))
	d.wantLabels(t, "all[3 1] mine[1] ")
	Keep(t, a, FeedRecords(news, 10, 10+archive.FirstUnread)...)
	list, err := d.CountedFilters(t.Context())
	if err != nil || list[0].Acted != archive.FirstUnread+1 {
		t.Errorf("acted on %d, want %d, %v", list[0].Acted, archive.FirstUnread+1, err)
	}
	on, err := d.LabelsOn(t.Context(), []reading.ItemID{1, 3})
	if err != nil || len(on[1]) != 2 || len(on[3]) != 0 {
		t.Errorf("labels of what the first poll left read: %v, %v", on, err)
	}
	wantSound(t, d)
}

// What is past has labels by a filter whose owner has its rule act on that, and no marks. It is listed with the rest,
// page by page, keeps its labels when the feed is polled first, and has another where the filter gives another.
func testLabelsOfThePast(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0)})
	a.Fill(time.Unix(5, 0), []archive.Record{titled(1, "an old storm"), titled(2, "an older storm")})
	Commit(t, a)
	id := d.labelling(t, "Storms", "storm", "weather")
	act := func(items ...reading.ItemID) {
		t.Helper()
		d.Catch(time.Unix(6, 0), id, items)
		if n := d.Act(time.Unix(7, 0), id, items); n != len(items) {
			t.Errorf("acted on %d, want %d", n, len(items))
		}
		Commit(t, a)
	}
	act(1, 2)
	Keep(t, a, titled(3, "storm"), titled(4, "storm"), titled(5, "storm"), titled(6, "storm"))
	a.Fill(time.Unix(7, 0), []archive.Record{titled(7, "another old storm"), titled(8, "the oldest storm")})
	Commit(t, a)
	act(7, 8)
	d.wantLabels(t, "weather[8 7 6 5 4 3 2 1] ")

	for i, want := range []string{"[8 7 6 5 4 3 2 1]", "[7 8 6 5 4 3 1 2]", "[8 7 6 5 4 3 2 1]", "[7 8 6 5 4 3 1 2]"} {
		var listed []reading.ItemID
		byTime := i%2 == 1
		q := reading.HeadlineQuery{Label: 1, Limit: 3, ByTime: byTime}
		if i >= 2 {
			q.Label, q.Filter = 0, id
		}
		for range 4 {
			page, err := d.Shelf.Headlines(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range page {
				listed = append(listed, h.Item.ID)
				if q.Before = int64(h.Item.ID); byTime {
					q.At, q.Before = h.Time, h.Seq
				}
			}
		}
		if fmt.Sprint(listed) != want {
			t.Errorf("%+v: listed are %v, want %s", q, listed, want)
		}
	}

	wish := reading.FilterWish{Name: "Storms", Words: "storm", Rule: reading.RuleLabel, Label: "wind"}
	if same, err := d.ChangeFilter(time.Unix(8, 0), id, wish); err != nil || same != id {
		t.Errorf("changed to %d, %v", same, err)
	}
	act(1, 2, 3)
	if n := d.Act(time.Unix(9, 0), id, []reading.ItemID{1, 2, 3}); n != 0 {
		t.Errorf("acted again on %d", n)
	}
	Commit(t, a)
	d.wantLabels(t, "weather[8 7 6 5 4 3 2 1] wind[3 2 1] ")
	d.TakeBack(time.Unix(10, 0), id, time.Time{}, 99)
	Commit(t, a)
	d.wantLabels(t, "weather[] wind[] ")
	wantSound(t, d)
}

// The label of a filter is made with it, follows what it is called, and where it is removed the filter has no rule. Its
// name is none of a folder or a filter, that one included.
func testLabelsOfFilters(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	Follow(t, a, time.Unix(1, 0), news)
	d.AddFolder("Papers")
	d.add(t, "Storms", "storm", "")
	wish := reading.FilterWish{Name: "Food", Words: "food", Rule: reading.RuleLabel, Label: "recipes"}
	for _, label := range []string{"Papers", "Storms", "Food", "New"} {
		w := wish
		w.Label, w.Folder = label, "New"
		_, _, err := w.Checked()
		if err == nil {
			_, err = d.AddFilter(time.Unix(5, 0), w)
		}
		if !errors.Is(err, reading.ErrFilterName) {
			t.Errorf("a filter with the label %s: %v", label, err)
		}
	}
	id := d.labelling(t, wish.Name, wish.Words, wish.Label)
	d.wantLabels(t, "recipes[] ")
	all, _ := d.Labels(t.Context())
	if err := d.RenameLabel(all[0].ID, "dishes"); err != nil {
		t.Error(err)
	}
	Commit(t, a)
	is := func(want string) {
		t.Helper()
		list, err := d.Shelf.Filters(t.Context())
		if err != nil || len(list) != 2 || list[1].Does() != want {
			t.Errorf("filters are %+v, %v, want one that does %q", list, err, want)
		}
	}
	is("label dishes")
	wish.Label = "soups"
	if same, err := d.ChangeFilter(time.Unix(6, 0), id, wish); err != nil || same != id {
		t.Errorf("changed to %d, %v", same, err)
	}
	Commit(t, a)
	is("label soups")
	d.RemoveFilter(time.Unix(7, 0), id)
	if err := d.KeepFilterAgain(time.Unix(8, 0), id, 0); err != nil {
		t.Error(err)
	}
	Commit(t, a)
	is("label soups")
	Keep(t, a, titled(1, "food"))
	d.wantLabels(t, "dishes[] soups[1] ")
	all, _ = d.Labels(t.Context())
	for d.RemoveLabel(time.Unix(9, 0), all[1].ID, 1) {
		Commit(t, a)
	}
	Commit(t, a)
	is("")
	Keep(t, a, titled(2, "food"))
	d.wantLabels(t, "dishes[] ")

	// An entry has no more labels by a filter than by hand.
	full := d.labelling(t, "All", "NOT nothing", "all")
	d.Catch(time.Unix(10, 0), full, []reading.ItemID{1})
	for i := range reading.MaxEntryLabels {
		d.label(t, fmt.Sprint("n", i), true, 1)
	}
	for _, want := range []int{0, 1} {
		if n := d.Act(time.Unix(11, 0), full, []reading.ItemID{1}); n != want {
			t.Errorf("labelled %d, want %d", n, want)
		}
		d.label(t, "n0", false, 1)
	}
	wantSound(t, d)
}
