package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// ErrNotRunning means that no node runs on the data directory.
var ErrNotRunning = errors.New("no node runs")

// errVersion is for a node that went on running while its program was upgraded, or the command is an old one.
var errVersion error = otherVersion{}

// otherVersion is an errors.ErrUnsupported in words for the owner.
type otherVersion struct{}

func (otherVersion) Error() string {
	return "the running node does not know what is asked of it, because it is of another version than this command: " +
		"start it anew, by the same program"
}

func (otherVersion) Unwrap() error { return errors.ErrUnsupported }

// unknownMember is how encoding/json, which has no type for that error, begins to say it.
const unknownMember = "json: unknown field "

// A Client asks a node that runs in another process, over the control socket in its data directory.
// It may be used by several goroutines at once. It implements Owner.
type Client struct {
	http http.Client
}

// Dial finds the node that runs on a data directory. The error wraps ErrNotRunning if there is none,
// and fs.ErrPermission if it belongs to another user.
func Dial(data string) (*Client, error) {
	path, err := SocketPath(data)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialSocket(ctx, data, path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil, err
	}
	conn.Close()
	return &Client{http.Client{Transport: &http.Transport{
		DialContext:           dial,
		ResponseHeaderTimeout: 30 * time.Second,
	}}}, nil
}

// Close lets go of the connections. Calls under way go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status implements Owner.
func (c *Client) Status(ctx context.Context) (Report, error) { return callStatus.ask(ctx, c, none{}) }

// Neighbors implements Owner.
func (c *Client) Neighbors(ctx context.Context) ([]node.NeighborStatus, error) {
	return callNeighbors.ask(ctx, c, none{})
}

// Feeds implements Owner.
func (c *Client) Feeds(ctx context.Context) ([]node.FeedStatus, error) {
	return callFeeds.ask(ctx, c, none{})
}

// Numbered implements Owner.
func (c *Client) Numbered(ctx context.Context, number int64) (feed.URL, error) {
	return question[feed.URL](fmt.Sprintf("/feeds/%d", number), nil).ask(ctx, c, none{})
}

// Recommend implements Owner.
func (c *Client) Recommend(ctx context.Context) ([]Recommendation, error) {
	return callRecommend.ask(ctx, c, none{})
}

// Decline implements Owner.
func (c *Client) Decline(ctx context.Context, u feed.URL) error {
	return callDecline.tell(ctx, c, urlRequest{u})
}

// Publishers implements Owner.
func (c *Client) Publishers(ctx context.Context) ([]grade.Assessment, error) {
	return callPublishers.ask(ctx, c, none{})
}

// subscribeStep is how many feeds go into one request: their URLs fit into maxControlBytes at their longest.
const subscribeStep = 100

// Subscribe implements Owner.
func (c *Client) Subscribe(ctx context.Context, s node.Subscribe) error {
	for part := range slices.Chunk(s.Feeds, subscribeStep) {
		s.Feeds = part
		if err := callSubscribe.tell(ctx, c, s); err != nil {
			return err
		}
	}
	return nil
}

// ListStep is how many feeds go into one request that titles or files them, and how many FollowList takes at most:
// their URLs, twice, and names fit into maxControlBytes at their longest.
const ListStep = 50

// Arrange implements Owner.
func (c *Client) Arrange(ctx context.Context, list []reading.Arrangement) error {
	for part := range slices.Chunk(list, ListStep) {
		if err := callArrange.tell(ctx, c, part); err != nil {
			return err
		}
	}
	return nil
}

// FollowList implements Owner, for ListStep feeds at most.
func (c *Client) FollowList(ctx context.Context, s node.Subscribe,
	list []reading.Arrangement) ([]NoFolder, error) {
	return callFollowList.ask(ctx, c, listRequest{s, list})
}

// Refresh implements Owner.
func (c *Client) Refresh(ctx context.Context, feeds []feed.URL) ([]Refreshed, error) {
	return callRefresh.ask(ctx, c, feeds)
}

// Unsubscribe implements Owner.
func (c *Client) Unsubscribe(ctx context.Context, u feed.URL) error {
	return callUnsubscribe.tell(ctx, c, urlRequest{u})
}

// Search implements Owner.
func (c *Client) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	resp, err := c.open(ctx, "POST", "/search", newSearch(f))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var entries []jsonl.Entry
	if err := json.NewDecoder(resp.Body).Decode(&entries); err != nil {
		return nil, fmt.Errorf("read the node's answer: %w", err)
	}
	records := make([]archive.Record, len(entries))
	for i := range entries {
		records[i] = entries[i].Record()
	}
	if resp.Header.Get(cutHeader) != "" {
		return records, archive.ErrCut
	}
	return records, nil
}

// FollowAddress implements Owner.
func (c *Client) FollowAddress(ctx context.Context, w FollowAddress) (FollowedAddress, error) {
	return callFollowAddress.ask(ctx, c, w)
}

// SetRetention implements Owner.
func (c *Client) SetRetention(ctx context.Context, b RetentionChange) error {
	return callSetRetention.tell(ctx, c, b)
}

// Import implements Maintenance.
func (c *Client) Import(ctx context.Context, lines []jsonl.Line) (int, error) {
	a, err := callImport.ask(ctx, c, lines)
	return a.Added, err
}

