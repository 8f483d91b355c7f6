//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/reading"
	"feedex/search"
	"feedex/transport"
	"feedex/xmlrpc"
)

// BenchmarkSteps has neighbors, publishers and time do their worst within the limits of the wire, and measures how much
// processor time the loop takes for a step: to give a batch of events to the node, and to write what comes of it. No
// step is to take more than 50 ms. Work that the loop leaves to others is measured beside it: how long one of their
// steps keeps the loop from writing at most. TMPDIR is best on a disk without syncs, /dev/shm, for the figures are of
// the processor.
func BenchmarkSteps(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it collects between steps
	for _, s := range []struct {
		name string
		run  func(x *bench)
	}{
		{"bundles", (*bench).bundles}, {"batches", (*bench).batches}, {"housekeeping", (*bench).housekeepingSteps},
		{"subsets", (*bench).subsets},
		{"revisions", (*bench).revisions}, {"answers", (*bench).answers}, {"polls", (*bench).polls},
		{"accounts", (*bench).accounts},
		{"start", (*bench).starts},
	} {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				x := &bench{b: b, worst: make(map[string]time.Duration), count: make(map[string]int)}
				x.open(node.Config{Incentive: incentive.Config{Rules: incentive.Altered(func(r *incentive.Rules) {
					r.StoresAll = func(incentive.Holder) bool { return true }
				})}})
				s.run(x)
				x.close()
				x.report()
			}
		})
	}
}

// aStart is to make a node of what is kept.
const aStart = "a start"

// A bench is a loop that is turned by hand, on an archive on disk.
type bench struct {
	*host
	b           *testing.B
	data        string
	store       reading.Database
	housekeeper archive.Housekeeper
	fetch       func(node.Fetch) node.Fetched // nil where no publisher answers
	worst       map[string]time.Duration
	count       map[string]int
	names       []string
}

// Fetch implements fetcher.
func (x *bench) Fetch(ctx context.Context, f node.Fetch) node.Fetched {
	if x.fetch == nil {
		return unreachable{}.Fetch(ctx, f)
	}
	return x.fetch(f)
}

// open makes the loop, with a neighbor and a feed that it follows.
func (x *bench) open(c node.Config) {
	if x.data == "" {
		x.data = x.b.TempDir()
	}
	c.AllowLocal, c.Secret, c.Policy = true, make([]byte, 32), polling.Fixed{Every: 24 * time.Hour}
	var err error
	if x.store, err = ondisk.Open(x.b.Context(), DatabasePath(x.data)); err != nil {
		x.b.Fatal(err)
	}
	if x.housekeeper, err = x.store.Housekeeper(); err != nil {
		x.b.Fatal(err)
	}
	x.host = newHost(Config{Data: x.data, Node: c}.withDefaults(), x.store, x.housekeeper, peers(friendly), x)
	x.measure(aStart, func() {
		if err := x.revive(); err != nil {
			x.b.Fatal(err)
		}
	})
	x.turn(arrival{event: node.Subscribe{Feeds: []feed.URL{exampleFeed}}})
	x.runUntilIdle()
	x.call("connect", peerID(1), protocol.Connect{Subset: protocol.Subset{{Feed: exampleFeed}}})
	x.runUntilIdle()
}

func (x *bench) close() {
	x.workers.Wait()
	if err := errors.Join(x.housekeeper.Close(), x.store.Close()); err != nil {
		x.b.Fatal(err)
	}
}

// measure takes the processor time of what f does, in whatever threads. The log is brought into the file before, as the
// housekeeping does beside the loop.
func (x *bench) measure(name string, f func()) {
	if err := x.housekeeper.Log(x.b.Context()); err != nil {
		x.b.Fatal(err)
	}
	runtime.GC()
	before := busy(x.b)
	f()
	took := busy(x.b) - before
	if x.count[name]++; x.count[name] == 1 {
		x.names = append(x.names, name)
	}
	x.worst[name] = max(x.worst[name], took)
}

// report says how long each kind of step took at most, and the worst of all.
func (x *bench) report() {
	worst := time.Duration(0)
	for _, name := range x.names {
		x.b.Logf("%-60s %5d steps, at most %6.1f ms", name, x.count[name], x.worst[name].Seconds()*1000)
		if name != aStart { // when nobody can be waiting
			worst = max(worst, x.worst[name])
		}
	}
	x.b.ReportMetric(worst.Seconds()*1000, "ms/worst-step")
}

