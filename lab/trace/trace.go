// Package trace holds when feeds publish: what publishers in the lab are driven by. A Set is recorded
// from real feeds (Embedded, Load) or made up after what was seen of them (Synthetic).
//
// The recorded set that comes with the program holds facts only: for each of 373 public feeds, how many
// entries its document lists, and when entries could first be read in the 35 days from 2026-07-04 UTC. It
// holds no text, no address that is not a host or a repository, and no names of blogs, which are often
// those of people. When an entry could first be read is an estimate: its own date, or, where somebody who polled
// saw that it came later, a time between the last poll without it and the first with it.
//
// Two thirds of it are the commits and tags of code repositories, and so are 53 of the 70 feeds that publish
// five entries a day or more: they come in bursts, and are not what most people read. How many entries a blog's
// document lists was seldom seen, so that it is mostly drawn, as Load says.
package trace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// A Set is a number of feeds, recorded over the same span of time.
type Set struct {
	Feeds    []Timeline
	From, To time.Time // the span, To excluded
}

// A Timeline is when one feed published.
type Timeline struct {
	Name   string  // unique in its Set: a host, a repository's page, or its kind and a number
	Kind   string  // what sort of publisher it is, such as "news" or "gh-commits"
	Window int     // the entries that its document lists at most, the newest; 1 or more
	Times  []int64 // Unix seconds at which each entry could first be read, ascending
	// Times begins with as many entries from before the span as are known, at most Window: they fill
	// the document that the feed has at its begin. It ends with the span.
}

// Count is the number of entries in a span.
func (f *Timeline) Count(from, to time.Time) int {
	a, _ := slices.BinarySearch(f.Times, from.Unix())
	b, _ := slices.BinarySearch(f.Times, to.Unix())
	return b - a
}

// Busy are the feeds that publish at least least entries a day on average over the span, the most
// active first, those that are equal by name.
func (s *Set) Busy(least float64) []Timeline {
	days := s.To.Sub(s.From).Hours() / 24
	var busy []Timeline
	for _, f := range s.Feeds {
		if float64(f.Count(s.From, s.To)) >= least*days {
			busy = append(busy, f)
		}
	}
	slices.SortFunc(busy, func(a, b Timeline) int {
		return cmp.Or(cmp.Compare(b.Count(s.From, s.To), a.Count(s.From, s.To)), cmp.Compare(a.Name, b.Name))
	})
	return busy
}

// Hash tells sets apart: 16 hexadecimal digits that depend on everything in the set and nothing else.
func (s *Set) Hash() string {
	sum := sha256.Sum256(s.encode())
	return hex.EncodeToString(sum[:8])
}
