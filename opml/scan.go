package opml

import (
	"cmp"
	"strings"
)

// A tag is a start or an end tag, or, where it has no name, a place that holds none although it looks so.
type tag struct {
	name       string        // in lower case
	attrs      []outlineAttr // those that mean something here
	line       int           // where it begins
	end, empty bool
	flaw       string // the first reason why it could not be read as a whole, "" if it could
}

type outlineAttr struct{ name, value string }

// attr is the value of an attribute, its name in lower case, or "".
func (t *tag) attr(name string) string {
	for _, a := range t.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// A tagScanner finds the tags of a document, in time that grows with its length only.
type tagScanner struct {
	text    string
	pos     int
	counted int             // line ends were counted up to here
	line    int             // the line of text[counted]
	absent  map[string]bool // what text[pos:] is known not to hold
}

// next is the next tag.
func (s *tagScanner) next() (tag, bool) {
	for {
		i := strings.IndexByte(s.text[s.pos:], '<')
		if i < 0 {
			s.pos = len(s.text)
			return tag{}, false
		}
		s.pos += i
		rest := s.text[s.pos:]
		flaw := ""
		switch {
		case strings.HasPrefix(rest, "<!--"):
			flaw = s.skip("<!--", "-->", "a comment is never closed")
		case strings.HasPrefix(rest, "<![CDATA["):
			flaw = s.skip("<![CDATA[", "]]>", "a CDATA section is never closed")
		case strings.HasPrefix(rest, "<?"):
			flaw = s.skip("<?", "?>", "a processing instruction is never closed")
		case len(rest) > 1 && rest[1] == '/', len(rest) > 1 && isLetter(rest[1]):
			return s.tag(), true
		default: // a declaration, which says nothing that is needed, or a stray character
			s.pos++
		}
		if flaw != "" {
			return tag{line: s.at(), flaw: flaw}, true
		}
	}
}

// skip skips what begins and ends so, only its beginning where it does not end: what follows is then read.
func (s *tagScanner) skip(begin, end, never string) (flaw string) {
	from := s.pos + len(begin)
	i := -1
	if !s.absent[end] {
		i = strings.Index(s.text[from:], end)
	}
	if i < 0 {
		if s.absent == nil {
			s.absent = make(map[string]bool)
		}
		s.absent[end] = true
		s.pos = from
		return never
	}
	s.pos = from + i + len(end)
	return ""
}

// tag reads the tag that begins here. One that is never closed ends where the next begins.
func (s *tagScanner) tag() tag {
	t := tag{line: s.at()}
	s.pos++
	if s.text[s.pos] == '/' {
		t.end = true
		s.pos++
	}
	if t.name = strings.ToLower(s.word(" \t\r\n/><")); t.name == "" {
		t.flaw = "a tag has no name"
	}
	for {
		s.blanks()
		switch {
		case s.pos == len(s.text) || s.text[s.pos] == '<':
			t.flaw = cmp.Or(t.flaw, "the tag is never closed")
			return t
		case s.text[s.pos] == '>':
			s.pos++
			return t
		case s.text[s.pos] == '/':
			s.pos++
			t.empty = strings.HasPrefix(s.text[s.pos:], ">")
		default:
			t.flaw = cmp.Or(t.flaw, s.attribute(&t))
		}
	}
}

// attribute reads one attribute, or steps over something else.
func (s *tagScanner) attribute(t *tag) (flaw string) {
	name := s.word(" \t\r\n=/><\"'")
	if name == "" {
		s.pos++
		return "a quote or an equals sign stands where it should not"
	}
	s.blanks()
	if !strings.HasPrefix(s.text[s.pos:], "=") {
		return ""
	}
	s.pos++
	s.blanks()
	var value string
	if rest := s.text[s.pos:]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			end = len(rest) - 1
			flaw = "the quote behind " + short(name) + "= is never closed"
		}
		if i := nextOutline(rest[1 : end+1]); i >= 0 {
			s.pos += 1 + i
			return "the quote behind " + short(name) + "= is never closed"
		}
		if flaw != "" {
			s.pos = len(s.text)
			return flaw
		}
		value = rest[1 : end+1]
		s.pos += end + 2
	} else {
		value = s.word(" \t\r\n><")
	}
	switch name = strings.ToLower(name); name {
	case "text", "title", "type", "xmlurl", "htmlurl", "url":
		if t.attr(name) == "" {
			t.attrs = append(t.attrs, outlineAttr{name, unescape(value)})
		}
	}
	return ""
}

// nextOutline is where in a quoted text a tag of the document begins, -1 if none does.
func nextOutline(s string) int {
	for from := 0; ; from++ {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			return -1
		}
		from += i
		for _, tag := range []string{"<outline", "</outline", "</body", "</opml"} {
			if rest := s[from:]; len(rest) >= len(tag) && strings.EqualFold(rest[:len(tag)], tag) {
				return from
			}
		}
	}
}

// word is the text up to one of the characters.
func (s *tagScanner) word(ends string) string {
	rest := s.text[s.pos:]
	i := strings.IndexAny(rest, ends)
	if i < 0 {
		i = len(rest)
	}
	s.pos += i
	return rest[:i]
}

func (s *tagScanner) blanks() {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// textHere is the text up to the next tag.
func (s *tagScanner) textHere() string { return s.word("<") }

// at is the line of the present place, from 1.
func (s *tagScanner) at() int {
	for ; s.counted < s.pos; s.counted++ {
		switch c := s.text[s.counted]; {
		case c == '\n', c == '\r' && !strings.HasPrefix(s.text[s.counted+1:], "\n"):
			s.line++
		}
	}
	return s.line
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// short cuts a name to what a report bears.
func short(name string) string { return name[:min(len(name), 32)] }