// Vacuum implements Maintenance.
func (c *Client) Vacuum(ctx context.Context) error {
	return callVacuum.tell(ctx, c, none{})
}

// AddPassword implements Maintenance.
func (c *Client) AddPassword(ctx context.Context, p PasswordRequest) (string, error) {
	a, err := callAddPassword.ask(ctx, c, p)
	return a.Secret, err
}

// RemovePassword implements Maintenance.
func (c *Client) RemovePassword(ctx context.Context, name string) error {
	return callRemovePassword.tell(ctx, c, nameRequest{name})
}

// AddPerson implements Maintenance.
func (c *Client) AddPerson(ctx context.Context, name string) error {
	return callAddPerson.tell(ctx, c, nameRequest{name})
}

// RemovePerson implements Maintenance.
func (c *Client) RemovePerson(ctx context.Context, name string) error {
	return callRemovePerson.tell(ctx, c, nameRequest{name})
}

// Pull implements Owner.
func (c *Client) Pull(ctx context.Context, list []Remote) (PullReport, error) {
	request := pullRequest{Entries: make([]Remote, len(list))}
	for i, r := range list {
		request.Entries[i] = Remote{ID: r.ID, Digest: r.Digest, Feed: r.Feed, Holders: r.Holders}
	}
	return callPull.ask(ctx, c, request)
}

// SiteFeeds implements Owner.
func (c *Client) SiteFeeds(ctx context.Context, name string) ([]feed.URL, error) {
	a, err := callSiteFeeds.ask(ctx, c, nameRequest{name})
	return a.Feeds, err
}

// Join implements Owner.
func (c *Client) Join(ctx context.Context, j JoinRequest) (protocol.NodeID, error) {
	a, err := callJoin.ask(ctx, c, j)
	return a.Peer, err
}

// NameSource implements Owner.
func (c *Client) NameSource(ctx context.Context, name string) (node.SourceStatus, error) {
	a, err := callNameSource.ask(ctx, c, nameRequest{name})
	return a.Source, err
}

// ForgetSource implements Owner.
func (c *Client) ForgetSource(ctx context.Context, name string) error {
	return callForgetSource.tell(ctx, c, nameRequest{name})
}

// UseDHT implements Owner.
func (c *Client) UseDHT(ctx context.Context, on bool) error {
	return callUseDHT.tell(ctx, c, dhtRequest{on})
}

// FetchArchive implements Owner.
func (c *Client) FetchArchive(ctx context.Context, u, page feed.URL) (ArchiveDocument, error) {
	return callFetchArchive.ask(ctx, c, archiveRequest{u, page})
}

// AddFilter implements Maintenance.
func (c *Client) AddFilter(ctx context.Context, r FilterRequest) (FilterReport, error) {
	return callAddFilter.ask(ctx, c, r)
}

// StandFilter implements Maintenance.
func (c *Client) StandFilter(ctx context.Context, s FilterStanding) error {
	return callStandFilter.tell(ctx, c, s)
}

// RemoveFilter implements Maintenance.
func (c *Client) RemoveFilter(ctx context.Context, r FilterRemoval) (reading.Rule, error) {
	a, err := callRemoveFilter.ask(ctx, c, r)
	return a.Rule, err
}

// Query implements Owner.
func (c *Client) Query(ctx context.Context, q QueryRequest, each func(QueryPart) error) error {
	request := queryRequest{
		searchRequest: newSearch(q.Filter), Network: q.Network, Hops: q.Hops, Wait: q.Wait.Milliseconds(),
	}
	return readLines(ctx, c, "/query", request, func(line queryLine) (last bool, err error) {
		return line.End != nil, each(line.part())
	})
}

// FirstPolls implements Owner.
func (c *Client) FirstPolls(ctx context.Context, list []feed.URL, each func(waiting int) error) error {
	return readLines(ctx, c, "/polls", list, func(line pollsLine) (last bool, err error) {
		return line.Waiting == 0, each(line.Waiting)
	})
}

// readLines sends in as JSON and has each read the lines of the answer, up to the last or an error.
func readLines[T interface{ problem() error }](ctx context.Context, c *Client, path string, in any,
	each func(line T) (last bool, err error)) error {
	resp, err := c.open(ctx, "POST", path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for lines := json.NewDecoder(resp.Body); ; {
		var line T
		if err := lines.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // the end says that it is the end
			}
			return fmt.Errorf("read the node's answer: %w", err)
		}
		if err := line.problem(); err != nil {
			return err
		}
		if last, err := each(line); err != nil || last {
			return err
		}
	}
}

// open sends in as JSON, if there is any, and returns the answer, for the caller to read and close its body. A refusal
// of the node comes back as an error with the node's words, or as errVersion where the node is of a version that does
// not know the path or a member of the request.
func (c *Client) open(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body bytes.Buffer
	if in != nil {
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://node"+path, &body)
	if err != nil {
		return nil, fmt.Errorf("ask the node: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the node: %w", errors.Unwrap(err)) // without the made-up URL
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		var r refusal
		err := json.NewDecoder(resp.Body).Decode(&r)
		switch {
		case resp.StatusCode == http.StatusNotFound, strings.Contains(r.Error, unknownMember):
			return nil, errVersion
		case err != nil || r.Error == "":
			return nil, fmt.Errorf("ask the node: HTTP status %s", resp.Status)
		}
		return nil, r.problem()
	}
	return resp, nil
}
