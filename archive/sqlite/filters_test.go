package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
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
	says func(query string)
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
	says func(query string)
}

func (c *heardConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.connection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &heardStmt{s.(preparedStatement), func() { c.says(query) }}, nil
}

type heardStmt struct {
	preparedStatement
	says func()
}

func (s *heardStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.says()
	return s.preparedStatement.ExecContext(ctx, args)
}

func (s *heardStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.says()
	return s.preparedStatement.QueryContext(ctx, args)
}

// What a thousand filters catch at once, each with a rule, costs no statements by filter, also where no rule acts, as
// on what a first poll leaves read; and it is noted by filter, not by entry. No statement takes time by the square of
// the filters: the one by which receivers are told did, and was ended after a minute.
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
	statements, noting := 0, 0
	reopen(t, s, func(c driver.Connector) driver.Connector {
		return heard{c, func(query string) {
			statements++
			if strings.Contains(query, "INSERT INTO caught") {
				noting++
			}
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
		statements, noting = 0, 0
		s.Keep(list)
		if statements > 30*entries || noting > 2 {
			t.Errorf("round %d: %d entries take %d statements, of which %d note what is caught", round, entries,
				statements, noting)
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
