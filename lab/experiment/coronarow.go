package experiment

import (
	"time"

	"feedex/lab"
)

// A CoronaRow is what came of one network. Lags are detection times in seconds.
type CoronaRow struct {
	Every   time.Duration `json:"every_ns"`
	Hash    string        `json:"hash"`
	Steps   int64         `json:"steps"`
	Ran     time.Duration `json:"ran_ns"`
	Partial bool          `json:"partial,omitempty"`

	Requests    float64 `json:"requests"`        // at a channel in 30 minutes
	NotModified float64 `json:"not_modified"`    // the share answered 304
	Bytes       float64 `json:"publisher_bytes"` // that a channel sends in 30 minutes
	Calls       float64 `json:"calls"`           // that a node receives in a minute
	CallBytes   float64 `json:"call_bytes"`      // likewise, answers included; 0 without encoding

	Alone    Detection `json:"legacy"`
	Exchange Detection `json:"exchange"`
	First    float64   `json:"first"`   // the share of entries that a neighbor brought before the own poll
	Offered  float64   `json:"offered"` // the share of subscriptions that a neighbor offers, at the end
	Limit    float64   `json:"limit"`   // the lag at random phases, T/(n+1), by subscriptions
	Links    Spread    `json:"links"`
	Tiers    []Tier    `json:"tiers"`

	subscriptions int
	seconds       float64 // of real time
	heap          uint64  // bytes, at the end
}

// off is how far the detection time is from target, as a share of that.
func (r CoronaRow) off(target float64) float64 {
	return max(r.Exchange.Lag-target, target-r.Exchange.Lag) / target
}

// A Detection is how updates are detected.
type Detection struct {
	// Lag is the mean over subscriptions to whose channel there was an update, each at the mean of its
	// updates. Corona §3.1: "taking an average of the update detection time of each channel weighted by the
	// number of clients subscribed".
	Lag float64 `json:"lag"`
	// ByUpdate is the mean over all updates of all subscriptions.
	ByUpdate float64 `json:"lag_by_update"`
	// Coverage is the share of those updates that came at all.
	Coverage float64 `json:"coverage"`
}

// A Tier is the channels that have so many subscribers.
type Tier struct {
	From     int     `json:"from"` // subscribers
	To       int     `json:"to"`   // likewise, included; 0 for no end
	Channels int     `json:"channels"`
	Lag      float64 `json:"lag"`    // with neighbors, by subscriptions
	Alone    float64 `json:"legacy"` // without
	Limit    float64 `json:"limit"`
	Requests float64 `json:"requests"` // at a channel in 30 minutes
}

// tiers are the bounds that channels are divided by.
func tiers() []Tier {
	return []Tier{{From: 1, To: 1}, {From: 2, To: 9}, {From: 10, To: 29}, {From: 30, To: 99}, {From: 100}}
}

// coronaCounts is what was counted by some time.
type coronaCounts struct {
	at       time.Duration
	requests []int64 // by channel
	total    lab.PollTraffic
	received lab.Count
}

func countCorona(w *lab.World) *coronaCounts {
	c := &coronaCounts{at: w.Now().Sub(w.Start())}
	for _, p := range w.Publishers() {
		c.requests = append(c.requests, p.Requests)
		c.total.Requests += p.Requests
		c.total.NotModified += p.NotModified
		c.total.Bytes += p.Bytes
	}
	for _, h := range w.Hosts() {
		n := h.Received.Total()
		c.received.Calls += n.Calls
		c.received.Bytes += n.Bytes
	}
	return c
}

// detections gathers lags.
type detections struct {
	subscriptions, updates []float64
	all                    int
	now                    []float64 // of the subscription at hand
}

func (d *detections) add(published, seen time.Duration) {
	if d.all++; seen != lab.Never {
		d.now = append(d.now, (seen - published).Seconds())
	}
}

// done ends a subscription. It returns its mean lag, if it has one.
func (d *detections) done() (lag float64, ok bool) {
	if len(d.now) == 0 {
		return 0, false
	}
	lag = mean(d.now)
	d.subscriptions, d.updates, d.now = append(d.subscriptions, lag), append(d.updates, d.now...), d.now[:0]
	return lag, true
}

func (d *detections) detection() Detection {
	return Detection{Lag: mean(d.subscriptions), ByUpdate: mean(d.updates),
		Coverage: float64(len(d.updates)) / float64(max(1, d.all))}
}

