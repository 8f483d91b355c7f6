package core

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/polling"
	"feedex/protocol"
)

// Config holds the choices of a node's owner. The zero value of each field means its default.
type Config struct {
	// Port is where the node listens; it is the nid of its calls. Default protocol.DefaultPort.
	Port uint16
	// Trackers are the list servers' URLs, all of which are asked. Paper §3.1, first source.
	Trackers []string
	// Peers are static neighbors, "host:port" each: called whenever there is no link to them.
	Peers []string
	// AllowLocal counts feeds and peers on this machine and on private networks as public. For test
	// networks and a LAN.
	AllowLocal bool
	// PrivateHosts are hosts whose feeds never leave the node.
	PrivateHosts []string
	// Secret keys the session tokens, and what nobody is to foretell: 32 random bytes of the host's, 16 at least. It
	// need not outlive the run. It has no default.
	Secret []byte
	// Key is the private key by which neighbors know the node again wherever it is. Nil for none.
	Key ed25519.PrivateKey

	// MaxNeighbors is the most neighbors at one time. Default 10, range 1–64. Paper Table 2.
	MaxNeighbors int
	// MinNeighbors is the number below which the node looks for more. Default 8, or MaxNeighbors if
	// that is less. Paper Table 2.
	MinNeighbors int
	// Hosted is the most neighbors that cannot be dialled, beside MaxNeighbors: they are called over connections that
	// they keep open. Default 32, below 0 for none, at most 100.
	Hosted int
	// Undialled says that others cannot dial the node. Default: it finds that out.
	Undialled bool
	// MaxSubsetHops is the largest hop count that is advertised and forwarded to. Default 3, range
	// 1–8. Paper §3.4, Table 2.
	MaxSubsetHops int
	// MaxRelayed is the most feeds that are advertised and passed on for neighbors' sake alone, where the node follows
	// less than a quarter as many itself. Default 96, range 1–10,000.
	MaxRelayed int
	// AdvertInterval is the time between adverts to a neighbor. Default 300 s, range 1 s to
	// a day. Paper §3.1, Table 2.
	AdvertInterval time.Duration
	// Volunteer is how many feeds that the node does not follow it polls for neighbors that want them. Default 0,
	// range 0–1000.
	Volunteer int
	// SeenDIDs is how many of the latest dids are known exactly; older ones are looked up behind a
	// Bloom filter. Default 1,000, range 1–1,000,000. Paper §3.4.
	SeenDIDs int

	// Backfill is how far back the past of a feed is filled in by itself when it is followed. Default 0, not at
	// all.
	Backfill time.Duration

	// QueryNetwork says whether the owner's queries go to neighbors. Default AskNetwork.
	QueryNetwork QueryNetwork

	// Incentive bounds what a neighbor may owe.
	Incentive incentive.Config

	// Alone has the node poll at moments of its own: it neither tells of its polls nor hears of others', and makes all
	// first polls. It is what evaluations compare with.
	Alone bool

	// Policy says when to poll next those feeds for which no policy was chosen. Default polling.Auto by
	// Polling.
	Policy polling.Policy
	// Polling has the settings of policies that were chosen for a feed.
	Polling polling.Settings
}

// How many neighbors that cannot be dialled a node has where its owner says nothing, and at most.
const (
	DefaultHosted = 32
	MaxHosted     = 100
)

// HostingSlots is how many neighbors are hosted at most, by what Hosted says.
func (c Config) HostingSlots() int { return max(0, cmp.Or(c.Hosted, DefaultHosted)) }

// ErrConfig is wrapped by every error about a Config.
var ErrConfig = errors.New("setting out of range")

