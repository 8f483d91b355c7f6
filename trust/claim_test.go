package trust

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
)

// item is entry i of news, published so long before now.
func item(i int, age time.Duration) feed.Entry {
	return feed.Entry{
		Feed: news, ID: fmt.Sprint("item ", i), Title: fmt.Sprint("Title ", i),
		Link:      fmt.Sprint("https://news.example.com/", i),
		Published: now.Add(-age),
	}
}

// listing is a document of these entries, each of which came here when it was published.
func listing(entries ...feed.Entry) (listed []Listed) {
	for i := range entries {
		e := &entries[i]
		listed = append(listed, NewListed(e, e.EntryID(), e.Digest(), e.Published, false))
	}
	return listed
}

// claims are Claims with one about e, which the last node of the way brought so long before now.
func claims(e feed.Entry, age time.Duration, nodes ...int) *Claims {
	c := newClaims(new(Witnesses))
	add(c, e, age, nodes...)
	return c
}

func add(c *Claims, e feed.Entry, age time.Duration, nodes ...int) {
	via := way(nodes...)
	c.Add(&e, Claim{
		Feed: e.Feed, Entry: e.EntryID(), Via: via, At: now.Add(-age), Value: 1, Earned: 1,
	})
}

func TestWhatAPollSaysOfAClaim(t *testing.T) {
	const hour = time.Hour
	forgery := item(9, 2*hour)
	altered := func(change func(*feed.Entry)) feed.Entry {
		e := forgery
		change(&e)
		return e
	}
	window := []feed.Entry{item(1, 5*hour), item(2, 4*hour), item(3, hour)}
	for _, c := range []struct {
		rule   string
		claim  feed.Entry
		age    time.Duration
		via    []int
		listed []feed.Entry
		want   string // of what kind it is
	}{
		{"what is listed is shown", item(2, 4*hour), 2 * hour, []int{1}, window, "shown"},
		{"however young the claim", item(2, 4*hour), 0, []int{1}, window, "shown"},
		{"and whoever brought it", item(2, 4*hour), 2 * hour, []int{2, 1}, window, "shown"},
		{"what is not listed is forged", forgery, 2 * hour, []int{1}, window, "forged"},
		{"an hour is enough", forgery, hour, []int{1}, window, "forged"},
		{"a younger claim waits: publishers cache", forgery, hour - time.Second, []int{1}, window, "open"},
		{"a relay is not to blame, and says who polled it", forgery, 2 * hour, []int{2, 1}, window, "doubtful"},
		{"an empty document says nothing", forgery, 2 * hour, []int{1}, nil, "open"},
		{"nor does one that begins later", forgery, 2 * hour, []int{1}, window[2:], "dropped"},
		{"nor one that begins with it", forgery, 2 * hour, []int{1}, []feed.Entry{item(1, 2*hour)}, "dropped"},
		{"what was published before the window may have left it", item(9, 5*hour), 2 * hour, []int{1},
			window, "dropped"},
		{"a date after the claim is not believed", item(9, -100*hour), 2 * hour, []int{1}, window[2:], "dropped"},
		{"without a date it may have waited two days", altered(func(e *feed.Entry) { e.Published = time.Time{} }),
			2 * hour, []int{1},
			[]feed.Entry{item(1, 50*hour)}, "dropped"},
		{"but no longer", altered(func(e *feed.Entry) { e.Published = time.Time{} }), 2 * hour, []int{1},
			[]feed.Entry{item(1, 51*hour)}, "forged"},
		{"an old entry that stands before the newest does not make the window longer", forgery, 2 * hour, []int{1},
			[]feed.Entry{item(2, hour), item(3, 0), item(1, 50*hour)}, "dropped"},
		{"a date of change will do",
			altered(func(e *feed.Entry) { e.Published, e.Updated = time.Time{}, now.Add(-6*hour) }), 2 * hour, []int{1},
			window, "dropped"},
		{"a publisher may change the id and the link", altered(func(e *feed.Entry) { e.Title = "Title 2" }), 2 * hour,
			[]int{1}, window, "excused"},
		{"or the title", altered(func(e *feed.Entry) { e.Link = "https://news.example.com/2" }), 2 * hour, []int{1},
			window, "excused"},
		{"what is excused speaks against nobody", altered(func(e *feed.Entry) { e.Title = "Title 2" }), 2 * hour,
			[]int{2, 1}, window, "relayed"},
		{"no title is like no other", altered(func(e *feed.Entry) { e.Title, e.Link = "", "" }), 2 * hour, []int{1},
			append(window, altered(func(e *feed.Entry) { e.ID, e.Title, e.Link = "bare", "", "" })), "forged"},
	} {
		all := claims(c.claim, c.age, c.via...)
		j := all.Judge(now, now, news, listing(c.listed...))
		if got := kind(all, j, c.claim.EntryID()); got != c.want {
			t.Errorf("%s: it is %s, want %s", c.rule, got, c.want)
		}
		if other := claims(c.claim, c.age, c.via...).Judge(now, now, "https://example.com/other",
			listing(c.listed...)); kind(newClaims(nil), other, c.claim.EntryID()) != "dropped" {
			t.Errorf("%s: the poll of another feed judged it", c.rule)
		}
	}
}

