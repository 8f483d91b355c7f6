// Package demo runs a whole feedex network on one machine and shows what it does: a server with feeds
// that publish every few seconds, a tracker, and nodes with real XML-RPC and archives that poll far too
// rarely to see anything in time by themselves, and one of which nobody can dial.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"feedex/control"
	"feedex/daemon"
	"feedex/node"
	"feedex/polling"
	"feedex/tracker/trackerhost"
)

// Config says how large the demonstration is. Open must be set; the zero value of each other field means its default.
type Config struct {
	Open  daemon.OpenDatabase // the nodes' archives
	For   time.Duration       // how long it runs. Default a minute, at least 15 s
	Nodes int                 // default 6
	Feeds int                 // default 10
	Poll  time.Duration       // how often a node polls each feed. Default 20 s
	Out   io.Writer           // where it shows what happens; nil is nowhere
	// Terminal redraws one screen in place, where there is room for it; otherwise a line now and then.
	Terminal bool
	Log      *slog.Logger // of the nodes; default nowhere
}

const (
	// windowEntries is how many entries a feed's document holds, and shortestGap the least time between
	// two of them: together longer than the polling interval, so that an entry that is missed was missed
	// by the network and not by the feed.
	windowEntries = 12
	shortestGap   = 2 * time.Second
	longestGap    = 4 * time.Second
	// settle is how long before the end the feeds fall silent, and grace how long after it the last
	// entries may still arrive. Together they are shorter than the polling interval: for a node alone
	// many entries would come too late, for six nodes together one of them polls in time.
	settle = 10 * time.Second
	grace  = 5 * time.Second
	least  = 15 * time.Second
)

// ErrMissed means that an entry did not arrive at a node that follows its feed.
var ErrMissed = errors.New("entries were missed")

// Run runs the demonstration to its end, or until ctx ends. The error wraps ErrMissed where an entry
// did not arrive in time.
func Run(ctx context.Context, c Config) (Summary, error) {
	c = c.withDefaults()
	if c.For < least {
		return Summary{}, fmt.Errorf("run demonstration for %v: too short to show anything; want %v or more",
			c.For, least)
	}
	dir, err := os.MkdirTemp("", "feedex-demo-")
	if err != nil {
		return Summary{}, fmt.Errorf("make folder for the demonstration: %w", err)
	}
	defer os.RemoveAll(dir)

	running, stop := context.WithCancelCause(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop(nil)

	pub, err := newPublisher(c.Feeds)
	if err != nil {
		return Summary{}, err
	}
	parts.Go(func() { stop(pub.serve(running)) })
	s := newScore(c)
	pub.published = s.published

	tracker := make(chan string, 1)
	parts.Go(func() {
		stop(trackerhost.Run(running, trackerhost.Config{
			Data: filepath.Join(dir, "tracker"), Listen: "127.0.0.1:0", AllowLocal: true, Log: c.Log,
			UserAgent: daemon.UserAgent, Ready: func(address string) { tracker <- address },
		}))
	})
	var trackerURL string
	select {
	case address := <-tracker:
		trackerURL = "http://" + address + "/"
	case <-running.Done():
		return Summary{}, context.Cause(running)
	}

	ready := make(chan daemon.Addresses, c.Nodes)
	for i := range c.Nodes {
		listen := "127.0.0.1:0"
		if i == c.Nodes-1 && i > 0 {
			listen = daemon.ListenNone // as behind a router
		}
		parts.Go(func() {
			stop(daemon.Run(running, daemon.Config{
				Data: filepath.Join(dir, fmt.Sprintf("node%d", i+1)), Open: c.Open, Listen: listen,
				Reader: "127.0.0.1:0", Subscribe: pub.urls,
				Node: node.Config{Trackers: []string{trackerURL}, AllowLocal: true,
					Policy: polling.Fixed{Every: c.Poll}},
				DHT: control.DHTOff, // so that its pages do not ask for leave
				Log: c.Log,
				Ready: func(a daemon.Addresses) {
					s.join(i, nodeName(a), pub.urls)
					ready <- a
				},
				Observe: func(now time.Time, note node.Note) { s.observe(i, now, note) },
			}))
		})
	}
	var a daemon.Addresses
	for range c.Nodes {
		select {
		case a = <-ready:
		case <-running.Done():
			return Summary{}, context.Cause(running)
		}
	}
	rider, err := newFreeRider(pub.urls)
	if err != nil {
		return Summary{}, err
	}
	parts.Go(func() { stop(rider.run(running, trackerURL)) })
	s.rider = rider
	err = show(running, c, s, pub, "http://"+a.Reader+"/")
	sum := s.summary(time.Now())
	if err == nil && sum.Missed > 0 {
		err = fmt.Errorf("%w: %d of %d deliveries", ErrMissed, sum.Missed, sum.Expected)
	}
	return sum, err
}

// nodeName is how the screen calls a node.
func nodeName(a daemon.Addresses) string {
	if a.Listen == daemon.ListenNone {
		return "cannot be dialled"
	}
	return a.Listen
}

func (c Config) withDefaults() Config {
	c.For = cmp.Or(c.For, time.Minute)
	c.Nodes = cmp.Or(c.Nodes, 6)
	c.Feeds = cmp.Or(c.Feeds, 10)
	c.Poll = cmp.Or(c.Poll, 20*time.Second)
	c.Out = cmp.Or(c.Out, io.Discard)
	return c
}

// show publishes, redraws and waits until the time is up and everything has arrived, or cannot any more. A node has its
// pages at the address pages.
func show(ctx context.Context, c Config, s *score, pub *publisher, pages string) error {
	begun := time.Now()
	s.begin(begun)
	publishing, silence := context.WithTimeout(ctx, c.For-settle)
	defer silence()
	var publishers sync.WaitGroup
	publishers.Go(func() { pub.publish(publishing) })
	defer publishers.Wait()

	screen := newScreen(c, s, pages)
	defer screen.close()
	tick := time.NewTicker(screen.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-tick.C:
			screen.draw(now)
			left := c.For - now.Sub(begun)
			if left <= 0 && (s.complete() || -left > grace) {
				return nil
			}
		}
	}
}
