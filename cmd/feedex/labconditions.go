package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"feedex/lab/experiment"
)

// conditionFlags are the flags of an experiment for what its nodes live among: a world, and what is otherwise there.
type conditionFlags struct {
	world string
	own   experiment.Conditions
}

func (f *conditionFlags) add(c *cobra.Command) {
	flags, own := c.Flags(), &f.own
	flags.StringVar(&f.world, "world", "paper", "what nodes live among: paper, people or real")
	flags.DurationVar(&own.Delay, "latency", 40*time.Millisecond,
		"how long messages take one way, the median of the links")
	flags.Float64Var(&own.Loss, "loss", 0, "share of the messages that are lost")
	flags.Var(countFlag(&own.Uplink, 0), "uplink", "bytes a second that a node can send, 0 for any number")
	flags.BoolVar(&own.Networks, "shared-networks", false, "have nodes share networks (/16, /24) as homes do")
	flags.Var(countFlag(&own.PerHost, 0), "feeds-a-host", "how many feeds share a host on average, 0 for none")
	flags.Float64Var(&own.Hinting, "hinting", 0, "share of the feeds that say how long they need not be asked")
	flags.Float64Var(&own.Failing, "failing", 0, "share of the time in which a host answers 503")
	flags.Float64Var(&own.Throttling, "throttling", 0, "share of the hosts that answer 429 to who comes often")
	flags.Float64Var(&own.Edited, "edited", 0, "share of the entries that are edited")
	flags.DurationVar(&own.Stale, "stale-caches", 0, "how long each of a publisher's caches keeps a copy, 0 for none")
	flags.Float64Var(&own.Unable, "unreachable", 0,
		"share of the nodes that reach no publisher, .143 as in the paper")
	flags.Float64Var(&own.ReferenceDown, "reference-down", 0, "share of the time in which the reference node is")
}

// read is what was asked for: the world, but for what has a flag that was given.
func (f *conditionFlags) read(c *cobra.Command) (experiment.Conditions, error) {
	var among experiment.Conditions
	switch f.world {
	case "paper":
	case "people":
		among.Interests = true
	case "real":
		among = experiment.Real()
	default:
		return among, usageOf(c, fmt.Errorf("%w: the world %q; want paper, people or real", experiment.ErrSetting,
			f.world))
	}
	if f.own.Delay <= 0 {
		return among, usageOf(c, fmt.Errorf("%w: a latency of %v; want a time above zero",
			experiment.ErrSetting, f.own.Delay))
	}
	given := c.Flags().Changed
	if given("latency") || given("loss") && among.Delay == 0 {
		among.Delay = f.own.Delay
	}
	for _, share := range []struct {
		flag    string
		to, own *float64
	}{
		{"loss", &among.Loss, &f.own.Loss}, {"hinting", &among.Hinting, &f.own.Hinting},
		{"failing", &among.Failing, &f.own.Failing}, {"throttling", &among.Throttling, &f.own.Throttling},
		{"edited", &among.Edited, &f.own.Edited}, {"unreachable", &among.Unable, &f.own.Unable},
		{"reference-down", &among.ReferenceDown, &f.own.ReferenceDown},
	} {
		if given(share.flag) {
			*share.to = *share.own
		}
	}
	if given("stale-caches") {
		among.Stale = f.own.Stale
	}
	if given("uplink") {
		among.Uplink = f.own.Uplink
	}
	if given("feeds-a-host") {
		among.PerHost = f.own.PerHost
	}
	if given("shared-networks") {
		among.Networks = f.own.Networks
	}
	return among, nil
}