// kind names the verdict of a judgement on an entry.
func kind(c *Claims, j Judgement, id feed.EntryID) string {
	for _, d := range j.Doubtful {
		if d.Entry == id && slices.ContainsFunc(j.Relayed, func(r Claim) bool { return r.Entry == id }) {
			return "doubtful"
		}
	}
	for name, list := range map[string][]Claim{"shown": j.Shown, "forged": j.Forged, "excused": j.Excused,
		"relayed": j.Relayed} {
		for i := range list {
			if list[i].Entry == id {
				return name
			}
		}
	}
	if _, open := c.Of(id); open {
		return "open"
	}
	return "dropped"
}

// The start of the poll counts, not the time of its answer.
func TestAClaimMustBeRipeWhenThePollBegins(t *testing.T) {
	c, window := claims(item(9, 2*time.Hour), time.Hour, 1), listing(item(1, 5*time.Hour))
	if j := c.Judge(now, now.Add(-time.Second), news, window); len(j.Forged) > 0 {
		t.Error("a claim was judged by a document that may have been older than an hour after it")
	}
	if j := c.Judge(now, now, news, window); len(j.Forged) != 1 {
		t.Error("it was not judged by the next")
	}
	if j := c.Judge(now, now, news, window); len(j.Forged) > 0 {
		t.Error("it was judged twice")
	}
}

// Where claims of two witnesses are missing, the publisher is more likely the reason: nobody is blamed who
// misses nowhere else.
func TestADividedFeedBlamesNobody(t *testing.T) {
	const day = 24 * time.Hour
	const other feed.URL = "https://other.example.com/feed"
	c := newClaims(new(Witnesses))
	at, count := now, 0
	for i, s := range []struct {
		rule            string
		after           time.Duration
		feed            feed.URL
		neighbors       []int
		forged, excused int
	}{
		{"one neighbor proves nothing about the publisher", 0, news, []int{1}, 1, 0},
		{"nor does it by doing it again, even twice at a time", day, news, []int{1, 1}, 2, 0},
		{"nor do two with more than a week between them", 8 * day, news, []int{2}, 1, 0},
		{"two within a week do: the third is excused", day, news, []int{3, 4}, 1, 1},
		{"and so are all others of that week", 7*day - time.Second, news, []int{5, 6, 7}, 0, 3},
		{"which begins anew with each", 7 * day, news, []int{8}, 0, 1},
		{"after a week of peace it is over", 8 * day, news, []int{8}, 1, 0},
		{"another feed is another matter", day, other, []int{9}, 1, 0},
		{"who misses there too is no witness here", 0, news, []int{9, 10}, 2, 0},
		{"but 8 and 10 are", 0, news, []int{11}, 0, 1},
		{"which does not help who misses elsewhere", 0, news, []int{9}, 1, 0},
		{"nor who is found to do so later", 0, other, []int{11}, 1, 0},
		{"as it would have been here", 0, news, []int{11}, 1, 0},
		{"two who never brought what is true are no witnesses", 16 * day, news, []int{12, 13}, 2, 0},
		{"and the third is not excused", day, news, []int{7}, 1, 0},
	} {
		at = at.Add(s.after)
		for i := range 12 {
			c.witnesses.Earned(at, id(i))
		}
		for _, h := range s.neighbors {
			count++
			e := item(100+count, 0)
			e.Published = at.Add(-2 * time.Hour)
			via := way(h)
			c.Add(&e, Claim{Feed: s.feed, Entry: e.EntryID(), Via: via, At: at.Add(-2 * time.Hour)})
		}
		j := c.Judge(at, at, s.feed, []Listed{{seen: uint32(at.Add(-30 * day).Unix())}})
		if len(j.Forged) != s.forged || len(j.Excused) != s.excused {
			t.Errorf("step %d: %s: %d forged, %d excused, want %d and %d", i, s.rule, len(j.Forged), len(j.Excused),
				s.forged, s.excused)
		}
	}
	for i := range 2 * maxMisses {
		c.missed(at, feed.URL(fmt.Sprint("https://example.com/", i)), id(1).Network())
	}
	if len(c.misses) > maxMisses {
		t.Errorf("%d missing claims are remembered", len(c.misses))
	}
}

