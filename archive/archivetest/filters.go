package archivetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// add keeps a filter for good.
func (d *desk) add(t testing.TB, name, words string, rule reading.Rule) reading.FilterID {
	t.Helper()
	id, err := d.AddFilter(time.Unix(5, 0), reading.FilterWish{Name: name, Words: words, Rule: rule})
	if err != nil {
		t.Fatal(err)
	}
	Commit(t, d.Database)
	return id
}

// wantCaught checks what a filter has.
func (d *desk) wantCaught(t testing.TB, id reading.FilterID, want ...reading.ItemID) {
	t.Helper()
	list, err := d.CaughtBy(t.Context(), id, 0, true, 100)
	var got []reading.ItemID
	for i := range list {
		got = append(got, list[i].Item)
	}
	ids, err2 := d.Shelf.IDs(t.Context(), reading.Stream{Filter: id, Unlisted: true}, reading.Page{Limit: 100})
	if err := errors.Join(err, err2); err != nil || !slices.Equal(got, want) || len(ids) != len(want) ||
		len(want) > 0 && !slices.Equal(ids, want) {
		t.Errorf("filter %d has %v and its stream %v (%v), want %v", id, got, ids, err, want)
	}
}

// titled is entry n of a feed with a title of its own.
func titled(n int, title string) archive.Record {
	r := FeedRecord(news, n)
	r.Entry.Title = title
	return archive.NewRecord(r.Entry, r.Seen, r.Source)
}

// What neighbors brought of a feed before it was followed is caught when that begins; rules act on what is unread then.
func testFiltersCatchLate(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	Follow(t, a, time.Unix(1, 0), otherNews)
	storms := d.add(t, "Storms", "storm", reading.RuleStar)
	const all = archive.FirstUnread + 2
	for n := 1; n <= all; n++ {
		Keep(t, a, titled(n, "storm"))
	}
	Keep(t, a, titled(all+1, "calm"))
	d.wantCaught(t, storms)
	Follow(t, a, time.Unix(200, 0), news)
	list, err := d.CountedFilters(t.Context())
	if err != nil || list[0].Caught != all || list[0].Acted != archive.FirstUnread-1 {
		t.Errorf("of a feed that is followed late are caught %+v, %v", list, err)
	}
}

// What arrives is caught by the filters that it fits, in the step in which it becomes an item; so is what is edited,
// and what is filled in.
func testFiltersCatch(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, titled(1, "an early storm"))
	storms := d.add(t, "Storms", "storm NOT brain", reading.RuleNone)
	d.wantCaught(t, storms)
	if n := a.Looking(); n != 1 {
		t.Errorf("%d filters look at what is kept, want 1", n)
	}
	other := FeedRecord(otherNews, 5)
	other.Entry.Title = "storm"
	Keep(t, a, other, titled(2, "Storm at sea"), titled(3, "A brain storm"), titled(4, "calm"))
	d.wantCaught(t, storms, 3, 2)
	a.Fill(time.Unix(20, 0), []archive.Record{titled(9, "an older calm"), titled(8, "an older storm")})
	Commit(t, a)
	d.wantCaught(t, storms, 6, 3, 2)
	edited := titled(4, "no calm but a storm")
	edited.Seen = time.Unix(30, 0)
	Keep(t, a, edited)
	d.wantCaught(t, storms, 6, 5, 3, 2)
	d.Catch(time.Unix(40, 0), storms, []reading.ItemID{1, 2, 77})
	Commit(t, a)
	d.wantCaught(t, storms, 6, 5, 3, 2, 1)
	list, err := d.CountedFilters(t.Context())
	if err != nil || len(list) != 1 || list[0].Caught != 5 || list[0].Acted != 0 ||
		!list[0].Latest.Equal(time.Unix(40, 0)) || list[0].Name != "Storms" ||
		len(list[0].Key) != 32 || list[0].Problem != "" {
		t.Errorf("Filters = %+v, %v", list, err)
	}
	if counts, err := d.FilterCounts(t.Context()); err != nil || len(counts) != 1 || counts[0].Unread != 4 {
		t.Errorf("FilterCounts = %+v, %v", counts, err)
	}
	for item, err := range d.Shelf.Items(t.Context(), []reading.ItemID{2, 4}) {
		if want := map[reading.ItemID]int{2: 1}[item.ID]; err != nil || len(item.Filters) != want {
			t.Errorf("item %d is caught by %v, %v", item.ID, item.Filters, err)
		}
	}
	if dropped := a.Purge(time.Unix(50, 0), []feed.EntryID{titled(2, "").ID}); !dropped[0] {
		t.Error("what a filter caught is not purged")
	}
	Commit(t, a)
	if list, _ := d.CountedFilters(t.Context()); list[0].Caught != 4 {
		t.Errorf("what a filter caught stayed: %+v", list[0])
	}
}

