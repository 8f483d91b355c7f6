package recommend

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

func network(i int) protocol.Network {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, 1, byte(i), 7}), 7790).Network()
}

func urls(numbers ...int) (list []feed.URL) {
	for _, n := range numbers {
		list = append(list, feed.URL(fmt.Sprintf("https://example.com/%d", n)))
	}
	return list
}

func none(feed.URL) bool { return false }

// names are the feeds of suggestions.
func names(list []Suggestion) (feeds []feed.URL) {
	for _, s := range list {
		feeds = append(feeds, s.Feed)
	}
	return feeds
}

func TestRank(t *testing.T) {
	facts := Profile{Own: urls(1, 2, 3, 4), Voices: []Voice{
		{Network: network(1), Follows: urls(1, 2, 3, 10, 11, 20)},
		{Network: network(2), Follows: urls(1, 2, 10, 11, 21), Near: urls(12)},
		{Network: network(3), Follows: urls(4, 10, 12)},
		{Network: network(4), Follows: urls(30, 31, 10, 12)}, // it has nothing in common
	}}
	got := Rank(facts, 10, none)
	want := []Suggestion{{urls(10)[0], 3, 3, 4}, {urls(11)[0], 2, 3, 3}}
	if !slices.Equal(got, want) {
		t.Errorf("suggested are %v, want %v: not what one alone follows, nor what those do who have nothing in common",
			got, want)
	}
	if got := Rank(facts, 10, func(u feed.URL) bool { return u == urls(10)[0] }); got[0] != want[1] || len(got) != 1 {
		t.Errorf("without a feed that is left out they are %v", got)
	}
	if got := Rank(facts, 1, none); len(got) != 1 {
		t.Errorf("of one that is wanted there are %d", len(got))
	}
}

// Another form of what the node follows is no suggestion, and of two forms of a feed the better one alone is.
func TestOneFormOfAFeed(t *testing.T) {
	own, other := feed.URL("https://comic.example.com/rss.xml"), feed.URL("http://www.comic.example.com/atom.xml")
	better, worse := feed.URL("https://blog.example.com/a/feed"), feed.URL("https://blog.example.com/a/index.xml")
	remarks, next := feed.URL("https://blog.example.com/a/comments/feed/"), feed.URL("https://blog.example.com/b/feed")
	said := []feed.URL{own, other, better, worse, remarks, next}
	facts := Profile{Own: []feed.URL{own}, Voices: []Voice{
		{Network: network(1), Follows: said}, {Network: network(2), Follows: said},
		{Network: network(3), Follows: []feed.URL{own, better, next}},
	}}
	if got, want := names(Rank(facts, 10, none)), []feed.URL{better, next}; !slices.Equal(got, want) {
		t.Errorf("suggested are %v, want %v", got, want)
	}
}

func TestFormOf(t *testing.T) {
	seenForms := make(map[string]feed.URL)
	for _, same := range [][]feed.URL{
		{"https://example.com/", "http://www.example.com/RSS", "https://example.com/feed.json", "https://example.com"},
		{"https://example.com/a.b/feeds/posts/default?alt=rss", "https://example.com/a.b/feeds/comments/default"},
		{"https://example.com/feeds/videos.xml?channel_id=A1", "https://example.com/videos?channel_id=A1"},
		{"https://example.com/feeds/videos.xml?channel_id=a1"}, {"https://other.example.com/feed"},
		{"https://example.com:8443/feed"}, {"https://example.com/r/one/.rss"}, {"https://example.com/r/two/.rss"},
	} {
		for _, u := range same {
			form := FormOf(u)
			if first, known := seenForms[form]; known && first != same[0] {
				t.Errorf("%s and %s are forms of one feed", first, u)
			}
			seenForms[form] = same[0]
			if form != FormOf(same[0]) {
				t.Errorf("%s and %s are forms of two feeds", u, same[0])
			}
		}
	}
}

