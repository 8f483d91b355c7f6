package lab

import (
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/queue"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/protocol"
)

// TrackerURL is the address of the tracker in every World. No call to it leaves the program.
const TrackerURL = "http://tracker.example.net:7788/"

// Config says what a World is made of. The zero value of each field means its default.
type Config struct {
	// Seed is where all chance comes from.
	Seed Seed
	// Start is the virtual time at which the World begins. It has no default.
	Start time.Time
	// Until is the end of the span in which what is published counts for the Measures; it begins with
	// Start. Default: 24 hours after Start.
	Until time.Time
	// Feeds are the publishers.
	Feeds []trace.Timeline
	// Node is the configuration that the nodes of all members have in common, but for Port and Secret. Trackers is
	// TrackerURL unless set.
	Node node.Config
	// Links is how the network behaves.
	Links Links
	// Conduct is how the publishers do.
	Conduct Conduct
	// ReferenceDown is the share of the time in which the reference node cannot poll, twenty minutes each time.
	ReferenceDown float64
	// NoEncoding counts no bytes of calls, and sends none of them through the codec: a little faster.
	// Nothing else changes, the Hash included.
	NoEncoding bool
	// EveryMessage has the codec read every message that it writes, and not only a sample of them.
	EveryMessage bool
	// Serve answers polls of the feeds that no Publisher has, and says how much longer that takes than the way there
	// and back. Default: HTTP status 404.
	Serve func(h *Host, f node.Fetch) (ev node.Fetched, takes time.Duration)
	// Fate decides about every call that is about to arrive, to being nil for a tracker and where nobody has the
	// address. Default: all arrive.
	Fate func(from, to *Host, c node.Call) Fate
}

// ErrConfig is wrapped by every error about a Config or a MemberConfig.
var ErrConfig = errors.New("impossible setting")

// A World is a network in virtual time. Make one with New. It belongs to one goroutine.
type World struct {
	config     Config
	now        time.Duration // since config.Start
	queue      queue.Queue[event]
	hosts      []*Host
	byID       map[protocol.NodeID]*Host
	tracker    *trackerHost
	publishers []*Publisher
	byURL      map[feed.URL]int
	entries    map[feed.EntryID]entryRef // every entry that was in a document
	pool       *archive.Pool
	calls      slab[inFlightCall]
	callCount  uint32
	polls      slab[openPoll]
	tasks      slab[func()]
	codec      codec
	methods    protocol.Methods // what system.listMethods answers
	hash       traceHash
	effects    []node.Effect // of the step being carried out
	steps      int64
	divided    bool
}

// New makes a World in which nothing happened yet. The error wraps ErrConfig.
func New(c Config) (*World, error) {
	if c.Start.IsZero() {
		return nil, fmt.Errorf("%w: the world has no start", ErrConfig)
	}
	if c.Until.IsZero() {
		c.Until = c.Start.Add(24 * time.Hour)
	}
	if !c.Until.After(c.Start) {
		return nil, fmt.Errorf("%w: the world ends at %v, before it starts at %v", ErrConfig, c.Until, c.Start)
	}
	if err := c.Links.validate(); err != nil {
		return nil, err
	}
	if err := c.Conduct.validate(); err != nil {
		return nil, err
	}
	switch {
	case c.Links.Uplink > 0 && c.NoEncoding:
		return nil, fmt.Errorf("%w: an uplink takes bytes, and without encoding none are counted; want encoding, or "+
			"no uplink", ErrConfig)
	case !(c.ReferenceDown >= 0 && c.ReferenceDown < 1):
		return nil, fmt.Errorf("%w: the reference node is down %v of the time, want 0 or more and less than 1",
			ErrConfig, c.ReferenceDown)
	}
	c.Links = c.Links.withDefaults()
	if c.Serve == nil {
		c.Serve = func(_ *Host, f node.Fetch) (node.Fetched, time.Duration) {
			return node.Fetched{Feed: f.Feed, Status: 404, Err: errNoFeed}, 0
		}
	}
	if c.Node.Trackers == nil {
		c.Node.Trackers = []string{TrackerURL}
	}
	w := &World{
		config: c, byID: make(map[protocol.NodeID]*Host), byURL: make(map[feed.URL]int),
		entries: make(map[feed.EntryID]entryRef), hash: newTraceHash(), pool: archive.NewPool(),
	}
	for _, m := range protocol.NodeMethods() {
		w.methods = append(w.methods, m.Name)
	}
	w.tracker = newTrackerHost(w)
	sites := newSites(w)
	for i := range c.Feeds {
		if c.Feeds[i].Window < 1 {
			return nil, fmt.Errorf("%w: the documents of %s hold %d entries, want 1 or more", ErrConfig,
				c.Feeds[i].Name, c.Feeds[i].Window)
		}
		p := newPublisher(w, sites, i, c.Feeds[i])
		w.publishers = append(w.publishers, p)
		w.byURL[p.URL] = i
	}
	return w, nil
}

// Now is the virtual time.
func (w *World) Now() time.Time { return w.config.Start.Add(w.now) }

// Start is the virtual time at which the World began.
func (w *World) Start() time.Time { return w.config.Start }

// Hosts are all that ever joined, in that order.
func (w *World) Hosts() []*Host { return w.hosts }

// Publishers are those of Config.Feeds, in that order.
func (w *World) Publishers() []*Publisher { return w.publishers }

// Steps is how many events the nodes were given.
func (w *World) Steps() int64 { return w.steps }

// Hash tells whether two worlds did the same: 16 hexadecimal digits over every step so far.
func (w *World) Hash() string { return w.hash.String() }

// At has f called when t has come, or at once where it has passed, but never within another event.
func (w *World) At(t time.Time, f func()) {
	w.queue.Add(max(w.now, t.Sub(w.config.Start)), event{kind: perform, index: w.tasks.add(f)})
}

// Next is when something is to happen next, the zero time where nothing is.
func (w *World) Next() time.Time {
	first := w.queue.First()
	if first == nil {
		return time.Time{}
	}
	return w.config.Start.Add(first.At)
}

// Run lets everything happen that is to happen up to t, t included.
func (w *World) Run(t time.Time) {
	end := t.Sub(w.config.Start)
	for first := w.queue.First(); first != nil && first.At <= end; first = w.queue.First() {
		item := w.queue.Take()
		w.now = item.At
		switch e := item.Value; e.kind {
		case wake:
			if h := w.hosts[e.index]; h.life == e.life && h.alarm == w.now {
				h.rings()
			}
		case arrive:
			w.arrive(e.index)
		case answer:
			w.answered(e.index)
		case expire:
			w.expired(e.index, e.life)
		case deliver:
			w.delivered(e.index)
		case perform:
			w.tasks.take(e.index)()
		}
	}
	w.now = max(w.now, end)
}

// A slab keeps values that events name by their index, and uses places again.
type slab[T any] struct {
	items []T
	free  []int32
}

func (s *slab[T]) add(v T) int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.items[i] = v
		return i
	}
	s.items = append(s.items, v)
	return int32(len(s.items) - 1)
}

// take takes out the value at i.
func (s *slab[T]) take(i int32) T {
	var none T
	v := s.items[i]
	s.items[i] = none
	s.free = append(s.free, i)
	return v
}
