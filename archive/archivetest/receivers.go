package archivetest

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// A receiverDesk is an archive with a person's filters and receivers.
type receiverDesk struct{ *desk }

func newReceiverDesk(t testing.TB, a reading.Database, p reading.PersonID) *receiverDesk {
	t.Helper()
	for _, u := range []feed.URL{news, otherNews} { // whose first polls are over
		f := a.LoadFeed(u)
		f.URL, f.Subscribed, f.Since, f.LastSuccess = u, true, time.Unix(1, 0), time.Unix(2, 0)
		a.KeepFeed(f)
	}
	Commit(t, a)
	return &receiverDesk{deskOf(a, p)}
}

// tell adds a receiver.
func (d *receiverDesk) tell(t testing.TB, name string, only ...reading.FilterID) reading.ReceiverID {
	t.Helper()
	id, err := d.KeepReceiver(reading.Receiver{Name: name, Kind: reading.Webhook, Address: "https://hook.example/",
		Only: only, Created: time.Unix(3, 0), Hours: reading.Hours{Most: 5, Digest: []reading.TimeOfDay{480}}})
	if err != nil {
		t.Fatal(err)
	}
	Commit(t, d.Database)
	return id
}

// wantWaiting checks what waits for a receiver, and returns it.
func (d *receiverDesk) wantWaiting(t testing.TB, id reading.ReceiverID, titles ...string) []reading.Message {
	t.Helper()
	list, more, err := d.Database.Waiting(t.Context(), id, reading.MaxWaiting)
	var got []string
	for i := range list {
		got = append(got, list[i].Title)
	}
	if err != nil || more != 0 || !slices.Equal(got, titles) {
		t.Errorf("for receiver %d there wait %q and %d more, %v; want %q", id, got, more, err, titles)
	}
	return list
}

// at is a record that came then.
func at(r archive.Record, when int64) archive.Record {
	r.Seen = time.Unix(when, 0)
	return r
}

