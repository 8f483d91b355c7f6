package archivetest

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/grade"
)

func testRequests(t *testing.T, a Archive) {
	wantRequests(t, a, 9)
	full := grade.Request{
		At: base.Add(1500 * time.Millisecond), Feed: string(news), URL: "https://example.com/there", First: true,
		Private: true,
		Sent:    grade.Validators{ETag: `W/"a b"`, LastModified: "yesterday"}, Status: 429,
		Got: grade.Validators{ETag: `"b"`, LastModified: "today"}, Fresh: time.Hour, RetryAfter: time.Minute, Bytes: 7,
	}
	bare := grade.Request{At: base, URL: string(blog)} // made before, kept later
	a.KeepRequests(nil)
	a.KeepRequests([]grade.Request{full, bare})
	wantRequests(t, a, 9, full, bare)
	Commit(t, a)
	exact := full
	exact.At, exact.Fresh = full.At.Add(999*time.Microsecond), full.Fresh+1
	a.KeepRequests([]grade.Request{exact})
	Commit(t, a)
	wantRequests(t, a, 9, full, bare, full)
	wantRequests(t, a, 2, bare, full)
	wantRequests(t, a, 0)
	wantRequests(t, a, -1)

	many := make([]grade.Request, archive.KeptRequests/4)
	for range 5 {
		for i := range many {
			many[i] = grade.Request{At: base.Add(time.Duration(i) * time.Second), URL: string(news)}
		}
		a.KeepRequests(many)
		Commit(t, a)
	}
	if n := len(a.LoadRequests(2 * archive.KeptRequests)); n < archive.KeptRequests || n > archive.KeptRequests*11/10 {
		t.Errorf("%d requests are kept, want %d or a few more", n, archive.KeptRequests)
	}
	if got := a.LoadRequests(1); len(got) != 1 || got[0] != many[len(many)-1] {
		t.Errorf("the latest request is %+v, want %+v", got, many[len(many)-1])
	}
}

func wantRequests(t *testing.T, a Archive, n int, want ...grade.Request) {
	t.Helper()
	if got := a.LoadRequests(n); !slices.Equal(got, want) {
		t.Errorf("LoadRequests(%d) = %+v, want %+v", n, got, want)
	}
}
