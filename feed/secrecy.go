package feed

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Secrecy is whether an address may be told to others, by what it looks like. There is no telling for sure: a publisher
// who drew an address by chance may have drawn it so that nobody finds it, or because names were taken.
type Secrecy uint8

const (
	// Open says that nothing in the address looks like a key.
	Open Secrecy = iota
	// Unsure says that a part of it looks as if it had been drawn by chance, at a host of which it is not known that
	// its public addresses do. Its owner knows.
	Unsure
	// Key says that a part of it is named or formed like what lets its bearer in.
	Key
	// Credentials says that it holds a user name or a password.
	Credentials
)

// Secret reports whether knowing the URL is, or may be, knowing a secret.
func (u URL) Secret() bool {
	s, _ := u.Secrecy()
	return s != Open
}

// Secrecy tells how secret the URL looks, and by what part of it, for people to read; "" where it is Open. This is
// the one place that decides it: by names in all of its parts (Key), by what looks drawn by chance (Unsure), and by
// the forms of public addresses that do.
func (u URL) Secrecy() (s Secrecy, part string) { return u.secrecy(0) }

// maxNested is how many addresses within each other are looked at.
const maxNested = 3

func (u URL) secrecy(depth int) (Secrecy, string) {
	l := look{depth: depth}
	if host, ok := u.plain(); ok && depth == 0 { // as most are
		l.host(host)
		l.segments(string(u)[strings.Index(string(u), host)+len(host):])
		if l.secrecy == Open {
			return Open, ""
		}
		l = look{}
	}
	p, err := url.Parse(string(u))
	switch {
	case err != nil:
		return Key, "an address that cannot be read"
	case p.User != nil:
		return Credentials, "a user name or a password"
	}
	l.segments(p.EscapedPath())
	l.pairs(p.RawQuery, true)
	l.pairs(p.EscapedFragment(), false)
	l.host(p.Hostname())
	if l.secrecy == Unsure && !l.nested && isPublicForm(p) {
		return Open, ""
	}
	return l.secrecy, l.part
}

// A look is the evidence found in an address so far.
type look struct {
	secrecy Secrecy
	part    string
	nested  bool // in an address that it holds
	depth   int
}

// find notes a part that looks so secret.
func (l *look) find(s Secrecy, part string) {
	if s > l.secrecy {
		l.secrecy, l.part, l.nested = s, part, false
	}
}

// chance notes a part of a text that looks drawn by chance.
func (l *look) chance(text, where string) {
	if l.secrecy >= Unsure || len(text) < 9 {
		return
	}
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		if looksRandom(piece) {
			l.find(Unsure, strconv.Quote(piece[:4]+"…")+where)
			return
		}
	}
}

// isWord reports whether base64url has that character (RFC 4648 §5).
func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}

// address looks at an address that the text holds, as those of converters do.
func (l *look) address(text string) {
	at := strings.Index(text, "://")
	if at < 0 || l.depth >= maxNested {
		return
	}
	s, part := URL("https" + text[at:]).secrecy(l.depth + 1)
	if s > l.secrecy {
		l.secrecy, l.part, l.nested = s, part, true
	}
}

// segments looks at a path.
func (l *look) segments(path string) {
	before := ""
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" {
			continue
		}
		name, parameters, _ := strings.Cut(segment, ";") // RFC 3986 §3.3
		name = unescaped(name)
		l.segment(name, before)
		l.pairs(parameters, true)
		before = strings.ToLower(name)
	}
	l.address(unescaped(path))
}

// segment looks at a part of a path, behind another.
func (l *look) segment(s, before string) {
	const where = " in its path"
	lower := strings.ToLower(s)
	first, rest, joined := strings.Cut(lower, "-")
	switch {
	case before == "private", joined && slices.Contains(keySegments, first) && looksDrawn(rest):
		l.find(Key, strconv.Quote("private")+where)
	case slices.Contains(keySegments, before) && looksDrawn(s):
		l.find(Key, "what stands behind "+strconv.Quote(before)+where)
	case strings.HasPrefix(s, "eyJ") && len(s) > 16: // RFC 7519: base64 of a JSON object
		l.find(Key, "a signed token")
	case len(lower) > 3 && slices.Contains([]string{"(s(", "(a(", "(f("}, lower[:3]): // of ASP.NET
		l.find(Key, "a session"+where)
	}
	for _, between := range []string{"=", ":"} {
		if name, value, ok := strings.Cut(s, between); ok && value != "" && namesKey(name, value) {
			l.find(Key, strconv.Quote(name)+where)
		}
	}
	l.chance(s, where)
}

// keySegments are parts of a path that may have a key behind them.
var keySegments = []string{
	"private", "secret", "token", "auth", "key", "apikey", "session", "ticket", "pass", "passkey",
}

// looksDrawn reports whether what stands behind such a word is no word itself: it holds letters and digits, or is long.
func looksDrawn(s string) bool {
	l := lettersOf(s)
	return len(s) >= 6 && (l.digit && l.kinds() > 0 || looksRandom(s))
}

// pairs looks at what is written as name=value. A value that has no name is looked at where it is one.
func (l *look) pairs(text string, names bool) {
	// url.Values would pass over what is separated by ";" or not well escaped; servers need not.
	for pair := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, named := strings.Cut(pair, "=")
		name, value = unescaped(name), unescaped(value)
		where := "the parameter " + strconv.Quote(name)
		if (names || named) && namesKey(name, value) {
			l.find(Key, where)
		}
		if isMailbox(value) {
			l.find(Unsure, "an e-mail address in "+where)
		}
		l.chance(name, " in its query")
		l.chance(value, " in "+where)
		l.address(value)
	}
}

// isMailbox reports whether a value is somebody's address of e-mail.
func isMailbox(value string) bool {
	who, host, ok := strings.Cut(value, "@")
	return ok && who != "" && strings.Contains(strings.Trim(host, "."), ".") && !strings.ContainsAny(value, "/ ")
}

// host looks at the names within a domain. The domain itself is registered, and so known to everybody.
func (l *look) host(name string) {
	name = strings.TrimSuffix(name, ".")
	within := strings.LastIndexByte(name[:max(0, strings.LastIndexByte(name, '.'))], '.')
	if within < 0 || slices.Contains(drawnHosts, strings.ToLower(name[within+1:])) {
		return
	}
	for label := range strings.SplitSeq(name[:within], ".") {
		if !strings.HasPrefix(label, "xn--") {
			l.chance(label, " in the name of its host")
		}
	}
}

// unescaped is a text as a server may read it, however often it was escaped; as it is where it is not well escaped.
func unescaped(s string) string {
	for range maxNested {
		if !strings.Contains(s, "%") {
			break
		}
		plain, err := url.PathUnescape(s)
		if err != nil {
			break
		}
		s = plain
	}
	return s
}

// Redacted is the URL as a log may hold it: secrets belong to the owner, not to a log file.
func (u URL) Redacted() string {
	if u.Secret() {
		return u.Host() + " (private)"
	}
	return string(u)
}
