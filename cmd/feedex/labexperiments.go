package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
	"feedex/lab/report"
	"feedex/lab/trace"
)

func newLabPaper() *cobra.Command {
	var f labFlags
	var t experiment.PaperTurns
	p := &t.Paper
	var among conditionFlags
	var turns bool
	failing, bound := 28, 10
	c := &cobra.Command{
		Use:   "paper",
		Short: "The evaluation of the FeedEx paper",
		Long: `Re-run the evaluation of the FeedEx paper (section 4) on the built-in traces: six networks of 189 nodes that
poll every 0.5 to 16 hours, of which 28 vanish at random times, over 22 hours of a Wednesday. Tables for its
Figures 4 to 6 and its Table 3, beside what it states, with bytes, requests at publishers, and what lag the
same number of polls allows at best. SLN is what a node's own polls bring, XCH what comes by any way.

With --turns, what it is worth that nodes poll in turn: the same networks in which nobody tells of polls, at as many
requests, by the default policy, and where messages are lost, pairs of nodes are cut off, or nodes cannot poll.

With --world people, nodes follow what people do, as by subscription lists, and not so many feeds at random. --lists
takes a folder with lists.csv.gz or lists.csv, a row a subscription in the columns list and feed.

With --world real, the same among conditions that are worse, all together: messages of a second of which some are
lost, slow uplinks, networks that nodes share, hosts that feeds share, that fail, throttle and say how long they need
not be asked, entries that are edited, and a reference node that is down now and then. Each has a flag of its own,
which goes before what the world says.`,
		Example: "  feedex lab paper --seeds 3\n  feedex lab paper --world real --seeds 1\n" +
			"  feedex lab paper --seeds 1 --bound 0 --svg figures\n" +
			"  feedex lab paper --turns --intervals 16 --seeds 5",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			p.Traces, p.Nodes, p.Length = set, f.nodes, f.length
			if bound > 1000 {
				return usageOf(c, fmt.Errorf("%w: a deficit bound of %d entries; want 1 to 1000, or 0 for none",
					experiment.ErrSetting, bound))
			}
			var err error
			if p.Conditions, err = among.read(c); err != nil {
				return err
			}
			if p.Lists, err = f.people(); err != nil {
				return err
			}
			if p.Interests && c.Flags().Changed("feeds") {
				return usageOf(c, fmt.Errorf("%w: so many feeds a node; want no --feeds in the world people, where "+
					"each has its list", experiment.ErrSetting))
			}
			p.Interests = p.Interests || p.Lists != nil
			p.Bound = cmp.Or(bound, -1)
			if c.Flags().Changed("fail") {
				p.Failing = cmp.Or(failing, -1)
			}
			if turns {
				t.Seed, t.Seeds = lab.Seed(f.seed), f.seeds
				return f.run(c, t.Run)
			}
			return f.runSeeds(c, &p.Seed, func() experiment.Run { return p.Run })
		}),
	}
	f.add(c, 22)
	f.addNodes(c, 189, 2)
	p.Each = 20
	c.Flags().Var(countFlag(&failing, 0), "fail",
		"how many of the nodes vanish for good; with other --nodes as large a share")
	c.Flags().Var(countFlag(&p.Each, 1), "feeds", "how many feeds a node follows")
	c.Flags().Var(countFlag(&bound, 0), "bound", "the deficit bound in entries, 0 for none")
	c.Flags().Var(intervalsFlag(&p.Intervals), "intervals",
		"hours between polls, a network each, such as .5,1,2 (default .5 to 16, as far as they fit)")
	among.add(c)
	f.addLists(c)
	c.MarkFlagsMutuallyExclusive("lists", "feeds")
	c.Flags().BoolVar(&turns, "turns", false, "compare with nodes that do not poll in turn, at as many requests too")
	f.addSeeds(c, 5)
	c.MarkFlagsMutuallyExclusive("turns", "svg") // it draws none
	f.addNoEncoding(c, &p.NoEncoding)
	return c
}

