package daemon

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"feedex/control"
	"feedex/dht"
	"feedex/internal/datadir"
	"feedex/neighbors"
	"feedex/node"
	"feedex/portmap"
	"feedex/protocol"
)

const (
	// firstMeeting is how long after its start a node looks in the DHT at the earliest: until then neighbors of before,
	// trackers and whom the owner named have their turn.
	firstMeeting = time.Minute
	// seekEvery is how soon it looks again while it has too few neighbors, twice as late each time, up to meetEvery;
	// and how often it looks whether there is a reason to.
	seekEvery = 5 * time.Minute
	// meetEvery is how often a node announces itself, since the DHT forgets after half an hour.
	meetEvery = 25 * time.Minute
)

// dhtName is the file in the data directory that holds what the owner answered: "on" or "off".
const dhtName = "dht"

// UsesDHT is whether a node of this configuration meets others by the DHT: as the settings say, or else as its owner
// answered.
func (c *Config) UsesDHT() control.DHTUse {
	if c.DHT == control.DHTOn || c.DHT == control.DHTOff {
		return c.DHT
	}
	text, err := datadir.Read(filepath.Join(c.Data, dhtName), datadir.Small)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Log.Warn("what was answered about the DHT cannot be read: it is not used until that is answered again", "err",
			err)
	}
	if use := control.DHTUse(strings.TrimSpace(string(text))); use == control.DHTOn || use == control.DHTOff {
		return use
	}
	return control.DHTAsk // where the file cannot be read as well
}

// meetings are what the node knows of meeting others by the DHT.
type meetings struct {
	mu       sync.Mutex
	report   control.DHTReport
	answered signal // that the owner answered
}

func newMeetings(c *Config) *meetings {
	fixed := c.DHT == control.DHTOn || c.DHT == control.DHTOff
	return &meetings{report: control.DHTReport{Use: c.UsesDHT(), Fixed: fixed}}
}

func (m *meetings) get() control.DHTReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.report
}

func (m *meetings) change(f func(r *control.DHTReport)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.report)
}

// UseDHT implements control.Owner.
func (h *host) UseDHT(_ context.Context, on bool) error {
	if h.meetings.get().Fixed {
		return control.BadRequest{Err: errors.New("the settings say whether the node uses the DHT, and go before " +
			"an answer: change dht there (see 'feedex config'), or set it to \"ask\"")}
	}
	use := control.DHTOff
	if on {
		use = control.DHTOn
	}
	if err := datadir.Replace(filepath.Join(h.config.Data, dhtName), []byte(use+"\n")); err != nil {
		return err
	}
	h.meetings.change(func(r *control.DHTReport) { *r = control.DHTReport{Use: use} })
	h.changes.Add(1)
	h.meetings.answered.tell()
	return nil
}

// meet meets others by the DHT, as long as the owner lets it, until ctx ends.
func (h *host) meet(ctx context.Context) {
	client := &dht.Client{Nodes: h.config.DHTNodes, AllowLocal: h.config.Node.AllowLocal}
	wait, again := firstMeeting, seekEvery
	for {
		answered := h.meetings.answered.next()
		var due <-chan time.Time // never while it is off
		if h.meetings.get().Use == control.DHTOn {
			due = time.After(h.meetIn(wait))
		}
		select {
		case <-ctx.Done():
			return
		case <-answered:
			continue
		case <-due:
		}
		meeting, end := context.WithCancel(ctx)
		h.workers.Go(func() {
			select {
			case <-answered: // otherwise, it may be
			case <-meeting.Done():
			}
			end()
		})
		seeking, met := h.meetOnce(meeting, client)
		end()
		switch {
		case !met:
			wait, again = seekEvery, seekEvery
		case seeking:
			wait, again = again, min(2*again, meetEvery)
		default:
			wait, again = meetEvery, seekEvery
		}
	}
}

// meetIn is a wait somewhat shorter than that, lest nodes that begin at the same time go on so.
func (h *host) meetIn(wait time.Duration) time.Duration {
	if h.config.meetPause > 0 {
		wait = h.config.meetPause
	}
	return wait - rand.N(wait/5+1)
}

// meetOnce meets others if there is a reason to: the node has too few neighbors, or others can dial it by IPv4, which
// the DHT has the addresses of, and it may tell them so. It reports whether the first is so, and whether it did.
func (h *host) meetOnce(ctx context.Context, client *dht.Client) (seeking, met bool) {
	s, err := glance(ctx, h.loop, (*node.Node).Status)
	reachable := h.at.Listen != ListenNone && !s.Undialled && h.isDialled(portmap.IPv4, time.Now())
	if err != nil || !s.Seeking && !reachable {
		return s.Seeking, false
	}
	port := uint16(0)
	if reachable {
		port = h.config.Node.Port
	}
	f, err := client.Meet(ctx, port)
	if ctx.Err() != nil {
		return s.Seeking, false
	}
	before, now := h.meetings.get(), time.Now()
	h.meetings.change(func(r *control.DHTReport) {
		r.Met, r.Found, r.Problem = now, len(f.Found), ""
		if f.Announced > 0 {
			r.Announced = now
		}
		if err != nil {
			r.Problem = err.Error()
		}
	})
	h.changes.Add(1)
	if err != nil {
		if before.Problem != err.Error() {
			h.config.Log.Warn("no neighbors from the DHT", "err", err)
		}
		return s.Seeking, true
	}
	h.config.Log.Debug("looked for neighbors in the DHT", "found", len(f.Found), "of", f.Named, "told", f.Announced)
	ids := make([]protocol.NodeID, len(f.Found))
	for i, at := range f.Found {
		ids[i] = protocol.NewNodeID(at.Addr(), at.Port())
	}
	if len(ids) > 0 {
		h.send(ctx, arrival{event: node.Discovered{By: neighbors.Announced, Nodes: ids}})
	}
	return s.Seeking, true
}