// turn gives events to the node as the loop does, and turns what is to be done into events.
func (x *bench) turn(batch ...arrival) {
	for len(batch) > 0 {
		for _, a := range batch {
			x.events <- a
		}
		batch = nil
		for len(x.events) > 0 {
			x.step(x.b.Context(), nil, x.drain([]arrival{<-x.events}))
		}
	}
}

// runUntilIdle has the node do what it has to do now.
func (x *bench) runUntilIdle() {
	for range 100 {
		x.workers.Wait()
		if len(x.events) == 0 {
			if due := x.node.Next(); due.IsZero() || due.After(x.clock.now(time.Now())) {
				return
			}
			x.turn(arrival{event: node.Wake{}})
			continue
		}
		x.turn()
		for len(x.events) > 0 {
			x.step(x.b.Context(), nil, x.drain([]arrival{<-x.events}))
		}
	}
}

// pass lets time pass.
func (x *bench) pass(d time.Duration) {
	x.clock.told, x.clock.read = x.clock.now(time.Now()).Add(d), time.Now()
	x.runUntilIdle()
}

// call has a neighbor make a call, and measures the step in which it comes.
func (x *bench) call(name string, from protocol.NodeID, c protocol.Call) transport.Response {
	body := protocol.EncodeCall(nil, from.Port(), c)
	raw, err := xmlrpc.DecodeCall(body, protocol.CallLimits(c.Method()))
	if err != nil {
		x.b.Fatal(err)
	}
	_, call, err := protocol.DecodeCall(raw)
	if err != nil {
		x.b.Fatal(err)
	}
	put, isPut := call.(protocol.PutEntries)
	if isPut {
		_ = put.Bundle.Verify() // as serve does, beside the loop
		x.pass(time.Minute)     // what a neighbor may send within one is bounded
	}
	reply := make(chan transport.Response, 1)
	a := arrival{event: node.Asked{From: from, Session: "its token", Call: call}, reply: reply}
	x.measure(name, func() { x.step(x.b.Context(), nil, []arrival{a}) })
	for range 100 {
		select {
		case r := <-reply:
			if isPut && r.Fault != nil {
				x.b.Fatalf("%s: it is refused: %v", name, r.Fault)
			}
			return r
		default:
			x.runUntilIdle()
		}
	}
	x.b.Fatalf("%s was not answered", c.Method())
	return transport.Response{}
}

// hostileText is text of the kinds that take longest.
func hostileText(r *rand.Rand, kind string, bytes int) string {
	var b strings.Builder
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for b.Len() < bytes {
		switch kind {
		case "a":
			b.WriteString("a ")
		case "letters":
			b.WriteByte(letters[r.IntN(26)])
			b.WriteByte(' ')
		case "three letters":
			for range 3 {
				b.WriteByte(letters[r.IntN(26)])
			}
			b.WriteByte(' ')
		case "words":
			for range 4 + r.IntN(6) {
				b.WriteByte(letters[r.IntN(26)])
			}
			b.WriteByte(' ')
		case "tags":
			b.WriteString("<b><i></b>x</i><p>")
		case "Han":
			b.WriteRune(rune(0x4e00 + r.IntN(20_000)))
			b.WriteRune(rune(0x4e00 + r.IntN(20_000)))
			b.WriteByte(' ')
		}
	}
	return strings.ToValidUTF8(b.String()[:bytes], "")
}

var hostileKinds = []string{"a", "letters", "three letters", "words", "tags", "Han"}

func hostileBundle(r *rand.Rand, u feed.URL, kind string, entries, bytes int) *protocol.Bundle {
	var list []feed.Entry
	for range entries {
		list = append(list, feed.Entry{Feed: u, ID: fmt.Sprint(r.Uint64()), Title: "t",
			Published: time.Now().Add(-time.Minute).Truncate(time.Second).UTC(), Summary: hostileText(r, kind, bytes)})
	}
	b := protocol.NewBundle(u, list)
	b.Path = []protocol.NodeID{peerID(200)}
	return b
}

// bundles are as large as they may be, of entries of each size.
func (x *bench) bundles() {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kind := range hostileKinds {
		for _, c := range []struct{ entries, bytes int }{{3, 1 << 20}, {100, 36 << 10}, {100, 10}} {
			if kind == "tags" {
				c.bytes /= 4 // the wire takes more
			}
			for range 4 {
				x.call(fmt.Sprintf("a bundle of %d entries of %d bytes, %s", c.entries, c.bytes, kind), peerID(1),
					protocol.PutEntries{Bundle: hostileBundle(r, exampleFeed, kind, c.entries, c.bytes)})
			}
		}
	}
}