func newLabChurn() *cobra.Command {
	var f labFlags
	var e experiment.Churn
	e.Every = 4 * time.Hour
	c := &cobra.Command{
		Use:   "churn",
		Short: "Nodes that come and go, and a network cut in two",
		Long: `Run networks whose nodes stay for four hours down to ten minutes on average before they leave, crash or lose
their machine, and return after half as long; and one network that is cut in two halves for a quarter of the
run. Shows which entries came, and how soon nodes find neighbors. A seed takes some three minutes on two cores.`,
		Example: "  feedex lab churn --seed 1\n  feedex lab churn --stays 1,.25 --hours 6",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			e.Traces, e.Nodes, e.Length = set, f.nodes, f.length
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		}),
	}
	f.add(c, 12)
	f.addNodes(c, 100, 2)
	f.addSeeds(c, 5)
	e.Each = 20
	c.Flags().Var(countFlag(&e.Each, 1), "feeds", "how many feeds a node follows")
	c.Flags().Var(hoursFlag(&e.Every), "interval", "hours between polls")
	c.Flags().Var(intervalsFlag(&e.Sessions), "stays",
		"mean hours that nodes stay, a network each (default 4,2,1,.5 and ten minutes)")
	return c
}

func newLabNAT() *cobra.Command {
	var f labFlags
	var e experiment.NAT
	e.Every = 4 * time.Hour
	c := &cobra.Command{
		Use:   "nat",
		Short: "Nodes behind routers, which nobody can dial",
		Long: `Run networks of which all, a half, 30%, 20% and a tenth of the nodes can be dialled. The others are behind
routers: half of them at an address each, half behind carriers, 50 homes an address. They find that out, and
have neighbors call them over connections that they keep open. Shows which entries came and how late, how soon
nodes find five neighbors, and how soon again when a third of those that can be dialled vanish.`,
		Example: "  feedex lab nat --seed 1\n  feedex lab nat --hosting 16\n  feedex lab nat --settled",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			e.Traces, e.Nodes, e.Length = set, f.nodes, f.length
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		}),
	}
	f.add(c, 22)
	f.addNodes(c, 161, 2)
	f.addSeeds(c, 1)
	e.Each = 20
	c.Flags().Var(countFlag(&e.Each, 1), "feeds", "how many feeds a node follows")
	c.Flags().Var(hoursFlag(&e.Every), "interval", "hours between polls")
	c.Flags().Var(countFlag(&e.Hosting, 1), "hosting",
		"places for neighbors that cannot be dialled (default 32, and 72 where a tenth can be)")
	c.Flags().BoolVar(&e.Settled, "settled", false,
		"have keys settle once their nodes gave ten entries, and count what came out in the second quarter")
	f.addNoEncoding(c, &e.NoEncoding)
	return c
}

func newLabFreeriders() *cobra.Command {
	var f labFlags
	var p experiment.FreeRiders
	p.Every = virtual(4)
	c := &cobra.Command{
		Use:   "freeriders",
		Short: "What those get who take without giving",
		Long: `Run networks in which some of the nodes are free riders, echoers (who offer what others have), rejoiners
(who come back every hour under another key, or at another address) or liars (who claim every feed), over a
range of the deficit bound, with each rule that is against them switched off in turn, and where many keys, or
honest nodes and a forger, share one address. Tables of what came of it for the honest and for the others.`,
		Example: "  feedex lab freeriders --seed 1\n  feedex lab freeriders --nodes 161 --feeds 20 --of 70 --hours 96",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			p.Traces, p.Nodes, p.Length = set, f.nodes, f.length
			return f.runSeeds(c, &p.Seed, func() experiment.Run { return p.Run })
		}),
	}
	f.add(c, 24)
	f.addNodes(c, 40, 10)
	f.addSeeds(c, 1)
	p.Each, p.Feeds = 15, 30
	c.Flags().Var(countFlag(&p.Each, 1), "feeds", "how many feeds a node follows")
	c.Flags().Var(countFlag(&p.Feeds, 1), "of", "out of how many feeds")
	c.Flags().Var(hoursFlag(&p.Every), "interval", "hours between polls")
	return c
}

func newLabAttacks() *cobra.Command {
	var f labFlags
	var p experiment.Attacks
	c := &cobra.Command{
		Use:   "attacks",
		Short: "Attacks, each against its pass mark",
		Long: `Attack networks of this program's nodes in every way that a simulator can show, and hold what comes of it
against a pass mark. The command fails if one of the attacks does not come up to its mark.`,
		Example: "  feedex lab attacks --seed 1\n  feedex lab attacks --rows 4,7 --nodes 100\n  feedex lab attacks " +
			"--rows 11 --trials 1000",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			p.Traces, p.Nodes, p.Length = set, f.nodes, f.length
			failed := 0
			err := f.runSeeds(c, &p.Seed, func() experiment.Run {
				return func(ctx context.Context, progress experiment.Progress) (*report.Report, error) {
					r, beyond, err := p.Run(ctx, progress)
					failed += beyond
					return r, err
				}
			})
			if err == nil && failed > 0 {
				err = fmt.Errorf("%d %w", failed, errBeyondMark)
			}
			return err
		}),
	}
	f.add(c, 16)
	f.addNodes(c, 40, 10)
	f.addSeeds(c, 1)
	c.Flags().Var(countsFlag(&p.Rows, 1), "rows", "make only these of the attacks")
	p.Trials = 48
	c.Flags().Var(countFlag(&p.Trials, 1), "trials", "how many nodes an eclipse is tried on")
	return c
}

