package incentive

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

// storers are holders of two networks, and of a third in IPv6.
var storers = []Holder{
	holderAt("20.1.1.1"), holderAt("20.1.1.2"), holderAt("20.1.1.3"), holderAt("20.1.1.4"), holderAt("20.2.2.1"),
	holderAt("2a00:1:1:1::1"), holderAt("2a00:1:1:2::1"),
}

func holderAt(ip string) Holder { return HolderOf(protocol.NewNodeID(netip.MustParseAddr(ip), 7790)) }

// A storage has the entries that holders stored, and the quota that they are held to.
type storage struct {
	ledger *Ledger
	quota  *Quota
	places int
	stored []Brought
}

func newStorage(t rapid.TB, places int) *storage {
	t.Helper()
	l, err := NewLedger(Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &storage{ledger: l, quota: NewQuota(l, places), places: places}
}

// store has h store what it may of so many entries, and returns how many that are.
func (s *storage) store(now time.Time, h Holder, u feed.URL, v DailyVolume, entries int, each int64) (count int64) {
	a := s.quota.Allowance(now, h, u, v)
	for range entries {
		if a.Take(each) {
			count++
		}
	}
	s.quota.Store(now, h, u, count, count*each)
	if count > 0 {
		s.stored = append(s.stored, Brought{h, u, now, count, count * each})
	}
	return count
}

// restart makes a ledger anew from what is kept of the old one, and from the archive.
func (s *storage) restart(t rapid.TB, now time.Time, accounts []Account) {
	t.Helper()
	again := newStorage(t, s.places)
	again.ledger.Load(now, accounts)
	again.quota = NewQuota(again.ledger, s.places)
	var archive []Brought
	for _, x := range s.stored {
		if now.Sub(x.At) <= Remembered {
			archive = append(archive, x)
		}
	}
	again.quota.Recall(now, archive)
	s.ledger, s.quota = again.ledger, again.quota
}

// The room that strangers can fill within a day is bounded, for one of them, for a network, and for all together;
// whatever they bring of whatever feeds, whenever, and whatever is forgotten in between because the node starts anew.
func TestQuotaOfStrangers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStorage(t, 3)
		now := time.Unix(1_790_000_000, 0)
		begin := now
		var kept []Account // as of the last time that they were written
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 60, 3600, 6 * 3600, 30 * 3600}).Draw(t,
				"seconds")) * time.Second)
			h := rapid.SampledFrom(storers).Draw(t, "holder")
			u := feed.URL(fmt.Sprintf("https://%d.example.com/", rapid.IntRange(0, 20).Draw(t, "feed")))
			v := rapid.SampledFrom([]DailyVolume{{}, {Entries: 100, Room: 50_000},
				{Entries: 1, Room: 1000}, {Entries: 1000, Room: 1_000_000}}).Draw(t, "volume")
			s.store(now, h, u, v, rapid.IntRange(1, 3000).Draw(t, "entries"),
				int64(rapid.SampledFrom([]int{600, 5000, 100_000, 2_500_000}).Draw(t, "room")))
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0, 1, 2, 3:
				kept = s.ledger.Accounts()
			case 4: // killed before it wrote anything more
				s.restart(t, now, kept)
			}
		}
		for at := begin; !at.After(now); at = at.Add(time.Hour) {
			all, networks, holders := int64(0), make(map[protocol.Network]int64), make(map[Holder]int64)
			for _, x := range s.stored {
				if !x.At.Before(at) && x.At.Sub(at) < day {
					all, networks[x.Holder.id.Network()], holders[x.Holder] = all+x.Room,
						networks[x.Holder.id.Network()]+x.Room, holders[x.Holder]+x.Room
				}
			}
			for h, room := range holders {
				if room > FreeRoom {
					t.Fatalf("%v stored %d bytes in the day from %v", h, room, at)
				}
			}
			for n, room := range networks {
				if room > 2*FreeRoom {
					t.Fatalf("%v stored %d bytes in the day from %v", n, room, at)
				}
			}
			if all > 3*FreeRoom {
				t.Fatalf("all stored %d bytes in the day from %v", all, at)
			}
		}
	})
}

