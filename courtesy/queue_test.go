package courtesy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/grade"
)

// hub is where redirects lead in these tests.
const hub = "feeds.example.net"

// newHosts returns hosts of which those below 192.168 are private.
func newHosts() *HostQueues {
	private := func(u feed.URL) bool { return strings.HasPrefix(u.Host(), "192.168.") }
	return NewHostQueues(rand.New(rand.NewPCG(1, 2)), private)
}

// visitors are so many feeds of a host.
func (t *HostQueues) visitors(host string, feeds int) (list []*QueuedFeed) {
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("https://%s/%d", host, i))
		list = append(list, t.Add(u, u, ""))
	}
	return list
}

// enter has feeds wait for their turns.
func (t *HostQueues) enter(list ...*QueuedFeed) {
	for _, v := range list {
		t.Enter(v)
	}
}

// serve gives out all turns of a host that come until the end, each of which takes a second, and returns when the
// polls began. They are answered as answer says.
func (t *HostQueues) serve(h *HostQueue, now, end time.Time, answer func(v *QueuedFeed) Outcome) (begun []time.Time) {
	for now.Before(end) {
		switch v, at := t.Next(now, h); {
		case v == nil && at.IsZero():
			return begun
		case v == nil:
			now = at
		case at.After(now):
			t.Enter(v)
			now = at
		default:
			begun = append(begun, now)
			now = now.Add(time.Second)
			t.Polled(now, v, answer(v), PastPolls{Shown: true})
			t.End(v.Feed)
		}
	}
	return begun
}

func good(*QueuedFeed) Outcome { return Outcome{Status: 200} }

// Feeds of a host are polled one after another, in the order in which they came, and no faster than its budget.
func TestTurns(t *testing.T) {
	hosts := newHosts()
	list := hosts.visitors("news.example.com", 8)
	hosts.enter(list...)
	h := list[0].at
	first, _ := hosts.Next(epoch, h)
	if first != list[0] || first.Waiting() || !list[1].Waiting() {
		t.Fatalf("the first turn is that of %s", first.Feed)
	}
	if v, at := hosts.Next(epoch.Add(time.Hour), h); v != nil || !at.IsZero() {
		t.Errorf("%s has its turn while another is polled", v.Feed)
	}
	hosts.Leave(list[1])
	if hosts.End(first.Feed) != h || hosts.End(first.Feed) != nil {
		t.Error("the host is not free after that")
	}
	var order []feed.URL
	begun := hosts.serve(h, epoch.Add(time.Second), epoch.Add(time.Hour), func(v *QueuedFeed) Outcome {
		order = append(order, v.Feed)
		return good(v)
	})
	if len(order) != 6 || !slices.IsSorted(order) || order[0] != list[2].Feed {
		t.Errorf("turns are given to %v", order)
	}
	if pause := begun[4].Sub(begun[3]); pause <= time.Second || begun[3].Sub(epoch) > Burst*time.Second {
		t.Errorf("after a burst of %d the next request comes %v later", Burst, pause)
	}
}

// Hosts that are not public are asked for one feed after another, and for no rest.
func TestPrivateHostsAreLetBe(t *testing.T) {
	hosts := newHosts()
	list := hosts.visitors("192.168.1.7", 30)
	hosts.enter(list...)
	begun := hosts.serve(list[0].at, epoch, epoch.Add(time.Hour), func(*QueuedFeed) Outcome {
		return Outcome{From: "192.168.1.7", Status: 429, RetryAfter: time.Hour}
	})
	if keep, _ := hosts.Changes(); len(begun) != 30 || begun[29].Sub(begun[0]) != 29*time.Second || len(keep) != 0 {
		t.Errorf("%d turns within %v, kept are %v", len(begun), begun[len(begun)-1].Sub(begun[0]), keep)
	}
	if v := list[0]; !v.Ready().IsZero() || !hosts.Until(v).IsZero() {
		t.Errorf("ready at %v, rests until %v", v.Ready(), hosts.Until(v))
	}
}

