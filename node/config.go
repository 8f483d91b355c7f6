package node

import (
	"feedex/node/internal/core"
	"feedex/node/internal/membership"
)

// Config holds the choices of a node's owner.
type Config = core.Config

// QueryNetwork says whether the owner's queries go to neighbors.
type QueryNetwork = core.QueryNetwork

// The values of QueryNetwork.
const (
	AskNetwork    = core.AskNetwork
	AlwaysNetwork = core.AlwaysNetwork
	NeverNetwork  = core.NeverNetwork
)

// DefaultHosted is how many neighbors that cannot be dialled a node has where its owner says nothing, and MaxHosted how
// many at most.
const (
	DefaultHosted = core.DefaultHosted
	MaxHosted     = core.MaxHosted
)

// ErrConfig is wrapped by every error about a Config.
var ErrConfig = core.ErrConfig

// ErrNothingToOffer is the error of Joined where the node has nothing to offer.
var ErrNothingToOffer = membership.ErrNothingToOffer

// Errors of QueryResults and Pulled: why nobody was asked.
var (
	ErrNeverNetwork   = core.ErrNeverNetwork
	ErrPrivateFeed    = core.ErrPrivateFeed
	ErrTooManyQueries = core.ErrTooManyQueries
)
