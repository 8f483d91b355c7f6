package incentive

import (
	"net/netip"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// relay is a node at an address of its own.
func relay(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, 0, byte(i), 7}), 7790)
}

// brought is a version of entry 1 that came by way of these, the last of them a neighbor.
func brought(digest byte, via ...int) Version {
	v := Version{Entry: feed.EntryID{1}, Digest: feed.Digest{digest}, Kept: feed.Digest{1}}
	for _, i := range via {
		v.Via = append(v.Via, relay(i))
	}
	v.Holder = HolderOf(v.Via[len(v.Via)-1])
	return v
}

func TestWhoConfirmsAVersion(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []Version
		ago    time.Duration
		then   Version
		want   bool
	}{
		{"nobody brought it before", nil, 0, brought(2, 5), false},
		{"two polls", []Version{brought(2, 5)}, 0, brought(2, 6), true},
		{"two relays", []Version{brought(2, 1, 5)}, 0, brought(2, 2, 6), true},
		{"two relays of one source", []Version{brought(2, 1, 5)}, 0, brought(2, 1, 6), false},
		{"one neighbor twice", []Version{brought(2, 5)}, 0, brought(2, 1, 5), false},
		{"one of three", []Version{brought(2, 1, 5), brought(2, 7)}, 0, brought(2, 1, 6), true},
		{"another version", []Version{brought(3, 5)}, 0, brought(2, 6), false},
		{"after two days", []Version{brought(2, 5)}, asideFor, brought(2, 6), true},
		{"after more than that", []Version{brought(2, 5)}, asideFor + 1, brought(2, 6), false},
	} {
		var v Versions
		for _, b := range test.before {
			v.SetAside(now.Add(-test.ago), b)
		}
		v.SetAside(now.Add(-test.ago), brought(9, 9))
		if got := v.Confirm(now, test.then.Entry, test.then.Digest, test.then.Via); got != test.want {
			t.Errorf("%s: confirmed %v", test.name, got)
		}
		want := len(test.before) + 1
		if test.want {
			want = 1
		}
		if v.Len() != want {
			t.Errorf("%s: %d versions are set aside, want %d", test.name, v.Len(), want)
		}
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
		var v Versions
		v.SetAside(now.Add(-test.ago), brought(2, 5))
		altered := v.Compare(now, test.listed)
		if len(altered) != test.want || v.Len() != test.left {
			t.Errorf("%s: %d are altered, %d set aside", test.name, len(altered), v.Len())
		}
	}
}

// Who delivered a version that was set aside need not do so again, for a while.
func TestVersionsAreTakenOnceFromEach(t *testing.T) {
	var v Versions
	one := brought(2, 5)
	for i := range 2 { // in one bundle and another
		one.DID = did(i)
		v.SetAside(now, one)
	}
	if v.Len() != 1 || !v.Took(one.Holder, did(1)) || v.Took(one.Holder, did(0)) || v.Took(numbered(6), did(1)) {
		t.Errorf("%d versions are set aside", v.Len())
	}
	v.SetAside(now.Add(asideFor+1), brought(3, 6))
	if v.Took(one.Holder, did(1)) {
		t.Error("it is remembered for ever")
	}
}

func TestVersionsAreBounded(t *testing.T) {
	var v Versions
	one := func(i, holder int) Version {
		return Version{Entry: feed.EntryID(did(i)), DID: did(i), Holder: numbered(holder)}
	}
	v.SetAside(now, one(0, 0))
	for i := range 2 * maxAside {
		v.SetAside(now, one(1+i, 1))
	}
	if v.Len() != 1+maxAsideEach || !v.Took(numbered(0), did(0)) || !v.Took(numbered(1), did(2*maxAside)) {
		t.Errorf("after a flood of one neighbor %d are set aside", v.Len())
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
	var v Versions
	for i, want := range []bool{true, true, true, false, false, true} {
		at := now.Add(time.Duration(i) * 5 * time.Hour)
		if got := v.Pass(at, feed.EntryID{1}); got != want {
			t.Errorf("revision %d: passed on %v", i, got)
		}
		if i == 0 && !v.Pass(at, feed.EntryID{2}) {
			t.Error("another entry's is not passed on")
		}
	}
	v = Versions{}
	for i := range maxPassed {
		v.Pass(now, feed.EntryID(did(i)))
	}
	if v.Pass(now, feed.EntryID{1, 2, 3}) || !v.Pass(now.Add(24*time.Hour), feed.EntryID{1, 2, 3}) {
		t.Error("what is counted has no bound, or none that ends")
	}
}
