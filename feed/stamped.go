package feed

import "time"

const (
	// stampedEntries is how many entries of one date are no coincidence.
	stampedEntries = 3
	// stampedWithin is how long a program takes to write a document, at most.
	stampedWithin = 10 * time.Second
	// stampedBefore is how long before the fetch it may have done so: there are caches between.
	stampedBefore = time.Hour
)

// unstamp takes away dates that tell when the document was made, not the entries: all of one moment, and
// that just before the fetch. Every fetch would bring others, and every node have versions of its own.
//
// Paper §3.3: "some feeds fill the pubDate element with the fetching time. That is, although the actual
// contents remain unchanged, the element keeps changing each time a document is fetched." Entries that
// did appear together lose their date for an hour, which says no more than that they are new.
func (b *builder) unstamp() {
	entries := b.doc.Entries
	for _, date := range []func(*Entry) *time.Time{
		func(e *Entry) *time.Time { return &e.Published },
		func(e *Entry) *time.Time { return &e.Updated },
	} {
		if !b.stamped(entries, date) {
			continue
		}
		for i := range entries {
			*date(&entries[i]) = time.Time{}
		}
	}
}

// stamped reports whether all entries bear one date, which is that of the document.
func (b *builder) stamped(entries []Entry, date func(*Entry) *time.Time) bool {
	if len(entries) < stampedEntries {
		return false
	}
	oldest, newest := *date(&entries[0]), *date(&entries[0])
	for i := range entries {
		at := *date(&entries[i])
		if at.Before(oldest) {
			oldest = at
		}
		if at.After(newest) {
			newest = at
		}
	}
	return newest.Sub(oldest) <= stampedWithin && !newest.Before(b.latest.Add(-Ahead-stampedBefore))
}