func newLabQuery() *cobra.Command {
	var f labFlags
	var e experiment.Queries
	c := &cobra.Command{
		Use:   "query",
		Short: "What queries of the network find and cost",
		Long: `Run networks whose nodes ask the network for old entries, one after the other: one to five hops far, with budgets of
16 to 256 messages, with and without naming the feed, for entries that 90% of the feed's subscribers hold down to a
single one; and once more in the end, when some of the nodes flood theirs with queries. Shows what share is found, for
how many messages and how soon, and how near the other subscribers are.

Simplified, so that thousands of nodes fit on one machine: feeds publish nothing, and what is looked for is put
straight into archives. So neighbors are chosen by what they follow, not by what they brought, and accounts have no
bound, as nobody can earn anything; all else is as in a node. Every feed has 46 subscribers, or as many as there are
with few nodes. A thousand nodes take a minute, ten thousand nine minutes and 5 GB.`,
		Example: "  feedex lab query --nodes 161 --trials 30\n  feedex lab query --nodes 161,1000,4000 --svg figures",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			e.Traces, e.Settle = set, f.length
			f.nodes = slices.Max(e.Sizes)
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		}),
	}
	f.add(c, 0.35)
	f.addSeeds(c, 5)
	c.Flags().Lookup("hours").Usage = "how many hours of virtual time pass before the first query"
	e.Sizes, e.Each, e.Trials = []int{161, 1000}, 20, 10
	c.Flags().Var(countsFlag(&e.Sizes, 2), "nodes", "how many nodes, a network each")
	c.Flags().Var(countFlag(&e.Each, 1), "feeds", "how many feeds a node follows")
	c.Flags().Var(countFlag(&e.Trials, 1), "trials", "how many searches each kind of query is tried on")
	c.Flags().Float64Var(&e.Flooders, "flooders", 0.03, "share of the nodes that flood in the end; 0 for none")
	return c
}

func newLabRings() *cobra.Command {
	var f labFlags
	var e experiment.Rings
	c := &cobra.Command{
		Use:   "rings",
		Short: "What exchanges in rings earn",
		Long: `Run three networks whose nodes wish for the past of feeds, and for more of it than all of them give away: each holds
that of half of its feeds, but for some who hold nothing, and some who give nothing. In the first what comes to them
comes by accounts of neighbors and as a gift. In the second nodes also serve each other what they would give to nobody,
and in the third in rings of three as well. Shows what share came to each kind of node.`,
		Example: "  feedex lab rings --seed 1\n  feedex lab rings --nodes 40 --bytes 3000,15000 --seeds 3",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			e.Traces, e.Nodes, e.Length = set, f.nodes, f.length
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		}),
	}
	f.add(c, 8)
	f.addNodes(c, 161, 2)
	f.addSeeds(c, 1)
	e.Each, e.Past, e.Bytes = 20, 200, []int{15_000}
	c.Flags().Lookup("hours").Usage = "how many hours of virtual time from the first wish on"
	c.Flags().Var(countFlag(&e.Each, 2), "feeds", "how many feeds a node follows")
	c.Flags().Var(countFlag(&e.Past, 1), "past", "how many entries of the past of each feed there are")
	c.Flags().Var(countsFlag(&e.Bytes, 1), "bytes", "how long the text of each is, three networks each")
	return c
}

