package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// A heard connector has the connections of a database say what they carry out of what they prepared.
type heard struct {
	driver.Connector
	says func(query string, args []driver.NamedValue)
}

func (h heard) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := h.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &heardConn{conn.(connection), h.says}, nil
}

type heardConn struct {
	connection
	says func(query string, args []driver.NamedValue)
}

func (c *heardConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.connection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &heardStmt{s.(preparedStatement), func(args []driver.NamedValue) { c.says(query, args) }}, nil
}

type heardStmt struct {
	preparedStatement
	says func(args []driver.NamedValue)
}

func (s *heardStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.says(args)
	return s.preparedStatement.ExecContext(ctx, args)
}

func (s *heardStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.says(args)
	return s.preparedStatement.QueryContext(ctx, args)
}

// What a thousand filters catch at once, each with a rule, costs few statements by filter, also where no rule acts, as
// on what a first poll leaves read. It is noted by filter, not by entry, and by no statement that changes many pages.
// None takes time by the square of the filters: the one by which receivers are told did, and was ended after a minute.
// Nor does that one look at an entry for each filter that caught it.
func TestAThousandFiltersCatchTheSame(t *testing.T) {
	s := newStore(t)
	p := s.Pen(reading.Owner)
	rules := []reading.Rule{reading.RuleStar, reading.RuleRead, reading.RuleFull}
	for n := range reading.MaxFilters {
		_, err := p.AddFilter(time.Unix(1, 0), reading.FilterWish{Name: fmt.Sprint(n), Words: fmt.Sprint("NOT x", n),
			Rule: rules[n%3]})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.KeepReceiver(reading.Receiver{Name: "phone", Kind: reading.Webhook}); err != nil {
		t.Fatal(err)
	}
	f := archive.Feed{URL: "https://news.example/", Subscribed: true, Since: time.Unix(1, 0), Backlog: 2}
	s.KeepFeed(f)
	commit(t, s)
	statements, pages, telling := 0, 0, ""
	reopen(t, s, func(c driver.Connector) driver.Connector {
		return heard{c, func(query string, args []driver.NamedValue) {
			switch {
			case strings.Contains(query, "INSERT INTO caught"):
				var pairs []caughtPair
				if err := json.Unmarshal([]byte(args[1].Value.(string)), &pairs); err != nil || len(pairs) > 1000 {
					t.Errorf("a statement notes %d pairs, %v", len(pairs), err)
				}
				pages += len(slices.CompactFunc(pairs, func(a, b caughtPair) bool { return a[0] == b[0] }))
				return
			case strings.Contains(query, "min(f.place)"):
				telling = query
			}
			statements++
		}}
	})
	const entries = 120
	for round := range 2 {
		var list []archive.Record
		for n := range entries {
			at := time.Unix(int64(1000+n+round*10_000), 0)
			list = append(list, archive.NewRecord(feed.Entry{Feed: f.URL, ID: fmt.Sprint(round, n), Published: at,
				Title: fmt.Sprint("Entry ", round, n)}, at, protocol.NodeID{}))
		}
		statements, pages = 0, 0
		s.Keep(list)
		if statements > 30*entries || pages > 3*reading.MaxFilters {
			t.Errorf("round %d: %d entries take %d statements, and to note what is caught turns to a filter %d times",
				round, entries, statements, pages)
		}
		f.LastSuccess = time.Unix(2000, 0)
		s.KeepFeed(f)
		commit(t, s)
	}
	all, err := s.Reader.Shelf(reading.Owner).CountedFilters(t.Context())
	if err != nil || all[0].Caught != 2*entries || all[0].Acted != entries+2 || all[1].Acted != 0 {
		t.Errorf("the first two of %d filters are %+v, %v", len(all), all[:2], err)
	}
	if n, err := s.CountWaiting(t.Context(), 1); err != nil || n != entries {
		t.Errorf("a receiver is told of %d entries (%v), want %d", n, err, entries)
	}
	loops := make(map[string]int) // in which each table is gone through
	type step struct {
		id, within, rest int
		what             string
	}
	plan, err := list(t.Context(), s.Reader.db, by(func(x *step) []any {
		return []any{&x.id, &x.within, &x.rest, &x.what}
	}), `EXPLAIN QUERY PLAN `+telling, 0, "", 0)
	for _, x := range plan {
		if words := strings.Fields(x.what); len(words) > 1 {
			loops[words[1]] = x.within
		}
	}
	if err != nil || loops["c"] == loops["e"] {
		t.Errorf("receivers are told by %+v, %v", plan, err)
	}
}