// Of one feed a holder stores so many entries, and so much, as that brings: twice what own polls have shown, and a few.
func TestQuotaOfAFeed(t *testing.T) {
	const u = feed.URL("https://example.com/feed")
	for _, c := range []struct {
		name    string
		volume  DailyVolume
		each    int64
		bursts  int // an hour apart
		entries int64
	}{
		{"a feed that nobody polled", DailyVolume{}, 1000, 1, 500},
		{"and in a day", DailyVolume{}, 1000, 24, 500},
		{"and in three", DailyVolume{}, 1000, 73, 1500},
		{"large entries of it", DailyVolume{}, 300_000, 1, 7}, // the last may be larger than what is left
		{"and in a day", DailyVolume{}, 300_000, 24, 7},
		{"entries that take all the room", DailyVolume{}, 400_000, 2, 5},
		{"one that brings two a day", DailyVolume{Entries: 2, Room: 5000}, 1000, 1, 24},
		{"large entries of it", DailyVolume{Entries: 2, Room: 5000}, 50_000, 1, 3},
		{"one that brings a hundred a day", DailyVolume{Entries: 100, Room: 20_000}, 20_000, 1, 220},
		{"a whole day of it, and again", DailyVolume{Entries: 100, Room: 20_000}, 20_000, 2, 220},
	} {
		s := newStorage(t, 10)
		now, count := time.Unix(1_790_000_000, 0), int64(0)
		for range c.bursts {
			count += s.store(now, storers[0], u, c.volume, 1000, c.each)
			now = now.Add(time.Hour)
		}
		if count != c.entries {
			t.Errorf("%s: %d entries are stored, want %d", c.name, count, c.entries)
		}
		if got := s.store(now, storers[4], u, c.volume, 5, 1000); got != 5 {
			t.Errorf("%s: somebody else stores %d of 5", c.name, got)
		}
		if got := s.store(now, storers[0], "https://example.org/other", c.volume, 5, 1000); got != 5 {
			t.Errorf("%s: it stores %d of 5 entries of another feed", c.name, got)
		}
	}
}

// An own poll of a feed has its quota begin anew: what is true was listed then. Entries that were stored since count.
func TestAPollRenewsTheQuotaOfAFeed(t *testing.T) {
	const u = feed.URL("https://example.com/feed")
	s, now := newStorage(t, 10), time.Unix(1_790_000_000, 0)
	v := DailyVolume{Entries: 2, Room: 5000, Polled: now.Add(-time.Hour)}
	for _, c := range []struct {
		passes time.Duration
		polled bool
		want   int64
	}{{0, false, 24}, {time.Minute, false, 0}, {time.Minute, true, 24}, {time.Minute, false, 0},
		{23 * time.Hour, false, 0}, {5 * time.Hour, false, 24}} {
		now = now.Add(c.passes)
		if c.polled {
			v.Polled = now
			now = now.Add(time.Second)
		}
		if got := s.store(now, storers[0], u, v, 100, 1000); got != c.want {
			t.Errorf("%+v: %d entries are stored", c, got)
		}
	}
}

