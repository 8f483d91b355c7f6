package lab

import (
	"fmt"
	"time"
)

// Links is how the network behaves. The zero value of each field means its default.
//
// The way between two hosts has a fixed base delay, drawn once from a log-normal distribution, and every
// message takes a little longer by chance. A call travels over a connection that is open already. A call
// that is lost, on the way there or back, ends at its timeout: transport would repeat packets, so what is
// lost here is a connection that is dead. So is one that takes longer than its timeout.
type Links struct {
	// Delay is the median of the base delays, one way. Default 40 ms, an Internet round trip of 80 ms.
	Delay time.Duration
	// Even has all ways take the median.
	Even bool
	// Jitter is how much longer a message may take, as a share of the base delay. Default 0.2, negative
	// for none.
	Jitter float64
	// Loss is the share of messages that are lost. Default 0.
	Loss float64
	// Uplink is how many bytes a second a host can send: a message waits for those before it. Default: no bound.
	Uplink int
}

func (l Links) withDefaults() Links {
	if l.Delay == 0 {
		l.Delay = 40 * time.Millisecond
	}
	switch {
	case l.Jitter == 0:
		l.Jitter = 0.2
	case l.Jitter < 0:
		l.Jitter = 0
	}
	return l
}

// longestDelay is the longest median: more than that no call waits for.
const longestDelay = time.Minute

func (l Links) validate() error {
	switch {
	case l.Delay < 0 || l.Delay > longestDelay:
		return fmt.Errorf("%w: links have a delay of %v, want 0 to %v", ErrConfig, l.Delay, longestDelay)
	case l.Uplink < 0:
		return fmt.Errorf("%w: an uplink takes %d bytes a second, want 1 or more, or 0 for any number", ErrConfig,
			l.Uplink)
	case !(l.Loss >= 0 && l.Loss < 1):
		return fmt.Errorf("%w: links lose %v of the messages, want 0 or more and less than 1", ErrConfig, l.Loss)
	}
	return nil
}

// spread are the quantiles of a log-normal distribution of median 1 and sigma 0.5, in thousandths: the
// delay between the machines of one continent and of two differ so. They stand here because the functions
// of package math are not the same to the last digit on every platform.
var spread = [32]time.Duration{
	341, 433, 492, 541, 583, 623, 660, 696, 731, 766, 800, 835, 870, 906, 943, 981,
	1020, 1061, 1104, 1149, 1197, 1249, 1306, 1368, 1437, 1515, 1605, 1714, 1850, 2032, 2312, 2936,
}

// The ends of a link beside the hosts, which are their index.
const (
	trackerEnd   = -1
	publisherEnd = -1_000 // less the index of the publisher
)

// base is the delay of every message between two ends, the same both ways.
func (w *World) base(a, b int) time.Duration {
	if w.config.Links.Even {
		return w.config.Links.Delay
	}
	if a > b {
		a, b = b, a
	}
	h := mix(uint64(w.config.Seed), 'l', uint64(a), uint64(b))
	return w.config.Links.Delay * spread[h%uint64(len(spread))] / 1000
}

// delay is how long message number n from one end to the other takes, and whether it is lost. It draws
// from a stream of the link's, of which it keeps nothing: the same message meets the same fate.
func (w *World) delay(from, to int, n uint64) (d time.Duration, lost bool) {
	l := &w.config.Links
	base := w.base(from, to)
	h := mix(uint64(w.config.Seed), 'm', uint64(from), uint64(to), n)
	const one = 1 << 16
	jitter := base * time.Duration(h%one) / one * time.Duration(l.Jitter*1000) / 1000
	lost = l.Loss > 0 && h>>32 < uint64(l.Loss*(1<<32))
	return base + jitter, lost
}

// sends is after what time a host's message of so many bytes has left it.
func (w *World) sends(h *Host, bytes int64) time.Duration {
	if w.config.Links.Uplink == 0 || h == nil {
		return 0
	}
	h.sent = max(h.sent, w.now) + time.Duration(bytes)*time.Second/time.Duration(w.config.Links.Uplink)
	return h.sent - w.now
}

// Relink has the network behave otherwise from now on. The error wraps ErrConfig.
func (w *World) Relink(l Links) error {
	if err := l.validate(); err != nil {
		return err
	}
	w.config.Links = l.withDefaults()
	return nil
}

// Split cuts the network in two: the hosts given, and everyone else with the tracker. Calls between them
// end at their timeout. Publishers are reached from both. A later Split replaces an earlier one.
func (w *World) Split(hosts []*Host) {
	w.Heal()
	w.divided = true
	for _, h := range hosts {
		h.apart = true
	}
}

// Heal ends a Split.
func (w *World) Heal() {
	w.divided = false
	for _, h := range w.hosts {
		h.apart = false
	}
}
