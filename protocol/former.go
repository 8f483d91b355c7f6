package protocol

import "time"

// A FormerNeighbor is a node that was a neighbor once, as the address book remembers it and the archive keeps it.
type FormerNeighbor struct {
	ID       NodeID
	FirstMet time.Time
	LastMet  time.Time     // end of the last link, or its last sign of life
	Together time.Duration // time linked, over all links that we asked for
	Failures int           // failed connects since the last link
}