// batches measures events that wait for the loop together, as many calls as fit.
func (x *bench) batches() {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ count, entries, bytes int }{{300, 1, 10}, {40, 100, 10}, {20, 10, 30 << 10},
		{12, 1, 1 << 20}} {
		x.pass(time.Minute)
		for range c.count {
			b := hostileBundle(r, exampleFeed, "words", c.entries, c.bytes)
			_ = b.Verify()
			x.events <- arrival{event: node.Asked{From: peerID(1), Session: "its token",
				Call: protocol.PutEntries{Bundle: b}}, reply: make(chan transport.Response, 1)}
		}
		for len(x.events) > 0 {
			batch := x.drain([]arrival{<-x.events})
			x.measure(fmt.Sprintf("a batch of bundles of %d entries of %d bytes", c.entries, c.bytes),
				func() { x.step(x.b.Context(), nil, batch) })
		}
		x.runUntilIdle()
	}
	var dids []protocol.DID
	for range protocol.MaxDIDs {
		dids = append(dids, protocol.DID{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
	}
	for range 600 {
		x.events <- arrival{event: node.Asked{From: peerID(1), Session: "its token",
			Call: protocol.CheckDIDs{DIDs: dids}}, reply: make(chan transport.Response, 1)}
	}
	for len(x.events) > 0 {
		batch := x.drain([]arrival{<-x.events})
		x.measure("a batch of offers of 64 bundles", func() { x.step(x.b.Context(), nil, batch) })
	}
	x.runUntilIdle()
}

// housekeepingSteps are those of the housekeeping, after a flood: what one of them takes is for how long the loop may
// have to wait until it can write, if it wants to just then and the step does not notice that it is to end.
func (x *bench) housekeepingSteps() {
	ctx := x.b.Context()
	must := func(err error) {
		if err != nil {
			x.b.Fatal(err)
		}
	}
	for _, kind := range hostileKinds {
		r := rand.New(rand.NewPCG(1, 2))
		put := func(entries, bytes int) {
			if kind == "tags" {
				bytes /= 4 // the wire takes more
			}
			x.call("a bundle", peerID(1),
				protocol.PutEntries{Bundle: hostileBundle(r, exampleFeed, kind, entries, bytes)})
		}
		for range 6 {
			put(3, 1<<20)
			put(50, 60<<10)
			put(100, 3000)
			must(x.housekeeper.Log(ctx))
		}
		for more := true; more; {
			x.measure("a step of the index, "+kind, func() {
				var err error
				more, err = x.housekeeper.Index(ctx)
				must(err)
			})
			for parts := true; parts; {
				x.measure("a merge, "+kind, func() {
					var err error
					parts, err = x.housekeeper.Tidy(ctx)
					must(err)
				})
			}
		}
		ids, err := x.store.OverLimit(ctx, time.Now(), archive.Retention{All: archive.Limits{Count: 1}})
		must(err)
		for part := range slices.Chunk(ids, purgeStep) {
			x.measure("a purge, "+kind, func() {
				_, err := x.housekeeper.Purge(ctx, time.Now(), part)
				must(err)
			})
		}
		for left := 1; left > 0; {
			x.measure("giving room back", func() {
				left, err = x.housekeeper.Reclaim(ctx, reclaimStep)
				must(err)
			})
		}
	}
}

// subsets are as large as they may be, of ten neighbors.
func (x *bench) subsets() {
	const size = protocol.MaxSubset
	subset := func(neighbor, round int) (s protocol.Subset) {
		for i := range size {
			u := fmt.Sprintf("https://www.%d-%d-%d.example.com/a/rather/long/path/to/a/feed.xml", neighbor%5, round, i)
			s = append(s, protocol.Interest{Feed: feed.URL(u), Hops: i % 4})
		}
		return s
	}
	var id []protocol.NodeID
	for i := range 10 {
		id = append(id, peerID(i+2))
		x.call("a connect with 10,000 feeds", id[i],
			protocol.Connect{Subset: append(protocol.Subset{{Feed: exampleFeed}}, subset(i, 0)[1:]...)})
		x.runUntilIdle()
	}
	if n := x.node.Status().Neighbors; n < 5 {
		x.b.Fatalf("%d neighbors", n)
	}
	look := func(name string, f func()) {
		for range 3 {
			x.measure(name, f)
		}
	}
	for round := range 4 {
		for i := range id {
			changes := subset(i, round+1)
			if round%2 == 1 {
				changes = subset(i, round)
				for j := range changes {
					changes[j].Hops = -1
				}
			}
			x.call("an advert of 10,000 changes", id[i], protocol.UpdateSubset{Changes: changes})
		}
		look("status", func() { x.node.Status() })
		look("neighbors", func() { x.node.Neighbors() })
		look("feeds", func() { x.node.Feeds() })
	}
	for range 3 { // half an hour, in which it advertises and looks after its neighbors
		for end := x.clock.now(time.Now()).Add(10 * time.Minute); ; {
			due := x.node.Next()
			if due.IsZero() || due.After(end) {
				break
			}
			x.clock.told, x.clock.read = due, time.Now()
			x.measure("a wake, with 100,000 feeds of neighbors",
				func() { x.step(x.b.Context(), nil, []arrival{{event: node.Wake{}}}) })
			x.workers.Wait()
			for len(x.events) > 0 {
				x.step(x.b.Context(), nil, x.drain([]arrival{<-x.events}))
			}
		}
	}
	x.call("one more connect with 10,000 feeds", peerID(40), protocol.Connect{Subset: subset(3, 7)})
}

// revisions are bundles of which every entry is known, in another version.
func (x *bench) revisions() {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := hostileBundle(r, exampleFeed, "words", 100, 20)
		x.call("a bundle of 100 entries that claims are made of", peerID(1), protocol.PutEntries{Bundle: b})
		for i := range b.Entries {
			b.Entries[i].Title = "another"
		}
		again := protocol.NewBundle(exampleFeed, b.Entries)
		again.Path = []protocol.NodeID{peerID(201)}
		x.call("a bundle of 100 revisions", peerID(1), protocol.PutEntries{Bundle: again})
	}
}

