package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"feedex/lab/trace"
)

var coronaFor = flag.Duration("corona", 0, "how long TestSixtyProcesses takes, four intervals between polls, such as "+
	"2h; 0 leaves it out")

// The deployment of Corona (§5.2) has as many nodes and ten times as many channels and subscriptions, and polls every
// half hour.
const (
	deployedNodes         = 60
	deployedChannels      = 750
	deployedSubscriptions = 15_000
	deployedEvery         = 30 * time.Minute
	// latest is how much later than by polls at even distances, half of one on average, updates may be detected.
	latest = 1.25
	// leastCame is how much of what comes out is to come, so that the figures are of nearly all.
	leastCame = .98
)

// TestSixtyProcesses measures how soon sixty nodes, each a process of its own, detect updates of what they follow, and
// the load at the publisher (Corona, Figures 9 and 10). They poll each feed every quarter of the time, as legacy RSS
// would, so that the load is that of legacy RSS. They start one after another in the first eighth of the time; what
// comes out in its third quarter counts. The last is there for all to poll once more: what legacy RSS would have
// detected with the same polls goes by that. Channels change as often, between two polls, as those of Corona.
func TestSixtyProcesses(t *testing.T) {
	if *coronaFor <= 0 {
		t.Skip("it measures in real time: make processes")
	}
	every := *coronaFor / 4
	p, d := startPublisher(t), &deployment{begun: time.Now(), every: every}
	feeds := trace.Surveyed(1, deployedChannels, deployedEvery*4)
	for i, f := range feeds.Feeds {
		out := &published{title: f.Name, window: f.Window}
		for _, at := range f.Times {
			since := time.Unix(at, 0).Sub(feeds.From)
			since = time.Duration(float64(since) * float64(every) / float64(deployedEvery))
			out.entries = append(out.entries, item{fmt.Sprintf("No. %d", len(out.entries)),
				d.begun.Add(since).Truncate(time.Second)})
		}
		p.feeds[channel(i)] = out
	}
	d.start(t, p)
	d.watch(t)
	p.keepLog(t, "out/corona.log")
	d.measure(t, p)
}

// A deployment is a network whose nodes follow channels by their popularity.
type deployment struct {
	begun     time.Time
	every     time.Duration // between polls
	nodes     []*node
	follows   [][]int // channels, by node
	followers [deployedChannels]int
}

// channel is the path of a channel, 0 being the most popular.
func channel(i int) string { return fmt.Sprintf("/channel/%d.xml", i) }

// start starts the nodes. Each calls itself by its number where it polls.
func (d *deployment) start(t *testing.T, p *publisher) {
	t.Helper()
	tracker, r := startTracker(t), rand.New(rand.NewPCG(1, 2))
	for i := range deployedNodes {
		list := trace.DrawByRank(r, deployedChannels, deployedSubscriptions/deployedNodes)
		var urls []string
		for _, c := range list {
			d.followers[c]++
			urls = append(urls, strconv.Quote(p.server.URL+channel(c)))
		}
		d.follows = append(d.follows, list)
		config := fmt.Sprintf("about = \"https://example.com/node/%d\"\nsubscribe = [%s]\n"+
			"[polling]\npolicy = \"fixed\"\ninterval = \"%ds\"\n", i, strings.Join(urls, ", "), int(d.every.Seconds()))
		d.nodes = append(d.nodes, startNode(t, t.TempDir(), configured(t, tracker, config)...))
		<-time.After(time.Until(d.begun.Add(d.every / 2 * time.Duration(i+1) / deployedNodes)))
	}
}

// watch waits until the end, and logs what the machine bears meanwhile.
func (d *deployment) watch(t *testing.T) {
	t.Helper()
	const times = 6
	for i := range times {
		before := spentBy(t, d.nodes)
		from := time.Now()
		<-time.After(time.Until(d.begun.Add(d.every/2 + d.every*7/2*time.Duration(i+1)/times)))
		t.Logf("%4.0f min: %.2f processors busy with the nodes, which hold %d MB; %s",
			time.Since(d.begun).Minutes(), (spentBy(t, d.nodes)-before).Seconds()/time.Since(from).Seconds(),
			held(t, d.nodes)>>20, machineLoad(t))
	}
}

