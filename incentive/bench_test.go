package incentive

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
)

// BenchmarkLedger is one delivery each way: ask, book, book. It is to take less than 1 µs.
func BenchmarkLedger(b *testing.B) {
	l := newLedger(Config{})
	holders := make([]Holder, 1000)
	for i := range holders {
		holders[i] = holder(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h := holders[i%len(holders)]
		at := now.Add(time.Duration(i) * time.Millisecond)
		if l.Allowance(h) >= Entry {
			l.Gave(at, h, Entry)
		}
		l.Got(at, h, Entry)
		if i++; i%100 == 0 {
			l.Changed()
		}
	}
}

// BenchmarkOffer is an offer of a bundle that we have, from what it earns to the booking. Each bundle is
// noted once and offered by ten neighbors.
func BenchmarkOffer(b *testing.B) {
	l, e := newLedger(Config{}), NewEarnings(DefaultRules())
	rng := newRand(1)
	stored := *bundle(news, "a", 3, now, 0)
	feeds := make([]feed.URL, 2000)
	for i := range feeds {
		feeds[i] = feed.URL(fmt.Sprint("https://example.com/", i))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		at, d, h := now.Add(time.Duration(i)*time.Millisecond), did(i/10), holder(i%10)
		if i%10 == 0 {
			stored.DID, stored.Feed = d, feeds[i/10%len(feeds)]
			e.Stored(at, &stored, stored.Entries, Holder{})
		}
		_, n := e.Offered(at, h, d)
		v := Value(n, 0)
		l.Audit(rng, h)
		l.Got(at, h, v)
		if i++; i%100 == 0 {
			l.Changed()
		}
	}
}
