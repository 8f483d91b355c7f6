package archivetest

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// testModel does random work on an archive and on a Memory side by side and compares all that can
// be seen of them. It commits, reopens without a commit and indexes at random moments.
func testModel(t *testing.T, open func(testing.TB) Archive) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{archive: open(t), memory: archive.NewMemory()}
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.compare,
			"keep":    m.keep,
			"fill":    m.fill,
			"confirm": m.confirm,
			"poll":    m.poll,
			"purge":   m.purge,
			"feed":    m.keepFeed,
			"rename":  m.rename,
			"hide":    m.hide,
			"share":   m.share,
			"did":     m.keepDID,
			"peer":    m.keepPeer,
			"account": m.keepAccount,
			"host":    m.keepHost,
			"search":  m.search,
			"commit":  func(rt *rapid.T) { m.commit(rt) },
			"index":   m.index,
			"reopen":  m.reopen,
		})
		if c, ok := m.archive.(io.Closer); ok {
			if err := c.Close(); err != nil {
				rt.Fatalf("Close: %v", err)
			}
		}
	})
}

type model struct {
	archive Archive
	memory  *archive.Memory

	read map[feed.URL]bool // feeds that were followed, of which a Memory does not know that somebody read them

	// The work that was done to both, so that a Memory can be brought back to the last commit.
	committed, open []func(archive.Store)
}

func (m *model) do(work func(archive.Store)) {
	work(m.archive)
	work(m.memory)
	m.open = append(m.open, work)
}

func (m *model) commit(rt *rapid.T) {
	if err := m.archive.Commit(); err != nil {
		rt.Fatalf("Commit: %v", err)
	}
	m.committed, m.open = append(m.committed, m.open...), nil
}

func (m *model) reopen(rt *rapid.T) {
	r, ok := m.archive.(Reopener)
	if !ok {
		rt.Skip("cannot be reopened")
	}
	m.archive, m.memory, m.open = r.Reopen(), archive.NewMemory(), nil
	for _, work := range m.committed {
		work(m.memory)
	}
}

func (m *model) index(rt *rapid.T) {
	ix, ok := m.archive.(Indexer)
	if !ok {
		rt.Skip("has no index")
	}
	m.commit(rt)
	if _, err := ix.Index(rapid.IntRange(0, 10).Draw(rt, "max")); err != nil {
		rt.Fatalf("Index: %v", err)
	}
}

func (m *model) keep(rt *rapid.T) {
	records := rapid.SliceOfN(genRecord, 1, 5).Draw(rt, "records")
	m.do(func(s archive.Store) { s.Keep(records) })
}

func (m *model) fill(rt *rapid.T) {
	records := rapid.SliceOfN(genRecord, 1, 5).Draw(rt, "records")
	got, want := m.archive.Fill(base, records), m.memory.Fill(base, records)
	if !slices.Equal(got, want) {
		rt.Fatalf("Fill = %v, want %v", got, want)
	}
	m.open = append(m.open, func(s archive.Store) { s.Fill(base, records) })
}

func (m *model) confirm(rt *rapid.T) {
	ids := []feed.EntryID{genRecord.Draw(rt, "record").ID}
	m.do(func(s archive.Store) { s.Confirm(base, ids) })
}

func (m *model) poll(rt *rapid.T) {
	ids := []feed.EntryID{genRecord.Draw(rt, "record").ID, genRecord.Draw(rt, "another").ID}
	got, want := m.archive.MarkPolled(base, ids), m.memory.MarkPolled(base, ids)
	if !sameShares(got, want) {
		rt.Fatalf("MarkPolled = %+v, want %+v", got, want)
	}
	m.open = append(m.open, func(s archive.Store) { s.MarkPolled(base, ids) })
	for _, u := range feeds {
		if got, want := m.archive.Holds(u), m.memory.Holds(u); got != want {
			rt.Fatalf("Holds is %v, want %v", got, want)
		}
		if got, want := len(m.archive.Arrivals(u, 99)), len(m.memory.Arrivals(u, 99)); got != want {
			rt.Fatalf("%d Arrivals, want %d", got, want)
		}
	}
}

func (m *model) purge(rt *rapid.T) {
	ids := []feed.EntryID{genRecord.Draw(rt, "record").ID, genRecord.Draw(rt, "another").ID}
	if rapid.Bool().Draw(rt, "readmit") {
		m.do(func(s archive.Store) { s.Readmit(ids) })
		return
	}
	got, want := m.archive.Purge(base, ids), m.memory.Purge(base, ids)
	if !slices.Equal(got, want) {
		rt.Fatalf("Purge = %v, want %v", got, want)
	}
	m.open = append(m.open, func(s archive.Store) { s.Purge(base, ids) })
}

