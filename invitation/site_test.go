package invitation_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/invitation"
)

// What a person has is a link or a site.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"example.org": "example.org", " Example.ORG.\n": "example.org", "https://example.org": "example.org",
		"https://www.example.org/me?x=1#y": "www.example.org", "nas": "nas",
		"xn--bcher-kva.example":          "xn--bcher-kva.example",
		"feedex://192.0.2.7/?key=" + key: "192.0.2.7:7790",
		"192.0.2.7:7790":                 "192.0.2.7:7790", " example.org:7790 ": "example.org:7790",
		"[2001:db8::1]:7790": "[2001:db8::1]:7790", "localhost:7790": "localhost:7790",
		// neither
		"": "", "192.0.2.7": "", "2001:db8::1": "", "[2001:db8::1]": "", "192.0.2.7:80": "", "192.0.2.7:77900": "",
		"a b:7790": "", "me@example.org:7790": "", ":7790": "", "example.org:7790/": "",
		"http://example.org/": "", "https://me@example.org/": "", "https://example.org:8443/": "",
		"https://192.0.2.7/": "",
		"a..example":         "", "-a.example": "", "a-.example": "", "bücher.example": "", "a b": "",
		"_feedex._tcp.example.org": "",
		"example.org/me":           "", strings.Repeat("a", 64) + ".example": "", strings.Repeat("a.", 127) + "aa": "",
		"feedex://example.org": "",
	} {
		got, err := invitation.Read(text)
		if got.Host != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, invitation.ErrInvitation) {
			t.Errorf("%q reads as %q, %v, want %q", text, got.Host, err, want)
		}
		if err == nil && got.Key.IsZero() == strings.HasPrefix(text, "feedex:") {
			t.Errorf("%q reads as %+v", text, got)
		}
	}
}

func TestDocument(t *testing.T) {
	one, err := invitation.Parse("feedex://192.0.2.7:7790/?key=" + key + "&feed=https%3A%2F%2Fexample.com%2F")
	if err != nil {
		t.Fatal(err)
	}
	other := one
	other.Host = "node.example.org:7790"
	text := string(invitation.Document(one, other))
	if want := "{\n  \"nodes\": [\n    \"" + one.String() + "\",\n    \"" +
		other.String() + "\"\n  ]\n}\n"; text != want {
		t.Errorf("written as %s, want %s", text, want)
	}
	for _, text := range []string{text, strings.Replace(text, "{", `{"tracker": {"later": [1]},`, 1)} {
		got, err := invitation.ParseDocument([]byte(text))
		if err != nil || !reflect.DeepEqual(got, []invitation.Invitation{one, other}) {
			t.Errorf("read as %+v, %v", got, err)
		}
		if feeds := invitation.Feeds(got); !reflect.DeepEqual(feeds, []feed.URL{"https://example.com/"}) {
			t.Errorf("its feeds are %q", feeds)
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"nodes":"x"}`, `{"nodes":[7]}`, text + text,
		strings.Replace(text, ":7790", ":25", 1), strings.Replace(text, "https%3A%2F%2Fexample.com",
			"http%3A%2F%2F10.0.0.1", 1),
		strings.Repeat("[", 60_000), strings.Repeat(" ", invitation.MaxDocumentBytes) + text} {
		if got, err := invitation.ParseDocument([]byte(bad)); !errors.Is(err, invitation.ErrDocument) {
			t.Errorf("%.60q reads as %+v, %v", bad, got, err)
		}
	}
}

func TestFeedsAreBounded(t *testing.T) {
	many := make([]invitation.Invitation, 50)
	for n := range many {
		for k := range 10 {
			many[n].Feeds = append(many[n].Feeds, feed.URL("https://example.com/"+strings.Repeat("x", 10*n+k)))
		}
	}
	if got := len(invitation.Feeds(many)); got != invitation.MaxFeeds {
		t.Errorf("%d feeds, want %d", got, invitation.MaxFeeds)
	}
}

// The drawing is one that a decoder of codes has read.
func TestSVG(t *testing.T) {
	i, err := invitation.Parse("feedex://192.0.2.7:7790/?key=" + key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := i.SVG()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/link.svg")
	if err != nil || got+"\n" != string(want) {
		t.Errorf("%v; it is drawn as %s", err, got)
	}
	for range 100 {
		i.Feeds = append(i.Feeds, "https://example.com/a-feed-with-an-address-of-some-length.xml")
	}
	if _, err := i.SVG(); err == nil {
		t.Error("a link is drawn that is too long for a code")
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(`{"nodes":["feedex://192.0.2.7:7790/?key=` + key + `"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := invitation.ParseDocument(text)
		if err != nil || len(invitation.Document(list...)) > invitation.MaxDocumentBytes {
			return
		}
		for _, i := range list {
			if len(i.String()) > invitation.MaxBytes {
				return
			}
		}
		if again, err := invitation.ParseDocument(invitation.Document(list...)); err != nil ||
			!reflect.DeepEqual(again, list) {
			t.Errorf("%q reads as %+v, and what that writes as %+v, %v", text, list, again, err)
		}
	})
}

// A tracker is named by its URL, and what can be a site is one first.
func TestTracker(t *testing.T) {
	for text, want := range map[string]string{
		" http://tracker.example.net:7788/\n": "http://tracker.example.net:7788/",
		"http://192.0.2.7":                    "http://192.0.2.7",
		"https://tracker.example.net/":        "https://tracker.example.net/",
		"http://me@example.org/":              "", "http://:7788/": "", "ftp://example.org/": "", "example.org": "",
		"192.0.2.7:7788": "", "": "", "http://a b/": "",
		"http://example.org/" + strings.Repeat("a", feed.MaxURLBytes): "",
	} {
		if got, ok := invitation.Tracker(text); got != want || ok != (want != "") {
			t.Errorf("%.60q is %q, %v; want %q", text, got, ok, want)
		}
	}
}