// For a turn somebody comes back once, at the earliest time that was said.
func TestAwait(t *testing.T) {
	hosts := newHosts()
	h := hosts.visitors("news.example.com", 1)[0].at
	soon, late := epoch.Add(time.Minute), epoch.Add(time.Hour)
	if h.Await(time.Time{}) || !h.Await(late) || h.Await(late) || !h.Await(soon) || h.Await(late) {
		t.Error("comes back for what it need not, or not for what it must")
	}
	if h.Awaited(late) || !h.Awaited(soon) || h.Awaited(soon) || !h.Await(late) {
		t.Error("comes back twice, or not at the earlier time")
	}
}

// Feeds of many hosts that redirect to one share its budget, and its refusals.
func TestRedirectsShareAHost(t *testing.T) {
	hosts := newHosts()
	var list []*QueuedFeed
	for i := range Burst + 2 {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/", i))
		list = append(list, hosts.Add(u, u, hub))
	}
	var later []time.Duration
	for _, v := range list {
		hosts.Enter(v)
		got, at := hosts.Next(epoch, v.at)
		if got != v {
			t.Fatalf("%s has no turn at its own host", v.Feed)
		}
		later = append(later, at.Sub(epoch))
	}
	if later[Burst-1] != 0 || later[Burst] != FirstGap || later[Burst+1] != 2*FirstGap {
		t.Errorf("turns are in %v", later)
	}
	hosts.Polled(epoch, list[0], Outcome{From: hub, Status: 429, RetryAfter: time.Hour}, PastPolls{Shown: true})
	v := list[Burst]
	hosts.Enter(v)
	_, at := hosts.Next(epoch.Add(FirstGap), v.at)
	if at.Sub(epoch) < time.Hour || hosts.Until(v).Sub(epoch) < time.Hour {
		t.Errorf("what the host refused to one it allows to another after %v", at.Sub(epoch))
	}
}

// What a host refuses to who is led there costs its own feeds nothing, however often that is; and a 403 costs nobody
// else who is led there anything.
func TestARedirectSilencesNobody(t *testing.T) {
	for _, test := range []struct {
		answer Outcome
		others bool // who are led there wait
	}{
		{Outcome{Status: 403}, false}, {Outcome{Status: 429}, true},
		{Outcome{Status: 503, RetryAfter: time.Hour}, true},
	} {
		hosts := newHosts()
		own := hosts.visitors(hub, 1)[0]
		led, other := hosts.Add("https://led.example/", "https://led.example/", ""),
			hosts.Add("https://other.example/", "https://other.example/", hub)
		now := epoch
		for range 20 {
			now = now.Add(time.Hour)
			hosts.Polled(now, led, Outcome{From: "led.example", Status: 200}, PastPolls{Shown: true})
			test.answer.From, test.answer.Failed = hub, true
			hosts.Polled(now, led, test.answer, PastPolls{Shown: true})
			hosts.Polled(now, own, Outcome{From: hub, Status: 200}, PastPolls{Shown: true})
			if hosts.Until(own).After(now) {
				t.Fatalf("%d: the host's own feed rests until %v", test.answer.Status, hosts.Until(own))
			}
		}
		if waits := hosts.Until(other).After(now); waits != test.others || own.at.Gap > FirstGap {
			t.Errorf("%d: another that leads there waits until %v; the host's own every %v", test.answer.Status,
				hosts.Until(other), own.at.Gap)
		}
		if keep, _ := hosts.Changes(); slices.ContainsFunc(keep, func(k KnownHost) bool { return k.Name == hub }) {
			t.Errorf("%d: %+v is kept", test.answer.Status, keep)
		}
	}
}

