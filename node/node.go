package node

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

// A Node is one participant of the network. Make one with New. It belongs to one goroutine.
type Node struct {
	// What most steps touch stands together, so that they touch little memory: in a lab each step is another node's.
	now       time.Time         // of the step being made
	effects   []Effect          // of the step being made
	timers    timers            // what to do when
	linked    []*link           // in the order of the table's neighbors
	linkedIDs []protocol.NodeID // their ids: a caller is looked for among them
	left      bool              // the host stops; the neighbors were told
	lastID    uint64            // of calls and searches
	open      []openCall        // calls that have not ended, the earliest first
	gossip    gossip            // what goes round: bundles seen, promised and recent
	parted    []*outstanding    // what is outstanding with those whose link ended a moment ago
	table     *neighbors.Table
	rng       *rand.Rand
	unseen    *rand.Rand // of what neighbors are not to see
	accounts  accounts   // what neighbors give and get
	hearsay   hearsay    // what they say that no own poll has shown
	store     archive.Store
	shared    archive.Shared // what neighbors may know of it
	feeds     map[feed.URL]*subscription
	status    Status

	config   Config
	sought   map[uint64]func(Found)   // searches that have not ended
	became   map[feed.URL]replacement // pages that were followed in this run, and the feeds that are in their place
	hosts    *courtesy.Hosts          // where they are polled
	outage   courtesy.Outage          // whether our network works
	book     *neighbors.Book
	boot     bootstrap  // looking for neighbors
	absence  absence    // when it had no neighbors
	bans     bans       // neighbors that were sent away
	limits   rateLimits // what others may cause in a minute
	covers   covers     // what hides the feeds that we follow
	reviewed review     // how well the neighbors serve us
	queries  queries    // searches of archives
	rings    rings      // of entries of the past
	gifts    *incentive.Gifts
	self     identity
}

// An openCall is a call that has not ended.
type openCall struct {
	id       uint64
	link     *link // that it was made over, nil for none
	answered func(Answered)
}

