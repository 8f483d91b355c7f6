package node

import (
	"feedex/archive"
	"feedex/feed"
)

// keepDates gives the entries of a document that are kept already the dates that count, so that dates which
// move make no revisions: some publishers write the time of the fetch (Paper §3.3), or count in another time
// zone every other time.
//
// The earliest date of publication that the publisher gave stays, and a version that differs in its
// dates alone is the one that is kept, unless its date of publication is an earlier one, or the first. Of
// what no own poll has shown the publisher's dates are taken as they are.
func keepDates(items []item, known []archive.Version) {
	for i := range items {
		v := &known[i]
		if !v.Kept() || v.Digest == items[i].Digest || !v.Polled {
			continue
		}
		e := *items[i].entry // the document stays as it is
		if first := v.Published.IsZero(); first && e.Published.After(v.Seen.Add(archive.Ahead)) ||
			!first && (e.Published.IsZero() || e.Published.After(v.Published)) {
			e.Published = v.Published
		}
		if e.Published.Equal(v.Published) && sameButDates(&e, v) {
			e.Updated = v.Updated
		}
		items[i].entry, items[i].Digest = &e, e.Digest()
	}
}

// sameButDates reports whether the entry differs from the version that is kept in its dates alone.
func sameButDates(e *feed.Entry, v *archive.Version) bool {
	return e.SameButDates(v.Digest, v.Published, v.Updated)
}
