package node

import (
	"feedex/archive"
	"feedex/feed"
)

// dateEntries takes a document into the feed's history, by which policies judge how often it publishes. known
// is what the archive had of each record before.
//
// An entry counts at its date, or where it has none and is new, at this poll. Where the first document
// lacks dates it says nothing. An entry that was edited stays where it was: some publishers date every
// entry anew with each document.
func (n *Node) dateEntries(s *subscription, records []archive.Record, known []archive.Version) {
	var times []int64
	for i := range records {
		r := &records[i]
		fresh := known[i].Digest == feed.Digest{}
		dated := !r.Time().Equal(r.Seen)
		switch {
		case !fresh && known[i].Digest != r.Digest:
		case dated:
			times = append(times, min(r.Time().Unix(), n.now.Unix()))
		case fresh && s.Interval > 0:
			times = append(times, n.now.Unix())
		}
	}
	s.history.Read(times, len(records))
}
