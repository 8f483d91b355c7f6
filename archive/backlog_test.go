package archive_test

import (
	"testing"

	"feedex/archive"
)

func TestBacklogs(t *testing.T) {
	for text, want := range map[string]int{"0": 0, " 7 ": 7, "20": archive.FirstUnread, "10000": 10000, "all": 10000} {
		b, err := archive.ParseBacklog(text)
		if err != nil || b.Unread() != want || b == archive.UsualBacklog {
			t.Errorf("%q is %d, %v, want %d", text, b.Unread(), err, want)
		}
		if again, err := archive.ParseBacklog(b.String()); err != nil || again != b {
			t.Errorf("%q is written as %q", text, b)
		}
	}
	if b := archive.UsualBacklog; b.Unread() != archive.FirstUnread || b.String() != "20" {
		t.Errorf("what nobody chose is %d, %q", b.Unread(), b)
	}
	for _, bad := range []string{"", "-1", "10001", "4.5", "ALL", "none", "99999999999999999999"} {
		if b, err := archive.ParseBacklog(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, b)
		}
	}
}
