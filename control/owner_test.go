package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// A fakeOwner answers from its fields and remembers what it was asked.
type fakeOwner struct {
	fakeTeller

	suggested []Recommendation
	declined  []feed.URL
	bound     RetentionChange
	report    Report
	neighbors []node.NeighborStatus
	feeds     []node.FeedStatus
	waiting   []int // for their first polls
	records   []archive.Record
	hosts     []grade.Assessment
	err       error

	arranged          []reading.Arrangement
	noFolders         []NoFolder
	passwords         []string
	people            []string
	filters           []FilterRequest
	subscribed        node.Subscribe
	wish              FollowAddress
	followed          FollowedAddress
	polled            []feed.URL
	unsubscribed      feed.URL
	filter            feed.Filter
	imported          []jsonl.Line
	vacuumed          bool
	query             QueryRequest
	parts             []QueryPart
	wanted            []Remote
	pulled            PullReport
	pages             map[feed.URL]ArchiveDocument
	joined            JoinRequest
	dht               []bool
	source, forgotten string
	site              string
}

func (o *fakeOwner) Status(context.Context) (Report, error) { return o.report, o.err }
func (o *fakeOwner) Neighbors(context.Context) ([]node.NeighborStatus, error) {
	return o.neighbors, o.err
}
func (o *fakeOwner) Feeds(context.Context) ([]node.FeedStatus, error) { return o.feeds, o.err }
func (o *fakeOwner) Numbered(_ context.Context, number int64) (feed.URL, error) {
	if number != 7 {
		return "", o.err
	}
	return "https://example.com/seven", o.err
}
func (o *fakeOwner) Recommend(context.Context) ([]Recommendation, error) { return o.suggested, o.err }
func (o *fakeOwner) Decline(_ context.Context, u feed.URL) error {
	o.declined = append(o.declined, u)
	return o.err
}
func (o *fakeOwner) Publishers(context.Context) ([]grade.Assessment, error) { return o.hosts, o.err }
func (o *fakeOwner) SetRetention(_ context.Context, b RetentionChange) error {
	o.bound = b
	return b.Check()
}

func (o *fakeOwner) Subscribe(_ context.Context, s node.Subscribe) error {
	o.subscribed = s
	return o.err
}
func (o *fakeOwner) FollowAddress(_ context.Context, w FollowAddress) (FollowedAddress, error) {
	o.wish = w
	return o.followed, o.err
}
func (o *fakeOwner) FirstPolls(_ context.Context, list []feed.URL, each func(int) error) error {
	o.polled = list
	for _, n := range o.waiting {
		if err := each(n); err != nil {
			return err
		}
	}
	return o.err
}
func (o *fakeOwner) Arrange(_ context.Context, list []reading.Arrangement) error {
	o.arranged = append(o.arranged, list...)
	return o.err
}
func (o *fakeOwner) FollowList(_ context.Context, s node.Subscribe,
	list []reading.Arrangement) ([]NoFolder, error) {
	o.subscribed, o.arranged = s, append(o.arranged, list...)
	return o.noFolders, o.err
}
func (o *fakeOwner) AddPassword(_ context.Context, p PasswordRequest) (string, error) {
	o.passwords = append(o.passwords, p.Name)
	return fmt.Sprintf("%s of %s, %s", p.Scope, p.Person, p.Name), o.err
}
func (o *fakeOwner) AddFilter(_ context.Context, r FilterRequest) (FilterReport, error) {
	o.filters = append(o.filters, r)
	return FilterReport{Filter: 7, Caught: 3, Everything: true}, o.err
}
func (o *fakeOwner) StandFilter(_ context.Context, s FilterStanding) error {
	for i := range o.filters {
		if o.filters[i].Name == s.Name {
			o.filters[i].Standing = s.Standing
		}
	}
	return o.err
}
func (o *fakeOwner) RemoveFilter(_ context.Context, r FilterRemoval) (rule reading.Rule, err error) {
	o.filters = slices.DeleteFunc(o.filters, func(f FilterRequest) bool {
		goes := r.TakeBack && f.Person == r.Person && f.Name == r.Name
		if goes {
			rule = f.Rule
		}
		return goes
	})
	return rule, o.err
}
func (o *fakeOwner) AddPerson(_ context.Context, name string) error {
	o.people = append(o.people, name)
	return o.err
}
func (o *fakeOwner) RemovePerson(_ context.Context, name string) error {
	o.people = slices.DeleteFunc(o.people, func(have string) bool { return have == name })
	return o.err
}
func (o *fakeOwner) RemovePassword(_ context.Context, name string) error {
	o.passwords = slices.DeleteFunc(o.passwords, func(have string) bool { return have == name })
	return o.err
}

// refreshable is when a fakeOwner lets feeds be refreshed.
var refreshable = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func (o *fakeOwner) Refresh(_ context.Context, feeds []feed.URL) (list []Refreshed, err error) {
	for _, u := range feeds {
		list = append(list, Refreshed{Feed: u, NotBefore: refreshable})
	}
	return list, o.err
}
func (o *fakeOwner) Unsubscribe(_ context.Context, u feed.URL) error {
	o.unsubscribed = u
	return o.err
}
func (o *fakeOwner) Import(_ context.Context, lines []jsonl.Line) (int, error) {
	o.imported = append(o.imported, lines...)
	return len(lines), o.err
}
func (o *fakeOwner) Vacuum(context.Context) error {
	o.vacuumed = true
	return o.err
}
func (o *fakeOwner) Query(_ context.Context, q QueryRequest, each func(QueryPart) error) error {
	o.query = q
	for _, p := range o.parts {
		if err := each(p); err != nil {
			return err
		}
	}
	return o.err
}
func (o *fakeOwner) Pull(_ context.Context, list []Remote) (PullReport, error) {
	o.wanted = append(o.wanted, list...)
	return o.pulled, o.err
}
func (o *fakeOwner) FetchArchive(_ context.Context, u, page feed.URL) (ArchiveDocument, error) {
	p, ok := o.pages[cmp.Or(page, u)]
	if !ok {
		return p, errors.New("HTTP status 404")
	}
	return p, o.err
}
func (o *fakeOwner) SiteFeeds(_ context.Context, name string) ([]feed.URL, error) {
	o.site = name
	return []feed.URL{"https://example.com/feed"}, o.err
}

func (o *fakeOwner) Join(_ context.Context, j JoinRequest) (protocol.NodeID, error) {
	o.joined = j
	return peer(), o.err
}
func (o *fakeOwner) NameSource(_ context.Context, name string) (node.SourceStatus, error) {
	o.source = name
	return node.SourceStatus{Name: name, Tracker: true, Problem: "nobody answers"}, o.err
}
func (o *fakeOwner) ForgetSource(_ context.Context, name string) error {
	o.forgotten = name
	return o.err
}
func (o *fakeOwner) UseDHT(_ context.Context, on bool) error {
	o.dht = append(o.dht, on)
	return o.err
}
func (o *fakeOwner) Search(_ context.Context, f feed.Filter) ([]archive.Record, error) {
	o.filter = f
	return o.records, o.err
}

// serve runs the control handler of o on a socket in a new data directory and returns a client.
func serve(t *testing.T, o Owner) *Client {
	t.Helper()
	data := t.TempDir()
	if _, err := SocketPath(data); err != nil {
		t.Skipf("the name of the folder for temporary files is too long for a Unix socket, set TMPDIR: %v", err)
	}
	l, err := Listen(data)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: NewHandler(o)}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-done })
	c, err := Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
