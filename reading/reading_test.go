package reading_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/reading"
)

func TestFolderNames(t *testing.T) {
	long := strings.Repeat("ä", reading.MaxName)
	for _, c := range []struct {
		path []string
		name string
	}{
		{nil, ""},
		{[]string{" ", ""}, ""},
		{[]string{" News\n", "", "At  home"}, "News › At home"},
		{[]string{"A/B"}, "A/B"},
		{[]string{"Cafe\u0301", "z\u200bw\ufeff"}, "Café › zw"},
		{[]string{long}, long[:reading.MaxName]},
	} {
		if got := reading.FolderOf(c.path); got != c.name {
			t.Errorf("FolderOf(%q) = %q, want %q", c.path, got, c.name)
		}
	}
	for _, n := range []int{298, 299, 300} { // of which the last character may be written otherwise
		folder := reading.FolderOf([]string{strings.Repeat("n", n) + "<<"})
		if name, err := reading.FolderName(folder); err != nil || name != folder {
			t.Errorf("with %d bytes the folder is %q, %v", n, name, err)
		}
	}
	if got := reading.PathOf("News › At home"); !slices.Equal(got, []string{"News", "At home"}) {
		t.Errorf("PathOf = %q", got)
	}
	for _, bad := range []string{"", "\n", "\x00", long} {
		if name, err := reading.FolderName(bad); !errors.Is(err, reading.ErrName) {
			t.Errorf("FolderName(%q) = %q, %v", bad, name, err)
		}
	}
}

func TestChecked(t *testing.T) {
	title := " a\x00\n title" + strings.Repeat("x", reading.MaxName)
	list := []reading.Arrangement{{Name: &title, Into: []string{" A "}}}
	got, err := reading.Checked(list)
	if err != nil || len(*got[0].Name) != reading.MaxName || !strings.HasPrefix(*got[0].Name, "a titlex") ||
		got[0].Into[0] != "A" {
		t.Errorf("Checked = %+v, %v", got, err)
	}
	if list[0].Into[0] != " A " || *list[0].Name != title {
		t.Error("Checked changed its argument")
	}
	if _, err := reading.Checked([]reading.Arrangement{{Into: []string{"A", ""}}}); !errors.Is(err, reading.ErrName) {
		t.Errorf("a folder without a name: %v", err)
	}
}

func TestPasswordNames(t *testing.T) {
	for _, good := range []string{"phone", "ann@example.com", "A-1_2.3+x", strings.Repeat("a", 64)} {
		if err := reading.CheckPasswordName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a b", "a:b", "ä", "a/b", "[", "`", "{", "^", strings.Repeat("a", 65)} {
		if err := reading.CheckPasswordName(bad); !errors.Is(err, reading.ErrName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The key of the Fever API is MD5 of "name:password", in hexadecimal digits of either case.
func TestFeverKey(t *testing.T) {
	const want = "e7a64b54e404289a9c53ffca6e5caa9f" // printf phone:00ff | md5sum
	if got := reading.FeverKey("phone", "00ff"); got != want {
		t.Errorf("FeverKey = %s, want %s", got, want)
	}
	p := reading.NewPassword("phone", "00ff", reading.Owner, reading.ReaderScope, time.Unix(1, 5))
	if p.Fever != reading.FeverHash(strings.ToUpper(want)) || p.Hash != reading.HashOf(" 00ff\n") ||
		p.Hash == reading.HashOf("00FF") || p.Created.Nanosecond() != 0 {
		t.Errorf("NewPassword = %+v", p)
	}
}

// Until counts whole seconds, so that what arrived in the same second as somebody looked is among what they have seen.
func TestStreamBefore(t *testing.T) {
	s := reading.Stream{Feed: 7}.Before(time.Unix(10, 999))
	if s.Feed != 7 || !s.Until.Equal(time.Unix(11, 0)) {
		t.Errorf("Before = %+v", s)
	}
}

func TestMoment(t *testing.T) {
	for n, want := range map[int64]time.Time{
		-1: {}, 0: {}, 1: time.Unix(1, 0), 1_700_000_000: time.Unix(1_700_000_000, 0),
		99_999_999_999:  time.Unix(99_999_999_999, 0),
		100_000_000_000: time.Unix(100_000_000, 0), 1_700_000_000_001: time.Unix(1_700_000_000, 1e6),
		100_000_000_000_000: time.Unix(100_000_000, 0), 1_700_000_000_000_001: time.Unix(1_700_000_000, 1e3),
	} {
		if got := reading.Moment(n); !got.Equal(want) {
			t.Errorf("Moment(%d) = %v, want %v", n, got, want)
		}
	}
}
