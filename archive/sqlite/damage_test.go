package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// use calls everything that can be called on an archive and returns every error it meets.
func use(path string) (errs []error) {
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	s, err := Open(context.Background(), path, Config{})
	if err != nil {
		return []error{err}
	}
	defer func() { note(s.Close()) }()

	s.LoadFeeds()
	note(s.Commit())
	s.LoadPeers()
	note(s.Commit())
	s.LoadAccounts()
	note(s.Commit())
	s.LatestDIDs(1000)
	note(s.Commit())
	records := newCorpus().records(60)
	for i := range records[:40] {
		s.Known([]feed.EntryID{records[i].ID})
		s.HasDID(protocol.DID(records[i].ID))
		note(s.Commit())
	}
	for i := range records[20:] { // replaces some
		records[i].Digest[0]++
		s.Keep(records[i : i+1])
		s.KeepDID(protocol.DID(records[i].Digest))
		s.KeepFeed(archive.Feed{URL: records[i].Entry.Feed, Private: i%2 == 0})
		note(s.Commit())
	}
	s.KeepPeer(protocol.FormerNeighbor{ID: protocol.NodeID{}})
	note(s.Commit())
	s.KeepAccount(archive.KeptAccount{Holder: "192.0.2.1"})
	s.DropAccount("192.0.2.2")
	note(s.Commit())

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range 3 {
		_, err := s.Index(15)
		note(err)
		for _, f := range []feed.Filter{
			{Limit: 1000}, {Feed: records[0].Entry.Feed}, {IDs: []feed.EntryID{records[0].ID, records[30].ID}},
			{Until: records[9].Seen},
			{Words: []string{word(0)}, Limit: 1000}, {Words: []string{word(300), word(1) + " " + word(2)}},
			{Words: []string{"w*"}},
			{Title: []string{word(0)}, Shareable: true, Since: records[0].Seen},
		} {
			_, err := s.Search(ctx, f)
			note(err)
		}
	}
	for i := range 5 {
		c, err := s.Channel(ctx, records[i].Entry.Feed)
		note(err)
		seqs, err := s.Newest(ctx, max(c.Number, 1), 1000)
		note(err)
		for _, err := range s.Records(ctx, seqs) {
			note(err)
		}
		_, err = s.Changed(ctx, max(c.Number, 1), archive.FeedVersion{}, 1000, 1000)
		note(err)
		last, err := s.LastBlock(ctx, max(c.Number, 1))
		note(err)
		_, err = s.Block(ctx, max(c.Number, 1), last)
		note(err)
	}
	_, err = s.Stats(ctx)
	note(err)
	return errs
}

// damaged is the path of an archive in which the bytes were changed by harm.
func damaged(t *testing.T, whole []byte, harm func(b []byte) []byte) string {
	path := filepath.Join(t.TempDir(), "archive.db")
	if err := os.WriteFile(path, harm(append([]byte(nil), whole...)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wholeArchive is the content of an archive with something in every table and in the index.
func wholeArchive(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "archive.db")
	s := openFile(t, path)
	for i, r := range newCorpus().records(40) {
		s.Keep([]archive.Record{r})
		s.KeepDID(protocol.DID(r.ID))
		s.KeepFeed(archive.Feed{URL: r.Entry.Feed, Title: "title"})
		s.KeepPeer(protocol.FormerNeighbor{ID: nodeID(t, fmt.Sprintf("192.0.2.%d:7790", i))})
		s.KeepAccount(archive.KeptAccount{Holder: fmt.Sprintf("192.0.2.%d", i), Text: []byte("text")})
	}
	commit(t, s)
	if _, err := s.Index(30); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// Damage is met at random places: every error says that it is damage, and nothing panics.
func TestRandomDamage(t *testing.T) {
	alone(t)
	whole := wholeArchive(t)
	met := 0
	for i := range 30 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		path := damaged(t, whole, func(b []byte) []byte {
			switch random.IntN(4) {
			case 0: // scattered bytes
				for range 1 + random.IntN(30) {
					b[100+random.IntN(len(b)-100)] = byte(random.Uint32())
				}
			case 1: // the head of a page
				at := random.IntN(len(b)/4096) * 4096
				for range 1 + random.IntN(4) {
					b[max(100, at+random.IntN(60))] = byte(random.Uint32())
				}
			case 2: // a page that was never written, or one that is elsewhere
				at, from := random.IntN(len(b)/4096)*4096, random.IntN(len(b)/4096)*4096
				if random.IntN(2) == 0 {
					clear(b[max(100, at) : at+4096])
				} else {
					copy(b[max(100, at):at+4096], whole[max(100, from):])
				}
			default: // the end is missing
				b = b[:4096+random.IntN(len(b)-4096)]
			}
			return b
		})
		for _, err := range use(path) {
			met++
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("round %d: %v", i, err)
			}
		}
		os.RemoveAll(filepath.Dir(path))
	}
	if met == 0 {
		t.Error("no damage was noticed in any round")
	}
}
