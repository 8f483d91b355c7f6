package archive

import "time"

// An Hour is what the node did within one hour, or within several that were added up.
type Hour struct {
	At       time.Time     // its beginning
	Polled   int64         // entries that own polls brought first
	Brought  int64         // entries that neighbors brought first
	Compared int64         // entries that neighbors had brought, now or before, and that an own poll then listed
	Ahead    time.Duration // by how much neighbors were earlier than that poll, for all of these together

	Requests  int64 // own ones to publishers
	Unchanged int64 // of these, answered "not modified"
	Failed    int64 // of these, refused or not answered
	Bytes     int64 // of the bodies of all answers, as they were sent

	Followed      time.Duration // for how long feeds were followed, over all feeds
	FollowedBytes int64         // of documents, had each been sent once for each hour of these
}

// Add is both hours together, beginning with h.
func (h Hour) Add(other Hour) Hour {
	h.Polled, h.Brought = h.Polled+other.Polled, h.Brought+other.Brought
	h.Compared, h.Ahead = h.Compared+other.Compared, h.Ahead+other.Ahead
	h.Requests, h.Unchanged, h.Failed, h.Bytes = h.Requests+other.Requests, h.Unchanged+other.Unchanged,
		h.Failed+other.Failed, h.Bytes+other.Bytes
	h.Followed, h.FollowedBytes = h.Followed+other.Followed, h.FollowedBytes+other.FollowedBytes
	return h
}
