package e2e

import (
	"flag"
	"testing"
	"time"
)

var (
	feedtreeFor = flag.Duration("feedtree", 0, "how long TestPeriodsOfProcesses takes, such as 30m; 0 leaves it out")
	growthFor   = flag.Duration("growth", 0, "how long TestGrowthOfProcesses takes, such as 20m; 0 leaves it out")
)

// feedtreeNodes are those of FeedTree's experiment, and feedtreePeriods its periods as far as they are measured; 0 is
// a feed without news.
const feedtreeNodes = 16

var feedtreePeriods = []time.Duration{0, 60 * time.Second, 30 * time.Second, 15 * time.Second,
	8 * time.Second, 4 * time.Second, 2 * time.Second, time.Second}

// TestPeriodsOfProcesses measures the processor time and the bytes of a node, a process, that is brought the entries
// of a feed by its neighbors, among sixteen, as often as they come out (FeedTree, Figures 5.1 to 5.5). There is a
// network for each period, and all of them run at the same time. The last half of the time counts.
func TestPeriodsOfProcesses(t *testing.T) {
	if *feedtreeFor <= 0 {
		t.Skip("it measures in real time: make processes")
	}
	p, begun := startPublisher(t), time.Now()
	var networks []*steady
	for _, period := range feedtreePeriods {
		s := newSteady(t, p, period, begun.Add(*feedtreeFor))
		s.grow(t, feedtreeNodes)
		networks = append(networks, s)
	}
	if late := time.Since(begun); late > *feedtreeFor/2 {
		t.Fatalf("it took %s to start the nodes: give it more time", late)
	}
	<-time.After(time.Until(begun.Add(*feedtreeFor / 2)))
	before := make(map[*node]count)
	for _, s := range networks {
		for _, n := range s.nodes[1:] {
			before[n] = n.counted(t)
		}
	}
	<-time.After(time.Until(begun.Add(*feedtreeFor)))
	t.Log(machineLoad(t))
	t.Logf("%8s %14s %12s %10s %12s", "period", "delivered/min", "cpu ms/min", "calls/min", "bytes/min")
	for _, s := range networks {
		var cpu, calls, bytes, delivered mean
		for _, n := range s.nodes[1:] {
			c := n.counted(t).since(before[n])
			cpu.add(c.cpu * 1000)
			calls.add(c.calls)
			bytes.add(c.bytes)
			delivered.add(c.delivered)
		}
		t.Logf("%8s %14.1f %12.0f %10.1f %12.0f", s.period, delivered.value(), cpu.value(), calls.value(),
			bytes.value())
		if s.period > 0 && delivered.sum == 0 {
			t.Errorf("neighbors brought nothing of what comes out every %s", s.period)
		}
	}
}

// Of growth: up to how many nodes, how often an entry comes out, and how many times as much traffic the first node may
// have among the most of them as among sixteen, which are more than it has for neighbors.
const (
	grownNodes  = 64
	grownPeriod = 5 * time.Second
	mostGrowth  = 1.5
)

// TestGrowthOfProcesses measures the traffic of the first node of a network that doubles, up to sixty-four nodes that
// follow the same feed, each a process (FeedTree, Figure 5.6). It does so in the latter half of each size's time.
func TestGrowthOfProcesses(t *testing.T) {
	if *growthFor <= 0 {
		t.Skip("it measures in real time: make processes")
	}
	p, begun := startPublisher(t), time.Now()
	s := newSteady(t, p, grownPeriod, begun.Add(*growthFor))
	const sizes = 7 // 1 to 64
	var among16, among64 count
	t.Logf("%6s %10s %12s %12s", "nodes", "calls/min", "bytes/min", "cpu ms/min")
	for i := range sizes {
		stage := *growthFor / sizes
		s.grow(t, grownNodes>>(sizes-1-i))
		middle := begun.Add(stage*time.Duration(i) + stage/2)
		if time.Now().After(middle) {
			t.Fatalf("it took too long to start %d nodes: give it more time", len(s.nodes))
		}
		<-time.After(time.Until(middle))
		before := s.nodes[0].counted(t)
		<-time.After(time.Until(begun.Add(stage * time.Duration(i+1))))
		c := s.nodes[0].counted(t).since(before)
		t.Logf("%6d %10.1f %12.0f %12.0f", len(s.nodes), c.calls, c.bytes, c.cpu*1000)
		switch len(s.nodes) {
		case 16:
			among16 = c
		case grownNodes:
			among64 = c
		}
	}
	t.Log(machineLoad(t))
	if among64.calls > mostGrowth*among16.calls || among64.bytes > mostGrowth*among16.bytes {
		t.Errorf("among 64 the first node makes and answers %.1f calls a minute of %.0f bytes, among 16 %.1f of %.0f",
			among64.calls, among64.bytes, among16.calls, among16.bytes)
	}
}
