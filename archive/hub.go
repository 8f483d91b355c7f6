package archive

import (
	"context"
	"net/netip"
	"time"
)

// A HubStore keeps the subscriptions of the hub at the reader address.
type HubStore interface {
	// KeepHubSubscription stores s in place of the one with its Callback and Topic.
	KeepHubSubscription(s HubSubscription)
	// DropHubSubscription forgets one; it is no error if there is none.
	DropHubSubscription(callback, topic string)
}

// A HubList reads what a HubStore keeps.
type HubList interface {
	// HubSubscriptions returns all of them, ordered by Callback and Topic.
	HubSubscriptions(ctx context.Context) ([]HubSubscription, error)
}

// A HubSubscription is one to a document at the reader address, that its subscriber is pushed. Callback and Topic
// together tell it from others.
type HubSubscription struct {
	Callback string
	Topic    string     // the document, as the subscriber knows it
	From     netip.Addr // the address that asked for it, the zero Addr where an earlier version did not write that down
	Secret   string     // for signatures, "" for none
	Expires  time.Time  // to the millisecond
	ETag     string     // of the version of the topic that the subscriber has
	Failures int        // deliveries in a row that failed
	Next     time.Time  // of the next try after a failure, to the millisecond
}
