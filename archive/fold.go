package archive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"feedex/feed"
)

// Searches compare folded words. A word is a run of letters, numbers, private-use characters and
// spacing marks (Unicode L*, N*, Co and Mc; the first three are what SQLite's unicode61 tokenizer
// takes); everything else separates. A folded word is in lower case and without diacritics: it is
// decomposed (NFD) and its nonspacing marks (Mn) are dropped. Folded text is a blank before each
// word and one at the end, " like this ", so that a phrase occurs in a text exactly if the one
// string holds the other.
//
// In scripts that put no blanks between words, or fasten others to them, each letter is a word of its own, and of
// Korean each syllable: so a word is found wherever it stands, as a phrase of its letters, and no dictionary says where
// it ends.
//
// Folding is done here alone: every Store indexes and compares what Fold makes, so that none finds
// what another does not.

const (
	// maxWordBytes is how much of a folded word counts. Nobody types more; data in text form does not
	// deserve room in an index.
	maxWordBytes = 255
	// MaxFoldedBytes is how much of an entry's folded text counts, beside its title, but for the end of the last
	// word: some ten thousand words of a language. A stranger may send a hundred times that, of words of which
	// none occurs twice: an index takes several times the room of such a text, and half a second to take it in.
	MaxFoldedBytes = 64 << 10
)

// fieldBreak stands between the fields of a folded text. It is no letter, so no phrase holds it and
// none reaches across it; it is not ASCII, so an index that splits at blanks keeps it as a word.
const fieldBreak = " ¶"

// Fold returns the texts in which an entry's words are searched, folded: its title, and the rest
// (authors, categories, summary and content, as far as MaxFoldedBytes go), field by field.
func Fold(e *feed.Entry) (title, rest string) {
	rest, _, _ = foldRest(e)
	return foldTitle(e), rest
}

// Fields are the words of an entry, folded, for each of its fields.
type Fields struct {
	Title, Authors, Categories string
	Text                       string // the summary and the content
	Feed                       string // the address
}

// FoldFields returns the same words as Fold, and those of the feed's address.
func FoldFields(e *feed.Entry) Fields {
	rest, authors, categories := foldRest(e)
	labels := len(authors) + len(categories)
	return Fields{foldTitle(e), authors, categories, rest[labels:], FoldFeed(e.Feed)}
}

func foldTitle(e *feed.Entry) string {
	return string(append(appendFolded(nil, text(e.Title)), ' '))
}

// FoldFeed returns the words of a feed's address, folded.
func FoldFeed(u feed.URL) string {
	return string(append(appendFolded(nil, string(u)), ' '))
}

// foldRest has the names first, so that those of a long text count as well: rest begins with the authors, and goes on
// with the categories.
func foldRest(e *feed.Entry) (rest, authors, categories string) {
	b := make([]byte, 0, min(len(e.Summary)+len(e.Content)+64, MaxFoldedBytes+maxWordBytes+16))
	var end [2]int
	for i, labels := range [][]string{e.Authors, e.Categories} {
		for _, label := range labels {
			b = appendFolded(b, label)
			b = append(b, fieldBreak...)
		}
		end[i] = len(b)
	}
	b = appendFolded(b, text(e.Summary))
	if e.Content != e.Summary {
		b = append(b, fieldBreak...)
		if len(b) < MaxFoldedBytes {
			b = appendFolded(b, text(e.Content))
		}
	}
	rest = string(append(b, ' '))
	return rest, rest[:end[0]], rest[end[0]:end[1]]
}

// appendFolded appends each word of s, folded, with a blank before it, until dst has MaxFoldedBytes.
func appendFolded(dst []byte, s string) []byte {
	if ascii(s) {
		return appendFoldedBytes(dst, s, MaxFoldedBytes)
	}
	return appendFoldedRunes(dst, norm.NFD.String(s), MaxFoldedBytes)
}

