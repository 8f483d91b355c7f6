package archive

import (
	"strings"

	"feedex/feed"
)

// The room that an entry takes on disk beside its text, at most: rows and indices of archive/sqlite with what is lost
// in their pages, and its words, of which a text may hold such that occur nowhere else.
const (
	// EntryRoom is the room that every entry takes, in bytes.
	EntryRoom = 512
	// TextRoom is the room that a text takes, in tenths of its length.
	TextRoom = 11
	// WordRoom is how many times as long as a text its words are in the index, as far as they count (MaxFoldedBytes).
	WordRoom = 5
)

// Room is how many bytes an entry with so many bytes of text takes on disk at most, its words included.
func Room(text int64) int64 {
	return EntryRoom + text*TextRoom/10 + WordRoom*min(text, MaxFoldedBytes)
}

// TextBytes is how many bytes of text an archive keeps of an entry, at most.
func TextBytes(e *feed.Entry) int64 {
	n := len(e.ID) + len(e.Title) + len(e.Link) + len(e.Summary) + len(e.Content)
	for _, list := range [][]string{e.Authors, e.Categories, e.Rights} {
		for i, s := range list {
			if i == 0 {
				n += len(`[]`)
			}
			n += quotedBytes(s)
		}
	}
	const names = len(`[{"url":,"type":,"length":1234567890123456789}]`)
	for i := range e.Enclosures {
		n += names + quotedBytes(e.Enclosures[i].URL) + quotedBytes(e.Enclosures[i].Type)
	}
	if from := e.CopiedFrom; from != (feed.Original{}) {
		n += len(`{"id":,"title":,"url":}`) + quotedBytes(from.ID) + quotedBytes(from.Title) + quotedBytes(from.URL)
	}
	if x := &e.Extras; !x.IsZero() {
		const names = `{"duration":2678400,"image":,"language":,"season":1000000,"episode":1000000,"chapters":,` +
			`"transcripts":[]}`
		n += len(names) + quotedBytes(string(x.Image)) + quotedBytes(x.Language) + companionBytes(&x.Chapters)
		for i := range x.Transcripts {
			n += companionBytes(&x.Transcripts[i])
		}
	}
	return int64(n)
}

func companionBytes(c *feed.Companion) int {
	const names = `{"url":,"type":,"language":},`
	return len(names) + quotedBytes(string(c.URL)) + quotedBytes(c.Type) + quotedBytes(c.Language)
}

// quotedBytes is how long a string is in JSON at most, with a comma.
func quotedBytes(s string) int {
	const longest = len(`\u003c`) - 1
	n := len(s) + len(`"",`)
	for _, c := range []string{`"`, `\`, "<", ">", "&", "\t", "\n", "\r", "\u2028", "\u2029"} {
		n += longest * strings.Count(s, c)
	}
	return n
}
