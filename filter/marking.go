package filter

import (
	"strings"

	"feedex/archive"
)

// A marking is what an Index knows of the entry that it is asked about.
type marking struct {
	marks  []uint8  // for each term, the fields that hold it
	held   []uint32 // the terms that are marked
	sorted []ID     // room for sortIDs

	// Of one field, word by word: the number of the word, anything for one that nobody asks for, and the stems that it
	// begins with, which end before there.
	numbers, begun []uint32
	begunEnd       []int
}

// read marks the terms that an entry holds.
func (r *marking) read(d *dictionary, f archive.Fields) {
	if missing := len(d.terms) - len(r.marks); missing > 0 {
		r.marks = append(r.marks, make([]uint8, missing)...)
	}
	r.mark(anything, inTitle)
	r.readField(d, f.Title, inTitle)
	r.readField(d, f.Authors, inAuthors)
	r.readField(d, f.Categories, inCategories)
	r.readField(d, f.Text, inText)
	r.readField(d, f.Feed, inFeed)
}

// forget makes ready for the next entry.
func (r *marking) forget() {
	for _, n := range r.held {
		r.marks[n] = 0
	}
	r.held = r.held[:0]
}

func (r *marking) mark(n uint32, field uint8) {
	if r.marks[n] == 0 {
		r.held = append(r.held, n)
	}
	r.marks[n] |= field
}

func (r *marking) readField(d *dictionary, text string, field uint8) {
	r.numbers, r.begun, r.begunEnd = r.numbers[:0], r.begun[:0], r.begunEnd[:0]
	for word := range strings.FieldsSeq(text) {
		n := d.words[word]
		if n != anything {
			r.mark(n, field)
		}
		r.numbers = append(r.numbers, n)
		if len(d.stems) > 0 {
			r.readStems(d, word, field)
		}
		r.begunEnd = append(r.begunEnd, len(r.begun))
	}
	if len(d.phrases) > 0 {
		for i := range r.numbers {
			r.readPhrases(d, i, field)
		}
	}
}

func (r *marking) readStems(d *dictionary, word string, field uint8) {
	for size := 1; size <= len(word) && size < len(d.lengths); size++ {
		if d.lengths[size] == 0 {
			continue
		}
		if n := d.stems[word[:size]]; n != anything {
			r.mark(n, field)
			r.begun = append(r.begun, n)
		}
	}
}

// readPhrases marks the phrases that begin at the i-th word. They are as many as an expression's phrase has words, and
// not as many as there are expressions.
func (r *marking) readPhrases(d *dictionary, i int, field uint8) {
	up := r.numbers[i]
	for i++; i < len(r.numbers) && up != anything && d.terms[up].longer > 0; i++ {
		for _, stem := range r.begun[r.begunEnd[i-1]:r.begunEnd[i]] {
			if n := d.phrases[phraseKey(up, stem)]; n != anything {
				r.mark(n, field)
			}
		}
		if up = d.phrases[phraseKey(up, r.numbers[i])]; up != anything {
			r.mark(up, field)
		}
	}
}

// holds decides what joined operations say of the entry.
func (r *marking) holds(code []uint32, or bool) bool {
	// Of OR one that holds decides, of AND one that does not.
	for i := 0; i < len(code); {
		op := code[i]
		i++
		var holds bool
		if isTerm(op) {
			holds = uint32(r.marks[op&termMask])&(op>>opFields) != 0 == (op&opNegated == 0)
		} else {
			operands := code[i : i+int(op&termMask)]
			i += len(operands)
			holds = r.holds(operands, op&opOr != 0)
		}
		if holds == or {
			return or
		}
	}
	return !or
}