// Receivers are told what the filters of their person catch as it comes: of a story once, and only what is news.
func testReceiversAreTold(t *testing.T, a reading.Database) {
	d := newReceiverDesk(t, a, reading.Owner)
	d.add(t, "Storms", "storm", reading.RuleNone)
	floods := d.add(t, "Floods", "flood", reading.RuleNone)
	all, some := d.tell(t, "all"), d.tell(t, "some", floods)
	d.wantWaiting(t, all)

	both, linked := titled(3, "storm and flood"), titled(4, "storm")
	both.Entry.Published, both.Entry.Link = time.Unix(2, 0), "https://news.example/3"
	Keep(t, a, both, linked, titled(5, "calm"))
	list := d.wantWaiting(t, all, "storm and flood", "storm")
	if m := list[0]; m.Filter != "Storms" || m.Entry != both.ID || m.Item != 1 || m.Link != "https://news.example/3" ||
		!m.Time.Equal(time.Unix(2, 0)) || !m.Arrived.Equal(time.Unix(3, 0)) || m.Feed == "" {
		t.Errorf("a message is %+v", m)
	}
	d.wantWaiting(t, some, "storm and flood")

	// The same story by another feed: the title is the same, and the begin of the text or the link. The title alone may
	// be that of another.
	coast := func(r archive.Record, title, text string) archive.Record {
		r.Entry.Title, r.Entry.Summary = title, text
		return r
	}
	roofs := "<p>Roofs fly, " + strings.Repeat("no ", 99)
	Keep(t, a, coast(FeedRecord(otherNews, 6), "A storm breaks over the coast", roofs))
	again := at(titled(7, "a storm  BREAKS over the coast!"), 7)
	again.Entry.Content = "Roofs fly. " + strings.Repeat("No ", 70) + "and so on."
	Keep(t, a, again, titled(8, "storm"))
	again = coast(FeedRecord(otherNews, 9), "Storm and flood!", roofs)
	again.Entry.Link = both.Entry.Link
	Keep(t, a, again)
	d.wantWaiting(t, all, "storm and flood", "storm", "A storm breaks over the coast", "storm")

	// Old news, what is filled in, and what is edited.
	old := titled(100_000, "an old storm")
	old.Entry.Published = time.Unix(100_000-24*3600-1, 0)
	Keep(t, a, old)
	a.Fill(time.Unix(100_001, 0), []archive.Record{titled(1, "a storm of the past")})
	edited := at(titled(5, "no calm but storm"), 100_002)
	Keep(t, a, edited)
	d.wantWaiting(t, all, "storm and flood", "storm", "A storm breaks over the coast", "storm")

	// What the first poll of a feed brings was there before; what a neighbor brings before it is news.
	f := a.LoadFeed(otherNews)
	f.LastSuccess = time.Time{}
	a.KeepFeed(f)
	first, brought := FeedRecord(otherNews, 100_003), FeedRecord(otherNews, 100_004)
	first.Entry.Title, brought.Entry.Title = "storm of the first poll", "storm from a neighbor"
	neighbor, err := protocol.ParseNodeID("192.0.2.7:7790")
	if err != nil {
		t.Fatal(err)
	}
	brought.Source, brought.Confirmed = neighbor, false
	Keep(t, a, first)
	Keep(t, a, brought)
	list = d.wantWaiting(t, all, "storm and flood", "storm", "A storm breaks over the coast", "storm",
		"storm from a neighbor")
	if list[0].Unconfirmed || !list[4].Unconfirmed {
		t.Errorf("what a poll shows, and what a neighbor says, are told as %+v and %+v", list[0], list[4])
	}

	// What is purged is told no more, and what was told neither.
	a.Purge(time.Unix(100_005, 0), []feed.EntryID{linked.ID})
	a.Told(reading.Receiver{ID: all}, time.Unix(100_006, 0), []reading.MessageID{list[0].ID, list[2].ID}, 0)
	Commit(t, a)
	d.wantWaiting(t, all, "storm", "storm from a neighbor")
	if told, err := a.ToldSince(t.Context(), all, time.Unix(100_006, 0)); err != nil || len(told) != 1 ||
		!told[0].Equal(time.Unix(100_006, 0)) {
		t.Errorf("told at %v, %v", told, err)
	}
	Keep(t, a, coast(at(titled(9, ""), 100_007), "A storm breaks over the coast.", roofs))
	d.wantWaiting(t, all, "storm", "storm from a neighbor")

	// A feed whose titles are always the same tells of another entry each time; and after days it is another story.
	Keep(t, a, at(titled(20, "The daily storm report here"), 100_008))
	Keep(t, a, at(titled(21, "The daily storm report here"), 100_009))
	d.wantWaiting(t, all, "storm", "storm from a neighbor", "The daily storm report here",
		"The daily storm report here")
	Keep(t, a, coast(at(titled(22, ""), 100_006+3*24*3600), "A storm breaks over the coast", roofs))
	list = d.wantWaiting(t, all, "storm", "storm from a neighbor", "The daily storm report here",
		"The daily storm report here", "A storm breaks over the coast")

	// So it is after it was told by a clock that was ahead.
	a.Told(reading.Receiver{ID: all}, time.Unix(1<<40, 0), []reading.MessageID{list[4].ID}, 0)
	brought = FeedRecord(otherNews, 100_006+3*24*3600+1)
	brought.Source, brought.Confirmed = neighbor, false
	Keep(t, a, coast(brought, "A storm breaks over the coast", roofs))
	d.wantWaiting(t, all, "storm", "storm from a neighbor", "The daily storm report here",
		"The daily storm report here", "A storm breaks over the coast")
}

// Entries that are called the same are different stories where they say something else, or nothing; and so are those
// with the same link that are called otherwise. Of one without a title the beginning of its text is told.
func testReceiversOfStories(t *testing.T, a reading.Database) {
	d := newReceiverDesk(t, a, reading.Owner)
	d.add(t, "Work", "maintenance", reading.RuleNone)
	all := d.tell(t, "all")
	const title = "Scheduled maintenance this weekend"
	for n, text := range []string{"Mail rests.", "The web rests.", "", ""} {
		r := FeedRecord([]feed.URL{news, otherNews}[n%2], 3+n)
		r.Entry.Title, r.Entry.Summary, r.Entry.Link = title, text, fmt.Sprint("https://news.example/", n)
		Keep(t, a, r)
	}
	for n, title := range []string{"Maintenance of mail", "Maintenance of the web"} {
		r := FeedRecord([]feed.URL{news, otherNews}[n], 7+n)
		r.Entry.Title, r.Entry.Link = title, "https://status.example/"
		Keep(t, a, r)
	}
	r := FeedRecord(news, 9)
	r.Entry.Title, r.Entry.Content = "", "<p>More <b>maintenance</b>"
	Keep(t, a, r)
	list := d.wantWaiting(t, all, title, title, title, title, "Maintenance of mail", "Maintenance of the web", "")
	if list[0].Lead != "" || list[6].Lead != r.Entry.Content {
		t.Errorf("the beginnings of their texts are %q and %q", list[0].Lead, list[6].Lead)
	}
}