// answers are those of holders and of neighbors, and what is served to them.
func (x *bench) answers() {
	r := rand.New(rand.NewPCG(1, 2))
	var wanted []protocol.Wanted
	for range 60 {
		b := hostileBundle(r, exampleFeed, "words", 2, 1<<20)
		x.call("a bundle", peerID(1), protocol.PutEntries{Bundle: b})
		for i := range b.Entries {
			wanted = append(wanted, protocol.Wanted{ID: b.Entries[i].EntryID()})
		}
	}
	for _, from := range []protocol.NodeID{peerID(1), peerID(90)} {
		reply := make(chan transport.Response, 1)
		x.turn(arrival{event: node.Asked{From: from, Session: "its token", Call: protocol.GetEntries{Wanted: wanted}},
			reply: reply})
		x.workers.Wait()
		for len(x.events) > 0 {
			batch := x.drain([]arrival{<-x.events})
			x.measure("entries of 1 MiB are served", func() { x.step(x.b.Context(), nil, batch) })
		}
		x.runUntilIdle()
	}
	reply := make(chan transport.Response, 1)
	x.turn(arrival{event: node.Asked{From: peerID(1), Session: "its token",
		Call: protocol.QueryFeed{Query: protocol.Query{
			ID: "q", Filter: feed.Filter{Feed: exampleFeed, Limit: protocol.MaxAnswerEntries},
		}}}, reply: reply})
	x.workers.Wait()
	for len(x.events) > 0 {
		batch := x.drain([]arrival{<-x.events})
		x.measure("a query finds entries of 1 MiB", func() { x.step(x.b.Context(), nil, batch) })
	}
	x.runUntilIdle()
	for _, c := range []struct{ entries, bytes int }{{3, 1 << 20}, {200, 15 << 10}} { // what a holder gives, 4 MiB
		given := hostileBundle(r, exampleFeed, "words", c.entries, c.bytes)
		var batch protocol.Batch
		var wishes []search.Wish
		for i := range given.Entries {
			e := given.Entries[i]
			batch.Entries = append(batch.Entries, protocol.Archived{Entry: e, Seen: time.Now().Add(-time.Hour)})
			wishes = append(wishes, search.Wish{Wanted: protocol.Wanted{ID: e.EntryID(), Digest: e.Digest()},
				Feed: e.Feed, Holders: []protocol.NodeID{peerID(91)}})
		}
		var once sync.Once
		x.client = peers(func(ctx context.Context, addr string, call protocol.Call) (reply protocol.Reply, err error) {
			if _, is := call.(protocol.GetEntries); is {
				once.Do(func() { reply = batch })
				if reply != nil {
					return reply, nil
				}
				return nil, errors.New("no more")
			}
			return friendly(ctx, addr, call)
		})
		x.turn(arrival{event: node.Pull{Tag: 1, Wishes: wishes}, heard: func(node.Effect) bool { return false }})
		x.workers.Wait()
		for len(x.events) > 0 {
			batch := x.drain([]arrival{<-x.events})
			x.measure(fmt.Sprintf("%d entries of %d bytes are downloaded", c.entries, c.bytes),
				func() { x.step(x.b.Context(), nil, batch) })
		}
		x.runUntilIdle()
	}
}

