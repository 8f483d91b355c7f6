// Package filtertest draws entries and expressions by which filters are measured. Their words are 200,000 by Zipf's
// law: the n-th is an n-th as frequent as the first.
package filtertest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"feedex/feed"
)

// words is how many words there are.
const words = 200_000

// Unasked is how many of the most frequent words are in no CobraFilter.
const Unasked = 29

// word draws a word that is not among the first so many.
func word(r *rand.Rand, but int) string {
	for {
		if n := int(math.Exp(r.Float64() * math.Log(words+1))); n > but {
			return fmt.Sprintf("w%x", uint32(n)*2654435761)
		}
	}
}

// text draws so many words that are not among the first so many.
func text(r *rand.Rand, n, but int) []string {
	text := make([]string, n)
	for i := range text {
		text[i] = word(r, but)
	}
	return text
}

// Entry is an entry of so many words, eight of them in its title.
func Entry(r *rand.Rand, n int) *feed.Entry {
	text := text(r, n, 0)
	title := min(8, n)
	return &feed.Entry{Feed: "https://example.com/feed.xml", Title: strings.Join(text[:title], " "),
		Summary: strings.Join(text[title:], " ")}
}

// Filter is an expression of one to three words, a fifth of them with NOT before a further one.
func Filter(r *rand.Rand) string {
	text := text(r, 1+r.IntN(3), 0)
	if r.IntN(5) == 0 {
		text = append(text, "NOT", word(r, 0))
	}
	return strings.Join(text, " ")
}

// CobraFilter is an expression as in Cobra (Rose and others, NSDI 2007, §4): of words joined by AND, three at the
// median and eight at most, of which none is among the 29 that are the most frequent.
func CobraFilter(r *rand.Rand) string {
	return strings.Join(text(r, cobraLength(r), Unasked), " ")
}

// CobraFilterOf is one of the words that draw draws.
func CobraFilterOf(r *rand.Rand, draw func() string) string {
	text := make([]string, cobraLength(r))
	for i := range text {
		text[i] = draw()
	}
	return strings.Join(text, " ")
}

// cobraLength draws of how many words a CobraFilter is.
func cobraLength(r *rand.Rand) int {
	n, u := 1, r.Float64()
	for _, share := range []float64{.14, .28, .24, .15, .09, .05, .03} {
		if u -= share; u < 0 {
			break
		}
		n++
	}
	return n
}