// Strangers push nothing, however many they are, once anybody is none; what one of these follows, too, they bear out.
func TestStrangersPushNothing(t *testing.T) {
	facts := Profile{Own: urls(1), Voices: []Voice{
		{Network: network(1), Follows: urls(1, 10, 11)}, {Network: network(2), Follows: urls(1, 10)},
		{Network: network(3), Follows: urls(1, 10, 12)}, {Network: network(4), Follows: urls(1, 12)},
	}}
	if got := names(Rank(facts, 10, none)); !slices.Equal(got, urls(10, 12)) {
		t.Errorf("suggested are %v while all are strangers", got)
	}
	facts.Voices[0].Settled = true
	if got := names(Rank(facts, 10, none)); !slices.Equal(got, urls(10)) {
		t.Errorf("suggested are %v, want what somebody settled follows", got)
	}
}

func TestOneNetworkCountsOnce(t *testing.T) {
	facts := Profile{Own: urls(1, 2), Voices: []Voice{
		{Network: network(1), Follows: urls(1, 2, 10)}, {Network: network(1), Follows: urls(1, 2, 10)},
		{Network: network(1), Follows: urls(1, 2, 10)},
		{Network: network(2), Follows: urls(1, 11)}, {Network: network(3), Follows: urls(2, 11)},
	}}
	if got := names(Rank(facts, 10, none)); !slices.Equal(got, urls(11)) {
		t.Errorf("suggested are %v, want only what two networks follow", got)
	}
}

// honest are the facts where most of each list is of one of three topics.
func honest(rng *rand.Rand, readers int) (facts Profile) {
	draw := func() (list []feed.URL) {
		topic := rng.IntN(3)
		for range 60 {
			list = append(list, urls(100*topic+rng.IntN(100))...)
		}
		for range 40 {
			list = append(list, urls(10_000+rng.IntN(100_000))...)
		}
		return list
	}
	facts.Own = draw()
	for i := range readers {
		facts.Voices = append(facts.Voices, Voice{Network: network(i), Follows: draw(), Near: draw()})
	}
	return facts
}

// One in ten advertises a thousand feeds, and everything that the node follows, to push them.
func TestATenthThatPushesFeeds(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		facts := honest(rng, 9)
		followers := make(map[feed.URL]int) // honest ones
		for _, v := range facts.Voices {
			for u := range setOf(v.Follows) {
				followers[u]++
			}
		}
		pushed := slices.Clone(facts.Own)
		for i := range 1000 {
			pushed = append(pushed, urls(1_000_000+i)...)
		}
		liar := Voice{Network: network(200), Follows: pushed, Near: pushed}
		spammed := facts
		spammed.Voices = append(slices.Clone(facts.Voices), liar, liar, liar)
		for _, u := range names(Rank(spammed, 10, none)) {
			if followers[u] < 2 {
				t.Errorf("seed %d: %s is suggested, and %d honest neighbors follow it", seed, u, followers[u])
			}
		}
		// A liar that repeats what one honest neighbor follows gets no further than that.
		spammed.Voices[9].Follows = append(slices.Clone(pushed), facts.Voices[0].Follows...)
		for _, u := range names(Rank(spammed, 10, none)) {
			if followers[u] == 0 {
				t.Errorf("seed %d: %s is suggested, and no honest neighbor follows it", seed, u)
			}
		}
	}
}

func TestRankProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		facts := honest(rng, rapid.IntRange(0, 10).Draw(t, "neighbors"))
		skip := func(u feed.URL) bool { return len(u)%3 == 0 }
		got := Rank(facts, 10, skip)
		own := setOf(facts.Own)
		for _, s := range got {
			if own[s.Feed] || skip(s.Feed) || s.Followers < 2 || s.Followers > s.Of || s.Shared < 1 {
				t.Fatalf("%+v is suggested", s)
			}
		}
		rng.Shuffle(len(facts.Voices), func(i, j int) {
			facts.Voices[i], facts.Voices[j] = facts.Voices[j], facts.Voices[i]
		})
		for _, v := range append(facts.Voices, Voice{Follows: facts.Own}) {
			rng.Shuffle(len(v.Follows), func(i, j int) { v.Follows[i], v.Follows[j] = v.Follows[j], v.Follows[i] })
		}
		if again := Rank(facts, 10, skip); !slices.Equal(got, again) {
			t.Fatalf("in another order %v becomes %v", got, again)
		}
	})
}