// measureCorona sums up a network: what was published between begin and end, and what was counted there.
func measureCorona(w *lab.World, every, begin, end time.Duration, at [2]*coronaCounts, whole bool) CoronaRow {
	row := CoronaRow{Every: every, Hash: w.Hash(), Steps: w.Steps(), Ran: w.Now().Sub(w.Start()), Partial: !whole,
		Tiers: tiers()}
	subscribers, tier := row.divide(w)
	limit := func(channel int) float64 { return every.Seconds() / float64(subscribers[channel]+1) }

	var alone, exchange detections
	var limits, links []float64
	lags := make([]tierLags, len(row.Tiers))
	first, offered := 0, 0
	for _, h := range w.Hosts() {
		links = append(links, float64(h.Links()))
		offered += len(h.Follows()) - h.Node().Status().Alone
		sights := h.Sights(w.Now())
		for i, s := range sights {
			if s.Published >= begin && s.Published < end {
				alone.add(s.Published, s.Own)
				exchange.add(s.Published, s.Any)
				if s.Any < s.Own {
					first++
				}
			}
			if i+1 < len(sights) && sights[i+1].Feed == s.Feed {
				continue
			}
			of := &lags[tier[s.Feed]]
			if lag, ok := alone.done(); ok {
				of.alone = append(of.alone, lag)
			}
			if lag, ok := exchange.done(); ok {
				of.exchange, of.limit, limits = append(of.exchange, lag), append(of.limit, limit(s.Feed)),
					append(limits, limit(s.Feed))
			}
		}
	}
	row.Alone, row.Exchange = alone.detection(), exchange.detection()
	row.First = float64(first) / float64(max(1, exchange.all))
	row.Offered = float64(offered) / float64(max(1, row.subscriptions))
	row.Limit, row.Links = mean(limits), spread(links)
	for t := range row.Tiers {
		row.Tiers[t].Lag, row.Tiers[t].Alone, row.Tiers[t].Limit = mean(lags[t].exchange), mean(lags[t].alone),
			mean(lags[t].limit)
	}
	for i, n := range row.count(w, at) {
		if t := &row.Tiers[tier[i]]; subscribers[i] > 0 {
			t.Requests += n / float64(t.Channels)
		}
	}
	return row
}

// tierLags are the lags of the subscriptions to a tier's channels.
type tierLags struct{ alone, exchange, limit []float64 }

// divide counts subscriptions and the channels of each tier. It returns how many subscribe to each channel, and to
// which tier it belongs.
func (r *CoronaRow) divide(w *lab.World) (subscribers, tier []int) {
	subscribers, tier = make([]int, len(w.Publishers())), make([]int, len(w.Publishers()))
	for _, h := range w.Hosts() {
		for _, i := range h.Follows() {
			subscribers[i]++
			r.subscriptions++
		}
	}
	for i, n := range subscribers {
		for t := range r.Tiers {
			if n >= r.Tiers[t].From {
				tier[i] = t
			}
		}
		if n > 0 {
			r.Tiers[tier[i]].Channels++
		}
	}
	return subscribers, tier
}

// count fills in what was counted between two times, or until now where the second did not come. It returns
// the requests in 30 minutes by channel.
func (r *CoronaRow) count(w *lab.World, at [2]*coronaCounts) []float64 {
	if at[0] == nil {
		return nil
	}
	from, to := at[0], at[1]
	if to == nil {
		to = countCorona(w)
	}
	minutes := max(1, (to.at - from.at).Minutes())
	halves, channels := minutes/30, float64(len(w.Publishers()))
	polls := float64(to.total.Requests - from.total.Requests)
	r.Requests = polls / channels / halves
	r.NotModified = float64(to.total.NotModified-from.total.NotModified) / max(1, polls)
	r.Bytes = float64(to.total.Bytes-from.total.Bytes) / channels / halves
	perNode := minutes * float64(max(1, len(w.Hosts())))
	r.Calls = float64(to.received.Calls-from.received.Calls) / perNode
	r.CallBytes = float64(to.received.Bytes-from.received.Bytes) / perNode
	requests := make([]float64, len(from.requests))
	for i := range requests {
		requests[i] = float64(to.requests[i]-from.requests[i]) / halves
	}
	return requests
}
