package daemon

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/sqlite"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/transport"
	"feedex/xmlrpc"
)

// A bench is a loop that is turned by hand, on an archive on disk.
type bench struct {
	*host
	b     *testing.B
	store *sqlite.Store
	ctx   context.Context
	at    time.Time
	worst map[string]time.Duration
	total map[string]time.Duration
	count map[string]int
	names []string
}

func newBench(b *testing.B, p peers, c node.Config) *bench {
	data := b.TempDir()
	store, err := openArchive(data)
	if err != nil {
		b.Fatal(err)
	}
	c.AllowLocal, c.Secret = true, make([]byte, 32)
	c.Policy = polling.Fixed{Every: 24 * time.Hour}
	h := newHost(Config{Data: data, Node: c}.withDefaults(), store, nil, p, unreachable{})
	if err := h.revive(); err != nil {
		b.Fatal(err)
	}
	x := &bench{host: h, b: b, store: store, ctx: b.Context(), worst: map[string]time.Duration{}, total: map[string]time.Duration{}, count: map[string]int{}}
	b.Cleanup(func() { h.workers.Wait(); store.Close() })
	return x
}

func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (x *bench) measure(name string, f func()) {
	runtime.GC()
	before := processorTime()
	f()
	took := processorTime() - before
	if x.count[name]++; x.count[name] == 1 {
		x.names = append(x.names, name)
	}
	x.total[name] += took
	x.worst[name] = max(x.worst[name], took)
}

func (x *bench) report() {
	for _, n := range x.names {
		fmt.Printf("%-50s n=%4d worst %8.1f ms mean %8.2f ms\n", n, x.count[n], x.worst[n].Seconds()*1000, x.total[n].Seconds()*1000/float64(x.count[n]))
	}
}

// turn gives events to the node as the loop does.
func (x *bench) turn(batch ...arrival) {
	x.step(x.ctx, nil, batch)
}

// settle waits for what goes on beside.
func (x *bench) settle() {
	for {
		x.workers.Wait()
		select {
		case a := <-x.events:
			x.turn(a)
		default:
			return
		}
	}
}

func (x *bench) ask(from protocol.NodeID, session string, c protocol.Call) (arrival, chan transport.Response) {
	reply := make(chan transport.Response, 1)
	return arrival{event: node.Asked{From: from, Session: session, Call: c}, reply: reply}, reply
}

func hostile(r *rand.Rand, kind string, n int) string {
	var b bytes.Buffer
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for b.Len() < n {
		switch kind {
		case "words":
			b.WriteByte(' ')
			for range 4 + r.IntN(6) {
				b.WriteByte(letters[r.IntN(36)])
			}
		case "short":
			b.WriteByte(' ')
			for range 2 {
				b.WriteByte(letters[r.IntN(36)])
			}
		case "one":
			b.WriteString("a ")
		case "single":
			b.WriteByte(' ')
			b.WriteByte(letters[r.IntN(36)])
		case "tags":
			b.WriteString("<b><i></b>x</i><p>")
		case "marks":
			b.WriteString("é\u0301\u0302\u0303 ")
		case "cjk":
			b.WriteRune(rune(0x4e00 + r.IntN(20000)))
			b.WriteByte(' ')
		}
	}
	return strings.ToValidUTF8(b.String()[:n], "")
}

func hostileBundle(r *rand.Rand, kind string, entries, bytes int) *protocol.Bundle {
	var list []feed.Entry
	for range entries {
		list = append(list, feed.Entry{Feed: exampleFeed, ID: fmt.Sprint(r.Uint64()), Title: "t", Published: time.Now().Add(-time.Minute).Truncate(time.Second).UTC(), Summary: hostile(r, kind, bytes)})
	}
	b := protocol.NewBundle(exampleFeed, list)
	b.Path = []protocol.NodeID{peerID(200)}
	body := protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: b})
	return decode(body).(protocol.PutEntries).Bundle
}

func BenchmarkSteps(b *testing.B) {
	debug.SetGCPercent(-1)
	defer debug.SetGCPercent(100)
	for b.Loop() {
		for _, kind := range []string{"words", "short", "single", "one", "tags", "marks", "cjk"} {
			r := rand.New(rand.NewPCG(1, 2))
			x := newBench(b, friendly, node.Config{Incentive: incentive.Config{}})
			x.turn(arrival{event: node.Subscribe{Feeds: []feed.URL{exampleFeed}}})
			x.settle()
			a, reply := x.ask(peerID(1), "its token", protocol.Connect{Subset: protocol.Subset{{Feed: exampleFeed}}})
			x.turn(a)
			x.settle()
			if rr := <-reply; rr.Fault != nil {
				b.Fatal(rr.Fault)
			}
			put := func(name string, bb *protocol.Bundle) {
				a, reply := x.ask(peerID(1), "its token", protocol.PutEntries{Bundle: bb})
				x.measure(name, func() { x.turn(a) })
				if rr := <-reply; rr.Fault != nil {
					b.Log(rr.Fault)
				}
			}
			for range 5 {
				put(kind+" put 3 of 1 MiB", hostileBundle(r, kind, 3, 1<<20))
			}
			for range 5 {
				put(kind+" put 100 of 36 KiB", hostileBundle(r, kind, 100, 36<<10))
			}
			for range 5 {
				put(kind+" put 100 of 10 B", hostileBundle(r, kind, 100, 10))
			}
			for left := 1; left > 0; {
				x.measure(kind+" index 1", func() { left, _ = x.store.Index(1) })
			}
			for range 5 {
				put(kind+" put 3 of 1 MiB again", hostileBundle(r, kind, 3, 1<<20))
			}
			x.measure(kind+" index 128", func() { x.store.Index(128) })
			x.measure(kind+" shorten", func() { x.store.Shorten(x.ctx) })
			ids, _ := x.store.Surplus(x.ctx, time.Now(), archive.Retention{All: archive.Bounds{Count: 1}})
			for step := range slices.Chunk(ids, purgeStep) {
				x.measure(kind+" purge", func() { x.store.Purge(time.Now(), step); x.store.Commit() })
			}
			for more := true; more; {
				x.measure(kind+" tidy", func() { more, _ = x.store.Tidy() })
			}
			for left := 1; left > 0; {
				x.measure(kind+" reclaim", func() { left, _ = x.store.Reclaim(reclaimStep) })
			}
			x.report()
		}
	}
}

func decode(body []byte) protocol.Call {
	c, err := xmlrpc.DecodeCall(body, protocol.CallLimits("put_entries"))
	if err != nil {
		panic(err)
	}
	_, call, err := protocol.DecodeCall(c)
	if err != nil {
		panic(err)
	}
	return call
}
