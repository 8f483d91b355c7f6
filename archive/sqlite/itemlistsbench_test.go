package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"feedex/reading"
)

// BenchmarkItems measures what readers ask for with 100,000 items over 1,000 feeds, all unread and a thousand unread;
// with -short it is 10,000 items.
func BenchmarkItems(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	followBench(s)
	c := newCorpus()
	for range n / 1000 {
		s.Keep(c.records(1000))
		if err := s.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	ctx := context.Background()
	ids := func(stream reading.Stream, p reading.Page) func() (int, error) {
		return func() (int, error) {
			list, err := s.IDs(ctx, stream, p)
			return len(list), err
		}
	}
	id, err := s.FeedID(ctx, benchFeed(7))
	if err != nil {
		b.Fatal(err)
	}
	unread := reading.Stream{Read: reading.No}
	for _, state := range []string{"all", "thousand"} {
		for _, ask := range []struct {
			name string
			do   func() (int, error)
		}{
			{"reading list/10000", ids(reading.Stream{}, reading.Page{Limit: 10_000})},
			{"unread/10000", ids(unread, reading.Page{Limit: 10_000})},
			{"unread/middle", ids(unread, reading.Page{Limit: 1000, After: reading.ItemID(n / 2)})},
			{"unread/feed", ids(reading.Stream{Read: reading.No, Feed: id}, reading.Page{Limit: 1000})},
			{"unread/everything", ids(unread, reading.Page{Limit: reading.MaxPage})},
			{"starred", ids(reading.Stream{Starred: reading.Yes}, reading.Page{Limit: 1000})},
			{"counts", func() (int, error) {
				list, err := s.Counts(ctx)
				return len(list), err
			}},
			{"subscriptions", func() (int, error) {
				list, err := s.Subscriptions(ctx)
				return len(list), err
			}},
			{"contents/250", func() (found int, err error) {
				list, err := s.IDs(ctx, reading.Stream{}, reading.Page{Limit: 250})
				for _, itemErr := range s.Items(ctx, list) {
					err = itemErr
					found++
				}
				return found, err
			}},
		} {
			b.Run(fmt.Sprintf("unread=%s/%s", state, ask.name), func(b *testing.B) {
				found := 0
				for range b.N {
					if found, err = ask.do(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(found), "found")
			})
		}
		b.Run(fmt.Sprintf("unread=%s/mark 100", state), func(b *testing.B) {
			for i := range b.N {
				list := make([]reading.ItemID, 100)
				for j := range list {
					list[j] = reading.ItemID((i*100+j)%n + 1)
				}
				s.Mark(markedAt, list, reading.Mark{Starred: reading.Yes})
				if err := s.Commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
		s.MarkStream(markedAt, reading.Stream{Until: c.records(1)[0].Seen.Add(-1000e9)},
			reading.Mark{Read: reading.Yes}, n)
		if err := s.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}
