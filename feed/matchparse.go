package feed

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A MatchError says what is wrong with the text of a Match, and where.
type MatchError struct {
	Column  int    // of the character it is about, from 1
	Problem string // with what to do about it
}

// Error implements error.
func (e *MatchError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Problem) }

// ParseMatch reads words, "phrases" and words with a trailing *, each with the name of a field and a colon before it
// if it must stand there, joined by AND, OR and NOT in capitals and grouped by parentheses. NOT binds strongest, OR
// weakest; what stands side by side is joined by AND; -word is NOT word. An error is a *MatchError.
func ParseMatch(text string) (Match, error) {
	p := matchParser{text: text}
	if len(text) > MaxMatchBytes {
		return Match{}, p.errorAt(0, "%d bytes are too many, the limit is %d", len(text), MaxMatchBytes)
	}
	if !utf8.ValidString(text) {
		return Match{}, p.errorAt(0, "it is not UTF-8")
	}
	p.next()
	m, err := p.or()
	if err == nil && p.token == `)` {
		err = p.errorAt(p.at, `this ")" closes nothing`)
	}
	if err == nil && len(m.String()) > MaxMatchBytes { // with the blanks that it left out
		err = p.errorAt(0, "it is too long, the limit is %d bytes", MaxMatchBytes)
	}
	if err != nil {
		return Match{}, err
	}
	return m, nil
}

// A matchParser reads a text token by token.
type matchParser struct {
	text  string
	token string // the current one as it stands in text; "" at the end
	at    int    // where it begins, in bytes
	terms int
	depth int
}

// errorAt is an error about what stands at a byte of the text.
func (p *matchParser) errorAt(at int, format string, args ...any) error {
	return &MatchError{utf8.RuneCountInString(p.text[:at]) + 1, fmt.Sprintf(format, args...)}
}

// next goes to the next token: a parenthesis, a phrase with its quotes and star, or a word.
func (p *matchParser) next() {
	from := p.at + len(p.token)
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[from:], unicode.IsSpace))
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, endsWord)
	switch {
	case end < 0:
		end = len(rest)
	case end > 0:
	case rest[0] != '"':
		end = 1
	default:
		closing := strings.IndexByte(rest[1:], '"')
		if closing < 0 {
			end = len(rest)
			break
		}
		end = closing + 2
		if strings.HasPrefix(rest[end:], "*") {
			end++
		}
	}
	p.token = rest[:end]
}

// endsWord reports whether r is no part of a word without quotes.
func endsWord(r rune) bool { return r == '(' || r == ')' || r == '"' || unicode.IsSpace(r) }

// or reads operands joined by OR.
func (p *matchParser) or() (Match, error) {
	var operands []Match
	for {
		m, err := p.and()
		if err != nil {
			return Match{}, err
		}
		if operands = append(operands, m); p.token != "OR" {
			return join(MatchOr, operands), nil
		}
		p.next()
	}
}

// and reads operands that stand side by side or are joined by AND.
func (p *matchParser) and() (Match, error) {
	var operands []Match
	for {
		m, err := p.operand()
		if err != nil {
			return Match{}, err
		}
		operands = append(operands, m)
		switch p.token {
		case "AND":
			p.next()
		case "OR", ")", "":
			return join(MatchAnd, operands), nil
		}
	}
}

// Excludes reports whether a text begins with a minus that is NOT to what is right behind it, as where people search
// the web.
func Excludes(text string) bool {
	behind, is := strings.CutPrefix(text, "-")
	first, _ := utf8.DecodeRuneInString(behind)
	return is && (sought(first) || first == '"' || first == '(')
}

// operand reads a term, what is in parentheses, or NOT before one of these.
func (p *matchParser) operand() (Match, error) {
	at := p.at
	negates := p.token == "NOT"
	if Excludes(p.text[at:]) {
		p.token, negates = "-", true
	}
	switch p.token {
	case "":
		return Match{}, p.errorAt(at, "a word is missing here")
	case "AND", "OR":
		return Match{}, p.errorAt(at,
			`%s joins nothing here; to search for the word, write it in small letters or "%[1]s" in quotes`, p.token)
	case ")":
		return Match{}, p.errorAt(at, `a word is missing before this ")"`)
	}
	if negates || p.token == "(" {
		if p.depth++; p.depth > MaxMatchDepth {
			return Match{}, p.errorAt(at, "it is nested too deep, the limit is %d", MaxMatchDepth)
		}
		defer func() { p.depth-- }()
	}
	switch {
	case negates:
		p.next()
		m, err := p.operand()
		return not(m), err
	case p.token == "(":
		p.next()
		m, err := p.or()
		if err == nil && p.token != ")" {
			err = p.errorAt(at, `this "(" is never closed`)
		}
		p.next()
		return m, err
	}
	return p.term()
}

// term reads a word or a phrase, with its field.
func (p *matchParser) term() (Match, error) {
	at := p.at
	field, term := CutField(p.token)
	if field != FieldAny && term == "" {
		name := p.token
		if behind := p.at + len(name); !strings.HasPrefix(p.text[behind:], `"`) {
			return Match{}, p.errorAt(behind, `a word or a "phrase" is missing right behind %s`, name)
		}
		p.next()
		at, term = p.at, p.token
	}
	if quoted, is := strings.CutPrefix(term, `"`); is {
		inside, after, closed := strings.Cut(quoted, `"`)
		if !closed {
			return Match{}, p.errorAt(at, "this quotation mark is never closed")
		}
		term = inside + after
	}
	if p.terms++; p.terms > MaxMatchTerms {
		return Match{}, p.errorAt(at, "there are more than %d words and phrases", MaxMatchTerms)
	}
	if len(term) > maxTermBytes {
		return Match{}, p.errorAt(at, "%d bytes are too many for a word or a phrase, the limit is %d", len(term),
			maxTermBytes)
	}
	if !strings.ContainsFunc(term, sought) {
		return Match{}, p.errorAt(at, "%s holds no letter and no number to search for", p.token)
	}
	p.next()
	return Match{Op: MatchTerm, Field: field, Term: term}, nil
}

// sought reports whether r is part of the words that searches compare.
func sought(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.Mc, unicode.Co) }
