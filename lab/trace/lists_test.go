package trace

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestLoadLists(t *testing.T) {
	for name, c := range map[string]struct {
		text, err string
		want      Lists
	}{
		"lists":         {"list,feed\na,x\nb,y\na,y\nb,x\nb,z\n", "", Lists{{0, 1}, {0, 1, 2}}},
		"other columns": {"era,feed,list\n1,x,a\n", "", Lists{{0}}},
		"twice":         {"list,feed\na,x\na,x\n", ":3: malformed row: list a has feed x twice", nil},
		"nobody":        {"list,feed\n,x\n", ":2: malformed row: list or feed is empty", nil},
		"no column":     {"list,url\na,x\n", "no column feed", nil},
		"nothing":       {"list,feed\n", "no subscription in it", nil},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "lists.csv"), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := LoadLists(dir)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v; want %v, %q", name, got, err, c.want, c.err)
		}
	}
	_, err := LoadLists(t.TempDir())
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "lists.csv") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Made-up lists are like the 251 that the law was fitted to: 28,030 subscriptions to 23,140 feeds, of which 20,607 have
// one follower, and 8 have 20 or more. They are the same on every platform.
func TestSyntheticLists(t *testing.T) {
	l := SyntheticLists(1, 251)
	one, many := 0, 0
	for _, followers := range l.Followers() {
		if followers == 1 {
			one++
		} else if followers >= 20 {
			many++
		}
	}
	const want = "251 lists, 22094 feeds, 26691 subscriptions"
	if l.String() != want || one < 18_000 || one > 23_000 || many < 1 || many > 20 {
		t.Errorf("%v, %d feeds of one follower and %d of 20 or more; want %s", l, one, many, want)
	}
}

func TestListsOfSome(t *testing.T) {
	if got := (Lists{{0, 1}, {2, 3}, {1, 2}}).Of([]int{1, 2}); !reflect.DeepEqual(got, Lists{{0, 1}, {0, 2}}) {
		t.Errorf("of two readers: %v", got)
	}
}
