package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"feedex/reading"
)

// unfollowedThenReplaced has a program unfollow a feed for its owner, and another come in its place.
func unfollowedThenReplaced(t *testing.T, s *Store) {
	t.Helper()
	id, err := s.Shelf(reading.Owner).FeedID(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Pen(reading.Owner)
	p.NoteUnfollowed(time.Unix(5, 0), id, "phone")
	p.LeaveOut(id)
	s.Inherit(otherNews, news)
	commit(t, s)
}

// What a program unfollowed is so of the feed that takes its place; who follows it anew after the node did no more
// has it come to the owner.
func TestUnfollowedGoesOnWithTheHeir(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	ctx, shelf := t.Context(), s.Shelf(reading.Owner)
	follow(t, s, time.Unix(1, 0), news, otherNews)
	unfollowedThenReplaced(t, s)
	list, err := shelf.Unfollowed(ctx, time.Time{})
	if err != nil || len(list) != 1 || list[0].URL != otherNews || list[0].By != "phone" {
		t.Fatalf("unfollowed: %+v, %v", list, err)
	}
	f, err := s.Feed(ctx, otherNews)
	if err != nil {
		t.Fatal(err)
	}
	for _, follows := range []bool{false, true} {
		f.Subscribed = follows
		s.KeepFeed(f)
		commit(t, s)
	}
	if reads, err := shelf.Reads(ctx, int64(list[0].Feed)); err != nil || !reads {
		t.Errorf("the owner reads it: %v, %v", reads, err)
	}
	if list, err := shelf.Unfollowed(ctx, time.Time{}); err != nil || len(list) != 0 {
		t.Errorf("unfollowed: %+v, %v", list, err)
	}
}

// What was followed before is not left out because another name of it is.
func TestWhatWasFollowedBeforeIsNotLeftOut(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	ctx, shelf := t.Context(), s.Shelf(reading.Owner)
	follow(t, s, time.Unix(1, 0), otherNews)
	follow(t, s, time.Unix(2, 0), news)
	unfollowedThenReplaced(t, s)
	if list, err := shelf.Unfollowed(ctx, time.Time{}); err != nil || len(list) != 0 {
		t.Errorf("unfollowed: %+v, %v", list, err)
	}
	id, err := shelf.FeedID(ctx, otherNews)
	if err != nil {
		t.Fatal(err)
	}
	if reads, err := shelf.Reads(ctx, int64(id)); err != nil || !reads {
		t.Errorf("the owner reads it: %v, %v", reads, err)
	}
}