// An own poll alone can show that a publisher takes entries out of the middle.
func TestDocumentsThatLoseEntriesExcuse(t *testing.T) {
	e := func(i int) feed.Entry { return item(i, time.Duration(10-i)*time.Hour) }
	renamed := e(2)
	renamed.ID = "another id"
	for _, c := range []struct {
		rule          string
		before, after []feed.Entry
		want          bool
	}{
		{"nothing before", nil, []feed.Entry{e(1)}, false},
		{"the same", []feed.Entry{e(1), e(2)}, []feed.Entry{e(1), e(2)}, false},
		{"the window moves on", []feed.Entry{e(1), e(2), e(3)}, []feed.Entry{e(3), e(4), e(5)}, false},
		{"it moves past everything", []feed.Entry{e(1), e(2)}, []feed.Entry{e(3), e(4)}, false},
		{"one in the middle vanishes", []feed.Entry{e(1), e(2), e(3)}, []feed.Entry{e(1), e(3), e(4)}, true},
		{"the newest vanishes", []feed.Entry{e(1), e(2), e(3)}, []feed.Entry{e(1), e(2)}, true},
		{"one stands at the end for good, and others pass", []feed.Entry{e(1), e(2), e(3)},
			[]feed.Entry{e(1), e(4), e(5)}, true},
		{"one gets another id", []feed.Entry{e(1), e(2), e(3)}, []feed.Entry{e(1), renamed, e(3)}, false},
		{"nothing is left", []feed.Entry{e(1), e(2)}, nil, false},
	} {
		all := newClaims(new(Witnesses))
		all.Compare(now, news, listing(c.before...), listing(c.after...))
		if got := all.vanishing(now, news); got != c.want {
			t.Errorf("%s: it does is %v, want %v", c.rule, got, c.want)
		}
		if all.vanishing(now.Add(dividedFor), news) {
			t.Errorf("%s: it stays so for ever", c.rule)
		}
	}
}

// A flood pushes out the flooder's claims and nobody else's; the first word about an entry stands.
func TestClaimsAreBounded(t *testing.T) {
	c := claims(item(0, 0), 0, 1)
	add(c, item(0, 0), 0, 2)
	for i := range 2 * maxClaims {
		add(c, item(1+i, 0), 0, 3)
	}
	if of := c.makers[id(3).Network()]; len(c.open) != maxClaims || c.feeds[news] != maxClaims || of != maxClaims-1 ||
		len(c.order) > 2*maxClaims+1 {
		t.Errorf("%d claims are remembered, %d of one network, in a list of %d", len(c.open), of, len(c.order))
	}
	first := item(0, 0)
	if claim, ok := c.Of(first.EntryID()); !ok || claim.Neighbor() != id(1) {
		t.Errorf("of the first claim is left: %+v", claim)
	}
	last := item(2*maxClaims, 0)
	if _, ok := c.Of(last.EntryID()); !ok {
		t.Error("the last claim is not remembered")
	}
	add(c, item(-1, 0), -claimedFor-time.Second, 4)
	if len(c.open) != 1 || len(c.makers) != 1 || len(c.order) != 1 {
		t.Errorf("after two days %d claims are left, of %d networks", len(c.open), len(c.makers))
	}
	for i := range 9 {
		add(c, item(1+i, 0), -claimedFor-time.Second, 5)
	}
	for i := range 9 {
		ended := item(1+i, 0)
		c.End(ended.EntryID())
	}
	c.End(first.EntryID())
	add(c, item(10, 0), -claimedFor-time.Second, 5)
	if len(c.open) != 2 || len(c.order) > 3 {
		t.Errorf("after nine claims that ended %d are left of two, in a list of %d", len(c.open), len(c.order))
	}
	c.Forget(news)
	if len(c.open)+len(c.feeds)+len(c.makers) != 0 {
		t.Error("claims of a feed that is forgotten are left")
	}
}

