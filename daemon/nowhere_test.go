package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/guard"
	"feedex/reading"
)

// Who is not the owner hears the same of a host in the home and of one that there is not, where they follow it and
// where they have it looked at. The owner hears what it is.
func TestNobodyLearnsWhatIsInTheHome(t *testing.T) {
	const home, nowhere = "http://localhost:7777/f", "http://nowhere.invalid:7777/f"
	n := startNodeAt(t, Config{Listen: ListenNone, Reader: "127.0.0.1:0"})
	if err := n.client.AddPerson(t.Context(), "Ann"); err != nil {
		t.Fatal(err)
	}
	for _, person := range []string{"Ann", ""} {
		secret := n.password("of"+person, person, reading.ReaderScope)
		ask := func(path, body string) string {
			r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+n.at.Reader+path,
				strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Auth-Token", secret)
			resp, err := http.DefaultClient.Do(r)
			code, text := statusOf(t, resp, err)
			return fmt.Sprint(code, " ", text)
		}
		for path, body := range map[string]string{"/v1/feeds": `{"feed_url":%q}`, "/v1/discover": `{"url":%q}`} {
			there, not := ask(path, fmt.Sprintf(body, home)), ask(path, fmt.Sprintf(body, nowhere))
			if same := there == not; same != (person != "") || same && !strings.Contains(there, errNowhere.Error()) {
				t.Errorf("%s by %q: %s and %s", path, person, there, not)
			}
		}
	}
}

// What is kept of such hosts is told no otherwise.
func TestWhatIsKeptTellsNothingOfTheHome(t *testing.T) {
	a := newHousehold(t)
	a.host.texts = newFullTexts(t.Context(), a.host)
	ctx, picture := t.Context(), feed.URL("http://nas.home/picture.png")
	problems := []error{errors.New("get nas.home: there is no host of this name"),
		errors.New("get nas.home: the name of the host cannot be looked up now: i/o timeout"),
		fmt.Errorf("get nas.home: dial tcp 192.168.0.7:80: %w: not on the public Internet", guard.ErrForbidden)}
	for _, problem := range append(problems, errors.New("HTTP 404 Not Found")) {
		for _, l := range []*library{a.ann, a.library} {
			want := problem.Error()
			if l == a.ann && !strings.HasPrefix(want, "HTTP") {
				want = errNowhere.Error()
			}
			if _, err := chore(ctx, a.host.loop, func() (bool, error) {
				a.store.KeepFeed(archive.Feed{URL: exampleFeed, Subscribed: true, LastError: problem.Error()})
				a.store.KeepFullText(reading.FullText{Item: 1, Problem: problem.Error(), At: time.Now()})
				return true, a.store.Commit()
			}); err != nil {
				t.Fatal(err)
			}
			failed := pictureFailure{problem, time.Now().Add(time.Hour)}
			pages := pagesLibrary{library: l, pictures: &pictures{host: a.host,
				failed: map[string]pictureFailure{"example.com " + string(picture): failed}}}
			feeds, err1 := l.Subscriptions(ctx)
			known, err2 := pages.Known(ctx, int64(a.feed))
			entry, err3 := pages.Entry(ctx, (&feed.Entry{Feed: exampleFeed, ID: "0"}).EntryID())
			text, unread := l.FetchFullText(ctx, 1, false)
			_, shown := pages.Picture(ctx, int64(a.feed), picture)
			err := errors.Join(err1, err2, err3)
			if err != nil || !errors.Is(unread, reading.ErrFullText) || shown == nil {
				t.Fatal(err, unread, shown)
			}
			for what, got := range map[string]string{"a list": feeds[0].Error, "the feed": known.LastError,
				"the entry": entry.Full.Problem, "the picture": shown.Error(), "the full text": text.Problem,
				"its error": strings.TrimPrefix(unread.Error(), reading.ErrFullText.Error()+": ")} {
				if got != want {
					t.Errorf("%s tells %q, want %q", what, got, want)
				}
			}
		}
	}
}
