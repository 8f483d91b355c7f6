package feed

import (
	"slices"
	"strings"
	"unicode"
)

// A Match says which words an entry must hold: a term, or several of them joined by AND, OR and NOT. The
// zero Match asks for nothing; make others with ParseMatch.
type Match struct {
	Op    MatchOp
	Field MatchField // where Op is MatchTerm: the field that the term must stand in
	Term  string     // where Op is MatchTerm: a word or a phrase, as in Filter.Words
	Of    []Match    // the operands of any other Op: one of MatchNot, at least two of the others
}

// A MatchOp is the operator that joins the operands of a Match.
type MatchOp uint8

// The kinds of a Match.
const (
	MatchTerm MatchOp = iota + 1
	MatchAnd
	MatchOr
	MatchNot
)

// A MatchField is a field of an entry that a term stands in.
type MatchField uint8

// The fields of terms.
const (
	FieldAny      MatchField = iota // the title, summary, content, an author or a category
	FieldTitle                      // the title
	FieldAuthor                     // one of the authors
	FieldCategory                   // one of the categories
	FieldFeed                       // the address of the feed
)

// fieldNames are what stands before a term of a field, with a colon.
var fieldNames = [...]string{FieldTitle: "title", FieldAuthor: "author", FieldCategory: "category", FieldFeed: "feed"}

// String is the name of the field; "" for FieldAny.
func (f MatchField) String() string { return fieldNames[f] }

// CutField returns the field whose name and colon text begins with, in capitals or not, and what is behind them;
// FieldAny and all of text where there is none.
func CutField(text string) (MatchField, string) {
	name, rest, ok := strings.Cut(text, ":")
	for f := FieldTitle; ok && f <= FieldFeed; f++ {
		if strings.EqualFold(name, fieldNames[f]) {
			return f, rest
		}
	}
	return FieldAny, text
}

// Limits of a Match. They bound what a stranger may ask for.
const (
	MaxMatchBytes = 1024 // of its text
	MaxMatchTerms = 32
	MaxMatchDepth = 16  // parentheses and NOTs within each other
	maxTermBytes  = 256 // as for one of Filter.Words
)

// Ask adds m to what the filter asks for. Terms that m cannot do without become Words and Title, and Match holds only
// what goes beyond them: a node that knows no Match then answers little that was not asked for.
func (f *Filter) Ask(m Match) {
	var rest []Match
	for _, part := range m.parts(MatchAnd) {
		switch {
		case part.Op == MatchTerm && part.Field == FieldAny:
			f.Words = append(f.Words, part.Term)
		case part.Op == MatchTerm && part.Field == FieldTitle:
			f.Title = append(f.Title, part.Term)
		default:
			rest = append(rest, part)
		}
	}
	if !f.Match.IsZero() {
		rest = append([]Match{f.Match}, rest...)
	}
	f.Match = join(MatchAnd, rest)
}

// IsZero reports whether m asks for nothing.
func (m Match) IsZero() bool { return m.Op == 0 }

// parts are the operands of m where op joins them, and else m alone.
func (m Match) parts(op MatchOp) []Match {
	if m.Op == op {
		return m.Of
	}
	return []Match{m}
}

// join is the operands joined by AND or OR, without an op inside the same op; the zero Match for none.
func join(op MatchOp, operands []Match) Match {
	var of []Match
	for _, m := range operands {
		of = append(of, m.parts(op)...)
	}
	switch len(of) {
	case 0:
		return Match{}
	case 1:
		return of[0]
	}
	return Match{Op: op, Of: of}
}

// not is the Match of everything that m does not match.
func not(m Match) Match {
	if m.Op == MatchNot {
		return m.Of[0]
	}
	return Match{Op: MatchNot, Of: []Match{m}}
}

// terms appends all terms of m.
func (m Match) terms(list []string) []string {
	if m.Op == MatchTerm {
		return append(list, m.Term)
	}
	for _, part := range m.Of {
		list = part.terms(list)
	}
	return list
}

// Unfielded is the first term of m that begins with a name and a colon as those of a field do, where there is no such
// field, and that name; "" for none. An address is none.
func (m Match) Unfielded() (name, term string) {
	name, rest, _ := strings.Cut(m.Term, ":")
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	if m.Field == FieldAny && rest != "" && rest[0] != '/' && !strings.ContainsFunc(name, notLetter) {
		return name, m.Term
	}
	for _, part := range m.Of {
		if name, term := part.Unfielded(); name != "" {
			return name, term
		}
	}
	return "", ""
}

// Names reports whether m has a term of the field.
func (m Match) Names(f MatchField) bool {
	return m.Op == MatchTerm && m.Field == f ||
		slices.ContainsFunc(m.Of, func(part Match) bool { return part.Names(f) })
}

// String is the canonical text of the Match, of which ParseMatch makes the same; "" for the zero Match.
func (m Match) String() string {
	var b strings.Builder
	m.write(&b)
	return b.String()
}

// MarshalText writes the match as String does.
func (m Match) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (m *Match) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMatch(string(text))
	return err
}

func (m Match) write(b *strings.Builder) {
	switch m.Op {
	case MatchTerm:
		writeTerm(b, m.Field, m.Term)
	case MatchNot:
		b.WriteString("NOT ")
		m.Of[0].writeWithin(b, m.Of[0].Op == MatchAnd || m.Of[0].Op == MatchOr)
	case MatchAnd, MatchOr:
		for i, part := range m.Of {
			switch {
			case i > 0 && m.Op == MatchOr:
				b.WriteString(" OR ")
			case i > 0:
				b.WriteByte(' ')
			}
			part.writeWithin(b, m.Op == MatchAnd && part.Op == MatchOr)
		}
	}
}

func (m Match) writeWithin(b *strings.Builder, parentheses bool) {
	if parentheses {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	m.write(b)
}

// writeTerm writes a term, in quotes where it would be taken for something else without them.
func writeTerm(b *strings.Builder, field MatchField, term string) {
	if field != FieldAny {
		b.WriteString(field.String() + ":")
	}
	named, _ := CutField(term)
	if slices.Contains([]string{"AND", "OR", "NOT"}, term) || named != FieldAny || Excludes(term) ||
		strings.ContainsFunc(term, endsWord) {
		b.WriteString(`"` + strings.ReplaceAll(term, `"`, " ") + `"`)
		return
	}
	b.WriteString(term)
}