// Who forges makes nobody forget it by a flood of claims that no poll can tell of: what it relays, or brings of feeds
// that nobody polls here.
func TestAForgerCannotFloodAForgeryAway(t *testing.T) {
	c := newClaims(new(Witnesses))
	listed := listing(item(100, 9*time.Hour))
	c.Judge(now, now, news, listed)
	forgery := item(0, 2*time.Hour)
	add(c, forgery, 2*time.Hour, 3)
	for i := range 2 * maxClaims {
		e, nodes := item(1+i, 0), []int{4, 3}
		if i%2 == 0 {
			e.Feed, nodes = blog, []int{3}
		}
		add(c, e, 0, nodes...)
	}
	if j := c.Judge(now, now, news, listed); len(j.Forged) != 1 || j.Forged[0].Entry != forgery.EntryID() {
		t.Errorf("after the flood %d entries are forged", len(j.Forged))
	}
	if c.Forget(news); len(c.polled) > 0 {
		t.Error("a feed that is forgotten is polled")
	}
}

// Where several networks have the most claims, it does not depend on chance which of them loses one.
func TestEvictionIsDeterministic(t *testing.T) {
	var lives [2]*Claims
	for i := range lives {
		lives[i] = newClaims(new(Witnesses))
		for j := range maxClaims + 100 {
			add(lives[i], item(j, 0), 0, j%100)
		}
	}
	var left [2][]feed.EntryID
	for i := range lives {
		for _, open := range lives[i].of(news) {
			left[i] = append(left[i], open.entry)
		}
	}
	if !slices.Equal(left[0], left[1]) {
		t.Error("another claim is left in one life than in the other")
	}
}

// A neighbor that claims what is listed is never blamed, a relay never, nobody within the hour, and nothing is judged
// twice, whatever is claimed and published.
func TestOnlyFirstHandClaimsOfTheMissingAreForged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClaims(new(Witnesses))
		at, judged := now, make(map[feed.EntryID]bool)
		made := make(map[feed.EntryID]Claim)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
			e := item(rapid.IntRange(0, 20).Draw(t, "entry"),
				time.Duration(rapid.IntRange(-10, 10).Draw(t, "age"))*time.Hour)
			if rapid.Bool().Draw(t, "claim") {
				via := way(rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "via")...)
				claim := Claim{Feed: news, Entry: e.EntryID(), Via: via, At: at}
				if _, open := c.Of(claim.Entry); !open && !judged[claim.Entry] {
					made[claim.Entry] = claim
					c.Add(&e, claim)
				}
				continue
			}
			listed := listing(e, item(100, 100*time.Hour))
			j := c.Judge(at, at, news, listed)
			for _, list := range [][]Claim{j.Shown, j.Forged, j.Excused, j.Relayed} {
				for i := range list {
					if judged[list[i].Entry] {
						t.Fatal("a claim was judged twice")
					}
					judged[list[i].Entry] = true
				}
			}
			for _, f := range j.Forged {
				if claim := made[f.Entry]; !claim.FirstHand() || f.Neighbor() != claim.Neighbor() ||
					at.Sub(claim.At) < ripe-time.Second || f.Entry == e.EntryID() {
					t.Fatalf("%+v was judged forged at %v", claim, at)
				}
			}
		}
	})
}