// New returns a node that knows what store knows: its feeds with their due times, the bundles it saw,
// its neighbors of earlier. The error wraps ErrConfig.
func New(now time.Time, c Config, store archive.Store, rng *rand.Rand) (*Node, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	peers, unseen := peersOf(store), rand.New(rand.NewChaCha8(sha256.Sum256(append([]byte("unseen "), c.Secret...))))
	n := &Node{
		config: c, rng: rng, unseen: unseen, store: store, shared: store.Shared(), now: now,
		timers: newTimers(now),
		sought: make(map[uint64]func(Found)),
		feeds:  make(map[feed.URL]*subscription),
		became: make(map[feed.URL]replacement),
		outage: courtesy.NewOutage(unseen),
		book:   neighbors.NewBook(now, rng, c.AllowLocal, peers),
	}
	n.hosts = courtesy.NewHosts(unseen, n.privateHost)
	n.table = neighbors.NewTable(neighbors.Config{
		Max: c.MaxNeighbors, MaxHops: c.MaxSubsetHops, MaxRelayed: c.MaxRelayed, AllowLocal: c.AllowLocal,
		Unspeakable: n.unspeakable,
		Restless:    n.restless,
	})
	n.absence.recall(now, peers)
	n.status.Started = now
	n.gossip, n.hearsay = newGossip(c.SeenDIDs, store), newHearsay()
	n.self, n.bans, n.limits = newIdentity(), newBans(), newRateLimits()
	n.gifts = incentive.NewGifts(c.Incentive)
	n.rings.tabs = incentive.NewExchanges()
	if err := n.newAccounts(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	feeds := store.LoadFeeds()
	for _, f := range feeds {
		if f.Subscribed {
			n.resume(f)
		} else {
			n.table.Private(f.URL, f.Confidential())
		}
	}
	n.loadHosts()
	n.resumeCovers(feeds)
	n.startBootstrap()
	return n, nil
}

// peersOf are the neighbors of earlier that the archive keeps.
func peersOf(store archive.Peers) (peers []neighbors.Peer) {
	for _, p := range store.LoadPeers() {
		peers = append(peers, neighbors.Peer(p))
	}
	return peers
}

// Step tells the node that ev happened at now, and appends to dst what its host must do, in order. It
// does not block and keeps no reference to dst. Time never runs back: an earlier now counts as the
// last one.
func (n *Node) Step(dst []Effect, now time.Time, ev Event) []Effect {
	n.effects = dst
	if before := n.now; now.After(before) {
		n.now = now
		if now.Sub(before) > courtesy.LongestAway {
			n.clockJumped(before)
		}
	}
	switch ev := ev.(type) {
	case Wake:
	case Asked:
		n.asked(ev)
	case Answered:
		n.answered(ev)
	case Fetched:
		n.fetched(ev)
	case Found:
		n.found(ev)
	case Subscribe:
		n.subscribe(ev)
	case Unsubscribe:
		for _, u := range ev.Feeds {
			n.unsubscribe(u)
		}
	case Query:
		n.searchOthers(ev)
	case EndQuery:
		n.endQuery(ev.Tag)
	case Pull:
		n.pull(ev)
	case EndPull:
		n.endPull(ev.Tag)
	case Recovered:
		n.shownOf(ev.Shown)
		if s := n.feeds[ev.Feed]; s != nil {
			n.fill(s, ev.Records)
		}
	case OwnerFetched:
		n.ownerFetched(ev)
	case Backfilled:
		n.backfilled(ev)
	case Leave:
		n.leave()
	default:
		panic(fmt.Sprintf("node: event of unknown type %T", ev))
	}
	n.timers.run(n.now)
	dst, n.effects = n.effects, nil
	return dst
}

// Next is when the node wants a Wake; the zero time if never. Its host keeps one timer; it may be late,
// never early.
func (n *Node) Next() time.Time { return n.timers.next() }

// do appends an effect to the step's.
func (n *Node) do(e Effect) { n.effects = append(n.effects, e) }

// tell appends a note to the step's effects.
func (n *Node) tell(note Note) { n.do(Tell{note}) }

// at has f called when t has come, unless the node has left by then.
func (n *Node) at(t time.Time, f func()) timerID {
	if n.left {
		return 0
	}
	return n.timers.add(t, f)
}

// after has f called when d has passed, as at does.
func (n *Node) after(d time.Duration, f func()) timerID { return n.at(n.now.Add(d), f) }

// between is a random duration from low up to high.
func (n *Node) between(low, high time.Duration) time.Duration { return drawn(n.rng, low, high) }

// pollBetween is between for when the feed is polled.
func (n *Node) pollBetween(s *subscription, low, high time.Duration) time.Duration {
	if s.Discreet {
		return drawn(n.unseen, low, high)
	}
	return drawn(n.rng, low, high)
}

func drawn(rng *rand.Rand, low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(rng.Int64N(int64(high-low)))
}

// call asks to and has f called when the call ends.
func (n *Node) call(to Target, session string, c protocol.Call, timeout time.Duration, f func(Answered)) {
	n.begin(nil, Call{To: to, Call: c, Session: session, Timeout: timeout}, f)
}

// begin makes a call, over a link where that is not nil, and has f called when it ends.
func (n *Node) begin(l *link, c Call, f func(Answered)) {
	n.lastID++
	n.open = append(n.open, openCall{n.lastID, l, f})
	c.ID = n.lastID
	n.do(c)
}

func (n *Node) answered(ev Answered) {
	i, ok := slices.BinarySearchFunc(n.open, ev.ID, func(c openCall, id uint64) int { return cmp.Compare(c.id, id) })
	if !ok {
		return // of an earlier life of this node
	}
	c := n.open[i]
	n.open = slices.Delete(n.open, i, i+1)
	if ev.Err != nil {
		n.status.Counters.CallsFailed++
	}
	if c.link != nil {
		n.answeredBy(c.link, ev, c.answered)
	} else {
		c.answered(ev)
	}
}

func (n *Node) found(ev Found) {
	then := n.sought[ev.ID]
	if then == nil {
		return
	}
	delete(n.sought, ev.ID)
	then(ev)
}
