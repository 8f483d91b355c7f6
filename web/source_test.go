package web_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
	"feedex/invitation"
	"feedex/node"
	"feedex/opml"
	"feedex/protocol"
	"feedex/reading"
	"feedex/saving"
	"feedex/web"
)

// noon is when all pages of the tests are made.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const (
	newsURL   = feed.URL("https://example.com/news.xml")
	secretURL = feed.URL("https://example.org/me.atom?token=hunter2hunter2")
)

// aNode is a node that does nothing.
type aNode struct {
	starred     []node.StarredEntry
	recommended []web.RecommendedFeed
	declined    []feed.URL
	aTeller
	givenLabels

	status    web.Status
	feeds     []web.FeedSummary
	known     map[int64]web.FeedDetail
	happened  web.Happened
	hours     []archive.Hour
	neighbors []node.NeighborStatus
	entries   []archive.Record
	searched  feed.Filter
	remote    []web.RemoteEntry
	version   atomic.Uint64

	mu         sync.Mutex
	followed   []feed.URL
	pages      []int64 // that named them
	backlog    archive.Backlog
	fails      string // what the node cannot do
	unfollows  []int64
	again      []int64
	refreshed  []int64
	service    saving.Service // that entries are saved to
	unsaved    error          // why what was kept of it cannot be read
	saved      []saving.Bookmark
	refusal    error    // of that
	pictures   []string // that were asked for: the number of a feed, and where
	adjusted   []adjustment
	kept       []string // the number of a feed, and how much is kept
	asked      []feed.Filter
	passwords  []reading.Password
	people     []reading.Person            // beside the owner
	items      map[int64]reading.ItemState // by seq, which is their id
	streams    []reading.Stream
	filters    []reading.CountedFilter
	removed    []reading.CountedFilter // filters too
	lastFilter reading.FilterID
	takenBack  []time.Time // at which moments that was done
	arranged   []reading.Arrangement
	sites      []string
	joined     []invitation.Invitation
	full       map[int64]reading.FullText // by seq
	paywall    bool                       // no page has a full text
	by         string                     // for whom the shelf was had last
	unfollowed []reading.Unfollowed
	refollowed []reading.FeedID
	others     map[reading.PersonID]*aNode // what people beside the owner read
}

