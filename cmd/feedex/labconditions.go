package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"feedex/lab/experiment"
)

// conditionFlags are the flags of an experiment for what its nodes live among: a world, and what is otherwise there.
type conditionFlags struct {
	world string
	own   experiment.Conditions
	flags *pflag.FlagSet // for own
}

func (f *conditionFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.world, "world", "paper", "what nodes live among: paper, people or real")
	f.flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	flags, own := f.flags, &f.own
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
	c.Flags().AddFlagSet(flags)
}

// read is what was asked for: the world, but for what has a flag that was given.
func (f *conditionFlags) read(c *cobra.Command) (experiment.Conditions, error) {
	worlds := map[string]experiment.Conditions{"paper": {}, "people": {Interests: true}, "real": experiment.Real()}
	among, known := worlds[f.world]
	latency := f.own.Delay
	switch {
	case !known:
		return among, usageOf(c, fmt.Errorf("%w: the world %q; want paper, people or real", experiment.ErrSetting,
			f.world))
	case latency <= 0:
		return among, usageOf(c, fmt.Errorf("%w: a latency of %v; want a time above zero", experiment.ErrSetting,
			latency))
	}
	given := make(map[string]string)
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			given[flag.Name] = flag.Value.String()
		}
	})
	f.own = among
	for name, value := range given {
		if err := f.flags.Set(name, value); err != nil {
			return among, err
		}
	}
	if f.own.Delay == 0 && given["loss"] != "" {
		f.own.Delay = latency
	}
	return f.own, nil
}
