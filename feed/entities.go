package feed

import (
	"regexp"
	"strings"
)

const (
	// maxEntities is the most entities of a document's own that are read.
	maxEntities = 32
	cdataStart  = "<![CDATA["
	cdataEnd    = "]]>"
)

// entityText matches the declaration of an entity that stands for text: no markup, and no other entities, by which a
// few hundred bytes could stand for gigabytes.
var entityText = regexp.MustCompile(`<!ENTITY\s+([A-Za-z_][A-Za-z0-9_.-]{0,63})\s+(?:"((?:[^"&<%]|&#\w{1,8};)*)"|` +
	`'((?:[^'&<%]|&#\w{1,8};)*)')\s*>`)

// ownEntities returns what puts text in the place of the entities that the document declares itself (XML 1.0 §4.1,
// §4.2.1), nil where there are none. gofeed knows those of HTML alone.
func ownEntities(text string) func(string) string {
	l := lexer{src: text}
	for {
		t, ok := l.next()
		if !ok || t.kind == startToken || t.kind == cutToken {
			return nil
		}
		if t.kind == junkToken && strings.HasPrefix(text[t.from:], "<!DOCTYPE") {
			if pairs := declarations(text[t.from:t.to]); len(pairs) > 0 {
				return func(piece string) string { return expand(piece, pairs) }
			}
			return nil
		}
	}
}

// declarations are the references to the entities of a document type, each followed by its text, in which quotes end no
// attribute. Of several of a name the first counts, and none of those that XML has itself (§4.6).
func declarations(doctype string) (pairs []string) {
	known := map[string]bool{"lt": true, "gt": true, "amp": true, "apos": true, "quot": true}
	quotes := strings.NewReplacer(`"`, "&#34;", "'", "&#39;")
	for _, m := range entityText.FindAllStringSubmatch(doctype, maxEntities) {
		if !known[m[1]] {
			known[m[1]] = true
			pairs = append(pairs, "&"+m[1]+";", quotes.Replace(m[2]+m[3]))
		}
	}
	return pairs
}

// expand puts text in the place of references, but in CDATA sections, which hold none, and not where the text would
// grow out of bounds.
func expand(text string, pairs []string) string {
	growth := int64(0)
	for i := 0; i < len(pairs); i += 2 {
		growth += int64(strings.Count(text, pairs[i])) * int64(len(pairs[i+1]))
	}
	if growth == 0 || growth > maxGrowth {
		return text
	}
	var b strings.Builder
	r := strings.NewReplacer(pairs...)
	for text != "" {
		i := strings.Index(text, cdataStart)
		if i < 0 {
			i = len(text)
		}
		b.WriteString(r.Replace(text[:i]))
		text = text[i:]
		end := len(text)
		if j := strings.Index(text, cdataEnd); j >= 0 {
			end = j + len(cdataEnd)
		}
		b.WriteString(text[:end])
		text = text[end:]
	}
	return b.String()
}