func (m *model) keepFeed(rt *rapid.T) {
	f := archive.Feed{
		URL: genFeed.Draw(rt, "feed"), Title: genText.Draw(rt, "title"),
		Weight:  rapid.IntRange(0, 100).Draw(rt, "weight"),
		Private: rapid.Bool().Draw(rt, "private"), Leads: rapid.Bool().Draw(rt, "leads"),
		Withheld: rapid.Bool().Draw(rt, "withheld"), Shared: rapid.Bool().Draw(rt, "shared"),
		Discreet: rapid.Bool().Draw(rt, "discreet"), Barred: rapid.Bool().Draw(rt, "barred"),
	}
	m.do(func(s archive.Store) { s.KeepFeed(f) })
}

func (m *model) rename(rt *rapid.T) {
	old, name := genFeed.Draw(rt, "feed"), genFeed.Draw(rt, "name")
	if old == name || m.read[name] {
		rt.Skip("it was read by that name")
	}
	f := m.memory.LoadFeed(old)
	f.URL, f.Subscribed = old, rapid.IntRange(0, 4).Draw(rt, "followed") > 0
	m.do(func(s archive.Store) { s.KeepFeed(f) })
	if m.read == nil {
		m.read = make(map[feed.URL]bool)
	}
	m.read[old], m.read[name] = m.read[old] || f.Subscribed, m.read[name] || f.Subscribed
	var listed []feed.Entry
	for range 3 {
		e := genRecord.Draw(rt, "listed").Entry
		e.Feed = old
		listed = append(listed, e)
	}
	at := base.Add(time.Hour)
	got, want := m.archive.Rename(at, old, name, listed), m.memory.Rename(at, old, name, listed)
	if got != want {
		rt.Fatalf("Rename = %v, want %v", got, want)
	}
	m.open = append(m.open, func(s archive.Store) { s.Rename(at, old, name, listed) })
}

func (m *model) hide(rt *rapid.T) {
	ids := []feed.EntryID{genRecord.Draw(rt, "record").ID}
	m.do(func(s archive.Store) { s.Hide(ids) })
}

func (m *model) share(rt *rapid.T) {
	records := rapid.SliceOfN(genRecord, 1, 3).Draw(rt, "records")
	if rapid.Bool().Draw(rt, "confirm") {
		m.do(func(s archive.Store) { s.Shared().Confirm(base, []feed.EntryID{records[0].ID}) })
	} else {
		for i := range records {
			if records[i].Source.IsZero() {
				records[i].Source, records[i].Confirmed = from, false
			}
		}
		m.do(func(s archive.Store) { s.Shared().Keep(records) })
	}
}

func (m *model) keepDID(rt *rapid.T) {
	did := protocol.DID{byte(rapid.IntRange(0, 9).Draw(rt, "did"))}
	m.do(func(s archive.Store) { s.KeepDID(did) })
}

func (m *model) keepPeer(rt *rapid.T) {
	id, err := protocol.ParseNodeID(fmt.Sprintf("192.0.2.%d:7790", rapid.IntRange(0, 5).Draw(rt, "peer")))
	if err != nil {
		rt.Fatal(err)
	}
	p := protocol.FormerNeighbor{ID: id, Failures: rapid.IntRange(0, 3).Draw(rt, "failures")}
	drop := rapid.Bool().Draw(rt, "drop")
	m.do(func(s archive.Store) {
		if drop {
			s.DropPeer(id)
		} else {
			s.KeepPeer(p)
		}
	})
}

func (m *model) keepAccount(rt *rapid.T) {
	a := archive.KeptAccount{
		Holder: rapid.SampledFrom([]string{"", "192.0.2.1", "192.0.2.10", "2001:db8::/64"}).Draw(rt, "holder"),
		Text:   rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(rt, "text"),
	}
	drop := rapid.Bool().Draw(rt, "drop")
	m.do(func(s archive.Store) {
		if drop {
			s.DropAccount(a.Holder)
		} else {
			s.KeepAccount(a)
		}
	})
}

func (m *model) keepHost(rt *rapid.T) {
	h := archive.KnownHost{Name: rapid.SampledFrom([]string{"a.example.com", "b.example.com"}).Draw(rt, "host")}
	h.Gap, h.Forbids = time.Duration(rapid.IntRange(0, 3).Draw(rt, "gap")), rapid.Bool().Draw(rt, "forbids")
	drop := rapid.Bool().Draw(rt, "drop")
	m.do(func(s archive.Store) {
		if drop {
			s.DropHost(h.Name)
		} else {
			s.KeepHost(h)
		}
	})
}