func newLabCorona() *cobra.Command {
	var f labFlags
	var e experiment.Corona
	e.Every = 30 * time.Minute
	c := &cobra.Command{
		Use:   "corona",
		Short: "The setting of Corona's simulations: legacy RSS against feedex",
		Long: `Run networks in the setting of the Corona paper (section 5.1), smaller: channels that change as often as those
of its survey, subscriptions by Zipf's law with the exponent 0.5, polls every 30 minutes. Shows how late updates
are detected by legacy RSS, where every subscriber polls alone, by feedex with the same polls, and how many
fewer polls feedex needs to be as late as legacy RSS. The full size, 1,024 nodes with 100,000 channels and
5,000,000 subscriptions, is beyond an ordinary machine; the time and memory of the run, which differ from run
to run, go to stderr. The last of the examples takes some two minutes of processor time.`,
		Example: `  feedex lab corona --seed 1
  feedex lab corona --nodes 64 --channels 50 --subscriptions 1000
  feedex lab corona --nodes 1024 --channels 2000 --hours .5 --equal-load --no-encoding`,
		RunE: func(c *cobra.Command, _ []string) error {
			e.Nodes, e.Length = f.nodes, f.length
			if f.traces != "" || f.made > 0 {
				set, err := f.set(c)
				if err != nil {
					return err
				}
				e.Traces = set
			}
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		},
	}
	f.add(c, 6)
	f.addNodes(c, 128, 2)
	f.addSeeds(c, 1)
	c.Flags().Lookup("hours").Usage = "how many hours of updates count; a run takes two intervals longer"
	c.Flags().Lookup("traces").Usage = "folder with the traces of feeds that channels publish as, in place of the " +
		"paper's survey"
	e.Channels = 100
	c.Flags().Var(countFlag(&e.Channels, 1), "channels", "how many channels there are")
	c.Flags().Var(countFlag(&e.Subscriptions, 1), "subscriptions",
		"how many subscriptions all nodes have (default 50 a channel)")
	c.Flags().Var(hoursFlag(&e.Every), "interval", "hours between the polls of legacy RSS")
	e.Reach = 3
	c.Flags().Var(countFlag(&e.Reach, 1), "reach", "over how many hops interests count, 1 to 8")
	c.Flags().BoolVar(&e.EqualLoad, "equal-load", false,
		"leave out the networks that poll more rarely, which are most of the work")
	f.addNoEncoding(c, &e.NoEncoding)
	return c
}

func newLabScale() *cobra.Command {
	var f labFlags
	var e experiment.Scaling
	var series string
	e.Every = time.Hour
	c := &cobra.Command{
		Use:   "scale",
		Short: "What a node pays as the network grows",
		Long: `Run networks of 161 to 10,000 nodes, once with as many feeds as give each 46 subscribers and once with the
same feeds for all, or in one of these ways. Time and memory, which differ from run to run, go to stderr. The largest
take hours.`,
		Example: "  feedex lab scale --nodes 161,1000 --hours 2\n  feedex lab scale --series feeds --nodes 10000 " +
			"--hours 1",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			e.Traces, e.Length = set, f.length
			e.Series = experiment.Series(series)
			f.nodes = slices.Max(e.Sizes)
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		}),
	}
	f.add(c, 24)
	f.addSeeds(c, 1)
	e.Sizes, e.Each, e.Reach, e.Relayed = []int{161, 1000, 4000, 10000}, 20, 3, 96
	c.Flags().Var(countsFlag(&e.Sizes, 2), "nodes", "how many nodes, a network each in every series")
	c.Flags().StringVar(&series, "series", "",
		"run only the networks in which these stay the same: subscribers of a feed, or feeds for all (default both)")
	_ = c.RegisterFlagCompletionFunc("series",
		cobra.FixedCompletions([]string{string(experiment.SameSubscribers), string(experiment.SameFeeds)},
			cobra.ShellCompDirectiveNoFileComp))
	c.Flags().Var(countFlag(&e.Each, 1), "feeds", "how many feeds a node follows")
	c.Flags().Var(countFlag(&e.Reach, 1), "reach", "over how many hops interests count, 1 to 8")
	c.Flags().Var(countFlag(&e.Relayed, 1), "relayed",
		"how many feeds a node passes on for others' sake, 10,000 at most; it is four for each that it follows where "+
			"that is more")
	c.Flags().Var(hoursFlag(&e.Every), "interval", "hours between polls")
	f.addNoEncoding(c, &e.NoEncoding)
	return c
}

