package tracker

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"feedex/protocol"
)

var newID = protocol.NewNodeID

func ids(list ...protocol.NodeID) []protocol.NodeID { return list }

// TestSnapshot takes a registry of every kind of record through JSON, as its host does.
func TestSnapshot(t *testing.T) {
	r := newRegistry(Config{})
	silent, refused, waiting, running := public(0), public(1), public(2), public(3)
	join(t, r, start, silent)
	register(r, start.Add(time.Hour), refused)
	r.Confirm(start.Add(time.Hour), refused, false)
	now := start.Add(2 * time.Hour)
	join(t, r, now, running)
	register(r, now, waiting)

	text, err := json.Marshal(r.Snapshot(now))
	if err != nil {
		t.Fatal(err)
	}
	var entries []KnownNode
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}

	again := newRegistry(Config{})
	now = now.Add(time.Minute)
	if got := again.Load(now, entries); got != 3 {
		t.Errorf("loaded %d entries, want 3", got)
	}
	check(t, again)
	if got := again.Hand(now, protocol.NodeID{}, 50); !slices.Equal(got, ids(running)) {
		t.Errorf("handed out %v after the restart, want %s", got, running)
	}
	if register(again, now, silent) || !handed(again, now, silent) {
		t.Error("a node confirmed before the restart was to be called back")
	}
	if register(again, now, refused) {
		t.Error("a node refused before the restart was to be called back")
	}
	if !register(again, now, waiting) {
		t.Error("a node whose call back the restart cut off was not called back")
	}
	if s := again.Status(now.Add(expiry)); s.Listed != 0 {
		t.Errorf("%d listed half an hour later, want 0", s.Listed)
	}
	if s := again.Status(now.Add(2 * callBackEvery)); s.Known != 0 {
		t.Errorf("%d known two days later, want 0", s.Known)
	}
	check(t, again)
}

func TestLoadRefuses(t *testing.T) {
	entry := func(id string, ago time.Duration) KnownNode {
		return KnownNode{ID: node(id), Heard: start.Add(-ago), Asked: start.Add(-ago), Confirmed: true}
	}
	r := newRegistry(Config{Capacity: 30})
	got := r.Load(start, []KnownNode{
		entry("11.1.1.1:7790", 0),
		entry("11.1.1.1:7790", 0), // twice
		entry("11.2.1.1:7790", expiry+callBackEvery),
		entry("127.0.0.1:7790", 0),
		entry("11.3.1.1:25", 0),
		entry("11.4.1.1:7790", -time.Hour), // in the future
		{},
	})
	if got != 2 {
		t.Errorf("loaded %d entries, want 2", got)
	}
	check(t, r)
	if s := r.Status(start.Add(expiry)); s.Listed != 0 {
		t.Errorf("%d still listed after Expiry: a time in the future was believed", s.Listed)
	}
}

// TestSnapshotAtTheLastMoment saves a call back that nobody reported, as late as it is remembered.
func TestSnapshotAtTheLastMoment(t *testing.T) {
	r := newRegistry(Config{})
	register(r, start, public(0))
	now := start.Add(expiry + callBackEvery - 1)
	entries := r.Snapshot(now)
	if got := newRegistry(Config{}).Load(now, entries); len(entries) != 1 || got != 1 {
		t.Errorf("saved %d, loaded %d entries, want 1", len(entries), got)
	}
}

func TestLoadMoreThanFits(t *testing.T) {
	r := newRegistry(Config{})
	for i := range 200 {
		join(t, r, start.Add(time.Duration(i)*time.Second), public(i))
	}
	small := newRegistry(Config{Capacity: 50})
	now := start.Add(200 * time.Second)
	small.Load(now, r.Snapshot(now))
	check(t, small)
	if got := small.Status(now).Known; got != 50 {
		t.Errorf("%d known, want 50", got)
	}
}
