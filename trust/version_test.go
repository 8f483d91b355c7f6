package trust

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// brought is a version of entry 1 that came by way of these, the last of them a neighbor.
func brought(digest byte, via ...int) BroughtVersion {
	v := BroughtVersion{Entry: feed.EntryID{1}, Digest: feed.Digest{digest}, Kept: feed.Digest{1}}
	for _, i := range via {
		v.Via = append(v.Via, id(i))
	}
	return v
}

func TestWhoConfirmsAVersion(t *testing.T) {
	near := brought(2, 5)
	near.Via[0] = beside(6)
	for _, test := range []struct {
		name   string
		before []BroughtVersion
		ago    time.Duration
		then   BroughtVersion
		first  []protocol.NodeID
		want   bool
	}{
		{"nobody brought it before", nil, 0, brought(2, 5), nil, false},
		{"two polls", []BroughtVersion{brought(2, 5)}, 0, brought(2, 6), nil, true},
		{"two relays", []BroughtVersion{brought(2, 1, 5)}, 0, brought(2, 2, 6), nil, true},
		{"two relays of one source", []BroughtVersion{brought(2, 1, 5)}, 0, brought(2, 1, 6), nil, false},
		{"one neighbor twice", []BroughtVersion{brought(2, 5)}, 0, brought(2, 1, 5), nil, false},
		{"two of one network", []BroughtVersion{near}, 0, brought(2, 6), nil, false},
		{"by a node of one network",
			[]BroughtVersion{{Entry: feed.EntryID{1}, Digest: feed.Digest{2},
				Via: append([]protocol.NodeID{beside(1)}, way(5)...)}}, 0, brought(2, 1, 6), nil, false},
		{"one of three", []BroughtVersion{brought(2, 1, 5), brought(2, 7)}, 0, brought(2, 1, 6), nil, true},
		{"one who has earned nothing, at first", []BroughtVersion{brought(2, 30)}, 0, brought(2, 6), nil, false},
		{"or then", []BroughtVersion{brought(2, 5)}, 0, brought(2, 30), nil, false},
		{"who does not matter where two others have", []BroughtVersion{brought(2, 30), brought(2, 5)}, 0,
			brought(2, 6), nil, true},
		{"another version", []BroughtVersion{brought(3, 5)}, 0, brought(2, 6), nil, false},
		{"after two days", []BroughtVersion{brought(2, 5)}, asideFor, brought(2, 6), nil, true},
		{"after more than that", []BroughtVersion{brought(2, 5)}, asideFor + 1, brought(2, 6), nil, false},
		{"who brought it when it was new", nil, 0, brought(2, 6), way(1, 5), true},
		{"but not itself", nil, 0, brought(2, 6), way(6), false},
		{"nor by way of it", nil, 0, brought(2, 6, 5), way(6), false},
		{"nor who has earned nothing", nil, 0, brought(2, 6), way(30), false},
	} {
		v := newVersions(heard(9, 1))
		for _, b := range test.before {
			v.SetAside(now.Add(-test.ago), b)
		}
		v.SetAside(now.Add(-test.ago), brought(9, 9))
		if got := v.Vouched(now, test.then, test.first); got != test.want {
			t.Errorf("%s: confirmed %v", test.name, got)
		}
		if got := v.Vouched(now, test.then, test.first); got && test.first == nil {
			t.Errorf("%s: it is remembered", test.name)
		}
	}
}

// The word of a neighbor that had earned nothing counts once it has.
func TestAWordCountsOnceItIsEarned(t *testing.T) {
	w := heard(1, 1)
	v := newVersions(w)
	if v.Vouched(now, brought(2, 1), nil) || v.Vouched(now, brought(2, 2), nil) {
		t.Error("a stranger is a witness")
	}
	w.Earned(now, id(2))
	if !v.Vouched(now, brought(2, 2), nil) {
		t.Error("it has earned something, and is none")
	}
}

func TestWhatAPollShowsOfVersions(t *testing.T) {
	for _, test := range []struct {
		name   string
		ago    time.Duration
		listed []Listed
		left   int
		want   int // altered
	}{
		{"nothing", alteredAfter, nil, 1, 0},
		{"other entries", alteredAfter, []Listed{{Entry: feed.EntryID{7}, Digest: feed.Digest{1}}}, 1, 0},
		{"that it is the publisher's", 0, []Listed{{Entry: feed.EntryID{1}, Digest: feed.Digest{2}}}, 0, 0},
		{"ours, as caches may", alteredAfter - 1, []Listed{{Entry: feed.EntryID{1}, Digest: feed.Digest{1}}}, 1, 0},
		{"ours, after that", alteredAfter, []Listed{{Entry: feed.EntryID{1}, Digest: feed.Digest{1}}}, 0, 1},
		{"a third", alteredAfter, []Listed{{Entry: feed.EntryID{1}, Digest: feed.Digest{3}}}, 0, 0},
	} {
		v := newVersions(new(Witnesses))
		v.SetAside(now.Add(-test.ago), brought(2, 5))
		altered := v.Compare(now, test.listed)
		if len(altered) != test.want || v.Len() != test.left {
			t.Errorf("%s: %d are altered, %d set aside", test.name, len(altered), v.Len())
		}
	}
}