// What a host refuses to its own feeds, and to the owner, it refuses to those who are led there.
func TestWhoIsLedToAHostHeedsIt(t *testing.T) {
	const page = "https://" + hub + "/page/2"
	for name, tell := range map[string]func(*HostQueues, Outcome){
		"its own feed": func(h *HostQueues, a Outcome) {
			h.Polled(epoch, h.visitors(hub, 1)[0], a, PastPolls{Shown: true})
		},
		"the owner": func(h *HostQueues, a Outcome) { h.OwnerFetched(epoch, a) },
		"a feed": func(h *HostQueues, a Outcome) {
			h.Polled(epoch, h.Add("https://b.example/", "https://b.example/", hub), a, PastPolls{})
		},
	} {
		hosts := newHosts()
		led := hosts.Add("https://a.example/", "https://a.example/", hub)
		tell(hosts, Outcome{From: hub, Status: 429, RetryAfter: time.Hour, Failed: true})
		hosts.Enter(led)
		if _, at := hosts.Next(epoch, led.at); at.Sub(epoch) < time.Hour || hosts.Until(led).Sub(epoch) < time.Hour {
			t.Errorf("refused to %s: it is asked after %v", name, at.Sub(epoch))
		}
		if _, ok := hosts.Request(epoch, page); ok || hosts.Rests(epoch, page).Sub(epoch) < time.Hour {
			t.Errorf("refused to %s: the owner asks", name)
		}
	}
}

// Those who are led to a host that refused its own feed do not all come in the moment in which its rest is over.
func TestWhoIsLedToAHostComesApart(t *testing.T) {
	hosts := newHosts()
	hosts.Polled(epoch, hosts.visitors(hub, 1)[0], Outcome{From: hub, Status: 429, RetryAfter: time.Hour, Failed: true},
		PastPolls{Shown: true})
	moments := make(map[time.Time]int)
	for i := range 40 {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/", i))
		v := hosts.Add(u, u, hub)
		hosts.Enter(v)
		_, at := hosts.Next(epoch, v.at)
		if moments[at]++; moments[at] > Burst || at.Sub(epoch) < time.Hour {
			t.Fatalf("%d come after %v", moments[at], at.Sub(epoch))
		}
	}
}

// A redirect to a host without a name, and a page of the owner's that leads to a host, teach nothing about any.
func TestRedirectsThatTeachNothing(t *testing.T) {
	hosts := newHosts()
	v := hosts.visitors("news.example.com", 1)[0]
	own := hosts.visitors(hub, 1)[0]
	hosts.Polled(epoch, v, Outcome{Failed: true, Requests: []grade.Request{{URL: "https://news.example.com/0"},
		{URL: "http://./"}}}, PastPolls{})
	hosts.OwnerFetched(epoch, Outcome{From: hub, Status: 429, RetryAfter: time.Hour,
		Requests: []grade.Request{{URL: "https://news.example.com/a.png"}, {URL: "https://" + hub + "/b.png"}}})
	if v.Lands() != "" || hosts.Until(own).After(epoch) {
		t.Errorf("it leads to %q, the host rests until %v", v.Lands(), hosts.Until(own))
	}
}

// What was kept of a host before those who are led there were told apart holds for them; one that is asked for at that
// host from now on is its own.
func TestWhoIsLedToAHostAfterARestart(t *testing.T) {
	hosts := newHosts()
	led := hosts.Add("https://a.example/", "https://a.example/", hub)
	hosts.Recall(epoch, []KnownHost{{hub, Budget{Gap: time.Minute, Until: epoch.Add(time.Hour)}}})
	keep, drop := hosts.Changes()
	if len(keep) != 1 || keep[0].Name != ledMark+hub || !slices.Equal(drop, []string{hub}) ||
		hosts.Until(led).Sub(epoch) != time.Hour {
		t.Errorf("it rests until %v; kept are %+v in place of %v", hosts.Until(led), keep, drop)
	}
	hosts = newHosts()
	led = hosts.Add("https://a.example/", "https://a.example/", hub)
	hosts.Recall(epoch, []KnownHost{{ledMark + hub, Budget{Gap: time.Minute, Until: epoch.Add(time.Hour)}},
		{hub, Budget{Gap: FirstGap + time.Second}}})
	if hosts.Until(led).Sub(epoch) != time.Hour || led.lands.Gap != time.Minute {
		t.Errorf("beside what was known of the host's own feeds it rests until %v", hosts.Until(led))
	}
	hosts.Sent(led, "https://"+hub+"/a")
	hosts.Polled(epoch, led, Outcome{From: hub, Status: 429, RetryAfter: 2 * time.Hour, Failed: true}, PastPolls{})
	if own := hosts.visitors(hub, 1)[0]; led.Lands() != "" || hosts.Until(own).Sub(epoch) < 2*time.Hour {
		t.Errorf("it leads to %q, and another rests until %v", led.Lands(), hosts.Until(own))
	}
}

