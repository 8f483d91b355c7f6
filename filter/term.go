package filter

import (
	"strings"

	"feedex/archive"
)

// A term is a word, the beginning of a word, or a phrase that expressions ask for. It is there as long as something
// uses it, and its number is then given to another.
type term struct {
	text     string   // of a word, or of a beginning; "" for a phrase
	up, last uint32   // of a phrase: all of it but the last word, and that
	uses     uint32   // by expressions, and by phrases that it is part of
	longer   uint32   // how many phrases have it for their up
	filed    []uint32 // the expressions that it is an anchor of
	gone     uint32   // how much of filed was removed
	stem     bool     // it is the beginning of a word
}

// anything is the number of the term that every entry holds: the anchor of an expression that has no other.
const anything = 0

// A dictionary numbers terms.
type dictionary struct {
	terms   []term
	words   map[string]uint32
	stems   map[string]uint32
	phrases map[uint64]uint32 // by up and last
	free    []uint32          // numbers of terms that are not there any more
	lengths [256]uint32       // how many stems have so many bytes
}

// phraseKey is where a phrase is found by its parts.
func phraseKey(up, last uint32) uint64 { return uint64(up)<<32 | uint64(last) }

// enter returns the number of what a phrase asks for, and counts it as used.
func (d *dictionary) enter(p archive.Phrase) uint32 {
	if d.terms == nil {
		d.terms = make([]term, 1) // anything
		d.words, d.stems = make(map[string]uint32), make(map[string]uint32)
		d.phrases = make(map[uint64]uint32)
	}
	up := uint32(anything)
	for text := p.Text; ; {
		word, rest, more := strings.Cut(text, " ")
		last := d.enterWord(word, p.Prefix && !more)
		if up == anything {
			up = last
		} else {
			up = d.enterPhrase(up, last)
		}
		if !more {
			d.terms[up].uses++
			return up
		}
		text = rest
	}
}

func (d *dictionary) enterWord(word string, stem bool) uint32 {
	numbers := d.words
	if stem {
		numbers = d.stems
	}
	n, ok := numbers[word]
	if !ok {
		word = strings.Clone(word) // of a longer text
		n = d.add(term{text: word, stem: stem})
		numbers[word] = n
		if stem {
			d.lengths[len(word)]++
		}
	}
	return n
}

func (d *dictionary) enterPhrase(up, last uint32) uint32 {
	n, ok := d.phrases[phraseKey(up, last)]
	if !ok {
		n = d.add(term{up: up, last: last})
		d.phrases[phraseKey(up, last)] = n
		d.terms[up].uses++
		d.terms[up].longer++
		d.terms[last].uses++
	}
	return n
}

func (d *dictionary) add(t term) uint32 {
	if last := len(d.free) - 1; last >= 0 {
		n := d.free[last]
		d.free = d.free[:last]
		d.terms[n] = t
		return n
	}
	d.terms = append(d.terms, t)
	return uint32(len(d.terms) - 1)
}

// release counts a term as used once less, and forgets it where that was the last time.
func (d *dictionary) release(n uint32) {
	t := &d.terms[n]
	if t.uses--; t.uses > 0 {
		return
	}
	up, last := t.up, t.last
	switch {
	case up != anything:
		delete(d.phrases, phraseKey(up, last))
		d.terms[up].longer--
	case t.stem:
		delete(d.stems, t.text)
		d.lengths[len(t.text)]--
	default:
		delete(d.words, t.text)
	}
	*t = term{}
	d.free = append(d.free, n)
	if up != anything {
		d.release(up)
		d.release(last)
	}
}

// cost is how much an expression that has the term for its anchor is likely to be looked at: by how many others ask for
// it. Of two beginnings of words that as many ask for, entries hold the shorter one more often, and a word less than
// both.
func (d *dictionary) cost(n uint32) int {
	t := &d.terms[n]
	cost := 2 * int(t.uses)
	if t.stem {
		cost = cost<<max(1, 8-2*len(t.text)) + 1
	}
	return cost
}