// A neighbor that delivered a version that was set aside need not do so again, for a while.
func TestVersionsAreTakenOnceFromEach(t *testing.T) {
	v := newVersions(new(Witnesses))
	one := brought(2, 5)
	for i := range 2 { // in one bundle and another
		one.DID = did(i)
		v.SetAside(now, one)
	}
	if v.Len() != 1 || !v.Took(id(5), did(1)) || !v.Took(beside(5), did(1)) || v.Took(id(5), did(0)) ||
		v.Took(id(6), did(1)) {
		t.Errorf("%d versions are set aside", v.Len())
	}
	if v.SetAside(now.Add(asideFor), brought(3, 6)); !v.Took(id(5), did(1)) {
		t.Error("it is forgotten within two days")
	}
	v.SetAside(now.Add(asideFor+1), brought(3, 6))
	if v.Took(id(5), did(1)) {
		t.Error("it is remembered for ever")
	}
}

func TestVersionsAreBounded(t *testing.T) {
	v := newVersions(new(Witnesses))
	one := func(i, by int) BroughtVersion {
		return BroughtVersion{Entry: feed.EntryID(did(i)), DID: did(i), Via: way(by)}
	}
	v.SetAside(now, one(0, 0))
	for i := range 2 * maxAside {
		v.SetAside(now, one(1+i, 1))
	}
	if v.Len() != 1+maxAsideEach || !v.Took(id(0), did(0)) || !v.Took(id(1), did(2*maxAside)) {
		t.Errorf("after a flood of one network %d are set aside", v.Len())
	}
	for i := range 2 * maxAside {
		v.SetAside(now, one(i, 2+i%100))
	}
	if v.Len() != maxAside {
		t.Errorf("after a flood of many %d are set aside", v.Len())
	}
}

// Three revisions of an entry are passed on within a day, whatever becomes of others.
func TestRevisionsAreRationed(t *testing.T) {
	v := newVersions(new(Witnesses))
	for i, want := range []bool{true, true, true, false, false, true} {
		at := now.Add(time.Duration(i) * 5 * time.Hour)
		if got := v.Pass(at, news, feed.EntryID{1}, nil); got != want {
			t.Errorf("revision %d: passed on %v", i, got)
		}
		if i == 0 && !v.Pass(at, news, feed.EntryID{2}, nil) {
			t.Error("another entry's is not passed on")
		}
	}
	v = newVersions(new(Witnesses))
	for i := range maxPassed + 1 {
		if v.Pass(now, news, feed.EntryID(did(i)), way(1)) != (i < maxPassed) {
			t.Fatalf("of one part %d are passed on", i)
		}
	}
	for i, part := range []struct {
		feed feed.URL
		path []protocol.NodeID
		want bool
	}{
		{news, way(2, 1), false}, {news, []protocol.NodeID{beside(1)}, false}, {news, way(2), true}, {news, nil, true},
		{"https://example.com/other", way(1), true},
	} {
		if v.Pass(now, part.feed, feed.EntryID{1, 2, byte(i)}, part.path) != part.want || len(v.passed) != maxPassed {
			t.Errorf("with a flood of one part, another is passed on: %v; %d are counted", !part.want, len(v.passed))
		}
	}
	// Nor do those of as many feeds as there is room for, one each, which another network brings.
	v = newVersions(new(Witnesses))
	for i := range maxPassed {
		v.Pass(now, feed.URL(fmt.Sprint("https://example.net/", i)), feed.EntryID(did(i)), way(1))
	}
	for i := range 3 {
		if !v.Pass(now, news, feed.EntryID{1, byte(i)}, nil) || len(v.passed) != maxPassed {
			t.Fatalf("beside a flood of many feeds %d are passed on; %d are counted", i, len(v.passed))
		}
	}
	if v.Pass(now, "https://example.net/0", feed.EntryID{2}, way(1)) {
		t.Error("a flood of many feeds goes on in a feed that has its part")
	}
	if !v.Pass(now.Add(24*time.Hour), news, feed.EntryID{1, 2, 3}, way(1)) {
		t.Error("the flood is counted for ever")
	}
}

// Strangers, however many, push out no version of a witness.
func TestAFloodPushesOutNoVersionOfAWitness(t *testing.T) {
	w := heard(2, 1)
	v := newVersions(w)
	v.SetAside(now, brought(1, 1))
	for i := range 2 * maxAside {
		v.SetAside(now, brought(1, 100+i))
	}
	if v.Len() != maxAside {
		t.Errorf("%d are set aside, want %d", v.Len(), maxAside)
	}
	if !v.Vouched(now, brought(1, 2), nil) {
		t.Error("a second witness stands by it, and the first is forgotten")
	}
}
