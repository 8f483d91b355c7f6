package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// A counting connector has the connections of a database count how often what they prepared is carried out.
type counting struct {
	driver.Connector
	n *atomic.Int64
}

func (c counting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countingConn{conn.(connection), c.n}, nil
}

type countingConn struct {
	connection
	n *atomic.Int64
}

func (c *countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.connection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &countingStmt{s.(preparedStatement), c.n}, nil
}

type countingStmt struct {
	preparedStatement
	n *atomic.Int64
}

func (s *countingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.n.Add(1)
	return s.preparedStatement.ExecContext(ctx, args)
}

func (s *countingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.n.Add(1)
	return s.preparedStatement.QueryContext(ctx, args)
}

// What a thousand filters catch at once, each with a rule, costs no statements by filter: neither what a first poll
// leaves read, on which no rule acts, nor what receivers are told of. No statement takes time by their square either:
// the one that told receivers did, and was ended after a minute.
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
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	var statements atomic.Int64
	reopen(t, s, func(c driver.Connector) driver.Connector { return counting{c, &statements} })
	const entries = 120
	for round := range 2 {
		var list []archive.Record
		for n := range entries {
			at := time.Unix(int64(1000+n+round*10_000), 0)
			list = append(list, archive.NewRecord(feed.Entry{Feed: f.URL, ID: fmt.Sprint(round, n), Published: at,
				Title: fmt.Sprint("Entry ", round, n)}, at, protocol.NodeID{}))
		}
		before := statements.Load()
		s.Keep(list)
		if per := (statements.Load() - before) / entries; per > 30 {
			t.Errorf("round %d: an entry takes %d statements", round, per)
		}
		f.LastSuccess = time.Unix(2000, 0)
		s.KeepFeed(f)
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Reader.Shelf(reading.Owner).CountedFilters(t.Context())
	if err != nil || list[0].Caught != 2*entries || list[0].Acted != entries+2 || list[1].Acted != 0 {
		t.Errorf("the first two of %d filters are %+v, %v", len(list), list[:2], err)
	}
	if n, err := s.CountWaiting(t.Context(), 1); err != nil || n != entries {
		t.Errorf("a receiver is told of %d entries (%v), want %d", n, err, entries)
	}
}