func (m *model) search(rt *rapid.T) {
	m.commit(rt)
	f := genFilter.Draw(rt, "filter")
	got, err := m.archive.Search(rt.Context(), f)
	if err != nil {
		rt.Fatalf("Search: %v", err)
	}
	want, err := m.memory.Search(rt.Context(), f)
	if err != nil {
		rt.Fatal(err)
	}
	if !slices.EqualFunc(got, want, func(a, b archive.Record) bool { return same(&a, &b) }) {
		rt.Fatalf("found %+v\nwant %+v", got, want)
	}
}

func (m *model) compare(rt *rapid.T) {
	if got, want := m.archive.LoadFeeds(), m.memory.LoadFeeds(); !slices.Equal(got, want) {
		rt.Fatalf("LoadFeeds = %+v, want %+v", got, want)
	}
	for _, want := range m.memory.LoadFeeds() {
		if got := m.archive.LoadFeed(want.URL); got != want {
			rt.Fatalf("LoadFeed = %+v, want %+v", got, want)
		}
	}
	if got, want := m.archive.LoadPeers(), m.memory.LoadPeers(); !slices.Equal(got, want) {
		rt.Fatalf("LoadPeers = %+v, want %+v", got, want)
	}
	if got, want := m.archive.LoadAccounts(), m.memory.LoadAccounts(); !sameAccounts(got, want) {
		rt.Fatalf("LoadAccounts = %q, want %q", got, want)
	}
	if got, want := m.archive.LoadHosts(), m.memory.LoadHosts(); !slices.Equal(got, want) {
		rt.Fatalf("LoadHosts = %+v, want %+v", got, want)
	}
	if got, want := m.archive.LatestDIDs(8), m.memory.LatestDIDs(8); !slices.Equal(got, want) {
		rt.Fatalf("LatestDIDs = %v, want %v", got, want)
	}
	if got, want := m.archive.Unshown(base), m.memory.Unshown(base); !sameShares(got, want) {
		rt.Fatalf("Unshown = %+v, want %+v", got, want)
	}
	var ids []feed.EntryID
	for _, u := range feeds {
		for n := range entriesPerFeed {
			e := feed.Entry{Feed: u, ID: guid(n)}
			ids = append(ids, e.EntryID())
		}
	}
	if got, want := m.archive.Known(ids), m.memory.Known(ids); !slices.Equal(got, want) {
		rt.Fatalf("Known = %v, want %v", got, want)
	}
	if got, want := m.archive.Shared().Known(ids), m.memory.Shared().Known(ids); !slices.Equal(got, want) {
		rt.Fatalf("Shared().Known = %v, want %v", got, want)
	}
}

// The generators draw from little, so that entries are replaced and filters find something.

var feeds = []feed.URL{news, blog, "https://example.com/feed?key=secret"}

const entriesPerFeed = 5

func guid(n int) string { return fmt.Sprint("urn:", n) }