// What a rule mutes is told to nobody, whichever other filter has it; and each person is told what is theirs.
func testReceiversOfPeople(t *testing.T, a reading.Database) {
	ann := addPerson(t, a, "Ann")
	Commit(t, a)
	d, other := newReceiverDesk(t, a, reading.Owner), newReceiverDesk(t, a, ann)
	d.add(t, "Brains", "brain", reading.RuleMute)
	d.add(t, "Storms", "storm", reading.RuleNone)
	other.add(t, "Calm", "calm", reading.RuleNone)
	mine, hers := d.tell(t, "phone"), other.tell(t, "phone")
	Keep(t, a, titled(3, "a brain storm"), titled(4, "storm"), titled(5, "calm"))
	d.wantWaiting(t, mine, "storm")
	other.wantWaiting(t, hers, "calm")
	if _, err := other.KeepReceiver(reading.Receiver{Name: "x", Only: []reading.FilterID{1}}); !errors.Is(err,
		reading.ErrNoFilter) {
		t.Errorf("a receiver is told what filters of another person catch: %v", err)
	}
	if d.DropReceiver("none") || !d.DropReceiver("phone") {
		t.Error("DropReceiver does not say whether there was one")
	}
	Commit(t, a)
	d.wantWaiting(t, mine)
	if b, err := a.Belongings(t.Context(), ann); err != nil || b.Filters != 1 || b.Receivers != 1 {
		t.Errorf("%+v would go with a person, %v", b, err)
	}
	a.HidePerson(time.Unix(9, 0), ann)
	Commit(t, a)
	if list, err := a.Receivers(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("receivers of who is hidden: %+v, %v", list, err)
	}
	if a.Pen(ann) != nil {
		t.Error("who is hidden has a pen")
	}
	for more := true; more; {
		more = a.RemovePerson(ann, 1)
		Commit(t, a)
	}
	if list, err := a.Receivers(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("receivers of nobody: %+v, %v", list, err)
	}
}

// A receiver keeps what it was told to be, how it went, and the filters that it is told of, by whatever words.
func testReceiverList(t *testing.T, a reading.Database) {
	d := newReceiverDesk(t, a, reading.Owner)
	storms := d.add(t, "Storms", "storm", reading.RuleNone)
	r := reading.Receiver{
		Person: reading.Owner, Name: "phone", Kind: reading.Mail, Address: "me@example.com", Secret: "s3cret",
		Server: "smtp://mail.example", Local: true, Only: []reading.FilterID{storms}, Created: time.Unix(3, 0).UTC(),
		Hours: reading.Hours{QuietFrom: 60, QuietTo: 90, Digest: []reading.TimeOfDay{480, 1080}, Most: 7},
	}
	id, err := d.KeepReceiver(r)
	if err != nil {
		t.Fatal(err)
	}
	Commit(t, a)
	want := func(want reading.Receiver) {
		t.Helper()
		got, err := a.Receivers(t.Context())
		if err != nil || len(got) != 1 || fmt.Sprintf("%+v", got[0]) != fmt.Sprintf("%+v", want) {
			t.Errorf("receivers %+v, %v; want %+v", got, err, want)
		}
	}
	r.ID = id
	want(r)
	a.NotTold(r, "it answers <b>502</b>", time.Unix(60, 0), false)
	Commit(t, a)
	failed := r
	failed.Failures, failed.Problem, failed.Next = 1, "it answers 502", time.Unix(60, 0).UTC()
	want(failed)
	elsewhere := r
	elsewhere.Address = "another@example.com" // which the receiver had before
	a.Told(elsewhere, time.Unix(70, 0), nil, 0)
	a.NotTold(elsewhere, "gone", time.Time{}, true)
	Commit(t, a)
	want(failed)
	a.Told(r, time.Unix(70, 0), nil, 0)
	Commit(t, a)
	want(r)
	changed, err := d.ChangeFilter(time.Unix(80, 0), storms, reading.FilterWish{Name: "Storms", Words: "tempest"})
	if err != nil || changed == storms {
		t.Fatalf("changed to %d, %v", changed, err)
	}
	Commit(t, a)
	r.Only = []reading.FilterID{changed}
	want(r)
	Keep(t, a, titled(3, "a tempest"))
	d.wantWaiting(t, id, "a tempest")
	a.NotTold(r, "gone", time.Unix(90, 0), true) // at which nothing is tried
	Commit(t, a)
	ended := r
	ended.Failures, ended.Problem, ended.Ended = 1, "gone", true
	want(ended)
	Keep(t, a, titled(4, "another tempest"))
	d.wantWaiting(t, id)
	if again, err := d.KeepReceiver(r); err != nil || again != id { // which has it begin anew
		t.Errorf("kept again as %d, %v", again, err)
	}
	Commit(t, a)
	want(r)
	d.RemoveFilter(time.Unix(9, 0), changed)
	Commit(t, a)
	r.Only = []reading.FilterID{}
	want(r)
	d.add(t, "Calm", "calm", reading.RuleNone)
	Keep(t, a, titled(5, "calm"))
	d.wantWaiting(t, id) // for the filters that it had are gone
}

