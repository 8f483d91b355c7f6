package archivetest

import (
	"errors"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// Feeds have pictures, equal ones together, until nobody has one any more; and what is to be looked for comes in turn.
func testIcons(t *testing.T, a reading.Database) {
	at := time.Unix(100_000, 0).UTC()
	for _, u := range []feed.URL{news, otherNews, secretFeed} {
		a.KeepFeed(archive.Feed{URL: u, Subscribed: true, LastSuccess: at, Icon: u + "/icon"})
	}
	a.KeepFeed(archive.Feed{URL: "https://example.net/unread", Subscribed: true})
	a.KeepFeed(archive.Feed{URL: "https://example.net/left", LastSuccess: at})
	Commit(t, a)
	of := func(u feed.URL) reading.IconRef {
		t.Helper()
		list, err := a.Shelf(reading.Owner).Subscriptions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if list[i].URL == u {
				return list[i].Icon
			}
		}
		t.Fatalf("%s is not followed", u)
		return reading.IconRef{}
	}
	due := func(now time.Time, want feed.URL) {
		t.Helper()
		if f, err := a.IconDue(t.Context(), now); err != nil || f.URL != want || want != "" && f.Icon != want+"/icon" {
			t.Errorf("due is %q with %q, %v; want %q", f.URL, f.Icon, err, want)
		}
	}
	due(at, news)
	a.KeepIcon(news, []byte("picture"), at.Add(time.Hour))
	a.KeepIcon(otherNews, []byte("picture"), at.Add(2*time.Hour))
	a.KeepIcon(secretFeed, nil, at.Add(3*time.Hour))
	a.KeepIcon("https://example.net/nobody", []byte("other"), at)
	Commit(t, a)
	due(at.Add(59*time.Minute), "")
	due(at.Add(3*time.Hour), news)
	a.DeferIcon(news, at.Add(4*time.Hour))
	Commit(t, a)
	due(at.Add(3*time.Hour), otherNews)
	due(at.AddDate(-10, 0, 0), otherNews) // the clock was ahead

	ref := of(news)
	if ref.ID == 0 || len(ref.Word) < 20 || of(otherNews) != ref || of(secretFeed) != (reading.IconRef{}) {
		t.Fatalf("icons are %+v, %+v, %+v", ref, of(otherNews), of(secretFeed))
	}
	wantIcon := func(want string) {
		t.Helper()
		byID, err := a.Icon(t.Context(), ref.ID)
		byWord, errAt := a.IconAt(t.Context(), ref.Word)
		if err != nil || errAt != nil || string(byID.Content) != want || string(byWord.Content) != want {
			t.Errorf("icon %+v, %v; at its word %+v, %v; want %q", byID, err, byWord, errAt, want)
		}
	}
	wantIcon("picture")

	// A poll of the feed leaves it, another picture has another number, and what nobody has goes.
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, LastSuccess: at.Add(time.Minute)})
	a.KeepIcon(otherNews, nil, at)
	Commit(t, a)
	wantIcon("picture")
	if of(news) != ref {
		t.Errorf("after a poll its icon is %+v", of(news))
	}
	a.KeepIcon(news, []byte("another"), at)
	Commit(t, a)
	wantIcon("")
	if now := of(news); now.ID <= ref.ID || now.Word == ref.Word {
		t.Errorf("another picture is %+v, the first was %+v", now, ref)
	}

	// Who wants to see pictures is not asked again, by the feed that takes the place of this one either.
	shelf := a.Shelf(reading.Owner)
	number, err := shelf.FeedID(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	const heir feed.URL = "https://example.net/heir"
	a.KeepFeed(archive.Feed{URL: heir, Subscribed: true})
	a.Pen(reading.Owner).Arrange([]reading.Arrangement{{Feed: number, Pictures: new(true)}})
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, LastSuccess: at})
	a.Inherit(heir, news)
	Commit(t, a)
	for _, u := range []feed.URL{news, heir, otherNews} {
		id, err := shelf.FeedID(t.Context(), u)
		look, lookErr := shelf.FeedLook(t.Context(), int64(id))
		titles, titlesErr := shelf.Titles(t.Context(), []feed.URL{u})
		if err := errors.Join(err, lookErr, titlesErr); err != nil || look.Pictures != (u == heir) ||
			look.Icon != of(u) || titles[u].Icon != of(u) {
			t.Errorf("%s is shown as %+v, %+v, %v", u, look, titles, err)
		}
	}
	a.Pen(reading.Owner).Arrange([]reading.Arrangement{{URL: heir, Pictures: new(false)}})
	Commit(t, a)
	number, err = shelf.FeedID(t.Context(), heir)
	if err != nil {
		t.Fatal(err)
	}
	if look, err := shelf.FeedLook(t.Context(), int64(number)); err != nil || look.Pictures {
		t.Errorf("it is shown as %+v, %v", look, err)
	}
	a.Keep([]archive.Record{newsRecord("1", "a", at)})
	Commit(t, a)
	list, err := a.Shelf(reading.Owner).Headlines(t.Context(), reading.HeadlineQuery{Limit: 1})
	if err != nil || len(list) != 1 || list[0].FeedIcon != of(news) {
		t.Errorf("headlines %+v, %v", list, err)
	}
}
