package protocol_test

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// specDID is the did as the specification has it, computed from that text alone.
func specDID(u feed.URL, entries []feed.Entry) protocol.DID {
	hash := sha1.New()
	fmt.Fprintf(hash, "%d:%s", len(u), u)
	for _, d := range digests(entries) {
		fmt.Fprintf(hash, "20:%s", d[:])
	}
	return protocol.DID(hash.Sum(nil))
}

// digests are the entries' digests in ascending order.
func digests(entries []feed.Entry) []feed.Digest {
	list := make([]feed.Digest, len(entries))
	for i := range entries {
		list[i] = entries[i].Digest()
	}
	slices.SortFunc(list, feed.Digest.Compare)
	return list
}

// overTheWire encodes and decodes b.
func overTheWire(t *testing.T, b *protocol.Bundle) (*protocol.Bundle, error) {
	t.Helper()
	raw, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: b}),
		protocol.CallLimits("put_entries"))
	if err != nil {
		t.Fatalf("%v: %v", b, err)
	}
	_, call, err := protocol.DecodeCall(raw)
	if err != nil {
		return nil, err
	}
	return call.(protocol.PutEntries).Bundle, nil
}

// honest is a bundle of four entries of which each differs from the others in its own way.
func honest() *protocol.Bundle {
	first := exampleEntry
	untitled := feed.Entry{Feed: exampleEntry.Feed, Title: "No id", Link: "https://example.com/3",
		Updated: time.Unix(1790000000, 0).UTC()}
	edited := fullEntry
	edited.ID, edited.Categories = "4", []string{"news", "news"}
	b := protocol.NewBundle(exampleEntry.Feed, []feed.Entry{first, fullEntry, untitled, edited})
	b.Path = []protocol.NodeID{mustNode("192.0.2.7:7790"), mustNode("192.0.2.8:7790")}
	return b
}

// clone copies b so far that the copy can be changed.
func clone(b *protocol.Bundle) *protocol.Bundle {
	c := *b
	c.Path, c.Entries = slices.Clone(b.Path), slices.Clone(b.Entries)
	for i := range c.Entries {
		e := &c.Entries[i]
		e.Authors, e.Categories, e.Enclosures = slices.Clone(e.Authors), slices.Clone(e.Categories),
			slices.Clone(e.Enclosures)
	}
	return &c
}

// oneOf is one of the choices.
func oneOf[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }

// flip changes, adds or takes away a character.
func flip(rng *rand.Rand, s *string) {
	i := rng.IntN(len(*s) + 1)
	c := oneOf(rng, "a", "b", "1", "&", "<", "\r", "\n", "\t", " ", "é", "\x1b")
	switch {
	case i == len(*s) || rng.IntN(3) == 0:
		*s = (*s)[:i] + c + (*s)[i:]
	case rng.IntN(2) == 0:
		*s = (*s)[:i] + c + (*s)[i+1:]
	default:
		*s = (*s)[:i] + (*s)[i+1:]
	}
}

// mutate does one thing to the bundle that a peer might do.
func mutate(rng *rand.Rand, b *protocol.Bundle) {
	if len(b.Entries) == 0 {
		return
	}
	at := rng.IntN(len(b.Entries))
	e := &b.Entries[at]
	switch rng.IntN(16) {
	case 0:
		flip(rng, &e.Title)
	case 1:
		flip(rng, oneOf(rng, &e.ID, &e.Link))
	case 2:
		flip(rng, oneOf(rng, &e.Summary, &e.Content))
	case 3:
		e.Published = e.Published.Add(time.Duration(rng.IntN(3)-1) * time.Second)
	case 4:
		*oneOf(rng, &e.Published, &e.Updated) = time.Time{}
	case 5: // words move from one list to the other
		e.Authors, e.Categories = e.Categories, e.Authors
	case 6:
		rng.Shuffle(len(e.Categories), reflect.Swapper(e.Categories))
		rng.Shuffle(len(e.Authors), reflect.Swapper(e.Authors))
	case 7: // the text moves from one field to the other
		e.Summary, e.Content = e.Content, e.Summary
	case 8:
		if len(e.Enclosures) > 0 {
			enc := &e.Enclosures[0]
			flip(rng, oneOf(rng, &enc.URL, &enc.Type))
			enc.Length += int64(rng.IntN(2))
		}
	case 9:
		e.Enclosures = append(e.Enclosures, feed.Enclosure{})
	case 10: // drop an entry
		b.Entries = slices.Delete(b.Entries, at, at+1)
	case 11: // one twice
		b.Entries = append(b.Entries, *e)
	case 12: // another order, which is legal
		rng.Shuffle(len(b.Entries), reflect.Swapper(b.Entries))
	case 13:
		b.Feed = oneOf[feed.URL](rng, "https://example.com/feed2", "https://example.org/feed")
		for i := range b.Entries {
			b.Entries[i].Feed = b.Feed
		}
	case 14:
		b.DID[rng.IntN(len(b.DID))] ^= 1 << rng.IntN(8)
	case 15: // another path, which is legal: the did does not cover it
		b.Path = append(b.Path[:rng.IntN(len(b.Path)+1)], longestNode)
	}
}