// Of is what a person reads: the owner that of the node, and others what they have by others, or nothing.
func (n *aNode) Of(p reading.PersonID, by string) web.PersonalSource {
	of := n
	if p != reading.Owner {
		of = n.others[p]
	}
	if of == nil {
		return nil
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.by = by
	return aShelf{aNode: of}
}

// An aShelf is a node as one person reads there.
type aShelf struct {
	*aNode
	reading.Editor // what no test asks for
}

// newNode is a node that follows two feeds, of which one has a secret address.
func newNode(t testing.TB) *aNode {
	t.Helper()
	neighbor, err := protocol.ParseNodeID("192.0.2.7:7790")
	if err != nil {
		t.Fatal(err)
	}
	news := archive.Feed{URL: newsURL, Title: "News &amp; <b>more</b>", Link: "https://example.com/", Subscribed: true,
		Since:    noon.Add(-240 * time.Hour),
		Interval: 2 * time.Hour, LastPoll: noon.Add(-time.Hour), LastSuccess: noon.Add(-time.Hour), Helped: .8}
	mine := archive.Feed{URL: secretURL, Title: "Mine", Subscribed: true, LastError: "get example.org: 403 Forbidden",
		LastPoll: noon, LastSuccess: noon.Add(-30 * time.Hour)}
	n := &aNode{items: make(map[int64]reading.ItemState), known: make(map[int64]web.FeedDetail),
		neighbors: []node.NeighborStatus{{ID: neighbor, Since: noon.Add(-time.Hour), Heard: noon, Overlap: 1, Feeds: 3,
			Nearest: [4]int{0, 1}, Deficit: 4, Bound: 10, Unshown: 3_100_000, Quota: 20_000_000, Standing: 90}}}
	for i, f := range []archive.Feed{news, mine} {
		s := node.FeedStatus{URL: f.URL, Title: f.Title, Interval: f.Interval, LastPoll: f.LastPoll,
			LastSuccess: f.LastSuccess, LastError: f.LastError,
			NextPoll: noon.Add(time.Hour), Private: f.URL.Secret(), Offered: 3, Delivered: 5, Polled: 2}
		if f.LastError != "" {
			s.Errors = 3
		}
		n.feeds = append(n.feeds, web.FeedSummary{FeedStatus: s, Number: int64(i + 1)})
		n.known[int64(i+1)] = web.FeedDetail{Status: &s,
			KnownFeed: web.KnownFeed{Feed: f, Number: int64(i + 1), Reads: true},
			Entries:   2}
		if f.URL == newsURL {
			icon := reading.IconRef{ID: 1, Word: pictureWord}
			n.feeds[i].Icon, n.known[int64(i+1)] = icon, web.FeedDetail{Status: &s, Entries: 2,
				KnownFeed: web.KnownFeed{Feed: f, Number: 1, Reads: true, Look: reading.FeedLook{Icon: icon}}}
		}
	}
	n.add(newsURL, "Harbor", "<p>The <i>ferry</i> is late.</p>", noon.Add(-3*time.Hour), neighbor)
	n.add(secretURL, "Confidential", "Nobody else may read this.", noon.Add(-2*time.Hour), protocol.NodeID{})
	n.add(newsURL, "Lighthouse", hostile, noon.Add(-90*time.Minute), protocol.NodeID{})
	n.happened = web.Happened{
		Requests: []grade.Request{{At: noon.Add(-90 * time.Minute), Status: 200, Bytes: 5000},
			{At: noon.Add(-time.Hour), Status: 304},
			{At: noon.Add(-6 * time.Hour), Status: 429, RetryAfter: time.Hour}},
		Entries: []archive.Appearance{
			{ID: n.entries[2].ID, Title: "Lighthouse", Seen: noon.Add(-90 * time.Minute)},
			{ID: n.entries[0].ID, Title: "Harbor", Seen: noon.Add(-3 * time.Hour), Source: "192.0.2.7:7790",
				Polled: noon.Add(-90 * time.Minute)},
		},
	}
	n.hours = []archive.Hour{
		{At: noon.Add(-30 * time.Hour), Polled: 2, Requests: 10, Bytes: 60_000, Spared: 35.6},
		{At: noon.Add(-2 * time.Hour), Brought: 3, Compared: 2, Ahead: 3 * time.Hour, Requests: 2},
	}
	n.remote = []web.RemoteEntry{{Feed: newsURL, Title: "Far <script>away</script>", Link: "javascript:alert(1)",
		Time: noon.Add(-time.Hour), Holders: 2}, {Title: "Here too", Here: true}}
	return n
}

// newLockedNode is one whose owner comes in by "secret".
func newLockedNode(t testing.TB) *aNode {
	n := newNode(t)
	n.passwords = []reading.Password{reading.NewPassword("phone", "secret", reading.Owner, reading.OwnerScope, noon)}
	return n
}

// add has an entry arrive.
func (n *aNode) add(u feed.URL, title, content string, at time.Time, source protocol.NodeID) {
	e := feed.Entry{Feed: u, ID: title, Title: title, Link: "https://example.com/1", Content: content, Published: at}
	if content == hostile {
		e.Rights = []string{"© <script>steal()</script> Ada", "javascript:steal()",
			"https://creativecommons.org/licenses/by/4.0/",
			`<content xmlns="https://rslstandard.org/rsl"><license/></content>`}
		e.CopiedFrom = feed.Original{Title: "<b>Towers</b>", URL: "javascript:steal()"}
	}
	r := archive.NewRecord(e, at, source)
	r.Seq = int64(len(n.entries) + 1)
	n.entries = append(n.entries, r)
	n.items[r.Seq] = reading.ItemState{ID: reading.ItemID(r.Seq), Read: title == "Lighthouse"}
}

// hostile is an article that would do all the harm it can.
const hostile = `<p onclick="alert(1)" style="position:fixed" id="main">Read</p><script>alert(1)</script><img src="https://tracker.example/p.gif" onerror="alert(1)" alt="A ferry">
<img src="data:image/png;base64,AAAA"><iframe src="https://video.example/1" srcdoc="<script>alert(1)</script>" title="A film"></iframe>
<video src="https://tracker.example/v.mp4" poster="https://tracker.example/v.png"></video><picture><source srcset="https://tracker.example/s.png"><img src="https://tracker.example/q.png"></picture>
<form action="/unfollow" method="post"><input name="feed" value="1"><button>Win</button></form><a href="javascript:alert(1)">a</a><link rel="stylesheet" href="https://tracker.example/c.css">
<svg onload="alert(1)"><image href="https://tracker.example/i.png"/></svg><div data-live data-network="/unfollow">b</div></div></article></main><b>`

func (n *aNode) Status(context.Context) (web.Status, error)           { return n.status, nil }
func (n *aNode) Feeds(context.Context) ([]web.FeedSummary, error)     { return n.feeds, nil }
func (n *aNode) Starred(context.Context) ([]node.StarredEntry, error) { return n.starred, nil }

func (n *aNode) Recommended(context.Context) ([]web.RecommendedFeed, error) {
	return n.recommended, nil
}
func (n *aNode) Decline(_ context.Context, u feed.URL, declined bool) error {
	n.declined = slices.DeleteFunc(n.declined, func(d feed.URL) bool { return d == u })
	if declined {
		n.declined = append(n.declined, u)
	}
	return nil
}
func (n *aNode) Neighbors(context.Context) ([]node.NeighborStatus, error) { return n.neighbors, nil }
func (n *aNode) Version() uint64                                          { return n.version.Load() }
func (n *aNode) Hours(_ context.Context, since time.Time) (list []archive.Hour, _ error) {
	for _, h := range n.hours {
		if !h.At.Before(since) {
			list = append(list, h)
		}
	}
	return list, nil
}

func (n *aNode) CountedSince(context.Context) (time.Time, error) { return n.hours[0].At, nil }

func (n *aNode) Feed(_ context.Context, number int64) (web.FeedDetail, error) {
	k, ok := n.known[number]
	if !ok {
		return k, web.ErrNone
	}
	return k, nil
}

func (n aShelf) Known(ctx context.Context, number int64) (web.KnownFeed, error) {
	k, err := n.aNode.Feed(ctx, number)
	return k.KnownFeed, err
}

func (n aShelf) Titles(_ context.Context, feeds []feed.URL) (map[feed.URL]reading.FeedTitle, error) {
	titles := make(map[feed.URL]reading.FeedTitle)
	for number, k := range n.known {
		if slices.Contains(feeds, k.URL) {
			titles[k.URL] = reading.FeedTitle{Feed: reading.FeedID(number), Text: k.Title, Icon: k.Look.Icon}
		}
	}
	return titles, nil
}

func (n *aNode) Happened(context.Context, int64, time.Time, int) (web.Happened, error) {
	return n.happened, nil
}

// picture is that of the news, and pictureWord its word.
const (
	picture     = "GIF89a\x01\x00\x01\x00"
	pictureWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func (n aShelf) Picture(_ context.Context, number int64, at feed.URL) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pictures = append(n.pictures, fmt.Sprint(number, " ", at))
	if strings.HasSuffix(string(at), ".gif") {
		return []byte(picture), nil
	}
	return nil, errors.New("HTTP 404 <b>")
}

func (n *aNode) Chapters(_ context.Context, number int64, at feed.URL) ([]feed.Chapter, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pictures = append(n.pictures, fmt.Sprint(number, " ", at))
	if !strings.HasSuffix(string(at), ".json") {
		return nil, errors.New("HTTP 404 <b>")
	}
	return []feed.Chapter{{Title: "Intro"}, {Start: 3661 * time.Second, Title: "Tides <script>alert(1)"}}, nil
}

func (n *aNode) IconAt(_ context.Context, word string) (c reading.Icon, _ error) {
	switch word {
	case pictureWord:
		c.Content = []byte(picture)
	case "drawn":
		c.Content = []byte("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
	}
	return c, nil
}

func (n *aNode) Brought(context.Context, int64, time.Time, int) (int, error) { return 7, nil }

func (n aShelf) Headlines(_ context.Context, q reading.HeadlineQuery) (list []reading.Headline, _ error) {
	entries := slices.Clone(n.entries)
	behind := func(r *archive.Record, seq int64) bool { return r.Seq < seq }
	if q.ByTime {
		slices.SortStableFunc(entries, func(a, b archive.Record) int { return a.Time().Compare(b.Time()) })
		behind = func(r *archive.Record, seq int64) bool {
			return cmp.Or(r.Time().Compare(q.At), cmp.Compare(r.Seq, seq)) < 0
		}
	}
	for i := len(entries) - 1; i >= 0 && len(list) < q.Limit; i-- {
		r := &entries[i]
		if q.After != 0 {
			r = &entries[len(entries)-1-i]
		}
		of := int64(1)
		if r.Entry.Feed == secretURL {
			of = 2
		}
		item := n.items[r.Seq]
		if q.Feed != 0 && of != q.Feed || of == 2 && !q.Secret || q.Before != 0 && !behind(r, q.Before) ||
			q.After != 0 && (r.Seq == q.After || behind(r, q.After)) || q.Unread &&
			item.Read || q.Starred && !item.Starred || q.Label != 0 && !slices.Contains(n.given[q.Label], item.ID) {
			continue
		}
		h := reading.Headline{Seq: r.Seq, ID: r.ID, Feed: of, URL: r.Entry.Feed, FeedTitle: "News &amp; more",
			Item: item, Title: r.Entry.Title, Time: r.Time(), Seen: r.Seen, Confirmed: r.Confirmed,
			Lead: r.Entry.Content}
		if of == 1 {
			h.FeedIcon = n.feeds[0].Icon
		}
		if !r.Source.IsZero() {
			h.Source = r.Source.String()
		}
		list = append(list, h)
	}
	return list, nil
}

func (n aShelf) IDs(_ context.Context, s reading.Stream, p reading.Page) (ids []reading.ItemID, _ error) {
	if p.Oldest {
		n.streams = append(n.streams, s)
	}
	for _, r := range n.entries {
		id := n.items[r.Seq].ID
		if !n.items[r.Seq].Read && (s.Feed == 0 || (r.Entry.Feed == newsURL) == (s.Feed == 1)) && id > p.After {
			ids = append(ids, id)
		}
	}
	if slices.Sort(ids); !p.Oldest {
		slices.Reverse(ids)
	}
	return ids[:min(len(ids), p.Limit)], nil
}

func (n aShelf) Folders(context.Context) ([]reading.Folder, error) {
	return []reading.Folder{{ID: 5, Name: "Coast"}, {ID: 7, Name: "Desert"}}, nil // the latter without a feed
}

func (n aShelf) Subscriptions(context.Context) (list []reading.FollowedFeed, _ error) {
	folders, _ := n.Folders(context.Background())
	for _, f := range n.feeds {
		of := reading.FollowedFeed{ID: reading.FeedID(f.Number), URL: f.URL, Title: f.Title, Icon: f.Icon,
			Errors: f.Errors, Choose: len(f.Names) > 0, Folders: folders[:1]}
		for _, r := range n.entries {
			if r.Entry.Feed == f.URL && !n.items[r.Seq].Read {
				of.Unread++
			}
		}
		list = append(list, of)
	}
	return list, nil
}

func (n aShelf) CountUnread(context.Context, bool) (unread int, _ error) {
	for _, item := range n.items {
		if !item.Read {
			unread++
		}
	}
	return unread, nil
}

func (n aShelf) Entry(_ context.Context, id feed.EntryID) (web.EntryDetail, error) {
	for _, r := range n.entries {
		if r.ID == id {
			e := web.EntryDetail{Record: r, Feed: 1, Item: n.items[r.Seq], Full: n.full[r.Seq]}
			if r.Entry.Feed == secretURL {
				e.Feed = 2
			}
			return e, nil
		}
	}
	return web.EntryDetail{}, web.ErrNone
}

func (n aShelf) ItemStates(_ context.Context, ids []feed.EntryID) (map[feed.EntryID]reading.ItemState, error) {
	states := make(map[feed.EntryID]reading.ItemState)
	for _, r := range n.entries {
		if slices.Contains(ids, r.ID) {
			states[r.ID] = n.items[r.Seq]
		}
	}
	return states, nil
}

func (n aShelf) Mark(_ context.Context, ids []reading.ItemID, m reading.Mark) error {
	for _, id := range ids {
		item := n.items[int64(id)]
		if m.Read != reading.Either {
			item.Read = m.Read == reading.Yes
		}
		if m.Starred != reading.Either {
			item.Starred = m.Starred == reading.Yes
		}
		n.items[int64(id)] = item
	}
	return nil
}

func (n aShelf) FetchFullText(_ context.Context, id reading.ItemID, show bool) (reading.FullText, error) {
	t := reading.FullText{Item: id, HTML: "<p>All of it.<script>alert(1)</script></p>", At: noon, Shown: show}
	var err error
	if n.paywall {
		t, err = reading.FullText{Item: id, Problem: "HTTP 402: <b>pay</b>", At: noon}, reading.ErrFullText
	}
	n.full = map[int64]reading.FullText{int64(id): t}
	return t, err
}

func (n aShelf) ShowFullText(_ context.Context, id reading.ItemID, shown bool) error {
	t := n.full[int64(id)]
	t.Shown = shown
	n.full[int64(id)] = t
	return nil
}

func (n aShelf) Arrange(_ context.Context, list ...reading.Arrangement) error {
	if n.refused != nil {
		return n.refused
	}
	n.arranged = append(n.arranged, list...)
	for _, a := range list {
		if k, ok := n.known[int64(a.Feed)]; ok && a.Pictures != nil {
			k.Look.Pictures = *a.Pictures
			n.known[int64(a.Feed)] = k
		}
	}
	_, err := reading.Checked(list)
	return err
}

// Search is that of an archive with all the entries.
func (n aShelf) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	memory := archive.NewMemory()
	memory.Keep(n.entries)
	n.searched = f
	return memory.Search(ctx, f)
}

func (n *aNode) Ask(_ context.Context, f feed.Filter, each func([]web.RemoteEntry) error) (web.SearchOutcome, error) {
	n.mu.Lock()
	n.asked = append(n.asked, f)
	n.mu.Unlock()
	return web.SearchOutcome{Neighbors: 2}, each(n.remote)
}

func (n *aNode) Follow(_ context.Context, list []opml.Outline, unread archive.Backlog) (l web.FollowedList,
	_ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.backlog = unread
	for _, f := range list {
		if slices.Contains(n.followed, f.URL) {
			l.Repeated = append(l.Repeated, web.Repetition{Line: f.Line, Feed: f.URL, Reason: "is followed already"})
			continue
		}
		l.Added++
		n.followed = append(n.followed, f.URL)
		if slices.Contains(f.Folder, "Taken") {
			l.Problems = append(l.Problems, opml.Problem{Line: f.Line, Name: "Taken", Reason: "its name is taken"})
		}
		if _, part := f.URL.Secrecy(); part != "" {
			l.Kept = append(l.Kept, node.Withheld{Feed: f.URL, Why: "it holds " + part, Undecided: true})
		}
	}
	return l, nil
}

func (n *aNode) Adjust(_ context.Context, number int64, wish node.Subscribe) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fails == "adjust" {
		return web.ErrNone
	}
	n.adjusted = append(n.adjusted, adjustment{number, wish})
	return nil
}

