package invitation_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/invitation"
	"feedex/protocol"
)

const key = "ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

func TestLinks(t *testing.T) {
	k, err := protocol.ParseNodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string]invitation.Invitation{
		"feedex://192.0.2.7:7790/?key=" + key: {Host: "192.0.2.7:7790", Key: k},
		"feedex://[2001:db8::7]:7790/?key=" + key + "&feed=https%3A%2F%2Fexample.com%2Ffeed%3Fa%3D1%26b%3D2" +
			"&feed=http%3A%2F%2Fexample.org%2F": {Host: "[2001:db8::7]:7790", Key: k,
			Feeds: []feed.URL{"https://example.com/feed?a=1&b=2", "http://example.org/"}},
		"feedex://news.example.com:8000/?key=" + key: {Host: "news.example.com:8000", Key: k},
	} {
		got, err := invitation.Parse(link)
		if err != nil || !reflect.DeepEqual(got, want) || got.String() != link {
			t.Errorf("%s reads as %+v, %v, and is written %s", link, got, err, got.String())
		}
	}
	for _, link := range []string{"feedex://192.0.2.7?key=" + key, " feedex://192.0.2.7/?key=" + key + "&later=1\n"} {
		if got, err := invitation.Parse(link); err != nil || got.Host != "192.0.2.7:7790" || got.Key != k {
			t.Errorf("%q reads as %+v, %v", link, got, err)
		}
	}
}

func TestBadLinks(t *testing.T) {
	good := "feedex://192.0.2.7:7790/?key=" + key
	for _, link := range []string{"", "192.0.2.7:7790", "https://192.0.2.7:7790/?key=" + key, "feedex:192.0.2.7:7790",
		"feedex://192.0.2.7:7790/", "feedex://192.0.2.7:7790/?key=x", "feedex:///?key=" + key,
		"feedex://%ff.example:7790/?key=" + key, `feedex://x"><b>:7790/?key=` + key,
		"feedex://192.0.2.7:80/?key=" + key,
		"feedex://192.0.2.7:99999/?key=" + key, "feedex://me@192.0.2.7:7790/?key=" + key, good + "#x",
		"feedex://192.0.2.7:7790/more?key=" + key, good + "&feed=ftp://example.com/", good + "&feed=%zz",
		good + "&feed=http://192.168.1.1/feed", good + "&feed=https://user:pass@example.com/feed",
		good + strings.Repeat("&feed=https://example.com/", invitation.MaxFeeds+1),
		good + "&later=" + strings.Repeat("x", invitation.MaxBytes)} {
		if got, err := invitation.Parse(link); !errors.Is(err, invitation.ErrInvitation) {
			t.Errorf("%.100q reads as %+v, %v", link, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("feedex://192.0.2.7:7790/?key=" + key + "&feed=https://example.com/")
	f.Fuzz(func(t *testing.T, link string) {
		i, err := invitation.Parse(link)
		if err != nil {
			return
		}
		if again, err := invitation.Parse(i.String()); err != nil || !reflect.DeepEqual(again, i) {
			t.Errorf("%q reads as %+v, and what that writes as %+v, %v", link, i, again, err)
		}
	})
}