// TestVerifyWithstandsMutation changes an honest bundle in 100,000 ways and sends every tenth of them over the wire. A
// bundle that Verify accepts has the did that its content gives, and that content is to the letter the one that was
// bundled.
func TestVerifyWithstandsMutation(t *testing.T) {
	const rounds = 100_000
	original := honest()
	if err := original.Verify(); err != nil {
		t.Fatal(err)
	}
	want := digests(original.Entries)
	rng := rand.New(rand.NewPCG(1, 2))
	accepted, refused := 0, make(map[protocol.Code]int)
	for i := range rounds {
		b := clone(original)
		for range 1 + rng.IntN(3) {
			mutate(rng, b)
		}
		got, err := b, error(nil)
		if i%10 == 0 {
			got, err = overTheWire(t, b)
		}
		if err == nil {
			err = got.Verify()
		}
		if err != nil {
			refused[err.(*protocol.Fault).Code]++
			continue
		}
		accepted++
		if got.DID != specDID(got.Feed, got.Entries) || got.DID != original.DID || got.Feed != original.Feed ||
			!slices.Equal(digests(got.Entries), want) {
			t.Fatalf("Verify accepts %+v", got)
		}
	}
	// Were nothing accepted, or nothing refused for its did, the test would show little.
	if accepted < rounds/100 || refused[protocol.BadDID] < rounds/2 || refused[protocol.BadBundle] < rounds/100 {
		t.Errorf("accepted %d, refused %v of %d", accepted, refused, rounds)
	}
}

// What is longer than may travel is read within bounds, and none of it is cut to what may travel: neighbors that cut
// elsewhere have other versions of it.
func TestWhatIsCutStaysAtHome(t *testing.T) {
	for _, tt := range []struct {
		item   string // of JSON Feed
		repeat string // what stands in it, as often as said
		most   int    // how often, where it may travel
	}{
		{`"id": "%s"`, "a", protocol.MaxIDBytes},
		{`"title": "%s"`, "a", protocol.MaxTitleBytes},
		{`"url": "http://a/%s"`, "a", feed.MaxURLBytes - len("http://a/")},
		{`"id": "1", "authors": [{"name": "%s"}]`, "a", protocol.MaxLabelBytes},
		{`"id": "1", "authors": [%s{}]`, `{"name": "a"},`, protocol.MaxAuthors},
		{`"id": "1", "tags": ["%s"]`, "a", protocol.MaxLabelBytes},
		{`"id": "1", "tags": [%s""]`, `"a",`, protocol.MaxCategories},
		{`"id": "1", "attachments": [{"url": "http://a/%s"}]`, "a", feed.MaxURLBytes - len("http://a/")},
		{`"id": "1", "attachments": [{"url": "http://a/", "mime_type": "%s"}]`, "a", protocol.MaxLabelBytes},
		{`"id": "1", "attachments": [%s{}]`, `{"url": "http://a/"},`, protocol.MaxEnclosures},
	} {
		parse := func(n int) *feed.Entry {
			doc, err := feed.Parse("http://example.com/", "", fmt.Appendf(nil,
				`{"items": [{`+tt.item+`}]}`, strings.Repeat(tt.repeat, n)), time.Unix(0, 0))
			if err != nil || len(doc.Entries) != 1 {
				t.Fatalf("%s: %v, %v", tt.item, doc, err)
			}
			return &doc.Entries[0]
		}
		if err := protocol.CheckEntry(parse(tt.most)); err != nil {
			t.Errorf("%s: what may travel is %v", tt.item, err)
		}
		for _, n := range []int{tt.most + 1, 100 * tt.most} {
			e := parse(n)
			if f := (*protocol.Fault)(nil); !errors.As(protocol.CheckEntry(e), &f) || f.Code != protocol.TooLong {
				t.Errorf("%s, %d times: %v", tt.item, n, f)
			}
			if n := len(fmt.Sprint(e)); n > 10_000 {
				t.Errorf("%s: %d bytes stay", tt.item, n)
			}
		}
	}
}