// Room of entries that own polls list is given back, and a holder that brings much that they list may store more. The
// extra room fades when nothing more comes.
func TestQuotaGrowsByWhatPollsShow(t *testing.T) {
	const u = feed.URL("https://example.com/feed")
	v := DailyVolume{Entries: 10_000, Room: 10_000}
	s := newStorage(t, 10)
	now := time.Unix(1_790_000_000, 0)
	h := storers[0]
	for range 14 { // 80 MB a day, each of which an own poll lists within an hour
		for range 10 {
			if got := s.store(now, h, u, v, 800, 10_000); got != 800 {
				t.Fatalf("%d entries of 800 are stored", got)
			}
			at := now
			now = now.Add(time.Hour)
			s.quota.Shown(now, h, u, at, 800, 8_000_000)
		}
		now = now.Add(14 * time.Hour)
	}
	if stored, quota := s.quota.Stored(now, h); stored != 0 || quota < 120_000_000 || quota > 180_000_000 {
		t.Errorf("it has stored %d and may store %d, want nothing and about 160 MB", stored, quota)
	}
	if got := s.store(now, h, u, v, 30_000, 10_000); got < 12_000 || got > 18_000 {
		t.Errorf("after that %d entries are stored that no poll shows", got)
	}
	// A newcomer of the same network has as much as ever: what was earned takes no place of strangers.
	if left := s.quota.Left(now, storers[1]); left != FreeRoom {
		t.Errorf("another of its network may store %d", left)
	}
	now = now.Add(30 * day)
	if _, quota := s.quota.Stored(now, h); quota > FreeRoom*11/10 {
		t.Errorf("a month later it may still store %d", quota)
	}
}

// A holder that has stored what it may keeps others of its network from no more than the network has, and nobody else
// from anything.
func TestQuotaOfANetwork(t *testing.T) {
	s := newStorage(t, 10)
	now := time.Unix(1_790_000_000, 0)
	fill := func(h Holder) (room int64) {
		for i := range 20 {
			room += 100_000 * s.store(now, h, feed.URL(fmt.Sprintf("https://%d.example.com/", i)), DailyVolume{},
				1000, 100_000)
		}
		return room
	}
	for i, want := range []int64{FreeRoom, FreeRoom, 0, 0, FreeRoom} {
		if got := fill(storers[i]); got != want {
			t.Errorf("%v stores %d, want %d", storers[i], got, want)
		}
	}
	var strangers int64
	for i := range 250 { // as many networks
		strangers += fill(holderAt(fmt.Sprintf("30.%d.1.1", i)))
	}
	if strangers != 7*FreeRoom {
		t.Errorf("strangers of 250 networks store %d more, want what ten may in all", strangers)
	}
	s.quota.Shown(now, storers[4], "https://1.example.com/", now, 1, FreeRoom)
	if left := s.quota.Left(now, storers[4]); left != FreeRoom+2*FreeRoom/shownDays {
		t.Errorf("a holder that brought what a poll showed may store %d", left)
	}
	now = now.Add(Remembered)
	if left := s.quota.Left(now, holderAt("40.1.1.1")); left != FreeRoom {
		t.Errorf("a day later a stranger may store %d", left)
	}
	if a, b := len(s.quota.storing), len(NewQuota(s.ledger, 10).storing); a != 0 || b != 0 {
		t.Errorf("nothing counts of anybody, and %d accounts are looked at, %d after a start", a, b)
	}
}

// An own poll that lists what a holder brought of a feed gives that back of its quota for the feed, whenever it came.
func TestWhatIsShownIsGivenBackOfTheFeed(t *testing.T) {
	const u = feed.URL("https://example.com/feed")
	s, now := newStorage(t, 10), time.Unix(1_790_000_000, 0)
	if got := s.store(now, storers[0], u, DailyVolume{}, 1000, 1000); got != unknownEntries {
		t.Fatalf("%d entries are stored", got)
	}
	later := now.Add(7 * time.Hour)
	s.quota.Shown(later, storers[0], u, now, 200, 200_000)
	s.quota.Shown(later, storers[0], "https://example.org/other", now, 1, 1000) // of which it stored nothing
	s.quota.Shown(later, storers[1], u, now, 1, 1000)
	if got := s.store(later, storers[0], u, DailyVolume{}, 1000, 1000); got != 200 {
		t.Errorf("200 were listed, and %d are stored", got)
	}
}