// An adjustment is a call of Adjust.
type adjustment struct {
	number int64
	node.Subscribe
}

func (n *aNode) Keep(_ context.Context, number int64, l archive.Limits) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fails == "keep" {
		return fmt.Errorf("%w: write /home/ada/feedex.db: %w", reading.ErrRests, archive.ErrFull)
	}
	n.kept = append(n.kept, fmt.Sprint(number, " ", l))
	return nil
}

// siteURL names two feeds, and silentURL none.
const (
	siteURL   = feed.URL("https://site.example/")
	silentURL = feed.URL("https://silent.example/")
	goneURL   = feed.URL("https://gone.example/feed")
)

func (n *aNode) FollowAt(_ context.Context, w web.FollowWish) (web.FollowedAt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.backlog = w.Backlog
	u := w.Tries[0]
	if u == goneURL && !w.Anyway {
		return web.FollowedAt{Problem: "HTTP <404>", Unread: true}, nil
	}
	switch u {
	case newsURL:
		return web.FollowedAt{Number: 1}, nil
	case siteURL:
		return web.FollowedAt{Number: 3, New: true, Choose: true}, nil
	case silentURL:
		return web.FollowedAt{Problem: "get silent.example: this is a web page, not a feed, and it names none"}, nil
	}
	n.followed, n.pages = append(n.followed, u), append(n.pages, w.Page)
	if u == goneURL {
		return web.FollowedAt{Number: 1, New: true, Problem: "HTTP <404>"}, nil
	}
	if strings.HasSuffix(string(u), "/x7kq") {
		return web.FollowedAt{Number: 2, New: true, Kept: "it may be a key", Undecided: true}, nil
	}
	return web.FollowedAt{Number: 1, New: true}, nil
}

