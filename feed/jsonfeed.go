package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	jsonfeed "github.com/mmcdole/gofeed/json"
)

// json reads JSON Feed 1.0 or 1.1.
func (b *builder) json(text string) error {
	if err := checkJSON(text); err != nil {
		return err
	}
	f, err := (&jsonfeed.Parser{}).Parse(strings.NewReader(text))
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		f, err = (&jsonfeed.Parser{}).Parse(strings.NewReader(coerceJSON(text)))
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return malformedAt(max(0, int(syntax.Offset)-1), "%v", syntax)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if f.Items == nil && !strings.Contains(f.Version, "jsonfeed.org/version") {
		return malformedAt(0, "object is not a JSON Feed: it has no version and no items")
	}
	if len(f.Items) > MaxEntries {
		return fmt.Errorf("%w: more than %d entries", ErrLimit, MaxEntries)
	}
	b.format("JSON Feed", f.Version[strings.LastIndexByte(f.Version, '/')+1:])
	b.head(plainTitle(f.Title), f.HomePageURL, plainText(f.Description), f.Language)
	b.icon(f.Favicon, f.Icon)
	b.by(jsonAuthors(f.Authors, f.Author))
	for _, item := range f.Items {
		if item != nil {
			b.jsonItem(item)
		}
	}
	b.doc.Clients = jsonClients(text)
	return nil
}

func (b *builder) jsonItem(item *jsonfeed.Item) {
	e := Entry{
		ID:         strings.TrimSpace(item.ID),
		Title:      plainTitle(item.Title),
		Link:       b.link(item.URL),
		Authors:    jsonAuthors(item.Authors, item.Author),
		Published:  b.instant(item.DatePublished, nil),
		Updated:    b.instant(item.DateModified, nil),
		Summary:    plainText(item.Summary),
		Content:    item.ContentHTML,
		Categories: item.Tags,
	}
	if e.Link == "" {
		e.Link = b.link(item.ExternalURL)
	}
	if e.Content == "" {
		e.Content = plainText(item.ContentText)
	}
	if len(e.Authors) == 0 {
		e.Authors = b.authors
	}
	e.Extras.Image, e.Extras.Language = b.extraURL(first(item.Image, item.BannerImage)), item.Language
	if item.Attachments != nil {
		for _, a := range *item.Attachments {
			e.Extras.Duration = max(e.Extras.Duration, inSeconds(a.DurationInSeconds))
			e.Enclosures = b.enclosure(e.Enclosures, a.URL, a.MimeType, strconv.FormatInt(a.SizeInBytes, 10))
		}
	}
	b.add(e)
}

// jsonAuthors lists the names of version 1.1's authors, or of version 1.0's author.
func jsonAuthors(authors []*jsonfeed.Author, author *jsonfeed.Author) (names []string) {
	if len(authors) == 0 {
		authors = []*jsonfeed.Author{author}
	}
	for _, a := range authors {
		if a != nil {
			names = append(names, a.Name)
		}
	}
	return names
}

// checkJSON counts the objects of a JSON text, each of which costs gofeed some hundred bytes, however short it is, and
// the members and elements beside the first; encoding/json itself bounds how deep they nest.
func checkJSON(text string) error {
	objects, further, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if objects++; objects > maxElements {
				return overAt(i, "more than %d objects", maxElements)
			}
		case c == ',':
			if further++; further > maxFurther {
				return overAt(i, "more than %d members and elements", maxFurther)
			}
		}
	}
	return nil
}

// coerceJSON rewrites a feed whose members are not all of the type that JSON Feed wants, such as one tag in place of a
// list of tags. gofeed refuses such a feed altogether. Members that cannot be made to fit are left out.
func coerceJSON(text string) string {
	var doc any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return text
	}
	out, err := json.Marshal(coerce(doc, "feed"))
	if err != nil {
		return text
	}
	return string(out)
}

// jsonTypes says what the members of JSON Feed must be, a list with a "[]" in front. Members that it does
// not name are strings.
var jsonTypes = map[string]string{
	"items": "[]item", "authors": "[]author", "author": "author", "attachments": "[]attachment",
	"tags": "[]string", "id": "any", "expired": "any", "size_in_bytes": "int", "duration_in_seconds": "int",
	"hubs": "any",
}

// coerce makes v be of a type of JSON Feed, or nil.
func coerce(v any, want string) any {
	if elem, ok := strings.CutPrefix(want, "[]"); ok {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		out := []any{}
		for _, v := range list {
			if v = coerce(v, elem); v != nil {
				out = append(out, v)
			}
		}
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		if want == "string" {
			return nil
		}
		for name, member := range v {
			kind, ok := jsonTypes[name]
			switch {
			case strings.HasPrefix(name, "_") || kind == "any":
				continue
			case !ok:
				kind = "string"
			}
			v[name] = coerce(member, kind)
		}
		return v
	case string:
		switch want {
		case "string":
			return v
		case "int":
			return wholeNumber(json.Number(v))
		case "author":
			return map[string]any{"name": v}
		}
	case json.Number:
		switch want {
		case "string":
			return v.String()
		case "int":
			return wholeNumber(v)
		}
	}
	return nil
}

// wholeNumber is a number without its fraction, nil for what is none or, with a fraction, beyond those that
// are exact.
func wholeNumber(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil || !(math.Abs(f) <= 1<<53) { // as it is of NaN
		return nil
	}
	return int64(f)
}
