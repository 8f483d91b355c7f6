package archivetest

import (
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// testPrecedence puts every kind of record into the place of every kind of version. A version that an own poll has
// shown is changed by another one alone, whatever else comes, and one that two witnesses stand by, by no less.
func testPrecedence(t *testing.T, a Archive) {
	neighbor := NodeID(t, "192.0.2.7:7790")
	version := func(n int, text string, dated time.Duration) archive.Record {
		e := feed.Entry{Feed: news, ID: fmt.Sprint("urn:words:", n), Title: "Words", Summary: text, Published: base,
			Updated: base.Add(dated)}
		return archive.NewRecord(e, base, neighbor)
	}
	// From the weakest to the strongest: one neighbor's word, that of two witnesses, and an own poll.
	strengths := []func(*archive.Record){
		func(*archive.Record) {},
		func(r *archive.Record) { r.Confirmed = true },
		func(r *archive.Record) { r.Source = record(news, 0, "", "").Source },
	}
	// How a version comes to be of a strength.
	ways := []struct {
		name     string
		strength int
		come     func(r archive.Record)
	}{
		{"a neighbor's word", 0, func(r archive.Record) { a.Keep([]archive.Record{r}) }},
		{"a holder's word of the past", 0, func(r archive.Record) { a.Fill(base, []archive.Record{r}) }},
		{"an export's word", 0, func(r archive.Record) {
			strengths[2](&r)
			r.Confirmed = false
			a.Fill(base, []archive.Record{r})
		}},
		{"kept as confirmed", 1, func(r archive.Record) {
			strengths[1](&r)
			a.Keep([]archive.Record{r})
		}},
		{"confirmed later", 1, func(r archive.Record) {
			a.Keep([]archive.Record{r})
			a.Confirm(base, []feed.EntryID{r.ID})
		}},
		{"of the past and confirmed later", 1, func(r archive.Record) {
			a.Fill(base, []archive.Record{r})
			a.Confirm(base, []feed.EntryID{r.ID})
		}},
		{"polled first", 2, func(r archive.Record) {
			strengths[2](&r)
			a.Keep([]archive.Record{r})
		}},
		{"polled, after a neighbor had brought the same", 2, func(r archive.Record) {
			a.Keep([]archive.Record{r})
			strengths[2](&r)
			a.Keep([]archive.Record{r})
		}},
		{"polled, after a neighbor had brought another", 2, func(r archive.Record) {
			other := r
			other.Entry.Summary = "other"
			a.Keep([]archive.Record{archive.NewRecord(other.Entry, base, neighbor)})
			strengths[2](&r)
			a.Keep([]archive.Record{r})
		}},
		{"listed by an own poll", 2, func(r archive.Record) {
			a.Keep([]archive.Record{r})
			a.MarkPolled(base, []feed.EntryID{r.ID})
		}},
		{"of the past and listed by an own poll", 2, func(r archive.Record) {
			a.Fill(base, []archive.Record{r})
			a.MarkPolled(base, []feed.EntryID{r.ID})
		}},
		{"of the publisher's archive", 2, func(r archive.Record) {
			strengths[2](&r)
			r.Confirmed = true
			a.Fill(base, []archive.Record{r})
		}},
	}
	n := 0
	for _, way := range ways {
		for strength, word := range strengths {
			for _, dated := range []time.Duration{-time.Hour, 0, time.Hour, 1e6 * time.Hour} {
				for _, committed := range []bool{true, false} {
					n++
					before, after := version(n, "before", 0), version(n, "after", dated)
					way.come(before)
					if committed {
						Commit(t, a)
					}
					word(&after)
					a.Keep([]archive.Record{after})
					a.Fill(base, []archive.Record{after})
					want := archive.Version{
						Digest: before.Digest, Published: base, Updated: before.Entry.Updated, Seen: base,
						Confirmed: way.strength > 0, Polled: way.strength > 1,
					}
					if strength >= way.strength {
						want.Digest, want.Updated, want.Confirmed, want.Polled = after.Digest, after.Entry.Updated,
							strength > 0, strength > 1
					}
					if got := a.Known([]feed.EntryID{before.ID})[0]; got != want {
						t.Errorf("%s, then strength %d dated %v later: %+v, want %+v", way.name, strength,
							dated, got, want)
					}
				}
			}
		}
	}
	// The versions that are searched are those that are kept.
	for range 2 {
		Commit(t, a)
		for _, r := range search(t, a, feed.Filter{Words: []string{"before"}, Limit: 2 * n}) {
			if v := a.Known([]feed.EntryID{r.ID})[0]; v.Digest != r.Digest || v.Confirmed != r.Confirmed {
				t.Errorf("%s is found as %+v, and known as %+v", r.Entry.ID, r, v)
			}
		}
		indexAll(t, a)
	}
}
