// Package demo runs a whole feedex network on one machine and shows what it does: a server with feeds
// that publish every few seconds, a tracker, and nodes with real XML-RPC and archives that poll far too
// rarely to see anything in time by themselves, and one of which nobody can dial.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Config says how the demonstration is shown. All must be set.
type Config struct {
	Open daemon.OpenDatabase // the nodes' archives
	For  time.Duration       // how long it runs, at least 15 s
	Out  io.Writer           // where it shows what happens
	// Terminal redraws one screen in place, where there is room for it; otherwise a line now and then.
	Terminal bool
}

const (
	// nodeCount is how many nodes there are, and pollEvery how often each of them polls each of the feeds.
	nodeCount = 6
	pollEvery = 20 * time.Second
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

	pub, err := newPublisher()
	if err != nil {
		return Summary{}, err
	}
	parts.Go(func() { stop(pub.serve(running)) })
	s := newScore(nodeCount)
	pub.published = s.published

	tracker := make(chan string, 1)
	parts.Go(func() {
		stop(trackerhost.Run(running, trackerhost.Config{
			Data: filepath.Join(dir, "tracker"), Listen: "127.0.0.1:0", AllowLocal: true,
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

	ready := make(chan daemon.Addresses, nodeCount)
	for i := range nodeCount {
		listen := "127.0.0.1:0"
		if i == nodeCount-1 {
			listen = daemon.ListenNone // as behind a router
		}
		parts.Go(func() {
			stop(daemon.Run(running, daemon.Config{
				Data: filepath.Join(dir, fmt.Sprintf("node%d", i+1)), Open: c.Open, Listen: listen,
				Reader: "127.0.0.1:0", Subscribe: pub.urls,
				Node: node.Config{Trackers: []string{trackerURL}, AllowLocal: true,
					Policy: polling.Fixed{Every: pollEvery}},
				DHT: control.DHTOff, // so that its pages do not ask for leave
				Ready: func(a daemon.Addresses) {
					s.join(i, nodeName(a), pub.urls)
					ready <- a
				},
				Observe: func(now time.Time, note node.Note) { s.observe(i, now, note) },
			}))
		})
	}
	var a daemon.Addresses
	for range nodeCount {
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
	tick := time.NewTicker(drawEvery)
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
