package incentive

import (
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

// TestOffencesEndALink holds the table in the comment of Offence to the code: which one in 24 hours ends
// the link.
func TestOffencesEndALink(t *testing.T) {
	for _, c := range []struct {
		offence Offence
		nth     int
		fine    int
	}{
		{BrokenPromise, 3, 75}, {FailedAudit, 3, 75}, {WrongDID, 3, 75}, {MalformedBundle, 3, 75},
		{ForgedEntry, 1, 10}, {ForgedPath, 10, 1}, {UnwantedFeed, 50, 0}, {BadSubset, 100, 0},
		{SubsetLie, 4, 0}, {SubsetFlood, 2, 0}, {ConnectStorm, 20, 0}, {CallFlood, 25, 0}, {BadAnswer, 10, 1},
	} {
		l, h, at := newLedger(Config{}), holder(1), now
		n := 0
		for ended := false; !ended; n++ {
			at = at.Add(14 * time.Minute) // a hundred are less than a day apart
			ended = l.Punish(at, h, c.offence, Entry)
		}
		if n != c.nth {
			t.Errorf("%s: number %d ends the link, want %d", c.offence, n, c.nth)
		}
		if a := l.Account(h); a.Fined != Value(c.fine*c.nth, 0) {
			t.Errorf("%s: fined %v", c.offence, a.Fined)
		}
		after := at.Add(24 * time.Hour)
		if c.offence == ForgedEntry {
			after = at.Add(7 * 24 * time.Hour)
		}
		if !l.Refused(after.Add(-time.Second), h) {
			t.Errorf("%s: not refused until %v", c.offence, after)
		}
		if l.Refused(after, h) {
			t.Errorf("%s: refused for longer", c.offence)
		}
		if a := l.Account(h); a.Standing.Points(after) != 100 {
			t.Errorf("%s: a day later %d points are left", c.offence, a.Standing.Points(after))
		}
		if forger := c.offence == ForgedEntry; l.Forged(after.Add(-time.Second), h) != forger || l.Forged(after, h) {
			t.Errorf("%s: it counts as a forger is %v, a moment later %v", c.offence, !forger, l.Forged(after, h))
		}
		if l.Refused(at, holder(2)) {
			t.Error("another address is refused")
		}
	}
}

func TestThirdOfADayWhateverTheKind(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	if l.Punish(now, h, WrongDID, Entry) || l.Punish(now.Add(time.Hour), h, BrokenPromise, Entry) {
		t.Fatal("the second ends the link")
	}
	if !l.Punish(now.Add(24*time.Hour-time.Second), h, MalformedBundle, Entry) {
		t.Error("the third within a day does not end the link")
	}
	if !l.Punish(now.Add(25*time.Hour), h, BadSubset, 0) {
		t.Error("an address that is refused is told it is not")
	}
}

// Who is refused already is so for no longer for anything less than a forgery, and for a week for that.
func TestOffencesOfWhoIsRefused(t *testing.T) {
	for _, c := range []struct {
		offence Offence
		want    time.Duration // after the first
	}{{SubsetFlood, forgotten}, {CallFlood, forgotten}, {ForgedEntry, time.Hour + forgerForgotten}} {
		l, h := newLedger(Config{}), holder(1)
		l.Punish(now, h, SubsetFlood, 0)
		l.Punish(now, h, SubsetFlood, 0)
		l.Punish(now.Add(time.Hour), h, c.offence, 0)
		if until := l.Account(h).Standing.Refused; !until.Equal(now.Add(c.want)) {
			t.Errorf("%s: refused until %v", c.offence, until)
		}
	}
}

// Honest mistakes of old versions and bad networks must not end a link, in a hundred days of them.
func TestHonestMistakesEndNoLink(t *testing.T) {
	for _, c := range []struct {
		rule     string
		offences []Offence // of every day, 20 minutes apart
	}{
		{"a broken promise a day", []Offence{BrokenPromise}},
		{"two a day", []Offence{BrokenPromise, BrokenPromise}},
		{"a bad night: a promise, a storm of reconnects, feeds just withdrawn, a stale path", []Offence{
			BrokenPromise, ConnectStorm, ConnectStorm, ConnectStorm, ConnectStorm, ConnectStorm,
			UnwantedFeed, UnwantedFeed, UnwantedFeed, UnwantedFeed, UnwantedFeed, ForgedPath, CallFlood,
		}},
		{"an old version that spells a URL wrongly in every connect", []Offence{
			BadSubset, BadSubset, BadSubset, BadSubset, BadSubset, BadSubset, BadSubset, BadSubset, BadSubset,
		}},
	} {
		l, h := newLedger(Config{}), holder(1)
		for d := range 100 {
			at := now.Add(time.Duration(d) * 24 * time.Hour)
			for i, o := range c.offences {
				if l.Punish(at.Add(time.Duration(i)*20*time.Minute), h, o, Entry) {
					t.Fatalf("%s: the link ends on day %d", c.rule, d)
				}
			}
		}
	}
}

// A network that fails for a moment breaks many promises at once; that is one failure.
func TestOneOutageIsOneFailure(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	for i := range 64 {
		if l.Punish(now.Add(time.Duration(i)*time.Second), h, BrokenPromise, Entry) {
			t.Fatal("one outage ends the link")
		}
	}
	if a := l.Account(h); a.Standing.Points(now) != 66 || a.Deficit != 75*Entry {
		t.Errorf("left %d points, deficit %v", a.Standing.Points(now), a.Deficit)
	}
}

// A clock that jumped ahead and came back must not refuse a neighbor for ever.
func TestStandingSurvivesAWrongClock(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	l.Punish(now.AddDate(10, 0, 0), h, ForgedEntry, Entry)
	if l.Refused(now, h) {
		t.Error("refused by a mark of the far future")
	}
	if a := l.Account(h); a.Standing.Points(now) != 100 {
		t.Errorf("%d points are left", a.Standing.Points(now))
	}
	l.Punish(now, h, ForgedEntry, Entry)
	if !l.Refused(now.Add(-time.Minute), h) {
		t.Error("a clock that is set back a minute ends the refusal")
	}
}

func TestMarksAreBounded(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	for range 1000 {
		l.Punish(now, h, CallFlood, 0)
	}
	if a := l.Account(h); len(a.Standing.Marks) != maxMarks {
		t.Errorf("%d marks", len(a.Standing.Marks))
	}
}

func TestOffencesHaveNames(t *testing.T) {
	for o := BrokenPromise; o.valid(); o++ {
		text, _ := o.MarshalText()
		var back Offence
		if err := back.UnmarshalText(text); err != nil || back != o || o.Points() == 0 {
			t.Errorf("%d: %q reads as %d, %v", o, text, back, err)
		}
	}
	var o Offence
	for _, text := range []string{"", "murder"} {
		if err := o.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is an offence", text)
		}
	}
	if Offence(99).String() != "offence 99" || Offence(99).Points() != 0 || Offence(-1).Points() != 0 {
		t.Error("an offence that does not exist costs something")
	}
}

// A forger is found in a path, also after a restart; and no node is before it forged.
func TestForgersAreFoundInPaths(t *testing.T) {
	l := newLedger(Config{})
	if l.ForgedAmong(now, way(1, 2)) {
		t.Error("nobody forged, and one of the path did")
	}
	l.Punish(now, HolderOf(way(2)[0]), BrokenPromise, 0)
	if l.ForgedAmong(now, way(1, 2)) {
		t.Error("a broken promise is taken for a forgery")
	}
	l.Punish(now, HolderOf(way(2)[0]), ForgedEntry, 0)
	first, again := newLedger(Config{}), newLedger(Config{})
	first.Punish(now, HolderOf(way(2)[0]), ForgedEntry, 0)
	again.Load(now, first.Accounts())
	for _, l := range []*Ledger{l, first, again} {
		if !l.ForgedAmong(now, way(1, 2)) || l.ForgedAmong(now, way(1, 3)) || l.ForgedAmong(now, nil) {
			t.Error("the path with the forger is not the one that is found")
		}
	}
}

// way is a path by the nodes of these numbers, each at an address of its own.
func way(nodes ...int) (via []protocol.NodeID) {
	for _, i := range nodes {
		via = append(via, protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 7}), 7790))
	}
	return via
}
