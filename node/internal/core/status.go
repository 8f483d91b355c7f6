package core

// Counters count what happened since the node started.
type Counters struct {
	Polls         int64 `json:"polls"`          // answered polls of feeds
	PollsFailed   int64 `json:"polls_failed"`   // polls that ended in an error
	NotModified   int64 `json:"not_modified"`   // polls answered "not modified"
	PollsWaived   int64 `json:"polls_waived"`   // first polls that were left to neighbors, and not made after all
	Polled        int64 `json:"polled"`         // entries that an own poll brought first
	Backlog       int64 `json:"backlog"`        // of these, entries that the first poll of a feed brought
	Delivered     int64 `json:"delivered"`      // entries that a neighbor brought first
	Forwarded     int64 `json:"forwarded"`      // entries delivered to neighbors
	Duplicates    int64 `json:"duplicates"`     // entries received that were known already
	ChecksSent    int64 `json:"checks_sent"`    // dids offered to neighbors
	ChecksSeen    int64 `json:"checks_seen"`    // of these, answered "seen"
	ChecksAsked   int64 `json:"checks_asked"`   // dids that neighbors offered
	NoticesSent   int64 `json:"notices_sent"`   // polls of which neighbors were told
	NoticesHeard  int64 `json:"notices_heard"`  // polls of which neighbors told
	PutsSent      int64 `json:"puts_sent"`      // bundles delivered
	PutsReceived  int64 `json:"puts_received"`  // bundles received
	PutsRefused   int64 `json:"puts_refused"`   // bundles received and refused
	CallsFailed   int64 `json:"calls_failed"`   // own calls that ended in an error
	Broken        int64 `json:"broken"`         // bundles that neighbors offered, were asked for and did not have
	Audits        int64 `json:"audits"`         // offers answered "unseen" only to see whether they are true
	PathsTampered int64 `json:"paths_tampered"` // bundles whose path named us without cause
	Confirmed     int64 `json:"confirmed"`      // entries that a neighbor brought first and an own poll then showed
	// polls that there would have been besides if the policies had not counted what neighbors bring of feeds: the sum,
	// over intervals, of by how many times each is longer for that
	PollsSpared float64 `json:"polls_spared"`
	// entries that a neighbor claimed as its own poll and the publisher never listed
	Forged int64 `json:"forged"`
	// versions of entries that a neighbor brought and the publisher never had
	Altered int64 `json:"altered"`
	// entries that were refused because their neighbor had brought enough that no own poll has shown
	Unkept int64 `json:"unkept"`
}
