package feed

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	ext "github.com/mmcdole/gofeed/extensions"
)

// Extras are what a publisher says of an entry beside its text and its files: how long it takes, what stands for it,
// where one reads along. An entry's digest does not count them, so that nodes that do not know them take it for the
// same one (docs/adr/0064). Unlike other members they are held to their bounds when they are read: see Clean.
type Extras struct {
	Duration    time.Duration `json:"-"`                     // of sound or video, whole seconds; 0 where unknown
	Image       URL           `json:"image,omitempty"`       // the picture that stands for the entry, "" for none
	Language    string        `json:"language,omitempty"`    // a tag of BCP 47, "" where it is the feed's or unknown
	Season      int           `json:"season,omitempty"`      // 0 where there is none
	Episode     int           `json:"episode,omitempty"`     // likewise
	Chapters    Companion     `json:"chapters,omitzero"`     // where its parts begin, the zero Companion for none
	Transcripts []Companion   `json:"transcripts,omitempty"` // in the publisher's order
}

// A Companion is a file about what an entry has to be heard or seen (https://podcastindex.org/namespace/1.0).
type Companion struct {
	URL      URL    `json:"url"`
	Type     string `json:"type,omitempty"`     // media type without parameters, in lower case; "" where unknown
	Language string `json:"language,omitempty"` // a tag of BCP 47, "" where it is the entry's or unknown
}

// Bounds of Extras. docs/PROTOCOL.md states each of them.
const (
	MaxTranscripts   = 8                   // the first ones stay
	MaxDuration      = 31 * 24 * time.Hour // a longer one counts as unknown
	MaxOrdinal       = 1_000_000           // likewise of a season or an episode
	MaxLanguageBytes = 35                  // RFC 5646 §4.4.1; likewise
	maxTypeBytes     = 255                 // of a media type, RFC 6838 §4.2; likewise
)

// Equal reports whether the two say the same.
func (x *Extras) Equal(other *Extras) bool {
	return x.Duration == other.Duration && x.Image == other.Image && x.Language == other.Language &&
		x.Season == other.Season && x.Episode == other.Episode && x.Chapters == other.Chapters &&
		slices.Equal(x.Transcripts, other.Transcripts)
}

// IsZero reports whether they say nothing.
func (x Extras) IsZero() bool { return x.Equal(&Extras{}) }

// An ExtrasSum is a hash of Extras by which a node sees that they changed, 0 where they say nothing. It is nothing to
// be kept or sent. Its upper half counts all but the queries of addresses, its lower half these.
type ExtrasSum uint64

// Resembles reports whether the two differ in queries of addresses at most: publishers sign the addresses of pictures
// anew for each request.
func (s ExtrasSum) Resembles(other ExtrasSum) bool {
	return s>>32 == other>>32 && (s == 0) == (other == 0)
}

// Sum is their hash.
func (x *Extras) Sum() ExtrasSum {
	if x.IsZero() {
		return 0
	}
	b, queries := make([]byte, 0, 512), make([]byte, 0, 256)
	address := func(u URL) {
		path, query, _ := strings.Cut(string(u), "?")
		b, queries = AppendField(b, path), AppendField(queries, query)
	}
	for _, n := range []int{int(x.Duration / time.Second), x.Season, x.Episode, len(x.Transcripts)} {
		b = AppendField(b, strconv.Itoa(n))
	}
	address(x.Image)
	b = AppendField(b, x.Language)
	for _, c := range append([]Companion{x.Chapters}, x.Transcripts...) {
		address(c.URL)
		b = AppendField(AppendField(b, c.Type), c.Language)
	}
	return max(ExtrasSum(xxhash.Sum64(b)>>32<<32|xxhash.Sum64(queries)>>32), 1)
}

// MarshalJSON implements json.Marshaler: the form that archives and exports have them in, the duration in seconds.
func (x Extras) MarshalJSON() ([]byte, error) {
	type plain Extras
	return json.Marshal(struct {
		Duration int64 `json:"duration,omitempty"`
		plain
	}{int64(x.Duration / time.Second), plain(x)})
}

