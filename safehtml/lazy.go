package safehtml

import (
	"slices"
	"strconv"
	"strings"

	tokens "golang.org/x/net/html"
)

// wideEnough is how many pixels across a picture of an article is wanted, where there are several.
const wideEnough = 1600

// lazy are the attributes in which scripts of publishers keep the address of a picture until it comes into view.
var lazy = []string{"data-src", "data-lazy-src", "data-original"}

// promoted is HTML in which pictures that have no address, or one of a stand-in, have that which a script or a
// browser would choose for them (HTML §4.8.4.3): scripts go, and so do lists of addresses. The rest stays to the byte.
func promoted(markup string) string {
	if !strings.Contains(markup, "srcset") && !slices.ContainsFunc(lazy, func(name string) bool {
		return strings.Contains(markup, name)
	}) {
		return markup
	}
	var b strings.Builder
	chosen := "" // of the <source> elements of a <picture>
	for z := tokens.NewTokenizer(strings.NewReader(markup)); ; {
		kind := z.Next()
		raw := string(z.Raw())
		if kind == tokens.ErrorToken {
			b.WriteString(raw)
			return b.String()
		}
		if kind == tokens.StartTagToken || kind == tokens.SelfClosingTagToken {
			switch t := z.Token(); t.Data {
			case "picture":
				chosen = ""
			case "source":
				if chosen == "" {
					chosen = best(Attribute(&t, "srcset"))
				}
			case "img":
				if promote(&t, chosen) {
					raw = t.String()
				}
				chosen = ""
			}
		}
		b.WriteString(raw)
	}
}

// promote gives a picture its address, and reports whether it needed one and there was one.
func promote(t *tokens.Token, chosen string) bool {
	if src := strings.TrimSpace(Attribute(t, "src")); src != "" && !strings.HasPrefix(src, "data:") {
		return false
	}
	address := ""
	for _, name := range lazy {
		if address == "" {
			address = strings.TrimSpace(Attribute(t, name))
		}
	}
	for _, name := range []string{"srcset", "data-srcset", "data-lazy-srcset"} {
		if address == "" {
			address = best(Attribute(t, name))
		}
	}
	if address == "" {
		address = chosen
	}
	if address == "" {
		return false
	}
	t.Attr = slices.DeleteFunc(t.Attr, func(a tokens.Attribute) bool { return a.Key == "src" })
	t.Attr = append(t.Attr, tokens.Attribute{Key: "src", Val: address})
	return true
}

// best is the address in a list of candidates (HTML §4.8.4.2.1) that suits an article, "" for none: the smallest that
// is wide enough, else the widest.
func best(srcset string) (address string) {
	const space = " \t\r\n\f"
	width := 0
	for rest := strings.TrimLeft(srcset, space+","); rest != ""; rest = strings.TrimLeft(rest, space+",") {
		end := strings.IndexAny(rest, space)
		if end < 0 {
			end = len(rest)
		}
		u := rest[:end]
		rest = rest[end:]
		descriptor := ""
		if bare := strings.TrimRight(u, ","); bare != u {
			u = bare
		} else {
			descriptor, rest, _ = strings.Cut(rest, ",")
		}
		if w := widthOf(strings.TrimSpace(descriptor)); address == "" || w > width && width < wideEnough ||
			w < width && w >= wideEnough {
			address, width = u, w
		}
	}
	return address
}

// widthOf is how many pixels across a candidate is, as far as its descriptor says: a density counts as if one pixel
// were 800 across.
func widthOf(descriptor string) int {
	if number, ok := strings.CutSuffix(descriptor, "w"); ok {
		n, _ := strconv.Atoi(number)
		return n
	}
	density, err := strconv.ParseFloat(strings.TrimSuffix(descriptor, "x"), 32)
	if err != nil || density < 0 || density > 10 {
		density = 1
	}
	return int(800 * density)
}

// Attribute is the value of an attribute of a tag, "" for none.
func Attribute(t *tokens.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
