package reading

import (
	"context"

	"feedex/feed"
)

// Declining remembers which feeds the owner does not want to be suggested again.
type Declining interface {
	// Decline has a feed suggested no more, or again. Where there are MaxDeclined, the one of longest ago is forgotten.
	Decline(u feed.URL, declined bool)
}

// DeclinedList has what Declining remembers.
type DeclinedList interface {
	// Declined returns the feeds, in any order.
	Declined(ctx context.Context) ([]feed.URL, error)
}

// MaxDeclined is how many feeds are remembered that the owner does not want to be suggested.
const MaxDeclined = 10_000