// Rules act on what arrives, in their order and once, for their person alone, and are taken back where nothing was
// marked since.
func testRules(t *testing.T, a reading.Database) {
	ann := addPerson(t, a, "Ann")
	owner, other := deskOf(a, reading.Owner), deskOf(a, ann)
	Follow(t, a, time.Unix(1, 0), news)
	starring := owner.add(t, "star", "star*", reading.RuleStar)
	muting := owner.add(t, "mute", "sport", reading.RuleMute)
	read := owner.add(t, "read", "weather OR sport", reading.RuleRead)
	Keep(t, a, titled(1, "sport"), titled(2, "weather"), titled(3, "sport with stars"), titled(4, "else"))
	WantIDs(t, owner, unread, 4, 3)
	WantIDs(t, owner, all, 4, 3, 2)
	WantIDs(t, owner, starred, 3)
	WantIDs(t, other, unread, 4, 3, 2, 1)
	WantIDs(t, other, starred)
	owner.wantCaught(t, muting, 3, 1)
	owner.wantCaught(t, read, 3, 2, 1)
	a.Fill(time.Unix(20, 0), []archive.Record{titled(9, "starry")})
	Commit(t, a)
	owner.wantCaught(t, starring, 5, 3)
	WantIDs(t, owner, starred, 3)

	edited := titled(2, "weather and sport") // on which a rule has acted, which the person has reversed
	owner.Mark(time.Unix(21, 0), []reading.ItemID{2}, reading.Mark{Read: reading.No})
	edited.Seen = time.Unix(22, 0)
	Keep(t, a, edited)
	owner.wantCaught(t, muting, 3, 2, 1)
	WantIDs(t, owner, unread, 4, 3, 2)

	for _, id := range []reading.FilterID{muting, read, starring} {
		if owner.TakeBack(time.Unix(30, 0), id, time.Time{}, 10) {
			t.Error("there is more to take back")
		}
	}
	Commit(t, a)
	WantIDs(t, owner, unread, 4, 3, 2, 1)
	WantIDs(t, owner, all, 4, 3, 2, 1)
	WantIDs(t, owner, starred)
	some := []reading.ItemID{1, 2, 3, 4, 5}
	wantRules := func(mute, star int) {
		t.Helper()
		got, err := owner.RulesOn(t.Context(), time.Unix(40, 0), some)
		if err != nil || got[reading.RuleMute] != mute || got[reading.RuleRead] != mute ||
			got[reading.RuleStar] != star || len(got) != 5 {
			t.Errorf("rules would act on %v (%v), want %d to be muted and %d starred", got, err, mute, star)
		}
	}
	wantRules(4, 5)
	if n := owner.Act(time.Unix(40, 0), muting, some); n != 3 {
		t.Errorf("a rule acted on %d items of the past, want 3", n)
	}
	Commit(t, a)
	wantRules(1, 2) // on what one has acted no other does
	WantIDs(t, owner, all, 4)
	WantIDs(t, owner, reading.Stream{Changed: time.Unix(40, 0)}, 3, 2, 1)
	owner.Mark(time.Unix(50, 0), []reading.ItemID{3}, reading.Mark{Starred: reading.Yes})
	owner.TakeBack(time.Unix(60, 0), muting, time.Time{}, 10)
	Commit(t, a)
	WantIDs(t, owner, unread, 4, 2, 1) // what was marked since stays
	owner.Mark(time.Unix(65, 0), []reading.ItemID{1}, reading.Mark{Read: reading.Yes})
	if n := owner.Act(time.Unix(66, 0), muting, []reading.ItemID{1}); n != 0 {
		t.Errorf("a rule muted %d items that were read", n)
	}
	owner.Mark(time.Unix(67, 0), []reading.ItemID{1}, reading.Mark{Read: reading.No})
	late := titled(5, "sport")
	late.Seen = time.Unix(70, 0)
	Keep(t, a, late)
	owner.Act(time.Unix(80, 0), muting, []reading.ItemID{1})
	owner.TakeBack(time.Unix(90, 0), muting, time.Unix(80, 0), 10)
	Commit(t, a)
	WantIDs(t, owner, unread, 4, 2, 1) // and what was done at another moment
}