func (n *aNode) SiteFeeds(_ context.Context, name string) ([]feed.URL, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sites = append(n.sites, name)
	if name == "silent.example" {
		return nil, errors.New("site silent.example: it names no node")
	}
	return []feed.URL{"https://example.com/<shared>"}, nil
}

func (n *aNode) Join(_ context.Context, i invitation.Invitation) (protocol.NodeID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i.Host == "192.0.2.9:7790" || i.Host == "silent.example" {
		return protocol.NodeID{}, errors.New("no node answers there")
	}
	n.joined = append(n.joined, i)
	return protocol.ParseNodeID("192.0.2.7:7790")
}

func (n *aNode) Unfollow(_ context.Context, number int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unfollows = append(n.unfollows, number)
	return nil
}

func (n *aNode) FollowAgain(_ context.Context, number int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.again = append(n.again, number)
	return nil
}

func (n *aNode) Visitor(_ context.Context, password string) (reading.Visitor, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.passwords {
		if p.Hash == reading.HashOf(password) {
			return reading.Visitor{Name: p.Name}, nil
		}
	}
	return reading.Visitor{}, nil
}

func (n *aNode) NameSource(_ context.Context, name string) (s node.SourceStatus, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name == "" {
		return s, errors.New("that is no name")
	}
	s = node.SourceStatus{Name: name, Tracker: strings.Contains(name, "://"), Problem: "<nobody> answers"}
	n.status.Sources = append(n.status.Sources, s)
	n.status.Named = append(n.status.Named, name)
	return s, nil
}

