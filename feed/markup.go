package feed

import "strings"

// A lexer cuts XML into tokens by the rules of encoding/xml with Strict off, which is what gofeed
// reads with. Where encoding/xml would give up the lexer reports a stray '<' and goes on, so that
// one slip of a publisher need not cost the whole document. It never takes for markup what
// encoding/xml would take for text, nor the other way round.
type lexer struct {
	src    string
	pos    int
	inside bool   // past the start of the root element, where declarations are not allowed
	attrs  []attr // of the latest start tag, reused
}

type tokenKind uint8

const (
	textToken  tokenKind = iota // character data
	cdataToken                  // a CDATA section
	junkToken                   // a comment, processing instruction or declaration
	startToken                  // a start tag, or an empty-element tag
	endToken                    // an end tag
	strayToken                  // a '<' that begins nothing
	cutToken                    // the document ends inside markup
)

// A token is a piece of the document, src[from:to].
type token struct {
	kind     tokenKind
	from, to int
	name     string // of a start or end tag, with its prefix
	attrs    []attr // of a start tag, valid until the next token
	empty    bool   // <name/>
}

// An attr is an attribute of a start tag. Its value is not unescaped. It stands, with its quotes if
// it has any, in src[from:to]; an attribute without value has its name for value, and from = to.
type attr struct {
	name, value string
	from, to    int
}

// next returns the next token, and false at the end of the document.
func (l *lexer) next() (token, bool) {
	start := l.pos
	if start >= len(l.src) {
		return token{}, false
	}
	if l.src[start] != '<' {
		n := strings.IndexByte(l.src[start:], '<')
		if n < 0 {
			n = len(l.src) - start
		}
		l.pos = start + n
		return token{kind: textToken, from: start, to: l.pos}, true
	}
	t := l.markup(start)
	t.from = start
	l.pos = t.to
	return t, true
}

// markup reads what begins with the '<' at i.
func (l *lexer) markup(i int) token {
	rest := l.src[i:]
	switch {
	case len(rest) < 2:
		return token{kind: cutToken, to: len(l.src)}
	case strings.HasPrefix(rest, "<!--"):
		return l.until(i, 4, "-->", junkToken)
	case strings.HasPrefix(rest, "<![CDATA["):
		return l.until(i, 9, "]]>", cdataToken)
	case rest[1] == '!' && !l.inside:
		return l.declaration(i + 2)
	case rest[1] == '?' && len(rest) > 2 && nameStart(rest[2]):
		return l.until(i, 2, "?>", junkToken)
	case rest[1] == '/':
		return l.endTag(i + 2)
	case nameStart(rest[1]):
		return l.startTag(i + 1)
	}
	return token{kind: strayToken, to: i + 1}
}

// until reads to the end mark, which begins no earlier than skip bytes after i.
func (l *lexer) until(i, skip int, mark string, kind tokenKind) token {
	n := strings.Index(l.src[i+skip:], mark)
	if n < 0 {
		return token{kind: cutToken, to: len(l.src)}
	}
	return token{kind: kind, to: i + skip + n + len(mark)}
}

// declaration reads <!DOCTYPE and its like from after the "<!". Brackets nest; quotes and comments
// hide them.
func (l *lexer) declaration(i int) token {
	depth, quote := 0, byte(0)
	for j := i; j < len(l.src); j++ {
		switch c := l.src[j]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(l.src[j:], "<!--"):
			comment := l.until(j, 4, "-->", junkToken)
			j = comment.to - 1
		case c == '<':
			depth++
		case c == '>':
			if depth == 0 {
				return token{kind: junkToken, to: j + 1}
			}
			depth--
		}
	}
	return token{kind: cutToken, to: len(l.src)}
}

// endTag reads an end tag from after its "</".
func (l *lexer) endTag(i int) token {
	name, j := l.name(i)
	j = l.blanks(j)
	switch {
	case j == len(l.src):
		return token{kind: cutToken, to: j}
	case name == "" || l.src[j] != '>':
		return token{kind: strayToken, to: i - 1}
	}
	return token{kind: endToken, to: j + 1, name: name}
}

// startTag reads a start tag from after its "<".
func (l *lexer) startTag(i int) token {
	stray := token{kind: strayToken, to: i}
	name, j := l.name(i)
	if name == "" {
		return stray
	}
	l.attrs = l.attrs[:0]
	for {
		j = l.blanks(j)
		if j == len(l.src) {
			return token{kind: cutToken, to: j}
		}
		switch c := l.src[j]; {
		case c == '>':
			return token{kind: startToken, to: j + 1, name: name, attrs: l.attrs}
		case c == '/':
			if strings.HasPrefix(l.src[j:], "/>") {
				return token{kind: startToken, to: j + 2, name: name, attrs: l.attrs, empty: true}
			}
			return stray
		case !nameStart(c):
			return stray
		}
		a, next := l.attr(j)
		if next < 0 {
			return stray
		}
		l.attrs = append(l.attrs, a)
		j = next
	}
}

// attr reads the attribute at i and returns where it ends, -1 where it is none that encoding/xml
// would take.
func (l *lexer) attr(i int) (attr, int) {
	name, j := l.name(i)
	if name == "" {
		return attr{}, -1
	}
	k := l.blanks(j)
	if k == len(l.src) || l.src[k] != '=' {
		return attr{name, name, k, k}, k
	}
	k = l.blanks(k + 1)
	if k == len(l.src) {
		return attr{name, "", k, k}, k
	}
	if q := l.src[k]; q == '"' || q == '\'' {
		n := strings.IndexByte(l.src[k+1:], q)
		if n < 0 || strings.IndexByte(l.src[k+1:k+1+n], '<') >= 0 {
			return attr{}, -1
		}
		return attr{name, l.src[k+1 : k+1+n], k, k + n + 2}, k + n + 2
	}
	e := k
	for e < len(l.src) && (nameStart(l.src[e]) || digit(l.src[e]) || l.src[e] == '-') {
		e++
	}
	if e == k {
		return attr{}, -1
	}
	return attr{name, l.src[k:e], k, e}, e
}

// name reads the name at i and returns where it ends; it is empty where encoding/xml would refuse it.
// Names beyond ASCII, of which no feed format has any, are refused too.
func (l *lexer) name(i int) (string, int) {
	j, colons := i, 0
	for ; j < len(l.src); j++ {
		c := l.src[j]
		if !nameStart(c) && !digit(c) && c != '-' && c != '.' {
			break
		}
		if c == ':' {
			colons++
		}
	}
	if j == i || !nameStart(l.src[i]) || colons > 1 || j < len(l.src) && l.src[j] >= 0x80 {
		return "", j
	}
	return l.src[i:j], j
}

// blanks returns where the white space at i ends.
func (l *lexer) blanks(i int) int {
	for i < len(l.src) && (l.src[i] == ' ' || l.src[i] == '\n' || l.src[i] == '\t' || l.src[i] == '\r') {
		i++
	}
	return i
}

func nameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == ':'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// cutName divides a name into prefix and local part as encoding/xml does.
func cutName(name string) (prefix, local string) {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok || prefix == "" || local == "" {
		return "", name
	}
	return prefix, local
}