// There are no more receivers, and nothing more waits for one, than there may be; the rest is counted.
func testReceiverBounds(t *testing.T, a reading.Database) {
	d := newReceiverDesk(t, a, reading.Owner)
	d.add(t, "All", "title", reading.RuleNone)
	id := d.tell(t, "phone")
	for n := range reading.MaxReceivers - 1 {
		d.tell(t, fmt.Sprint("other ", n))
	}
	if _, err := d.KeepReceiver(reading.Receiver{Name: "one more"}); !errors.Is(err, reading.ErrReceivers) {
		t.Errorf("one more: %v", err)
	}
	for n := range reading.MaxReceivers - 1 {
		d.DropReceiver(fmt.Sprint("other ", n))
	}
	Commit(t, a)
	for part := range slices.Chunk(FeedRecords(news, 10, 10+reading.MaxWaiting+6), 100) {
		Keep(t, a, part...)
	}
	list, more, err := a.Waiting(t.Context(), id, reading.MaxWaiting)
	if err != nil || len(list) != reading.MaxWaiting || more != 7 {
		t.Fatalf("%d wait, %d more, %v", len(list), more, err)
	}
	ids := make([]reading.MessageID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	if n, err := a.CountWaiting(t.Context(), id); err != nil || n != reading.MaxWaiting+7 {
		t.Errorf("counted %d, %v", n, err)
	}
	if some, _, err := a.Waiting(t.Context(), id, 3); err != nil || !slices.Equal(some, list[:3]) {
		t.Errorf("the first three are %+v, %v", some, err)
	}
	a.Told(reading.Receiver{ID: id}, time.Unix(5000, 0), ids, 5)
	Commit(t, a)
	if n, err := a.CountWaiting(t.Context(), id); err != nil || n != 2 { // which came meanwhile
		t.Errorf("counted %d afterwards, %v", n, err)
	}
	// Nothing waits for one that is gone, also once it is added anew.
	a.NotTold(reading.Receiver{ID: id, Address: "https://hook.example/"}, "gone", time.Time{}, true)
	Commit(t, a)
	if again := d.tell(t, "phone"); again != id {
		t.Errorf("added anew as %d, not %d", again, id)
	}
	d.wantWaiting(t, id)

	// What one neighbor alone vouches for makes room for what polls show, and for nothing else.
	brought := FeedRecords(news, 5000, 5000+reading.MaxWaiting)
	for i := range brought {
		brought[i].Source, brought[i].Confirmed = protocol.NewNodeID(netip.MustParseAddr("192.0.2.7"), 7790), false
	}
	for part := range slices.Chunk(brought, 100) {
		Keep(t, a, part...)
	}
	shown := FeedRecord(otherNews, 9000)
	Keep(t, a, shown)
	list, more, err = a.Waiting(t.Context(), id, reading.MaxWaiting)
	if err != nil || len(list) != reading.MaxWaiting || more != 2 || list[len(list)-1].Entry != shown.ID {
		t.Errorf("%d wait and %d more, %v, the last is %+v", len(list), more, err, list[len(list)-1])
	}
}

// A receiver keeps by which word it commands, up to which message that was heard, and which commands of the last day
// are not answered; what is said of another word changes nothing.
func testCommands(t *testing.T, a reading.Database) {
	d := newReceiverDesk(t, a, reading.Owner)
	r := reading.Receiver{Person: reading.Owner, Name: "phone", Kind: reading.Ntfy, Address: "https://ntfy.example/a",
		Commands: "orders", Word: reading.WordHash("abcd"), Created: time.Unix(3, 0).UTC()}
	var err error
	if r.ID, err = d.KeepReceiver(r); err != nil {
		t.Fatal(err)
	}
	Commit(t, a)
	want := func(want reading.Receiver) {
		t.Helper()
		got, err := a.Receivers(t.Context())
		if err != nil || len(got) != 1 || fmt.Sprintf("%+v", got[0]) != fmt.Sprintf("%+v", want) {
			t.Errorf("receivers %+v, %v; want %+v", got, err, want)
		}
	}
	heard := func(message string) bool {
		known, err := a.WasHeard(t.Context(), r.ID, message)
		if err != nil {
			t.Error(err)
		}
		return known
	}
	unanswered := func(want ...reading.Command) {
		t.Helper()
		if got, err := a.Unanswered(t.Context(), r.ID); err != nil || !slices.Equal(got, want) {
			t.Errorf("unanswered %+v, %v; want %+v", got, err, want)
		}
	}
	want(r)
	day := time.Unix(100_000, 0).UTC()
	one := reading.Command{Message: "m1", Sent: day, Answer: "You follow nothing."}
	two := reading.Command{Message: "m2", Sent: day.Add(time.Second), Answer: "Done."}
	a.Heard(r, one)
	a.Heard(r, two)
	a.Heard(r, reading.Command{Message: "m3", Sent: day.Add(2 * time.Second)})
	a.Deaf(r, "it answers <b>403</b>")
	a.Mute(reading.Owner, day.Add(time.Hour))
	Commit(t, a)
	now := r
	now.Heard, now.Deaf, now.Muted = "m3", "it answers 403", day.Add(time.Hour)
	want(now)
	unanswered(one, two)
	if !heard("m1") || !heard("m2") || heard("m3") || heard("") {
		t.Error("of what was heard something else is known than the commands")
	}
	a.Answered(r, "m1")
	a.Heard(r, one) // which is not to be answered again
	a.Mute(reading.Owner, time.Time{})
	a.Mute(99, day)
	a.Deaf(r, "")
	other := r
	other.Word = reading.WordHash("dcba")
	a.Heard(other, reading.Command{Message: "m4", Sent: day, Answer: "no"})
	a.Deaf(other, "no")
	Commit(t, a)
	now = r
	now.Heard = "m1"
	want(now)
	unanswered(two)
	nine := reading.Command{Message: "m9", Sent: day.Add(reading.MessageAge + time.Second), Answer: "Done."}
	a.Heard(r, nine)
	Commit(t, a)
	if heard("m1") || !heard("m2") || !heard("m9") {
		t.Error("a command of before the last day is remembered, or a later one is not")
	}
	a.Deaf(r, "it answers 403")
	if _, err := d.KeepReceiver(r); err != nil { // which knows less, and changes nothing of its commands
		t.Fatal(err)
	}
	Commit(t, a)
	now.Heard, now.Deaf = "m9", "it answers 403"
	want(now)
	unanswered(two, nine)
	if _, err := d.KeepReceiver(other); err != nil { // which begins anew
		t.Fatal(err)
	}
	Commit(t, a)
	want(other)
	unanswered()
	a.Heard(other, one)
	d.DropReceiver("phone")
	Commit(t, a)
	unanswered()
	// One that is brought back goes on behind what was heard, and stays mute.
	other.Heard, other.Muted, other.Deaf = "m1", day.Add(time.Hour), "no"
	for range 2 {
		if other.ID, err = d.KeepReceiver(other); err != nil {
			t.Fatal(err)
		}
		Commit(t, a)
		other.Deaf = ""
		want(other)
	}
	unanswered()
}
