package archivetest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"feedex/archive"
)

func testAccounts(t *testing.T, a Archive) {
	wantAccounts(t, a)
	ordered := []archive.KeptAccount{
		{Holder: ""}, // no text
		{Holder: "10.0.0.1", Text: []byte(strings.Repeat("long ", 1000))},
		{Holder: "10.0.0.1:7790", Text: []byte("\x00\xff'; any bytes")},
		{Holder: "2001:db8::/64", Text: []byte("{}")},
		{Holder: "9.9.9.9", Text: []byte{}}, // an empty one
	}
	for _, i := range []int{2, 4, 0, 3, 1} {
		a.KeepAccount(ordered[i])
	}
	a.DropAccount("192.0.2.1") // was never there
	wantAccounts(t, a, ordered...)
	Commit(t, a)
	wantAccounts(t, a, ordered...)

	// Changes that the caller makes to its own bytes, before or after, are no concern of the archive.
	buffer := []byte("replaced")
	a.KeepAccount(archive.KeptAccount{Holder: ordered[1].Holder, Text: buffer})
	clear(buffer)
	ordered[1].Text = []byte("replaced")
	clear(a.LoadAccounts()[1].Text)
	a.DropAccount(ordered[0].Holder)
	ordered = ordered[1:]
	wantAccounts(t, a, ordered...)
	Commit(t, a)
	wantAccounts(t, a, ordered...)

	// Only what was committed outlives the process.
	r, ok := a.(Reopener)
	if !ok {
		return
	}
	a.KeepAccount(archive.KeptAccount{Holder: "198.51.100.1", Text: []byte("new")})
	a.KeepAccount(archive.KeptAccount{Holder: ordered[0].Holder, Text: []byte("replaced again")})
	a.DropAccount(ordered[1].Holder)
	a = r.Reopen()
	wantAccounts(t, a, ordered...)
	a.DropAccount(ordered[0].Holder)
	Commit(t, a)
	wantAccounts(t, a.(Reopener).Reopen(), ordered[1:]...)
}

func wantAccounts(t *testing.T, a Archive, want ...archive.KeptAccount) {
	t.Helper()
	if got := a.LoadAccounts(); !sameAccounts(got, want) {
		t.Errorf("LoadAccounts = %q, want %q", got, want)
	}
}

// sameAccounts reports whether two lists are the same to the letter.
func sameAccounts(a, b []archive.KeptAccount) bool {
	return slices.EqualFunc(a, b, func(a, b archive.KeptAccount) bool {
		return a.Holder == b.Holder && bytes.Equal(a.Text, b.Text)
	})
}
