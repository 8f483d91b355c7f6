// Package core is what the machines of a node share: the time of the step, the effects that it makes, calls and timers
// that have not ended, the links to neighbors, their accounts, and what each of them may cause within a minute. It
// decides nothing.
package core

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/internal/queue"
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
	// Self is the node's own id, the zero id while it is not known: a node does not see its outside address and learns
	// it from its neighbors.
	Self protocol.NodeID
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

// A Link is the state of what goes on between the node and one neighbor. Package neighbors keeps the rest: its
// subscription set and what we advertised.
type Link struct {
	// Fields that most calls touch stand first.
	Session     string    // what it must send so that we know it; "" for a plain peer
	Usage       *Usage    // what it caused in the current minute
	Heard       time.Time // of it, last
	Peer        *neighbors.Neighbor
	Holder      incentive.Holder // of its account
	Shared      bool             // that is the account of another neighbor as well
	Over        bool
	Established bool             // both sides have heard of it
	Batches     bool             // it has check_dids
	Accounts    bool             // it has feedex.account
	Notices     bool             // it has feedex.polled
	Stars       bool             // it has feedex.starred
	Token       string           // what we send so that it knows us
	Key         protocol.NodeKey // that it proved, zero for none
	Dialling    bool             // it calls us over a reverse link, which we keep open
	// Given and Got are what was booked since the link came about, and Net is what it owes by that.
	Given, Got, Net incentive.Credit

	RTT       time.Duration // smoothed; zero while unknown
	Failures  int           // failed calls in a row
	LastError string
	Away      time.Duration // for how long it had no neighbors before, by its word

	// The state that each machine keeps of the link, which it alone reads and writes.
	Exchange, Membership, Query any
}

// ID is the id of the neighbor.
func (l *Link) ID() protocol.NodeID { return l.Peer.ID }

// Passed reports whether the neighbor is on a path, by its id or by its key.
func (l *Link) Passed(path []protocol.NodeID) bool {
	return slices.ContainsFunc(path, func(p protocol.NodeID) bool { return p == l.ID() || isNameOf(p, l.Key) })
}

// Passed reports whether the node itself is on a path, as far as it knows its id.
func (c *Core) Passed(path []protocol.NodeID) bool { return slices.ContainsFunc(path, c.Is) }

// Is reports whether id names the node itself, as far as it knows.
func (c *Core) Is(id protocol.NodeID) bool {
	return id == c.Self && !c.Undialled || isNameOf(id, protocol.NodeKeyOf(c.Config.Key))
}

// isNameOf reports whether id is the name of a node with the key.
func isNameOf(id protocol.NodeID, key protocol.NodeKey) bool {
	return id.Named() && !key.IsZero() && id.Name() == protocol.NameOf(key)
}

// LinkTo is the link to the node id, nil where there is none.
func (c *Core) LinkTo(id protocol.NodeID) *Link {
	if i := slices.Index(c.LinkIDs, id); i >= 0 {
		return c.Links[i]
	}
	return nil
}

// HostedCaller is the link to the hosted neighbor that makes a call, nil where it is another caller: several such have
// one address and port, so it is the session that tells. Its calls need not come from the very address from which it
// keeps its connection open, but from the same network.
func (c *Core) HostedCaller(ev Asked) *Link {
	for _, l := range c.Links {
		if ev.Session == "" || l.Session != ev.Session || !l.ID().Hosted() {
			continue
		}
		// On a private network each node is a network.
		if l.ID().Addr() == ev.From.Addr() || l.ID().Network() == ev.From.Network() {
			return l
		}
	}
	return nil
}

// LinkOf is the link to a neighbor.
func (c *Core) LinkOf(p *neighbors.Neighbor) *Link { return c.Links[slices.Index(c.Table.All(), p)] }

// Timers are the tasks of a node, each with its time. Tasks of the same time are done in the order in which they were
// added. A task that has lost its purpose finds that out itself when its time comes; one that mostly loses it before is
// canceled.
type Timers struct {
	began time.Time
	Tasks queue.Queue[func()] // by the time since began; nil was canceled
}

// A TimerID names a task; 0 is none.
type TimerID = queue.ID

// newTimers returns timers that count from now.
func newTimers(now time.Time) Timers { return Timers{began: now.Round(0)} }

// add has do called at that time.
func (t *Timers) add(at time.Time, do func()) TimerID { return t.Tasks.Add(at.Sub(t.began), do) }