// measure logs the figures, and fails where updates were detected late.
func (d *deployment) measure(t *testing.T, p *publisher) {
	t.Helper()
	from, to := d.begun.Add(2*d.every), d.begun.Add(3*d.every)
	polls := d.polls(p)
	var feedex, alone, even mean
	late, came, due, updates := 0, 0, 0, make(map[string]bool)
	for i, n := range d.nodes {
		type detected struct{ feedex, alone mean }
		byChannel := make(map[string]*detected)
		for _, e := range n.archived(t) {
			if !e.Published.After(from) || e.Published.After(to) {
				continue
			}
			at, err := url.Parse(string(e.Feed))
			if err != nil {
				t.Fatal(err)
			}
			own := polls[i][at.Path]
			if own == nil { // which is passed on to others, and not followed
				continue
			}
			next, _ := slices.BinarySearchFunc(own, e.Published, time.Time.Compare)
			if next == len(own) {
				late++
				continue
			}
			if byChannel[at.Path] == nil {
				byChannel[at.Path] = new(detected)
			}
			came++
			updates[e.ID] = true
			byChannel[at.Path].feedex.add(e.Seen.Sub(e.Published).Seconds())
			byChannel[at.Path].alone.add(own[next].Sub(e.Published).Seconds())
		}
		for _, c := range d.follows[i] {
			for _, e := range p.feeds[channel(c)].entries {
				if e.at.After(from) && !e.at.After(to) {
					due++
				}
			}
			if m := byChannel[channel(c)]; m != nil {
				feedex.add(m.feedex.value())
				alone.add(m.alone.value())
				even.add(d.every.Seconds() / 2 / float64(d.followers[c]))
			}
		}
	}
	t.Logf("%d nodes, %d channels, %d subscriptions, polls every %s; %d updates at %.0f subscriptions count; %d of "+
		"%d came, and %d more that the node had not polled after", deployedNodes, deployedChannels,
		deployedSubscriptions, d.every, len(updates), feedex.n, came, due, late)
	t.Logf("detection time: feedex %.1f s, the same polls alone %.1f s, even polls in turn %.1f s", feedex.value(),
		alone.value(), even.value())
	var load [16]int
	for _, byPath := range polls {
		for _, times := range byPath {
			for _, at := range times {
				if i := int(at.Sub(d.begun) / (d.every / 4)); i < len(load) {
					load[i]++
				}
			}
		}
	}
	for i, asked := range load {
		t.Logf("%5.1f min: %6.1f polls a minute; legacy RSS %.1f", (d.every / 4 * time.Duration(i+1)).Minutes(),
			float64(asked)/(d.every/4).Minutes(), deployedSubscriptions/d.every.Minutes())
	}
	if float64(came+late) < leastCame*float64(due) {
		t.Errorf("%d of %d updates came", came+late, due)
	}
	if !(feedex.value() <= latest*even.value()) {
		t.Errorf("updates are detected %.2f times as late as by even polls in turn, want %v at most",
			feedex.value()/even.value(), latest)
	}
}

// polls are when each node asked for each channel.
func (d *deployment) polls(p *publisher) []map[string][]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	who := regexp.MustCompile(`example\.com/node/(\d+)`)
	byNode := make([]map[string][]time.Time, len(d.nodes))
	for i := range byNode {
		byNode[i] = make(map[string][]time.Time)
	}
	for _, r := range p.log {
		if m := who.FindStringSubmatch(r.agent); m != nil {
			i, _ := strconv.Atoi(m[1])
			byNode[i][r.path] = append(byNode[i][r.path], r.at)
		}
	}
	return byNode
}