var (
	genFeed = rapid.SampledFrom(feeds)
	genTime = rapid.Custom(func(rt *rapid.T) time.Time {
		return base.Add(time.Duration(rapid.IntRange(-3, 3).Draw(rt, "half seconds")) * time.Second / 2)
	})
	// Dates may be absent, or as far ahead of the arrival as one may be.
	genDate = rapid.Custom(func(rt *rapid.T) time.Time {
		t := genTime.Draw(rt, "time").Truncate(time.Second)
		return rapid.SampledFrom([]time.Time{{}, t, t.Add(feed.Ahead), t.Add(1e6 * time.Hour)}).Draw(rt, "date")
	})
	from      = protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, 7}), 7790)
	genSource = rapid.SampledFrom([]protocol.NodeID{{}, from})
	genWord   = rapid.OneOf(rapid.SampledFrom([]string{
		"alpha", "Alpha", "ALPHABET", "alphabetic", "bet", "Übung", "ubung", "naïve", "nai\u0308ve",
		"Σίσυφος", "σισυφοσ",
		"сервер", "СЕРВ", "日本語", "日本", "한국어", "हिन्दी", "c++", "3.14", "14", "don't", "İstanbul", "straße", "STRASSE",
		"al\u00ADpha", "\U0001E900", "ǅ", "ﬁn", "e\u0301\u0323", "1", "AND", "title", "\u0301",
	}), rapid.String())
	genGlue = rapid.SampledFrom([]string{
		" ", " ", " ", ", ", "-", "", "<b>", "</b>", "<p>", "<br/>", "&nbsp;", "&amp;", "&eacute;", "\n",
		"<!-- alpha -->",
		"<script>bet</script>", "<style>", "¶", "*", "\"", "<", "&",
	})
	genText = rapid.Custom(func(rt *rapid.T) string {
		text := ""
		for range rapid.IntRange(0, 4).Draw(rt, "words") {
			text += genWord.Draw(rt, "word") + genGlue.Draw(rt, "glue")
		}
		return feed.Clean(text)
	})
	genRecord = rapid.Custom(func(rt *rapid.T) archive.Record {
		e := feed.Entry{
			Feed:    genFeed.Draw(rt, "feed"),
			ID:      guid(rapid.IntRange(0, entriesPerFeed-1).Draw(rt, "n")),
			Title:   genText.Draw(rt, "title"),
			Summary: genText.Draw(rt, "summary"),
		}
		if rapid.Bool().Draw(rt, "long") {
			e.Content = genText.Draw(rt, "content")
			e.Authors = rapid.SliceOfN(genText, 0, 2).Draw(rt, "authors")
			e.Categories = rapid.SliceOfN(genText, 0, 2).Draw(rt, "categories")
			e.Rights = rapid.SliceOfN(genText, 0, 2).Draw(rt, "rights")
			e.CopiedFrom.Title = genText.Draw(rt, "copied from")
			e.Extras.Episode = rapid.IntRange(0, 2).Draw(rt, "episode")
			e.Published = genDate.Draw(rt, "published")
			e.Updated = genDate.Draw(rt, "updated")
		}
		e.Clean()
		r := archive.NewRecord(e, genTime.Draw(rt, "seen"), genSource.Draw(rt, "source"))
		r.Confirmed = rapid.Bool().Draw(rt, "confirmed")
		return r
	})
	genPhrase = rapid.Custom(func(rt *rapid.T) string {
		p := genWord.Draw(rt, "word")
		if runes := []rune(p); len(runes) > 1 && rapid.Bool().Draw(rt, "cut") {
			p = string(runes[:len(runes)/2+1])
		}
		if rapid.IntRange(0, 3).Draw(rt, "phrase") == 0 {
			p += " " + genWord.Draw(rt, "second word")
		}
		return p + rapid.SampledFrom([]string{"", "", "*"}).Draw(rt, "star")
	})
	genFilter = rapid.Custom(func(rt *rapid.T) feed.Filter {
		f := feed.Filter{
			Words:     rapid.SliceOfN(genPhrase, 0, 2).Draw(rt, "words"),
			Limit:     rapid.IntRange(0, 4).Draw(rt, "limit"),
			Shareable: rapid.Bool().Draw(rt, "shareable"),
			Relevance: rapid.Bool().Draw(rt, "relevance"),
			Dated:     rapid.Bool().Draw(rt, "dated"),
			NoSecrets: rapid.Bool().Draw(rt, "no secrets"),
		}
		often := func(name string) bool { return rapid.IntRange(0, 3).Draw(rt, name) == 0 }
		if often("with match") {
			f.Match = genMatch(rt, 3)
		}
		if often("with title") {
			f.Title = []string{genPhrase.Draw(rt, "title")}
		}
		if often("with feed") {
			f.Feed = genFeed.Draw(rt, "feed")
		}
		if often("with since") {
			f.Since = genTime.Draw(rt, "since")
		}
		if often("with until") {
			f.Until = genTime.Draw(rt, "until")
		}
		if often("with ids") {
			for _, r := range rapid.SliceOfN(genRecord, 1, 5).Draw(rt, "ids") {
				f.IDs = append(f.IDs, r.ID)
			}
		}
		return f
	})
)

// genMatch draws an expression of at most so many levels.
func genMatch(rt *rapid.T, levels int) feed.Match {
	op := feed.MatchTerm
	if levels > 0 {
		op = rapid.SampledFrom([]feed.MatchOp{feed.MatchTerm, feed.MatchAnd, feed.MatchOr,
			feed.MatchNot}).Draw(rt, "op")
	}
	m := feed.Match{Op: op}
	switch op {
	case feed.MatchTerm:
		m.Field = rapid.SampledFrom([]feed.MatchField{feed.FieldAny, feed.FieldAny, feed.FieldTitle, feed.FieldAuthor,
			feed.FieldCategory, feed.FieldFeed}).Draw(rt, "field")
		if m.Term = genPhrase.Draw(rt, "term"); m.Field == feed.FieldFeed {
			m.Term = rapid.SampledFrom([]string{"http*", "example", "example.org/news", "org", "nothing",
				string(genFeed.Draw(rt, "feed"))}).Draw(rt, "address")
		}
	case feed.MatchNot:
		m.Of = []feed.Match{genMatch(rt, levels-1)}
	default:
		for range rapid.IntRange(2, 3).Draw(rt, "operands") {
			m.Of = append(m.Of, genMatch(rt, levels-1))
		}
	}
	return m
}