// UnmarshalJSON implements json.Unmarshaler, and holds them to their bounds.
func (x *Extras) UnmarshalJSON(text []byte) error {
	type plain Extras
	var in struct {
		Duration int64 `json:"duration"`
		plain
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*x = Extras(in.plain)
	x.Duration = inSeconds(in.Duration)
	x.Clean()
	return nil
}

// Clean holds them to their bounds, and leaves out what is beyond. Nobody else sees the list that it writes.
func (x *Extras) Clean() {
	if x.Duration = x.Duration.Truncate(time.Second); x.Duration < 0 || x.Duration > MaxDuration {
		x.Duration = 0
	}
	for _, n := range []*int{&x.Season, &x.Episode} {
		if *n < 0 || *n > MaxOrdinal {
			*n = 0
		}
	}
	x.Image, x.Language = anyURL(string(x.Image)), LanguageTag(x.Language)
	x.Chapters.clean()
	var list []Companion
	for _, c := range x.Transcripts {
		if c.clean(); c.URL != "" && len(list) < MaxTranscripts {
			list = append(list, c)
		}
	}
	x.Transcripts = list
}

func (c *Companion) clean() {
	if c.URL = anyURL(string(c.URL)); c.URL == "" {
		*c = Companion{}
		return
	}
	c.Language = LanguageTag(c.Language)
	mediaType, _, _ := strings.Cut(c.Type, ";")
	c.Type = strings.ToLower(strings.TrimSpace(mediaType))
	if len(c.Type) > maxTypeBytes || !mediaTypes.MatchString(c.Type) {
		c.Type = ""
	}
}

// anyURL is an address of http or https in normal form, "" for any other.
func anyURL(address string) URL {
	u, err := ParseURL(address)
	if err != nil {
		return ""
	}
	return u
}

var (
	mediaTypes = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$^_.+-]*/[a-z0-9][a-z0-9!#$^_.+-]*$`)
	languages  = regexp.MustCompile(`^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$`)
)

// LanguageTag is the tag of a language as BCP 47 writes it, "" for what is none. Publishers write "en_US" as well.
func LanguageTag(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
	if len(s) > MaxLanguageBytes || !languages.MatchString(s) {
		return ""
	}
	return s
}

// ParseDuration reads how long a podcast says that it takes: seconds, or hours, minutes and seconds with colons. It is
// 0 for anything else.
func ParseDuration(s string) time.Duration {
	parts := strings.Split(strings.TrimSpace(s), ":")
	if len(parts) > 3 {
		return 0
	}
	var total float64
	for i, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || strings.Trim(part, "0123456789.") != "" || i > 0 && n >= 60 || n > MaxDuration.Seconds() {
			return 0
		}
		total = total*60 + n
	}
	if total > MaxDuration.Seconds() {
		return 0
	}
	return time.Duration(total) * time.Second
}

// inSeconds is a number of seconds, 0 for one that nothing takes.
func inSeconds(n int64) time.Duration {
	if n < 0 || n > int64(MaxDuration/time.Second) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// fillExtras takes what podcasts and video say of an entry: the vocabularies of iTunes, of Media RSS and of the podcast
// index.
func (b *builder) fillExtras(e *Entry, x ext.Extensions) {
	it, podcast, media := x["itunes"], x[b.podcast], x["media"]
	out := &e.Extras
	out.Duration = ParseDuration(value1(it["duration"]))
	out.Image = b.extraURL(attr1(it["image"], "href"))
	out.Season = ordinal(first(value1(it["season"]), value1(podcast["season"])))
	out.Episode = ordinal(first(value1(it["episode"]), value1(podcast["episode"])))
	out.Language = first(value1(x[verbatimSpace]["language"]), value1(x["dc"]["language"]))
	for _, scope := range mediaScopes(media) {
		if out.Image == "" {
			out.Image = b.extraURL(attr1(scope["thumbnail"], "url"))
		}
		for _, c := range scope["content"] {
			if out.Image == "" {
				out.Image = b.extraURL(attr1(c.Children["thumbnail"], "url"))
			}
			if out.Duration == 0 {
				out.Duration = ParseDuration(c.Attrs["duration"])
			}
		}
	}
	for _, c := range podcast["chapters"] {
		if out.Chapters.URL == "" {
			out.Chapters = Companion{URL: b.extraURL(c.Attrs["url"]), Type: c.Attrs["type"]}
		}
	}
	for _, t := range podcast["transcript"] {
		out.Transcripts = append(out.Transcripts,
			Companion{b.extraURL(t.Attrs["url"]), t.Attrs["type"], t.Attrs["language"]})
	}
}

// extraURL is the absolute form of an address of the document, "" where there is none of http or https.
func (b *builder) extraURL(ref string) URL { return anyURL(b.link(Clean(ref))) }

func attr1(list []ext.Extension, name string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0].Attrs[name]
}

// ordinal is a whole number, 0 for anything else.
func ordinal(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

// podcastSpace is the namespace of the podcast index, and olderPodcastSpace where it was before.
const (
	podcastSpace      = "https://podcastindex.org/namespace/1.0"
	olderPodcastSpace = "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md"
)

// isPodcastSpace reports whether a namespace is that of the podcast index: http or https, with or without a slash, as
// publishers have it.
func isPodcastSpace(space string) bool {
	s := "https" + strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(space), "https"), "http")
	return strings.EqualFold(strings.TrimSuffix(s, "/"), podcastSpace) || strings.EqualFold(s, olderPodcastSpace)
}

// keepLanguage hands gofeed the language that an item or entry says to be in, which it would pass over.
func (w *walk) keepLanguage(e *element, t token) {
	if tag := LanguageTag(value(t.attrs, "xml:lang")); tag != "" && w.entry(e.local) && !t.empty {
		w.edit(t.to, t.to, `<language xmlns="`+verbatimSpace+`">`+tag+`</language>`)
	}
}
