package experiment

import (
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

const (
	// baits is how many addresses that are no feeds are advertised in all, and baitsEach how many of them are at a
	// host.
	baits, baitsEach = 10_000, 4
	// volunteered is how many feeds a node polls for others as documents suggest.
	volunteered = 200
	// baitShare is the share of nodes that advertise them.
	baitShare = .1
)

// baiting is row 17. Nobody has a feed at the addresses, each of which answers "not found".
func (t *trial) baiting() (string, bool) {
	type visit struct {
		by   protocol.NodeID
		host string
	}
	list := baitAddresses()
	c := t.with(kind{}, baitShare)
	c.Length *= 3
	bad := c.Bad
	turn := 0
	c.Kind = kind{act: func(_ int, n *node.Node, _ *rand.Rand) actor.Participant {
		each := len(list) / bad
		turn++
		return actor.Baiter(n, list[(turn-1)*each:turn*each])
	}}
	c.Tune = func(_ int, _ class, m *lab.MemberConfig) { m.Node.Volunteer = volunteered }
	is := make(map[feed.URL]bool)
	for _, u := range list {
		is[u] = true
	}
	asked, most, busiest := 0, 0, 0
	visits, each := make(map[visit]int), make(map[protocol.NodeID]int)
	c.Watch = func(i int, isBad bool) watch {
		by := publicAddress(i)
		return func(_ time.Time, _ node.Event, effects []node.Effect) {
			for _, e := range effects {
				if f, ok := e.(node.Fetch); ok && is[f.Feed] {
					asked++
					to := visit{by, f.Feed.Host()}
					visits[to]++
					each[by]++
					most, busiest = max(most, visits[to]), max(busiest, each[by])
				}
			}
		}
	}
	t.play(c, nil)
	days := int(c.Length/(24*time.Hour)) + 1
	return fmt.Sprintf("%d requests by %d nodes in %s h, at most %d by one, and %d by one at a host", asked, len(each),
		report.Hours(c.Length), busiest, most), asked > 0 && most == 1 && busiest <= 4*days
}

// baitAddresses are addresses of public hosts that publish no feed.
func baitAddresses() (list []feed.URL) {
	for i := range baits {
		list = append(list, feed.URL(fmt.Sprintf("https://victim%d.example.net/page/%d", i/baitsEach, i%baitsEach)))
	}
	return list
}