// Cancel has a task not done. There need not be one of that id.
func (t *Timers) Cancel(id TimerID) {
	for task := range t.Tasks.All() {
		if task.ID == id {
			task.Value = nil
			return
		}
	}
}

// next is the time of the earliest task, the zero time if there is none.
func (t *Timers) next() time.Time {
	for first := t.Tasks.First(); first != nil; first = t.Tasks.First() {
		if first.Value != nil {
			return t.began.Add(first.At)
		}
		t.Tasks.Take()
	}
	return time.Time{}
}

// run does every task whose time has come by now, those that are added meanwhile included.
func (t *Timers) run(now time.Time) {
	passed := now.Sub(t.began)
	for first := t.Tasks.First(); first != nil && first.At <= passed; first = t.Tasks.First() {
		if do := t.Tasks.Take().Value; do != nil {
			do()
		}
	}
}

// Ask calls a neighbor and has f called with the answer, unless the link is over by then.
func (c *Core) Ask(l *Link, what protocol.Call, timeout time.Duration, f func(Answered)) {
	c.begin(l, Call{To: Target{Node: l.ID()}, Call: what, Session: l.Token, Timeout: timeout}, f)
}

// AnsweredBy takes in how a call to a neighbor ended, and has f called unless the link is over. Failures
// count against the neighbor: it is declared gone after a few in a row.
func (c *Core) AnsweredBy(l *Link, a Answered, f func(Answered)) {
	if l.Over {
		return
	}
	if a.Err == nil {
		l.Heard, l.Failures = c.Now, 0
		l.RTT = smooth(l.RTT, a.RTT)
		l.Peer.RTT, l.Peer.Failures = l.RTT, 0
		f(a)
		return
	}
	l.LastError = a.Err.Error()
	if c.Failed(l, a); !l.Over {
		f(a)
	}
}

// CodeOf is the code of the fault that a call ended with, 0 where it did not end with a fault.
func CodeOf(err error) protocol.Code {
	var refused *protocol.RemoteError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// smooth is the running mean of round trips (RFC 6298 §2.3, alpha 1/8).
func smooth(mean, sample time.Duration) time.Duration {
	if mean == 0 {
		return sample
	}
	return mean + (sample-mean)/8
}

// An openCall is a call that has not ended.
type openCall struct {
	id       uint64
	link     *Link // that it was made over, nil for none
	answered func(Answered)
}

// Call asks to and has f called when the call ends.
func (c *Core) Call(to Target, session string, what protocol.Call, timeout time.Duration, f func(Answered)) {
	c.begin(nil, Call{To: to, Call: what, Session: session, Timeout: timeout}, f)
}

// Reverse opens a reverse link to a node, and has f called when there is one, or why there is not.
func (c *Core) Reverse(to protocol.NodeID, f func(error)) {
	c.lastID++
	c.open = append(c.open, openCall{c.lastID, nil, func(a Answered) { f(a.Err) }})
	c.Do(Reverse{ID: c.lastID, To: to, Timeout: CallTimeout})
}

// begin makes a call, over a link where that is not nil, and has f called when it ends.
func (c *Core) begin(l *Link, call Call, f func(Answered)) {
	c.lastID++
	c.open = append(c.open, openCall{c.lastID, l, f})
	call.ID = c.lastID
	c.Do(call)
}

// Answered ends the call of which ev tells.
func (c *Core) Answered(ev Answered) {
	i, ok := slices.BinarySearchFunc(c.open, ev.ID, func(o openCall, id uint64) int { return cmp.Compare(o.id, id) })
	if !ok {
		return // of an earlier life of this node
	}
	call := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	if ev.Err != nil {
		c.Counters.CallsFailed++
	}
	if call.link != nil {
		c.AnsweredBy(call.link, ev, call.answered)
	} else {
		call.answered(ev)
	}
}

// Searched ends the search of which ev tells.
func (c *Core) Searched(ev Searched) {
	then := c.sought[ev.ID]
	if then == nil {
		return
	}
	delete(c.sought, ev.ID)
	then(ev)
}

// SearchFor looks through the archive for so long, and has then called with what is found.
func (c *Core) SearchFor(f feed.Filter, most time.Duration, then func(Searched)) {
	c.lastID++
	c.sought[c.lastID] = then
	c.Do(Search{ID: c.lastID, Filter: f, Time: most})
}
