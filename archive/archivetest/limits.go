package archivetest

import (
	"testing"
	"time"

	"feedex/archive"
	"feedex/reading"
)

// The limits of a feed are shown where it is counted, and each limit changes by itself.
func testLimits(t *testing.T, a reading.Database) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	bytes, age, count, none := int64(5000), 36*time.Hour, int64(7), int64(0)
	a.SetLimits(news, &bytes, &age, &count)
	a.SetLimits(news, nil, nil, &none)
	a.SetLimits("https://nobody.example.org/", &bytes, nil, nil)
	Follow(t, a, time.Unix(2, 0), news) // leaves them alone
	list, err := a.FeedLimits(t.Context())
	if want := (archive.Limits{Bytes: 5000, Age: 36 * time.Hour}); err != nil || len(list) != 1 ||
		list[0].URL != news || list[0].Limits != want {
		t.Errorf("bounds are %+v, %v", list, err)
	}
	feeds, err := a.FeedStats(t.Context())
	if err != nil || len(feeds) != 2 {
		t.Fatalf("%+v, %v", feeds, err)
	}
	for _, f := range feeds {
		if f.URL == news && (f.KeepBytes != 5000 || f.KeepAge != 36*3600 || f.KeepCount != 0) || f.URL != news &&
			f.KeepBytes+f.KeepAge+f.KeepCount != 0 {
			t.Errorf("%+v", f)
		}
	}
}

// A feed that takes the place of a page has its limits, but for those that the owner set for the feed itself.
func testInheritLimits(t *testing.T, a reading.Database) {
	bytes, age, count, own := int64(1000), time.Hour, int64(7), int64(8)
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	a.SetLimits(otherNews, &bytes, &age, &count)
	a.SetLimits(news, nil, nil, &own)
	a.Inherit(news, otherNews)
	Commit(t, a)
	want := archive.FeedLimits{URL: news, Limits: archive.Limits{Bytes: bytes, Age: age, Count: own}}
	if list, err := a.FeedLimits(t.Context()); err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("limits are %+v, %v", list, err)
	}
}
