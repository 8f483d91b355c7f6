package experiment

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// A small version of Corona's setting gives the same tables and the same hash every time, on every machine.
// A change of what nodes do changes them: look at the difference before -update.
func TestCorona(t *testing.T) {
	t.Parallel()
	c := Corona{Seed: 1, Nodes: 24, Channels: 20, Subscriptions: 250, Length: 2 * time.Hour}
	r := ran(t, c.Run)
	isGolden(t, "corona.golden", r)
	checkDrawings(t, r.All())

	rows := r.Result.(CoronaResult).Networks
	base := rows[0]
	if want := 250. / 20; math.Abs(base.Requests/want-1) > .02 {
		t.Errorf("%.3f polls a channel in 30 minutes, want one of each subscriber, %.3f", base.Requests, want)
	}
	// Alone it is half of the 30 minutes between polls on average, and the phases of so few are a little uneven.
	if base.Exchange.Lag*2 > base.Alone.Lag || base.Alone.Lag < 750 || base.Alone.Lag > 1050 {
		t.Errorf("updates are detected after %.0f s alone and %.0f s with neighbors", base.Alone.Lag, base.Exchange.Lag)
	}
	if base.Alone.Coverage != 1 || base.Exchange.Coverage != 1 {
		t.Errorf("%.3f of the updates came alone and %.3f with neighbors, though everybody polls soon enough",
			base.Alone.Coverage, base.Exchange.Coverage)
	}
	if last := rarer(rows); last == nil || last.Requests*2 > base.Requests || last.Exchange.Lag > last.Alone.Lag/2 {
		t.Errorf("polled more rarely, it is %+v", last)
	}
}

// Without another node that follows a channel there is nothing to gain, and no rarer polls are tried.
func TestCoronaWithoutCompany(t *testing.T) {
	t.Parallel()
	set := embedded(t)
	set.Feeds = set.Busy(24)[:4]
	r, err := Corona{Seed: 1, Traces: set, Nodes: 2, Channels: 4, Subscriptions: 2, Length: 4 * time.Hour,
		NoEncoding: true}.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Result.(CoronaResult).Networks
	if rows[0].Alone.Lag < 300 || rows[0].Exchange != rows[0].Alone {
		t.Errorf("updates came as %+v alone and %+v with neighbors", rows[0].Alone, rows[0].Exchange)
	}
	if len(rows) != 1 || rows[0].First != 0 || rows[0].Offered != 0 ||
		!strings.Contains(r.Tables[0].String(), "nothing is known") {
		t.Errorf("%d networks, the first %+v", len(rows), rows[0])
	}
}

// A run for equal load alone gives the first network alone, and with interests over fewer hops there are fewer calls.
func TestCoronaAtEqualLoad(t *testing.T) {
	t.Parallel()
	c := Corona{Seed: 1, Nodes: 48, Channels: 60, Subscriptions: 144, Length: 2 * time.Hour, EqualLoad: true,
		NoEncoding: true}
	run := func(reach int) CoronaRow {
		c.Reach = reach
		r := ran(t, c.Run)
		if text := r.Tables[0].String(); strings.Contains(text, "rarely") ||
			strings.Contains(text, "nothing is known") {
			t.Errorf("polled more rarely, though not asked for:\n%s", text)
		}
		return r.Result.(CoronaResult).Networks[0]
	}
	if near, far := run(1), run(3); near.Calls*1.05 > far.Calls ||
		math.Abs(near.Requests/far.Requests-1) > .02 {
		t.Errorf("%.1f calls and %.2f polls over one hop, %.1f and %.2f over three", near.Calls, near.Requests,
			far.Calls, far.Requests)
	}
}

func TestImpossibleCorona(t *testing.T) {
	for _, c := range []struct {
		set  Corona
		says string
	}{
		{Corona{Nodes: 1}, "want 2 to"},
		{Corona{Channels: -1}, "want 1 to"},
		{Corona{Nodes: 10, Channels: 10, Subscriptions: 101}, "want 10 to 100"},
		{Corona{Nodes: 10, Channels: 10, Subscriptions: 9}, "want 10 to 100"},
		{Corona{Length: time.Minute}, "want 30m to"},
		{Corona{Reach: 9}, "want 1 to 8"},
		{Corona{Every: 25 * time.Hour}, "want 1m to"},
		{Corona{Traces: embedded(t), Length: 7 * 24 * time.Hour, Every: 23 * time.Hour, Nodes: 2, Channels: 1,
			Subscriptions: 3}, "want 2 to 2"},
	} {
		if err := errorOf(c.set.Run(t.Context(), nil)); !errors.Is(err, ErrSetting) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.set, err, c.says)
		}
	}
}