// A request of a redirect that nobody knew of counts at its host.
func TestRedirectsAreCounted(t *testing.T) {
	for _, test := range []struct {
		name, lands string
		there       string // where the redirect leads
		want        int    // requests counted there
	}{
		{"within the host", "", "news.example.com", 2},
		{"to a host that was known to come", hub, hub, 1},
		{"to one that was not", "", hub, 1},
	} {
		hosts := newHosts()
		u := feed.URL("https://news.example.com/")
		v := hosts.Add(u, u, test.lands)
		hosts.Enter(v)
		hosts.Next(epoch, v.at)
		requests := []grade.Request{{URL: string(u)}, {URL: "https://" + test.there + "/"}}
		hosts.Polled(epoch, v, Outcome{From: test.there, Status: 304, Requests: requests}, PastPolls{Shown: true})
		there := v.lands
		if there == nil {
			there = v.at
		}
		if got := there.Spent.Sub(epoch); got != time.Duration(test.want)*FirstGap {
			t.Errorf("%s: a poll of two requests keeps the budget busy for %v", test.name, got)
		}
	}
}

// A publisher that redirects to another host each time does not fill our memory.
func TestRedirectsToEverOtherHosts(t *testing.T) {
	hosts := newHosts()
	u := feed.URL("https://news.example.com/")
	v := hosts.Add(u, u, "")
	for i := range 100 {
		hosts.Polled(epoch, v, Outcome{From: fmt.Sprintf("host%d.example.com", i), Status: 200}, PastPolls{})
	}
	if n := len(hosts.named); n != 2 || v.Lands() != "host99.example.com" {
		t.Errorf("%d hosts are known, the last is %s", n, v.Lands())
	}
	hosts.Polled(epoch, v, Outcome{Status: 0, Failed: true}, PastPolls{})
	if v.Lands() == "" {
		t.Error("nobody answered, and it counts as no redirect")
	}
	hosts.Polled(epoch, v, Outcome{From: "news.example.com", Status: 200}, PastPolls{})
	if n := len(hosts.named); n != 1 || v.Lands() != "" {
		t.Errorf("after it stopped %d hosts are known, and it leads to %q", n, v.Lands())
	}
}

// Requests that the owner asks of a publisher count like polls, and wait like them where the host wants that.
func TestTheOwnersRequestsTakeTurns(t *testing.T) {
	hosts := newHosts()
	v := hosts.visitors("news.example.com", 1)[0]
	const page = "https://news.example.com/?page=2"
	for i := range Burst {
		if at, ok := hosts.Request(epoch, page); !ok || !at.Equal(epoch) {
			t.Errorf("turn %d is at %v, %v, want at once", i+1, at, ok)
		}
	}
	if at, ok := hosts.Request(epoch, page); !ok || at.Sub(epoch) != FirstGap || !v.Ready().After(epoch) {
		t.Errorf("the next turn is in %v, %v; that of polls in %v", at.Sub(epoch), ok, v.Ready().Sub(epoch))
	}
	hosts.OwnerFetched(epoch, Outcome{From: "news.example.com", Status: 429, RetryAfter: time.Hour})
	if at, ok := hosts.Request(epoch, page); ok || at.Sub(epoch) < time.Hour {
		t.Errorf("a host that wants an hour's rest is asked in %v, %v", at.Sub(epoch), ok)
	}
	if until := hosts.Rests(epoch, page); until.Sub(epoch) < time.Hour || !hosts.Rests(until, page).IsZero() ||
		!hosts.Rests(epoch, "https://nobody.example.org/").IsZero() {
		t.Errorf("it rests until %v", until)
	}
	if at, ok := hosts.Request(epoch, "https://nobody.example.org/"); !ok || !at.Equal(epoch) {
		t.Errorf("a host without feeds is asked in %v, %v", at.Sub(epoch), ok)
	}
}
