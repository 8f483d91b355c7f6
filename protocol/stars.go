package protocol

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"feedex/feed"
	"feedex/xmlrpc"
)

// TellStars tells a neighbor of which feeds the caller's owner shares stars, and which entries of them are starred. The
// reply is Stars, the called node's. An extension: to a node that knows nothing of it nothing is told.
type TellStars struct{ Stars Stars }

// Stars is what a node says of stars: all that it has to say to the neighbor, in the place of what it said before.
type Stars struct {
	Feeds []FeedStars // MaxStarFeeds at most, with MaxStars entries
	// Signature is 64 bytes in base64url, by the key of the node that says it; "" where it has none.
	Signature string
}

// FeedStars names a feed of which stars are shared, entries of it that are starred, and ones that are labelled, with
// MaxFeedStars entries of either at most. There are none for a neighbor that has not said that it shares stars of the
// feed.
type FeedStars struct {
	Feed    feed.URL
	Entries []feed.EntryID
	Labels  []FeedLabel // each name once
}

// FeedLabel is a label with the entries of a feed that have it.
type FeedLabel struct {
	Name    string // one that LabelFits
	Entries []feed.EntryID
}

// LabelFits reports whether a label is short enough to be told, and one line.
func LabelFits(name string) bool {
	return name != "" && len(name) <= MaxSharedLabel && !strings.ContainsFunc(name, unicode.IsControl)
}

func (TellStars) Method() string { return "feedex.starred" }

// starPurpose is the first line of what is signed.
const starPurpose = "feedex stars 1"

// Sign is the same with the signature of the private key, nil for none.
func (s Stars) Sign(private ed25519.PrivateKey) Stars {
	if s.Signature = ""; private != nil {
		s.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, s.signed()))
	}
	return s
}

// SignedBy reports whether the node with the key said it.
func (s Stars) SignedBy(key NodeKey) bool {
	signature, err := base64.RawURLEncoding.Strict().DecodeString(s.Signature)
	return err == nil && !key.IsZero() && ed25519.Verify(key[:], s.signed(), signature)
}

// signed is what is signed: a line for what it is, and a line for each feed, for each entry of it, and for each label
// and each entry that has it. Neither a URL nor an EntryID begins as the line of a label does.
func (s Stars) signed() []byte {
	text := []byte(starPurpose + "\n")
	lines := func(first string, entries []feed.EntryID) {
		text = append(append(text, first...), '\n')
		for _, id := range entries {
			text = append(append(text, id.String()...), '\n')
		}
	}
	for _, f := range s.Feeds {
		lines(string(f.Feed), f.Entries)
		for _, l := range f.Labels {
			lines("label "+l.Name, l.Entries)
		}
	}
	return text
}

// WireBytes is how much of a message the feed takes with its stars and labels, at most, however much of its URL and of
// their names is escaped.
func (f *FeedStars) WireBytes() int {
	bytes, entries := interestMarkup+escapedBytes(string(f.Feed)), len(f.Entries)
	for _, l := range f.Labels {
		bytes += interestMarkup + escapedBytes(l.Name)
		entries += len(l.Entries)
	}
	return bytes + entries*(itemMarkup+2*len(feed.EntryID{}))
}

func encodeStars(s Stars) xmlrpc.Struct {
	named := func(name string, entries []feed.EntryID) xmlrpc.Array {
		return append(xmlrpc.Array{name}, arrayOf(entries, feed.EntryID.String)...)
	}
	list := arrayOf(s.Feeds, func(f FeedStars) xmlrpc.Array {
		labels := arrayOf(f.Labels, func(l FeedLabel) xmlrpc.Array { return named(l.Name, l.Entries) })
		return append(named(string(f.Feed), f.Entries), labels...)
	})
	members := xmlrpc.Struct{{Name: "feeds", Value: list}}
	if s.Signature != "" {
		members = append(members, xmlrpc.Member{Name: "signature", Value: s.Signature})
	}
	return members
}

// decodeStars reads what a node says of stars. Nothing is left out of it, as the signature is of all.
func decodeStars(m members) (s Stars) {
	s.Signature = m.string("signature", maxSignature)
	d := starDecoder{arg: m.argument("feeds")}
	named := make(map[feed.URL]bool)
	for _, v := range m.array("feeds", MaxStarFeeds) {
		f, ok := d.feed(v)
		if ok && named[f.Feed] {
			ok = d.fail("each feed once")
		}
		if !ok {
			return Stars{}
		}
		named[f.Feed] = true
		s.Feeds = append(s.Feeds, f)
	}
	return s
}

// A starDecoder reads feeds with their stars, and counts those of all of them.
type starDecoder struct {
	arg           argument
	stars, labels int
}

// fail refuses what was read, and is false.
func (d *starDecoder) fail(want string) bool {
	d.arg.fail("want " + want)
	return false
}

// feed reads a feed: its URL, the entries that are starred, and labels.
func (d *starDecoder) feed(v xmlrpc.Value) (f FeedStars, ok bool) {
	text, rest := headed(v)
	u, err := feed.ParseURL(text)
	if err != nil || string(u) != text {
		return f, d.fail("arrays of a feed's URL in normal form and of EntryIDs")
	}
	f.Feed = u
	labels := slices.IndexFunc(rest, func(v xmlrpc.Value) bool { _, is := v.(xmlrpc.Array); return is })
	if labels < 0 {
		labels = len(rest)
	}
	if f.Entries, ok = d.ids(rest[:labels], MaxFeedStars, &d.stars); !ok {
		return f, false
	}
	left := MaxFeedStars
	for _, v := range rest[labels:] {
		name, ids := headed(v)
		if !LabelFits(name) || slices.ContainsFunc(f.Labels, func(l FeedLabel) bool { return l.Name == name }) {
			return f, d.fail(fmt.Sprintf("labels of one line and at most %d bytes, each once", MaxSharedLabel))
		}
		l := FeedLabel{Name: name}
		if l.Entries, ok = d.ids(ids, left, &d.labels); !ok {
			return f, false
		}
		if len(l.Entries) == 0 {
			return f, d.fail("EntryIDs behind each label")
		}
		left -= len(l.Entries)
		f.Labels = append(f.Labels, l)
	}
	return f, true
}

// ids reads EntryIDs, at most so many, and adds how many there are to those of all feeds.
func (d *starDecoder) ids(list xmlrpc.Array, most int, all *int) (ids []feed.EntryID, ok bool) {
	if *all += len(list); len(list) > most || *all > MaxStars {
		d.arg.refuse(TooLong, ": more than %d stars or labels of a feed, or %d in all", MaxFeedStars, MaxStars)
		return nil, false
	}
	for _, v := range list {
		text, _ := v.(string)
		id, err := feed.ParseEntryID(text)
		if err != nil {
			return nil, d.fail("EntryIDs of 40 hexadecimal digits")
		}
		ids = append(ids, id)
	}
	return ids, true
}

// headed is an array that begins with a name, "" where it does not.
func headed(v xmlrpc.Value) (name string, rest xmlrpc.Array) {
	list, _ := v.(xmlrpc.Array)
	if len(list) == 0 {
		return "", nil
	}
	name, _ = list[0].(string)
	return name, list[1:]
}
