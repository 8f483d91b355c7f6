package protocol

import (
	"crypto/ed25519"
	"encoding/base64"

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

// FeedStars names a feed of which stars are shared, and entries of it that are starred, MaxFeedStars at most. There are
// none for a neighbor that has not said that it shares stars of the feed.
type FeedStars struct {
	Feed    feed.URL
	Entries []feed.EntryID
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

// signed is what is signed: a line for what it is, and a line for each feed and for each entry of it.
func (s Stars) signed() []byte {
	text := []byte(starPurpose + "\n")
	for _, f := range s.Feeds {
		text = append(append(text, f.Feed...), '\n')
		for _, id := range f.Entries {
			text = append(append(text, id.String()...), '\n')
		}
	}
	return text
}

// WireBytes is how much of a message the feed takes with its stars, at most, however much of its URL is escaped.
func (f *FeedStars) WireBytes() int {
	return interestMarkup + escapedBytes(string(f.Feed)) + len(f.Entries)*(itemMarkup+2*len(feed.EntryID{}))
}

func encodeStars(s Stars) xmlrpc.Struct {
	list := arrayOf(s.Feeds, func(f FeedStars) xmlrpc.Array {
		return append(xmlrpc.Array{string(f.Feed)}, arrayOf(f.Entries, feed.EntryID.String)...)
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
	named, entries := make(map[feed.URL]bool), 0
	for _, v := range m.array("feeds", MaxStarFeeds) {
		list, _ := v.(xmlrpc.Array)
		if len(list) == 0 {
			m.fail("feeds", "want arrays of a feed and of EntryIDs")
			return Stars{}
		}
		text, _ := list[0].(string)
		u, err := feed.ParseURL(text)
		if err != nil || string(u) != text || named[u] {
			m.fail("feeds", "want URLs of feeds in normal form, each once")
			return Stars{}
		}
		named[u] = true
		f := FeedStars{Feed: u}
		if entries += len(list) - 1; len(list)-1 > MaxFeedStars || entries > MaxStars {
			m.argument("feeds").refuse(TooLong, ": more than %d stars of a feed, or %d in all", MaxFeedStars, MaxStars)
			return Stars{}
		}
		for _, v := range list[1:] {
			text, _ := v.(string)
			id, err := feed.ParseEntryID(text)
			if err != nil {
				m.fail("feeds", "want EntryIDs of 40 hexadecimal digits")
				return Stars{}
			}
			f.Entries = append(f.Entries, id)
		}
		s.Feeds = append(s.Feeds, f)
	}
	return s
}
