package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/polling"
)

var wednesday = time.Date(2026, 7, 22, 0, 0, 0, 0, time.UTC)

// feeds makes so many feeds that publish perDay entries at random times from the day before start on, for
// three days. Their documents hold 10 entries.
func feeds(count, perDay int) []trace.Timeline {
	var list []trace.Timeline
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range count {
		f := trace.Timeline{Name: fmt.Sprintf("feed %d", i), Kind: "news", Window: 10}
		for range 3 * perDay {
			f.Times = append(f.Times, wednesday.Unix()-86400+rng.Int64N(3*86400))
		}
		slices.Sort(f.Times)
		list = append(list, f)
	}
	return list
}

// hourly has nodes poll every hour.
var hourly = node.Config{Policy: polling.Fixed{Every: time.Hour}}

// network makes a world of members that follow each of the feeds of their own choosing, and join within the
// first minute.
func network(t testing.TB, c Config, members, each int) *World {
	t.Helper()
	c.Start = wednesday
	if c.Node.Policy == nil {
		c.Node = hourly
	}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range members {
		rng := c.Seed.Stream(fmt.Sprintf("choice of %d", i))
		var follows []feed.URL
		for _, j := range rng.Perm(len(w.Publishers()))[:each] {
			follows = append(follows, w.Publishers()[j].URL)
		}
		w.At(w.Now().Add(time.Duration(rng.Int64N(int64(time.Minute)))), func() {
			if _, err := w.Join(MemberConfig{Name: fmt.Sprintf("member %d", i), Feeds: follows}); err != nil {
				t.Error(err)
			}
		})
	}
	return w
}

// run is the network after so long.
func run(t testing.TB, c Config, members int, d time.Duration) *World {
	w := network(t, c, members, 4)
	w.Run(wednesday.Add(d))
	return w
}

// Equal settings give equal worlds, with encoding or without; another seed gives another.
func TestEqualSeedsGiveEqualWorlds(t *testing.T) {
	t.Parallel()
	c := Config{Seed: 1, Feeds: feeds(12, 48), Links: Links{Loss: .01}}
	w := run(t, c, 20, 2*time.Hour)
	again := run(t, c, 20, 2*time.Hour)
	c.NoEncoding = true
	plain := run(t, c, 20, 2*time.Hour)
	c.Seed = 2
	other := run(t, c, 20, 2*time.Hour)
	if w.Hash() != again.Hash() || w.Steps() != again.Steps() {
		t.Errorf("the same seed gave %s after %d steps and %s after %d", w.Hash(), w.Steps(), again.Hash(),
			again.Steps())
	}
	if w.Hash() != plain.Hash() {
		t.Errorf("with encoding the hash is %s, without %s", w.Hash(), plain.Hash())
	}
	if w.Hash() == other.Hash() {
		t.Error("two seeds gave the same hash")
	}
	for i, h := range w.Hosts() {
		if end := w.Now(); !reflect.DeepEqual(h.Sights(end), plain.Hosts()[i].Sights(end)) {
			t.Errorf("%s saw entries at other times without encoding", h.Name)
		}
		if h.Made.Total().Bytes == 0 || plain.Hosts()[i].Made.Total().Bytes != 0 {
			t.Errorf("%s made calls of %d bytes encoded and %d plain", h.Name, h.Made.Total().Bytes,
				plain.Hosts()[i].Made.Total().Bytes)
		}
	}
}

// Worlds that run at the same time do not disturb each other.
func TestWorldsRunInParallel(t *testing.T) {
	c := Config{Seed: 3, Feeds: feeds(12, 48), NoEncoding: true}
	var hashes [4]string
	done := make(chan int)
	for i := range hashes {
		go func() {
			hashes[i] = run(t, c, 15, time.Hour).Hash()
			done <- i
		}()
	}
	for range hashes {
		<-done
	}
	for _, h := range hashes {
		if h != hashes[0] {
			t.Errorf("worlds of one seed gave %v", hashes)
		}
	}
}

// The exchange brings entries sooner than own polls do, and what it brings is real.
func TestNeighborsBringEntriesSooner(t *testing.T) {
	t.Parallel()
	w := run(t, Config{Seed: 1, Feeds: feeds(12, 48), NoEncoding: true}, 24, 8*time.Hour)
	var own, any time.Duration
	var owns, anys, all int
	for _, h := range w.Hosts() {
		for _, s := range h.Sights(w.Now()) {
			all++
			if s.Own != Never {
				owns++
				own += s.Own - s.Published
			}
			if s.Any != Never {
				anys++
				any += s.Any - s.Published
			}
			if s.Any > s.Own || s.Any < s.Published {
				t.Fatalf("%s: an entry of %v came at %v, by its own polls at %v", h.Name, s.Published, s.Any, s.Own)
			}
		}
	}
	if mean, alone := any/time.Duration(anys), own/time.Duration(owns); 3*mean > alone || anys <= owns {
		t.Errorf("with neighbors %d of %d came after %v, by own polls %d after %v", anys, all, mean, owns, alone)
	}
}

// One member more changes neither what the others choose nor their chance.
func TestStreamsDependOnTheirNamesAlone(t *testing.T) {
	seed := Seed(7)
	first := seed.Stream("node 1").Uint64()
	seed.Stream("node 2").Uint64()
	if again := seed.Stream("node 1").Uint64(); again != first {
		t.Errorf("the stream of a name began with %d and then with %d", first, again)
	}
	if other := Seed(8).Stream("node 1").Uint64(); other == first {
		t.Error("two seeds begin alike")
	}
	if other := seed.Stream("node 3").Uint64(); other == first {
		t.Error("two names begin alike")
	}
}

// Impossible settings are refused.
func TestImpossibleWorlds(t *testing.T) {
	for name, c := range map[string]Config{
		"no start":        {},
		"end before":      {Start: wednesday, Until: wednesday},
		"all is lost":     {Start: wednesday, Links: Links{Loss: 1}},
		"no window":       {Start: wednesday, Feeds: []trace.Timeline{{Name: "a", Window: 0}}},
		"negative delays": {Start: wednesday, Links: Links{Delay: -1}},
		"delays of hours": {Start: wednesday, Links: Links{Delay: time.Hour}},
		"no share at all": {Start: wednesday, Links: Links{Loss: math.NaN()}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w := run(t, Config{Feeds: feeds(4, 5)}, 1, time.Minute)
	if _, err := w.Join(MemberConfig{Feeds: []feed.URL{"https://nobody.example.com/"}}); err == nil {
		t.Error("a member follows a feed that nobody publishes")
	}
	if _, err := w.Join(MemberConfig{ID: w.Hosts()[0].ID}); err == nil {
		t.Error("two members have one address")
	}
}

// BenchmarkWorld runs the network of Paper §4.3 for two hours.
func BenchmarkWorld(b *testing.B) {
	for _, c := range []struct {
		name       string
		noEncoding bool
	}{{"encoded", false}, {"plain", true}} {
		b.Run(c.name, func(b *testing.B) {
			var steps int64
			for b.Loop() {
				w := network(b, Config{Feeds: feeds(70, 24), NoEncoding: c.noEncoding}, 189, 20)
				w.Run(wednesday.Add(2 * time.Hour))
				steps += w.Steps()
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// feedURLs are all feeds of the world.
func (w *World) feedURLs() (urls []feed.URL) {
	for _, p := range w.Publishers() {
		urls = append(urls, p.URL)
	}
	return urls
}
