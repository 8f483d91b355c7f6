package courtesy

import (
	"testing"
	"time"

	"feedex/feed"
)

const (
	here  feed.URL = "https://news.example.com/feed"
	there feed.URL = "https://new.example.org/feed"
)

// Where a feed is asked for after it was redirected so at each poll.
func TestMoves(t *testing.T) {
	always := func(to feed.URL) func(int) feed.URL { return func(int) feed.URL { return to } }
	for _, test := range []struct {
		name  string
		every time.Duration
		polls int
		to    func(poll int) feed.URL
		want  feed.URL
	}{
		{"three times in a day", 12 * time.Hour, 3, always(there), there},
		{"twice in days", 48 * time.Hour, 2, always(there), here},
		{"often in less than a day", time.Hour, 24, always(there), here},
		{"often in a day", time.Hour, 25, always(there), there},
		{"nowhere", 12 * time.Hour, 10, always(""), here},
		{"to where everybody can read it", 12 * time.Hour, 10, always("http://new.example.org/feed"), here},
		{"now and then", 12 * time.Hour, 10, func(poll int) feed.URL {
			if poll%3 == 2 {
				return ""
			}
			return there
		}, here},
		{"here and there", 12 * time.Hour, 10,
			func(poll int) feed.URL { return there + feed.URL(rune('0'+poll%2)) }, here},
		{"there and back", 12 * time.Hour, 6, func(poll int) feed.URL {
			if poll < 3 {
				return there
			}
			return here
		}, here},
	} {
		var m Move
		for poll := range test.polls {
			before := m.At(here)
			changed := m.Redirected(epoch.Add(time.Duration(poll)*test.every), here, test.to(poll))
			if changed != (m.At(here) != before) {
				t.Errorf("%s: poll %d says %v, and is asked for at %s", test.name, poll, changed, m.At(here))
			}
		}
		if got := m.At(here); got != test.want || m.Alias == here {
			t.Errorf("%s: asked for at %s, want %s", test.name, got, test.want)
		}
	}
}

// An address that does not work is given up.
func TestMovesThatWereWrong(t *testing.T) {
	for _, test := range []struct {
		status, failures int
		want             bool
	}{{404, 1, false}, {404, aliasFails, true}, {0, aliasFails, true}, {Gone, 1, true}} {
		m := Move{Alias: there, Moved: there, MovedSeen: 1, MovedSince: epoch}
		if got := m.Failed(test.status, test.failures); got != test.want || got != (m == Move{}) {
			t.Errorf("%d after %d failures: given up %v, %+v", test.status, test.failures, got, m)
		}
		if m = (Move{Moved: there}); m.Failed(test.status, test.failures) || m.Moved != there {
			t.Error("a feed that has not moved is brought back")
		}
	}
	// What was renamed is asked for at its former address, and at its own again, as long as neither works.
	m := Move{Former: there}
	for failures := 1; failures <= 4*aliasFails; failures++ {
		want := m.Alias
		if failures%aliasFails == 0 && want == "" {
			want = there
		} else if failures%aliasFails == 0 {
			want = ""
		}
		if m.Failed(404, failures); m.Alias != want || m.Former != there || m.Gone() != (want == there) {
			t.Errorf("after %d failures it is asked for at %q: %+v", failures, want, m)
		}
	}
	if m = (Move{Alias: there}); m.Gone() {
		t.Error("what moved is gone before it was asked for where it was")
	}
}
