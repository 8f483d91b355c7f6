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

// UnsuggestedList has what is not to be suggested.
type UnsuggestedList interface {
	// Unsuggested returns the feeds that the owner declined, follows in whatever way, or did follow, and those that the
	// node keeps to itself, in any order.
	Unsuggested(ctx context.Context) ([]feed.URL, error)
}

// MaxDeclined is how many feeds are remembered that the owner does not want to be suggested.
const MaxDeclined = 10_000
