package archivetest

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/courtesy"
)

func testHosts(t *testing.T, a Archive) {
	wantHosts(t, a)
	slow := archive.KnownHost{Name: "news.example.org", Budget: courtesy.Budget{
		Gap: 40*time.Second + 1, Rest: 90 * time.Minute, Until: base.Add(1500 * time.Millisecond),
		Spent: base.Add(time.Hour), Forbids: true,
	}}
	bare := archive.KnownHost{Name: "blog.example.net"}
	a.KeepHost(slow)
	a.KeepHost(bare)
	a.DropHost("nobody.example.com") // was never there
	wantHosts(t, a, bare, slow)
	Commit(t, a)
	wantHosts(t, a, bare, slow)

	slow.Rest, slow.Forbids, slow.Spent = 0, false, time.Time{}
	odd := slow
	odd.Until = slow.Until.In(time.FixedZone("", 3600)).Add(999 * time.Microsecond)
	a.KeepHost(odd)
	a.DropHost(bare.Name)
	Commit(t, a)
	wantHosts(t, a, slow)

	// Only what was committed outlives the process.
	if r, ok := a.(Reopener); ok {
		a.KeepHost(bare)
		wantHosts(t, r.Reopen(), slow)
	}
}

func wantHosts(t *testing.T, a Archive, want ...archive.KnownHost) {
	t.Helper()
	if got := a.LoadHosts(); !slices.Equal(got, want) {
		t.Errorf("LoadHosts = %+v, want %+v", got, want)
	}
}