// On what is edited rules act where it is news on which no person has laid a hand, and nowhere else, and programs hear
// of it. So what is taken back later was a rule's.
func testRulesOnEdits(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0), LastSuccess: time.Unix(1, 0)})
	starring := d.add(t, "star", "star", reading.RuleStar)
	reads := d.add(t, "read", "read", reading.RuleRead)
	Keep(t, a, titled(1, "calm"), titled(2, "calm"), titled(3, "calm"), titled(4, "calm"))
	a.Fill(time.Unix(10, 0), []archive.Record{titled(9, "older")})
	d.Mark(time.Unix(11, 0), []reading.ItemID{2}, reading.Mark{Read: reading.Yes})
	d.Mark(time.Unix(11, 0), []reading.ItemID{3}, reading.Mark{Starred: reading.Yes})
	Commit(t, a)
	for n, title := range map[int]string{1: "a star", 2: "a star", 3: "to read", 4: "to read", 9: "a star"} {
		edited := titled(n, title)
		edited.Seen = time.Unix(20, 0)
		Keep(t, a, edited)
	}
	d.wantCaught(t, starring, 5, 2, 1)
	d.wantCaught(t, reads, 4, 3)
	WantIDs(t, d, starred, 3, 1)
	WantIDs(t, d, unread, 3, 1)
	WantIDs(t, d, reading.Stream{Changed: time.Unix(20, 0)}, 4, 1)
	d.TakeBack(time.Unix(30, 0), starring, time.Time{}, 10)
	d.TakeBack(time.Unix(30, 0), reads, time.Time{}, 10)
	Commit(t, a)
	WantIDs(t, d, starred, 3)
	WantIDs(t, d, unread, 4, 3, 1)
}

// Of what the first poll of a feed brings, in however many portions, rules act on what is news in the end.
func testRulesOnFirstPoll(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0), Backlog: 2})
	d.add(t, "star", "star", reading.RuleStar)
	d.add(t, "read", "read", reading.RuleRead)
	Keep(t, a, titled(1, "star"), titled(2, "star"), titled(3, "read"))
	WantIDs(t, d, starred, 2)
	Keep(t, a, titled(4, "read"), titled(5, "star"))
	WantIDs(t, d, starred, 5)
	WantIDs(t, d, all, 5, 4)
	list, err := d.CountedFilters(t.Context())
	if err != nil || len(list) != 2 || list[0].Caught != 3 || list[0].Acted != 1 || list[1].Acted != 1 {
		t.Errorf("of a first poll are caught %+v, %v", list, err)
	}
}

// What a filter with such a rule has is purged for nobody, as long as it has it, but for what a neighbor alone says.
func testFiltersKeep(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	Follow(t, a, time.Unix(1, 0), news)
	keeping := d.add(t, "keep", "kept", reading.RuleKeep)
	Keep(t, a, titled(1, "kept"), titled(2, "else"))
	purge := func(want ...bool) {
		t.Helper()
		got := a.Purge(time.Unix(9, 0), []feed.EntryID{titled(1, "").ID, titled(2, "").ID})
		if !slices.Equal(got, want) {
			t.Errorf("purged %v, want %v", got, want)
		}
		Commit(t, a)
	}
	purge(false, true)
	brought := titled(3, "kept")
	brought.Source, brought.Confirmed = NodeID(t, "192.0.2.7:7790"), false
	Keep(t, a, brought, titled(4, "else"))
	ids, err := a.OverLimit(t.Context(), time.Unix(9, 0), archive.Retention{Relayed: 1})
	if err != nil || !slices.Equal(ids, []feed.EntryID{brought.ID}) {
		t.Errorf("beyond the limit are %v (%v), want what nobody confirmed", ids, err)
	}
	a.Confirm(time.Unix(9, 0), ids)
	if a.Purge(time.Unix(9, 0), []feed.EntryID{brought.ID})[0] {
		t.Error("what is confirmed is purged")
	}
	Commit(t, a)
	d.RemoveFilter(time.Unix(9, 0), keeping)
	purge(false, false) // as it may come back
	a.Sweep(time.Unix(9, 0), 100)
	purge(true, false)
}