// polls bring documents as large as they may be.
func (x *bench) polls() {
	r := rand.New(rand.NewPCG(1, 2))
	for i, c := range []struct{ entries, bytes int }{{9, 1 << 20}, {90, 100 << 10}, {1000, 9 << 10}, {5000, 1500},
		{5000, 20}} {
		u := feed.URL(fmt.Sprintf("https://%d.example.com/feed", i))
		name := fmt.Sprintf("a portion of a document of %d entries of %d bytes", c.entries, c.bytes)
		for again := range 2 { // and every entry edited
			doc := &feed.Document{Title: "T"}
			for j := range c.entries {
				doc.Entries = append(doc.Entries, feed.Entry{Feed: u, ID: fmt.Sprint(j), Title: fmt.Sprint(again),
					Published: time.Now().Add(-time.Minute).Truncate(time.Second).UTC(),
					Content:   hostileText(r, "words", c.bytes)})
			}
			x.fetch = func(f node.Fetch) node.Fetched {
				if f.Feed == u {
					doc.Identities() // as fetch does
					return node.Fetched{Feed: u, Status: 200, Document: doc}
				}
				return node.Fetched{Feed: f.Feed, Status: 304}
			}
			if again == 0 {
				x.turn(arrival{event: node.Subscribe{Feeds: []feed.URL{u}}})
			}
			for range 20 {
				x.workers.Wait()
				done := false
				for len(x.events) > 0 {
					batch := x.drain([]arrival{<-x.events})
					fetched, is := batch[len(batch)-1].event.(node.Fetched)
					x.measure(name, func() { x.step(x.b.Context(), nil, batch) })
					done = done || is && fetched.Feed == u
				}
				due := x.node.Next()
				for begun := due; done && due.Sub(begun) < time.Second; due = x.node.Next() { // the other portions
					x.clock.told, x.clock.read = due, time.Now()
					x.measure(name, func() { x.step(x.b.Context(), nil, []arrival{{event: node.Wake{}}}) })
				}
				if done {
					break
				}
				x.clock.told, x.clock.read = due, time.Now()
				x.step(x.b.Context(), nil, []arrival{{event: node.Wake{}}})
			}
		}
	}
}

// accounts are as many as there may be, and all of them change.
func (x *bench) accounts() {
	text := func(i int) []byte {
		h := incentive.HolderOf(protocol.NewNodeID(netip.AddrFrom4([4]byte{20 + byte(i/65536), byte(i / 256),
			byte(i), 1}), 7790))
		a := incentive.Account{Holder: h, Given: 1000, Got: 1000, Since: time.Now().UTC(), Met: time.Now().UTC()}
		text, err := json.Marshal(a)
		if err != nil {
			x.b.Fatal(err)
		}
		return text
	}
	for i := range 10_000 {
		x.store.KeepAccount(archive.KeptAccount{Holder: fmt.Sprintf("%d.%d.%d.1", 20+i/65536, i/256%256, i%256),
			Text: text(i)})
	}
	if err := x.store.Commit(); err != nil {
		x.b.Fatal(err)
	}
	x.close()
	x.open(node.Config{})
	x.clock.told = x.clock.told.Add(48 * time.Hour) // the machine slept
	for range 40 {
		x.measure("a wake after a leap of the clock",
			func() { x.step(x.b.Context(), nil, []arrival{{event: node.Wake{}}}) })
		x.clock.told = x.clock.told.Add(10 * time.Second)
		x.workers.Wait()
		for len(x.events) > 0 {
			x.step(x.b.Context(), nil, x.drain([]arrival{<-x.events}))
		}
	}
}

// starts are with an archive in which the latest entries are large.
func (x *bench) starts() {
	r := rand.New(rand.NewPCG(1, 2))
	for range 130 {
		x.call("a bundle", peerID(1), protocol.PutEntries{Bundle: hostileBundle(r, exampleFeed, "words", 2, 1<<20)})
	}
	for range 20 {
		x.call("a bundle", peerID(1), protocol.PutEntries{Bundle: hostileBundle(r, exampleFeed, "words", 100, 3000)})
	}
	x.close()
	x.open(node.Config{})
	for range 40 {
		due := x.node.Next()
		x.clock.told, x.clock.read = due, time.Now()
		x.measure("a wake after a start", func() { x.step(x.b.Context(), nil, []arrival{{event: node.Wake{}}}) })
		x.workers.Wait()
		for len(x.events) > 0 {
			batch := x.drain([]arrival{<-x.events})
			x.measure("what follows a start", func() { x.step(x.b.Context(), nil, batch) })
		}
	}
}