func (n *aNode) ForgetSource(_ context.Context, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.Index(n.status.Named, name)
	if i < 0 {
		return errors.New("the settings name it")
	}
	n.status.Named = slices.Delete(n.status.Named, i, i+1)
	n.status.Sources = slices.DeleteFunc(n.status.Sources,
		func(s node.SourceStatus) bool { return s.Name == name })
	return nil
}

func (n *aNode) Service(context.Context) (saving.Service, error) { return n.service.Shown(), n.unsaved }
func (n *aNode) SaveTo(_ context.Context, s saving.Service) (func(context.Context) error, error) {
	before := n.service
	n.service = s
	return func(context.Context) error { n.service = before; return nil }, nil
}

func (n *aNode) Save(_ context.Context, b saving.Bookmark) error {
	n.saved = append(n.saved, b)
	return n.refusal
}

func (n *aNode) UseDHT(_ context.Context, on bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status.DHT = web.DHT{On: on}
	return nil
}

func (n *aNode) Passwords(context.Context) ([]reading.Password, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.passwords), nil
}

func (n *aNode) AddPassword(_ context.Context, name, person string, scope reading.Scope) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.passwords {
		if p.Name == name {
			return "", reading.ErrTaken
		}
	}
	if err := reading.CheckPasswordName(name); err != nil {
		return "", err
	}
	p, err := reading.Named(n.everybody(), cmp.Or(person, reading.OwnerName))
	if err != nil {
		return "", err
	}
	n.passwords = append(n.passwords, reading.NewPassword(name, "fresh secret", p.ID, scope, noon))
	return "fresh secret", nil
}

