package feed

import (
	_ "embed" // for the words
	"math"
	"strings"
)

// A key is drawn by chance, and what people and programs name is not. Which of the two a part of an address is shows in
// how likely its letters follow one another: under words, and under chance. Entropy alone tells less, since short keys
// have little of it and long names have much.

// wordList are words as addresses hold them: of half of the public addresses in testdata, of this project's
// documents, and common ones of languages that addresses are written in.
//
//go:embed words.txt
var wordList string

const (
	// leastBits is how many bits a key has at least: what has fewer can be guessed.
	leastBits = 44
	// unlikely is by how many bits chance explains a part better than words do, if it is a key; unlikelyName where it
	// holds nothing but letters of one case, because the names of other languages look like chance, too.
	unlikely, unlikelyName = 7, 16
	// longNumber is how many digits a number has that is neither a date nor a count of anything.
	longNumber = 18
	// digestLength is how many hexadecimal digits the shortest digest in use has.
	digestLength = 32
)

// looksRandom reports whether a part of an address, without "/", "." and the like, looks as if it had been drawn by
// chance from so many that nobody guesses it.
func looksRandom(part string) bool {
	if len(part) < 9 { // 62^8 are 47 bits; an id so short is a name
		return false
	}
	if isUUID(part) || len(part) >= longNumber && strings.Trim(part, "0123456789") == "" ||
		len(part) >= digestLength && strings.Trim(part, "0123456789abcdefABCDEF") == "" {
		return true
	}
	if drawn(part) {
		return true
	}
	for piece := range strings.FieldsFuncSeq(part, isJoint) { // a word may have a key behind it
		if len(piece) < len(part) && drawn(piece) {
			return true
		}
	}
	return false
}

// isJoint reports whether a character joins words. In base64url it is one like all others.
func isJoint(r rune) bool { return r == '-' || r == '_' }

// drawn reports whether chance explains a text better than words do, and it is long enough for a key.
func drawn(text string) bool {
	l := lettersOf(text)
	if l.kinds() == 0 {
		return false // a number says nothing
	}
	bits := float64(len(text)-l.joints) * math.Log2(l.alphabet())
	least := float64(unlikely)
	if l.kinds() == 1 && !l.digit {
		least = unlikelyName
	}
	return bits >= leastBits && (l.excess(text) > least || counted(text))
}

// counted reports whether most characters of a text are followed by the next of the alphabet or of the digits. Chance
// draws nothing of the kind, but people who make up a key type it, and no address of testdata has a name like that.
func counted(text string) bool {
	if len(text) < 20 {
		return false
	}
	steps, lower := 0, strings.ToLower(text)
	for i := 1; i < len(lower); i++ {
		if lower[i] == lower[i-1]+1 {
			steps++
		}
	}
	return 2*steps >= len(text)
}

// isUUID reports whether a part has the form of RFC 9562 §4.
func isUUID(part string) bool {
	if len(part) != 36 {
		return false
	}
	for i := range len(part) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (part[i] == '-') || !dash && !isHex(part[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// letters are the kinds of characters that a text is made of.
type letters struct {
	lower, upper, digit bool
	hex                 bool // nothing but hexadecimal digits
	joints              int
}

func lettersOf(text string) letters {
	l := letters{hex: true}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z':
			l.lower = true
		case 'A' <= c && c <= 'Z':
			l.upper = true
		case '0' <= c && c <= '9':
			l.digit = true
		default:
			l.joints++
		}
		l.hex = l.hex && isHex(text[i])
	}
	return l
}

// kinds is in how many cases there are letters.
func (l letters) kinds() int {
	switch {
	case l.lower && l.upper:
		return 2
	case l.lower || l.upper:
		return 1
	}
	return 0
}

// alphabet is from how many characters chance would have drawn such a text.
func (l letters) alphabet() float64 {
	if l.hex && l.digit && l.kinds() == 1 {
		return 16
	}
	n := 26 * l.kinds()
	if l.digit {
		n += 10
	}
	if l.joints > 0 {
		n += 2
	}
	return float64(n)
}

// The costs in bits, under words, of a letter of one case behind one of the other or of the same, as capitals stand
// where a word begins; and of the end of a word there.
const (
	firstCase                = 1
	lowerBehind, upperBehind = 0.2, 3   // a lower-case letter
	lowerAfter, upperAfter   = 0.7, 1.3 // an upper-case letter
	joint                    = 0.3
)

// excess is by how many bits chance explains a text better than words do.
func (l letters) excess(text string) float64 {
	p := wordPairs
	words, last, behind := 0.0, edgeSymbol, byte(0)
	for i := range len(text) {
		s := symbolOf(text[i])
		words += float64(p[last][s])
		last = s
		switch {
		case s == digitSymbol:
			words += math.Log2(10)
			behind = 0
		case s == edgeSymbol:
			words += joint
			behind = 0
		default:
			if l.kinds() == 2 {
				words += caseCost(behind, text[i])
			}
			behind = text[i]
		}
	}
	return words - float64(len(text))*math.Log2(l.alphabet())
}

// caseCost is the cost of the case of a letter behind another, 0 for none.
func caseCost(behind, c byte) float64 {
	upper := 'A' <= c && c <= 'Z'
	switch {
	case behind == 0:
		return firstCase
	case 'a' <= behind && upper:
		return upperBehind
	case 'a' <= behind:
		return lowerBehind
	case upper:
		return upperAfter
	}
	return lowerAfter
}

// The symbols that words are made of: a letter in either case, any digit, and the edge of a word.
const (
	digitSymbol = 26
	edgeSymbol  = 27
	symbols     = 28
)

// symbolOf is the symbol of a character. A character that is neither letter nor digit of ASCII is the edge of a word.
func symbolOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return int(c - 'a')
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case '0' <= c && c <= '9':
		return digitSymbol
	}
	return edgeSymbol
}

// pairs are the bits that each symbol costs behind another, under words.
type pairs [symbols][symbols]float32

// wordPairs are those of the words. It is read only.
var wordPairs = pairsOf(wordList)

// pairsOf are the pairs of the words of a text.
func pairsOf(words string) *pairs {
	const unseen = 0.5 // how often each pair counts that no word has
	var p pairs
	for i := range p {
		for j := range p[i] {
			p[i][j] = unseen
		}
	}
	for word := range strings.FieldsSeq(words) {
		last := edgeSymbol
		for i := range len(word) {
			s := symbolOf(word[i])
			p[last][s]++
			last = s
		}
		p[last][edgeSymbol]++
	}
	for i := range p {
		sum := float32(0)
		for _, n := range p[i] {
			sum += n
		}
		for j := range p[i] {
			p[i][j] = float32(-math.Log2(float64(p[i][j] / sum)))
		}
	}
	return &p
}