// withDefaults is the Config with each zero field at its default, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	c.Port = cmp.Or(c.Port, protocol.DefaultPort)
	c.MaxNeighbors = cmp.Or(c.MaxNeighbors, 10)
	c.MinNeighbors = cmp.Or(c.MinNeighbors, min(8, c.MaxNeighbors))
	c.Hosted = c.HostingSlots()
	c.MaxSubsetHops = cmp.Or(c.MaxSubsetHops, 3)
	c.MaxRelayed = cmp.Or(c.MaxRelayed, 96)
	c.AdvertInterval = cmp.Or(c.AdvertInterval, 300*time.Second)
	c.SeenDIDs = cmp.Or(c.SeenDIDs, 1000)
	c.QueryNetwork = cmp.Or(c.QueryNetwork, AskNetwork)
	hosts := make([]string, len(c.PrivateHosts))
	for i, host := range c.PrivateHosts {
		hosts[i] = feed.HostName(host)
	}
	c.PrivateHosts = hosts
	if c.Policy == nil {
		c.Policy = polling.Auto{Range: c.Polling.Range, TargetDelay: c.Polling.TargetDelay}
	}
	switch {
	case c.MaxNeighbors < 1 || c.MaxNeighbors > 64:
		return c, fmt.Errorf("%w: max_neighbors is %d, want 1 to 64", ErrConfig, c.MaxNeighbors)
	case c.MinNeighbors < 0 || c.MinNeighbors > c.MaxNeighbors:
		return c, fmt.Errorf("%w: min_neighbors is %d, want 0 to max_neighbors (%d)", ErrConfig, c.MinNeighbors,
			c.MaxNeighbors)
	case c.Hosted > MaxHosted:
		return c, fmt.Errorf("%w: hosted is %d, want 0 to %d", ErrConfig, c.Hosted, MaxHosted)
	case c.Undialled && c.Key == nil:
		return c, fmt.Errorf("%w: a node that cannot be dialled needs a key", ErrConfig)
	case c.MaxSubsetHops < 1 || c.MaxSubsetHops > 8:
		return c, fmt.Errorf("%w: max_subset_hops is %d, want 1 to 8", ErrConfig, c.MaxSubsetHops)
	case c.MaxRelayed < 1 || c.MaxRelayed > protocol.MaxSubset:
		return c, fmt.Errorf("%w: max_relayed is %d, want 1 to %d", ErrConfig, c.MaxRelayed, protocol.MaxSubset)
	case c.AdvertInterval < time.Second || c.AdvertInterval > 24*time.Hour:
		return c, fmt.Errorf("%w: advert_interval is %v, want 1s to 24h", ErrConfig, c.AdvertInterval)
	case c.Volunteer < 0 || c.Volunteer > 1000:
		return c, fmt.Errorf("%w: volunteer is %d, want 0 to 1000", ErrConfig, c.Volunteer)
	case c.SeenDIDs < 1 || c.SeenDIDs > 1_000_000:
		return c, fmt.Errorf("%w: seen_dids is %d, want 1 to 1000000", ErrConfig, c.SeenDIDs)
	case c.Backfill < 0:
		return c, fmt.Errorf("%w: backfill is %v, want 0 or more", ErrConfig, c.Backfill)
	case !slices.Contains([]QueryNetwork{AskNetwork, AlwaysNetwork, NeverNetwork}, c.QueryNetwork):
		return c, fmt.Errorf("%w: query.network is %q, want ask, always or never", ErrConfig, c.QueryNetwork)
	case len(c.Secret) < 16:
		return c, fmt.Errorf("%w: secret is %d bytes, want 16 or more", ErrConfig, len(c.Secret))
	}
	return c, nil
}

// QueryNetwork says whether the owner's queries go to neighbors: they show what the owner is interested in.
type QueryNetwork string

// The values of QueryNetwork. The zero value is AskNetwork.
const (
	AskNetwork    QueryNetwork = "ask"    // where the owner asks for it each time
	AlwaysNetwork QueryNetwork = "always" // unless the owner asks for none
	NeverNetwork  QueryNetwork = "never"
)

// Errors of QueryResults: why nobody was asked.
var (
	// ErrNeverNetwork means that the owner's setting forbids it.
	ErrNeverNetwork = errors.New("queries of the network are switched off by the setting query.network")
	// ErrPrivateFeed means that the feed that is looked for must not leave the node.
	ErrPrivateFeed = errors.New("the feed is private, so nobody is asked about it")
	// ErrTooManyQueries means that too many of the owner's queries run.
	ErrTooManyQueries = errors.New("too many queries of the network run at a time")
)