func newLabPolling() *cobra.Command {
	var f labFlags
	var p experiment.Polling
	var shared bool
	sizes := []int{1, 2, 5, 13, 50}
	c := &cobra.Command{
		Use:   "polling",
		Short: "Polling policies against each other, without a network",
		Long: `Poll every feed of the traces by each policy: those of this program, those of Miniflux, FreshRSS, NewsBlur,
CommaFeed, newsboat, NetNewsWire and tt-rss, and the rule of the FeedEx paper to the letter. Tables of how late
entries are read, how many requests it takes and how many entries are missed, after Table 1 and Figures 2 to 4
of Urbansky and others, "An Optimized Web Feed Aggregation Approach for Generic Feed Types".

With --shared, three of them in networks of nodes instead, which all follow the same feeds and share what they
poll: how late entries come, and how often publishers are asked, by how many follow a feed.`,
		Example: "  feedex lab polling --seed 1\n  feedex lab polling --least 5 --hours 240 --svg figures\n  feedex " +
			"lab polling --shared",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			p.Traces = set
			if p.Length = set.To.Sub(set.From); c.Flags().Changed("hours") {
				p.Length = f.length
			}
			if c.Flags().Changed("nodes") && !shared {
				return usageOf(c, fmt.Errorf("%w: one reader, without a network; want --shared, or no --nodes",
					experiment.ErrSetting))
			}
			if shared {
				s := experiment.SharedPolling{Seed: lab.Seed(f.seed), Traces: set, Sizes: sizes, Seeds: f.seeds}
				if c.Flags().Changed("hours") {
					s.Length = f.length
				}
				return f.run(c, s.Run)
			}
			return f.runSeeds(c, &p.Seed, func() experiment.Run { return p.Run })
		}),
	}
	f.add(c, 840)
	c.Flags().Float64Var(&p.Least, "least", 0, "leave out feeds that publish fewer entries a day")
	c.Flags().BoolVar(&shared, "shared", false, "have networks of nodes share what they poll, for 240 hours")
	c.Flags().Var(countsFlag(&sizes, 1), "nodes", "how many nodes share, a network each, with --shared")
	f.addSeeds(c, 5)
	c.MarkFlagsMutuallyExclusive("shared", "least")
	return c
}

func newLabPublishing() *cobra.Command {
	var f labFlags
	c := &cobra.Command{
		Use:   "publishing",
		Short: "What feeds publish, and what their documents hold",
		Long: `Sum up the traces as the FeedEx paper sums up what it recorded (section 2): how rates go by rank, how many entries
documents list and whether that has to do with the rate, at which hours and days feeds publish, and how long entries
stay. Tables and figures for its Figure 2, beside what it states.

The number of entries and how long they stay are of the feeds of which somebody counted entries. feeds.csv of --traces
has for it two columns more, window_min and window_max, the fewest and the most that were counted in a document; feeds
made up have none.`,
		Example: "  feedex lab publishing --svg figures\n  feedex lab publishing --traces traces",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) (err error) {
			e := experiment.Publishing{Seed: lab.Seed(f.seed), Traces: set}
			switch {
			case f.traces != "":
				e.Documents, err = trace.LoadDocuments(f.traces)
			case f.made == 0:
				e.Documents, err = trace.EmbeddedDocuments()
			}
			if err != nil {
				return err
			}
			return f.run(c, e.Run)
		}),
	}
	f.add(c, 24)
	_ = c.Flags().MarkHidden("hours") // it takes the traces as they are
	return c
}

func newLabPublisher() *cobra.Command {
	var f labFlags
	p := experiment.Publishers{Feeds: 4, Sizes: []int{1, 10, 100, 1000}, Times: 100}
	c := &cobra.Command{
		Use:   "publisher",
		Short: "What the publisher of a feed sees of the nodes that follow it",
		Long: `Run networks of 1 to 1,000 nodes that all follow the same feeds, by the default policy and by one that polls
every hour, and count the requests that a publisher gets, beside those of as many readers that ask every hour.
And have the followers of feeds become a hundred times as many within an hour, with their first polls waived
and made.`,
		Example: "  feedex lab publisher --seed 1\n  feedex lab publisher --nodes 1,20 --hours 48 --feeds 2",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) error {
			p.Traces, p.Length = set, f.length
			f.nodes = slices.Max(p.Sizes)
			return f.runSeeds(c, &p.Seed, func() experiment.Run { return p.Run })
		}),
	}
	f.add(c, 72)
	f.addSeeds(c, 1)
	c.Flags().Var(countFlag(&p.Feeds, 1), "feeds", "how many feeds, all of which each node follows")
	c.Flags().Var(countsFlag(&p.Sizes, 1), "nodes", "how many nodes follow the feeds, a network each; a flash "+
		"crowd comes\nto a hundredth of the most")
	c.Flags().Var(countFlag(&p.Times, 2), "times", "how many times as many nodes the flash crowd makes of them")
	return c
}