// What own polls have shown fades by a seventh a day, to nothing.
func TestHowWhatWasShownFades(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	for shown, want := range map[int64]int64{700: 600, 8: 6, 6: 5, 1: 0, 0: 0} {
		s := RoomUsed{Shown: shown, Slot: slotOf(now)}
		if s.age(now.Add(time.Minute)); s.Shown != shown {
			t.Errorf("after a minute %d are %d", shown, s.Shown)
		}
		if s.age(now.Add(day)); s.Shown != want {
			t.Errorf("after a day %d are %d, want %d", shown, s.Shown, want)
		}
	}
}

// Whatever the archive knows of the time that is Remembered counts after a start, to its first slot, for the holder and
// for the feed.
func TestWhatIsRecalled(t *testing.T) {
	const u = feed.URL("https://example.com/feed")
	now := time.Unix(slotOf(time.Unix(1_790_000_000, 0))*int64(slot/time.Second), 0)
	for after, counts := range map[time.Duration]bool{0: true, day: true, day + 1: false, 2 * day: false, -slot: true} {
		s := newStorage(t, 10)
		s.quota.Recall(now, []Brought{{storers[0], u, now.Add(-after), 10, 1000}, {storers[0], u, now, 1, 10}})
		want, of := int64(10), int64(1)
		if counts {
			want, of = 1010, 11
		}
		if got, _ := s.quota.Stored(now, storers[0]); got != want {
			t.Errorf("what was brought %v ago and now takes %d", after, got)
		}
		a := s.quota.Allowance(now, storers[0], u, DailyVolume{})
		if a.entries != unknownEntries-of || a.feedRoom != unknownRoom-want || a.room != FreeRoom-want {
			t.Errorf("after what was brought %v ago and now it may store %+v", after, a)
		}
		later := now.Add(day + slot)
		if got, _ := s.quota.Stored(later, storers[0]); got != 0 {
			t.Errorf("a day later %d are stored", got)
		}
	}
}

// An account of before, or of a clock that was wrong, keeps nobody from storing.
func TestQuotaOfOldAccounts(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	var old Account
	if err := json.Unmarshal([]byte(`{"Holder":"20.1.1.1","Given":0,"Got":65536,"Fined":0,"Grace":0,"Deficit":0}`),
		&old); err != nil {
		t.Fatal(err)
	}
	ahead := Account{Holder: storers[4], Stored: RoomUsed{Unshown: dayWindow{slots - 1: FreeRoom},
		Slot: slotOf(now.AddDate(3, 0, 0))}}
	s := newStorage(t, 10)
	s.restart(t, now, []Account{old, ahead})
	if a, b := s.quota.Left(now, storers[0]), s.quota.Left(now, storers[4]); a != FreeRoom || b != 0 {
		t.Errorf("they may store %d and %d", a, b)
	}
	later := now.Add(Remembered)
	if left := s.quota.Left(later, storers[4]); left != FreeRoom {
		t.Errorf("a day later it may store %d", left)
	}
	if got := s.ledger.Accounts(); !slices.ContainsFunc(got,
		func(a Account) bool { return a.Holder == storers[0] && a.Got == Entry }) {
		t.Errorf("accounts are %+v", got)
	}
}

func BenchmarkQuota(b *testing.B) {
	l, _ := NewLedger(Config{})
	q := NewQuota(l, 10)
	now := time.Unix(1_790_000_000, 0)
	for i := range maxAccounts {
		h := holderAt(fmt.Sprintf("%d.%d.%d.1", 20+i/65536, i/256%256, i%256))
		q.Fill(now, h, 1)
		if i >= 50 {
			l.of(h).Stored = RoomUsed{}
		}
	}
	for b.Loop() {
		a := q.Allowance(now, storers[0], "https://example.com/feed", DailyVolume{})
		a.Take(1)
		q.Store(now, storers[0], "https://example.com/feed", 1, 1)
		now = now.Add(time.Minute)
	}
}