// A filter that was removed catches nothing and is nowhere, and comes back where and as it was: at the address that its
// subscribers have, told to receivers, with what it caught and what its rule did. That can be taken back before, too,
// until it is swept away.
func testFilterComesBack(t *testing.T, a reading.Database) {
	ann := addPerson(t, a, "Ann")
	d := deskOf(a, reading.Owner)
	Follow(t, a, time.Unix(1, 0), news)
	storms := d.add(t, "Storms", "storm", reading.RuleStar)
	calm := d.add(t, "Calm", "calm", reading.RuleRead)
	_, err := d.KeepReceiver(reading.Receiver{Name: "phone", Kind: reading.Ntfy, Only: []reading.FilterID{storms}})
	was, err2 := d.Filters(t.Context())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	want := func(order string, found, told reading.FilterID, removed ...reading.FilterID) {
		t.Helper()
		Commit(t, a)
		list, err := d.Filters(t.Context())
		var names []string
		for i := range list {
			names = append(names, list[i].Name)
		}
		k, err2 := a.FilterOf(t.Context(), was[0].Key)
		r, err3 := a.Receivers(t.Context())
		gone, err4 := d.RemovedFilters(t.Context())
		counts, err5 := d.FilterCounts(t.Context())
		if slices.ContainsFunc(counts, func(c reading.UnreadCount[reading.FilterID]) bool {
			return slices.Contains(removed, c.Of)
		}) {
			t.Errorf("of filters that were removed are counted %v", counts)
		}
		var ids []reading.FilterID
		for i := range gone {
			ids = append(ids, gone[i].ID)
		}
		only := []reading.FilterID{told}
		if told == 0 {
			only = nil
		}
		if err := errors.Join(err, err2, err3, err4, err5); err != nil || strings.Join(names, " ") != order ||
			k.Filter != found || !slices.Equal(r[0].Only, only) || !slices.Equal(ids, removed) {
			t.Errorf("filters %v, by the key %d, told of %v, removed %v (%v); want %s, %d, %v, %v", names, k.Filter,
				r[0].Only, ids, err, order, found, only, removed)
		}
	}
	comesBack := func(p reading.Filters, id, instead reading.FilterID, want error) {
		t.Helper()
		if err := p.KeepFilterAgain(time.Unix(20, 0), id, instead); !errors.Is(err, want) {
			t.Errorf("filter %d is kept again in the place of %d: %v, want %v", id, instead, err, want)
		}
	}
	Keep(t, a, titled(1, "storm"), titled(2, "storm"))
	d.CaughtUp(storms)
	want("Storms Calm", storms, storms)
	d.RemoveFilter(time.Unix(9, 0), storms)
	want("Calm", 0, 0, storms)
	Keep(t, a, titled(3, "storm"))
	d.wantCaught(t, storms)
	a.Sweep(time.Unix(8, 0), 100)
	comesBack(a.Pen(ann), storms, 0, reading.ErrNoFilter)
	comesBack(d, storms, 0, nil)
	comesBack(d, storms, 0, reading.ErrNoFilter) // as it is there
	want("Storms Calm", storms, storms)
	d.wantCaught(t, storms, 2, 1)
	if list, err := a.Behind(t.Context()); err != nil || !slices.ContainsFunc(list,
		func(k reading.Keyed) bool { return k.Filter == storms }) {
		t.Errorf("what came meanwhile is not gone through: %+v, %v", list, err)
	}
	Keep(t, a, titled(4, "storm"))
	d.wantCaught(t, storms, 4, 2, 1)
	WantIDs(t, d, starred, 4, 2, 1)
	d.TakeBack(time.Unix(1000, 0), storms, time.Time{}, 2)
	want("Storms Calm", storms, storms)
	WantIDs(t, d, starred, 4)
	d.RemoveFilter(time.Unix(100_000, 0), storms)
	a.RemovePerson(ann, 100)
	d.TakeBack(time.Unix(1001, 0), storms, time.Time{}, 10)
	want("Calm", 0, 0, storms)
	WantIDs(t, d, starred)

	// What took its name is not touched.
	other := d.add(t, "Storms", "tempest", "")
	comesBack(d, storms, 0, reading.ErrFilterName)
	d.RemoveFilter(time.Unix(100_001, 0), other)
	want("Calm", 0, 0, other, storms)
	comesBack(d, storms, 0, nil)

	// One by other words takes the place and the key, and gives both back.
	tempests := reading.FilterWish{Name: "Tempests", Words: "tempest"}
	changed, err := d.ChangeFilter(time.Unix(100_002, 0), storms, tempests)
	if err != nil {
		t.Fatal(err)
	}
	want("Tempests Calm", changed, changed, storms, other)
	d.MoveFilter(changed, 0)
	comesBack(d, storms, calm+100, reading.ErrNoFilter)
	comesBack(d, storms, changed, nil)
	want("Calm Storms", storms, storms, other, changed)
	d.RemoveFilter(time.Unix(1<<40, 0), storms) // by a clock that was ahead
	for more := true; more; {
		more = a.Sweep(time.Unix(100_003, 0), 1)
	}
	want("Calm", 0, 0)
	comesBack(d, storms, 0, reading.ErrNoFilter)
}