// wordBytes has each byte of ASCII that is part of a word, in lower case, and 0 for the others.
var wordBytes = func() (table [256]byte) {
	for r := range rune(utf8.RuneSelf) {
		if wordRune(r) {
			table[r] = byte(lower(r))
		}
	}
	return table
}()

// appendFoldedBytes is appendFoldedRunes of ASCII, several times as fast: to fold is most of what it takes to rank.
func appendFoldedBytes(dst []byte, s string, limit int) []byte {
	for i := 0; i < len(s); i++ {
		if wordBytes[s[i]] == 0 {
			continue
		}
		if len(dst) >= limit {
			break
		}
		dst = append(dst, ' ')
		for end := len(dst) + maxWordBytes; i < len(s) && wordBytes[s[i]] != 0; i++ {
			if len(dst) < end {
				dst = append(dst, wordBytes[s[i]])
			}
		}
	}
	return dst
}

// appendFoldedRunes is appendFolded of decomposed text, until dst has so many bytes.
func appendFoldedRunes(dst []byte, s string, limit int) []byte {
	const between = -1
	end := between // how far the current word may reach in dst
	alone := false // it is a letter of its own
	for _, r := range s {
		if !wordRune(r) {
			if !skipped(r) {
				end = between
			}
			continue
		}
		if single := unspaced(r); end == between || single || alone && !fastened(r) {
			if len(dst) >= limit {
				break
			}
			dst = append(dst, ' ')
			end, alone = len(dst)+maxWordBytes, single
		}
		r = lower(r)
		if len(dst)+utf8.RuneLen(r) > end {
			end = len(dst) // so that no shorter rune slips in behind
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// wordRune reports whether r, of decomposed text, is part of a folded word.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.Mc, unicode.Co)
}

// unspaced reports whether r, of decomposed text, begins a word of its own, as its script does without blanks between
// words.
func unspaced(r rune) bool {
	return r >= '\u0E00' && !fastened(r) && (r == '\u30FC' || r == '\uFF70' || // which lengthen what is before them
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
			unicode.Khmer, unicode.Myanmar))
}

// fastened reports whether r, of decomposed text, belongs to the letter before it: a spacing mark, or what is not the
// first of a syllable of Korean.
func fastened(r rune) bool {
	return '\u1160' <= r && r <= '\u11FF' || '\uD7B0' <= r && r <= '\uD7FB' || unicode.Is(unicode.Mc, r)
}

// skipped reports whether r leaves a word whole without being part of it: a diacritic, a soft hyphen
// or a joiner.
func skipped(r rune) bool {
	return r == '\u00AD' || r == '\u200C' || r == '\u200D' || r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r)
}

// lower is r in lower case. It goes by way of upper case so that letters with two lower-case forms,
// such as the sigmas, become one.
func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// A Phrase is a word, or several that must follow one another within one field, as searches compare
// them.
type Phrase struct {
	Text   string // the folded words with blanks between them, never empty
	Prefix bool   // the last word may have any ending
}

// Phrases reads the words of a filter. A word without any letter or number in it asks for nothing
// and is left out.
func Phrases(words []string) []Phrase {
	var phrases []Phrase
	for _, w := range words {
		folded := string(appendFolded(nil, w))
		if folded == "" {
			continue
		}
		stem, starred := strings.CutSuffix(w, "*")
		phrases = append(phrases, Phrase{Text: folded[1:], Prefix: starred && endsInWord(stem)})
	}
	return phrases
}

// endsInWord reports whether the last rune of s is part of a word; only then a star after it
// completes that word.
func endsInWord(s string) bool {
	last := strings.TrimRightFunc(norm.NFD.String(s), skipped)
	r, _ := utf8.DecodeLastRuneInString(last)
	return wordRune(r)
}

// In reports whether the phrase occurs in a folded text.
func (p Phrase) In(folded string) bool {
	if p.Prefix {
		return strings.Contains(folded, " "+p.Text)
	}
	return strings.Contains(folded, " "+p.Text+" ")
}