func (n *aNode) RemovePassword(_ context.Context, name string) (func(context.Context) error, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	named := func(p reading.Password) bool { return p.Name == name }
	i := slices.IndexFunc(n.passwords, named)
	if i < 0 {
		return nil, web.ErrNone
	}
	gone := n.passwords[i]
	n.passwords = slices.Delete(n.passwords, i, i+1)
	return func(context.Context) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if slices.ContainsFunc(n.passwords, named) {
			return reading.ErrTaken
		}
		n.passwords = append(n.passwords, gone)
		return nil
	}, nil
}

func (n *aNode) OwnPasswords(context.Context) ([]reading.Password, error) {
	return n.Passwords(context.Background())
}

func (n *aNode) AddOwnPassword(ctx context.Context, name string) (string, error) {
	return n.AddPassword(ctx, name, "", reading.ReaderScope)
}

func (n *aNode) RemoveOwnPassword(ctx context.Context, name string) (func(context.Context) error, error) {
	return n.RemovePassword(ctx, name)
}

func (n *aNode) EndSessions(_ context.Context, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.passwords {
		if n.passwords[i].Name == name {
			n.passwords[i].Epoch++
		}
	}
	return nil
}

// everybody is the owner and whoever was added. Call it with n.mu held.
func (n *aNode) everybody() []reading.Person {
	return append([]reading.Person{{ID: reading.Owner, Name: reading.OwnerName}}, n.people...)
}

