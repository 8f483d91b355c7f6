package archive

import "time"

// Bounds say how much is kept at most. A zero field is no bound.
type Bounds struct {
	Bytes int64         // see where they are used for what is counted
	Age   time.Duration // since an entry arrived or, where it was filled in, since it was published
	Count int64         // entries
}

// A Retention says how much of an archive is kept, beside what is kept of single feeds. Its zero value keeps everything.
//
// What goes beyond a bound is purged in the order of Seq: first what was filled in, which was never news, then what
// arrived, the oldest first. Entries that the owner starred never go, nor does the latest entry of a feed that they
// follow, by which one knows what is new.
type Retention struct {
	All Bounds // of everything; Bytes counts the room that the archive takes, without what is free in its file
	// Relayed is how many bytes of texts are kept of what neighbors brought of feeds that the owner never followed.
	Relayed int64
}