// A person's filters have an order and names of their own, and are bounded; another person's are another's.
func testFilterList(t *testing.T, a reading.Database) {
	ann := addPerson(t, a, "Ann")
	owner, other := deskOf(a, reading.Owner), deskOf(a, ann)
	Follow(t, a, time.Unix(1, 0), news)
	owner.AddFolder("News")
	one, two := owner.add(t, "One", "one", ""), owner.add(t, "Two", "two", "")
	theirs := other.add(t, "One", "one", "")
	Keep(t, a, titled(1, "one two"))
	wantOrder := func(want string) {
		t.Helper()
		list, err := owner.Filters(t.Context())
		var got []string
		for i := range list {
			got = append(got, list[i].Name)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("filters %v (%v), want %s", got, err, want)
		}
	}
	at := time.Unix(6, 0)
	for name, want := range map[string]error{"One": reading.ErrFilterName, "News": reading.ErrFilterName} {
		if _, err := owner.AddFilter(at, reading.FilterWish{Name: name, Words: "x"}); !errors.Is(err, want) {
			t.Errorf("a second %s: %v", name, err)
		}
	}
	if _, err := owner.AddFilter(at, reading.FilterWish{Name: "x", Words: "x", Folder: "One"}); !errors.Is(err,
		reading.ErrFilterName) {
		t.Errorf("a folder of the name of a filter: %v", err)
	}
	owner.MoveFilter(two, one)
	owner.MoveFilter(theirs, one)
	Commit(t, a)
	wantOrder("Two One")
	owner.MoveFilter(two, 0)
	Commit(t, a)
	wantOrder("One Two")
	before, _ := owner.Filters(t.Context())
	same, err := owner.ChangeFilter(at, one, reading.FilterWish{Name: "Uno", Words: "one", Folder: "A new one"})
	changed, err2 := owner.ChangeFilter(at, two, reading.FilterWish{Name: "Due", Words: "deux"})
	if err := errors.Join(err, err2); err != nil || same != one || changed == two {
		t.Errorf("changed to %d and %d, %v", same, changed, err)
	}
	Commit(t, a)
	wantOrder("Uno Due")
	after, _ := owner.CountedFilters(t.Context())
	if after[0].Folder != "A new one" || after[0].Caught != 1 || after[1].Caught != 0 || after[1].Key != before[1].Key {
		t.Errorf("changed: %+v", after)
	}
	if k, err := a.FilterOf(t.Context(), after[1].Key); err != nil ||
		k != (reading.Keyed{Person: reading.Owner, Filter: changed, Name: "Due"}) {
		t.Errorf("FilterOf = %+v, %v", k, err)
	}
	if other.RemoveFilter(time.Unix(9, 0), one) || owner.FolderTaken("Uno") == nil || other.FolderTaken("Uno") != nil {
		t.Error("a filter is another person's")
	}
	if list, err := a.Behind(t.Context()); err != nil || len(list) != 3 {
		t.Errorf("Behind = %+v, %v", list, err)
	}
	owner.CaughtUp(one)
	for more := true; more; {
		more = a.Sweep(time.Unix(100, 0), 1)
	}
	Commit(t, a)
	if list, _ := a.Behind(t.Context()); len(list) != 2 {
		t.Errorf("Behind = %+v", list)
	}
	other.wantCaught(t, theirs, 1)
	for i := len(after); i < reading.MaxFilters; i++ {
		if _, err := owner.AddFilter(at, reading.FilterWish{Name: fmt.Sprint(i), Words: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := owner.AddFilter(at, reading.FilterWish{Name: "more", Words: "x"}); !errors.Is(err,
		reading.ErrFilters) {
		t.Errorf("one too many: %v", err)
	}
	key := func() reading.Keyed {
		t.Helper()
		list, err := other.Filters(t.Context())
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		k, err := a.FilterOf(t.Context(), list[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	Commit(t, a)
	if key().Person != ann {
		t.Error("a filter of Ann has no key")
	}
	a.HidePerson(at, ann)
	Commit(t, a)
	if key() != (reading.Keyed{}) {
		t.Error("a filter of who is hidden has a feed")
	}
	for more := true; more; {
		more = a.RemovePerson(ann, 1)
	}
	Commit(t, a)
	if n, err := other.Filters(t.Context()); err != nil || len(n) != 0 {
		t.Errorf("filters of nobody: %v, %v", n, err)
	}
}
