// Package core is what the machines of a node share: the time of the step, the effects that it makes, calls and timers
// that have not ended, the links to neighbors, their accounts, and what each of them may cause within a minute. It
// decides nothing.
package core

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

// A Core is the state that the machines of one node share. Make one with New.
type Core struct {
	// Fields that most steps touch stand together, so that they touch little memory: in a lab each step is another
	// node's.
	Now     time.Time         // of the step being made
	effects []Effect          // of the step being made
	Timers  Timers            // what to do when
	Links   []*Link           // in the order of the table's neighbors
	LinkIDs []protocol.NodeID // their ids: a caller is looked for among them
	Left    bool              // the host stops; the neighbors were told
	lastID  uint64            // of calls and searches
	open    []openCall        // calls that have not ended, the earliest first
	Table   *neighbors.RoutingTable
	Rng     *rand.Rand
	Unseen  *rand.Rand        // of what neighbors are not to see
	Ledger  *incentive.Ledger // what neighbors give and get (Paper §3.5)
	Quota   *incentive.Quota  // what they may have stored
	saving  bool              // keepAccounts is to be called
	Store   archive.Store
	Shared  archive.Shared // what neighbors may know of it

	Counters Counters
	Limits   RateLimits // what others may cause in a minute
	Config   Config
	Started  time.Time
	// Self are the node's own ids, as far as it knows them. None is near.
	Self Selves
	// Undialled says that others cannot dial the node: Self may be the address of several, one of which can be dialled.
	Undialled bool
	// Failed hears of calls to neighbors that failed, and may end the link.
	Failed func(*Link, Answered)
	sought map[uint64]func(Searched) // searches that have not ended
}

// New returns a core with the accounts that store keeps. Its Table is the caller's to set, and Failed membership's. The
// error wraps ErrConfig.
func New(now time.Time, config Config, store archive.Store, rng *rand.Rand) (*Core, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	seed := sha256.Sum256(append([]byte("unseen "), config.Secret...))
	c := &Core{
		Now: now, Started: now, Config: config, Rng: rng, Unseen: rand.New(rand.NewChaCha8(seed)),
		Store: store, Shared: store.Shared(),
		Timers: newTimers(now), Limits: NewRateLimits(), sought: make(map[uint64]func(Searched)),
	}
	if err := c.LoadAccounts(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return c, nil
}

// Begin begins a step at now, whose effects are appended to dst. Time never runs back: an earlier now counts as the
// last one.
func (c *Core) Begin(dst []Effect, now time.Time) {
	c.effects = dst
	if now.After(c.Now) {
		c.Now = now
	}
}

// End does what is due, ends the step and returns its effects.
func (c *Core) End() []Effect {
	c.Timers.run(c.Now)
	dst := c.effects
	c.effects = nil
	return dst
}

// Next is when the node wants a Wake; the zero time if never.
func (c *Core) Next() time.Time { return c.Timers.next() }

// Leave ends all that the node would do of its own accord, with accounts kept.
func (c *Core) Leave() {
	c.Left = true
	c.keepAccounts()
	c.Timers = Timers{}
}

// Forget ends links, calls and searches.
func (c *Core) Forget() {
	c.Links, c.LinkIDs, c.open = nil, nil, nil
	clear(c.sought)
}

// Respond answers a call with r.
func (c *Core) Respond(ev Asked, r protocol.Reply) { c.Do(Respond{Tag: ev.Tag, Reply: r}) }

// Refuse answers with err, which must be or wrap a *protocol.Fault.
func (c *Core) Refuse(ev Asked, err error) { c.Do(Respond{Tag: ev.Tag, Fault: protocol.AsFault(err)}) }

// Suspect notes what no honest peer does.
func (c *Core) Suspect(id protocol.NodeID, what string) { c.Tell(Suspect{Peer: id, What: what}) }

// Moved reports whether the publisher moved `updated` forward. One in the future is no date.
func (c *Core) Moved(from, to time.Time) bool {
	return to.After(from) && !to.After(c.Now.Add(feed.Ahead))
}

// Do appends an effect to the step's.
func (c *Core) Do(e Effect) { c.effects = append(c.effects, e) }

// Tell appends a note to the step's effects.
func (c *Core) Tell(note Note) { c.Do(Tell{note}) }

// At has f called when t has come, unless the node has left by then.
func (c *Core) At(t time.Time, f func()) TimerID {
	if c.Left {
		return 0
	}
	return c.Timers.add(t, f)
}

// After has f called when d has passed, as At does.
func (c *Core) After(d time.Duration, f func()) TimerID { return c.At(c.Now.Add(d), f) }

// Between is a random duration from low up to high.
func (c *Core) Between(low, high time.Duration) time.Duration { return Drawn(c.Rng, low, high) }

// Drawn is a random duration from low up to high.
func Drawn(rng *rand.Rand, low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(rng.Int64N(int64(high-low)))
}

// Trusted reports whether the holder is on the owner's own network, which is not held to limits.
func (c *Core) Trusted(h incentive.Holder) bool { return c.Config.Incentive.TrustLocal && h.Local() }

// Local reports whether a node is at an address that is not public, where those do not count as public.
func (c *Core) Local(id protocol.NodeID) bool {
	return !c.Config.AllowLocal && id.Addr().IsValid() && !feed.PublicAddr(id.Addr())
}

// Secluded reports whether most others could not dial a node at the address that we know it by. Where it is is nobody's
// business then.
func (c *Core) Secluded(id protocol.NodeID) bool { return id.Hosted() || c.Local(id) }

// VoiceOf is the network with which a neighbor speaks where several of one have one voice. All at addresses that are
// not public are one, which is nobody's: whoever is on such a network has as many addresses there as he likes.
func (c *Core) VoiceOf(id protocol.NodeID) protocol.Network {
	if c.Local(id) {
		return protocol.Network{}
	}
	return id.Network()
}

// Outward is a node as others are to hear of it: its id, or its key alone where it is secluded; nobody where it showed
// none.
func (c *Core) Outward(id protocol.NodeID) protocol.NodeID {
	if id.Hosted() || !c.Local(id) {
		return id.Name()
	}
	if l := c.LinkTo(id); l != nil {
		return protocol.NameOf(l.Key)
	}
	return protocol.NodeID{}
}

const (
	// CallTimeout is how long a small call may take.
	CallTimeout = 10 * time.Second
	// ProbeIn is how soon after a failed call a neighbor is called again.
	ProbeIn = 3 * time.Second
	// RecentFor is how far back a new neighbor is offered what went round. One that says that it had no neighbors
	// for longer is offered more, as far as it is remembered.
	RecentFor = time.Hour
	// SaidFor is how long after an absence nodes that we ask to become neighbors hear of it. The first of them need
	// not have everything.
	SaidFor = 15 * time.Minute
)