func (n *aNode) People(context.Context) ([]reading.Person, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.everybody(), nil
}

func (n *aNode) Belongings(_ context.Context, id reading.PersonID) (reading.Belongings, error) {
	return reading.Belongings{Passwords: 1, Folders: 2, Filters: 23, Receivers: 45, Unread: 1234, Starred: int(id)}, nil
}

func (n *aNode) AddPerson(_ context.Context, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := reading.Named(n.everybody(), name); err == nil {
		return reading.ErrPerson
	}
	n.people = append(n.people, reading.Person{ID: reading.PersonID(len(n.people) + 2), Name: name, Created: noon})
	return nil
}

func (n *aNode) RemovePerson(_ context.Context, name string) (func(context.Context) error, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.people
	n.people = slices.DeleteFunc(slices.Clone(before), func(p reading.Person) bool { return p.Name == name })
	return func(context.Context) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if _, err := reading.Named(n.people, name); err == nil {
			return reading.ErrPerson
		}
		n.people = before
		return nil
	}, nil
}

// path is where the entry with that title is.
func (n *aNode) path(t *testing.T, title string) string {
	t.Helper()
	for _, r := range n.entries {
		if strings.EqualFold(r.Entry.Title, title) {
			return "/entries/" + r.ID.String()
		}
	}
	t.Fatalf("there is no entry %q", title)
	return ""
}

func (n aShelf) Refresh(_ context.Context, ids ...reading.FeedID) (reading.RefreshResult, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		n.refreshed = append(n.refreshed, int64(id))
	}
	return reading.RefreshResult{Polled: 1, Later: 2, From: noon.Add(3 * time.Minute)}, nil
}

func (n aShelf) TakeUp(_ context.Context, number int64) error {
	n.followed = append(n.followed, n.known[number].URL)
	return nil
}

func (n aShelf) Unfollowed(_ context.Context, since time.Time) ([]reading.Unfollowed, error) {
	return slices.DeleteFunc(slices.Clone(n.unfollowed),
		func(u reading.Unfollowed) bool { return u.At.Before(since) }), nil
}

func (n aShelf) Refollow(_ context.Context, list []reading.Unfollowed) error {
	for _, u := range list {
		n.refollowed = append(n.refollowed, u.Feed)
	}
	return nil
}

func (n aShelf) Unsubscribe(_ context.Context, id reading.FeedID) error {
	n.unfollows = append(n.unfollows, int64(id))
	return nil
}
