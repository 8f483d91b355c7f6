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
var errVersion = fmt.Errorf("the running node does not know what is asked of it, because it is of another version "+
	"than this command: start it anew, by the same program (%w)", errors.ErrUnsupported)

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
func (c *Client) Status(ctx context.Context) (Report, error) { return get[Report](ctx, c, "/status") }

// Neighbors implements Owner.
func (c *Client) Neighbors(ctx context.Context) ([]node.NeighborStatus, error) {
	return get[[]node.NeighborStatus](ctx, c, "/neighbors")
}

// Feeds implements Owner.
func (c *Client) Feeds(ctx context.Context) ([]node.FeedStatus, error) {
	return get[[]node.FeedStatus](ctx, c, "/feeds")
}

// Numbered implements Owner.
func (c *Client) Numbered(ctx context.Context, number int64) (feed.URL, error) {
	return get[feed.URL](ctx, c, fmt.Sprintf("/feeds/%d", number))
}

// Recommend implements Owner.
func (c *Client) Recommend(ctx context.Context) ([]Recommendation, error) {
	return get[[]Recommendation](ctx, c, "/recommend")
}

// Decline implements Owner.
func (c *Client) Decline(ctx context.Context, u feed.URL) error {
	return c.do(ctx, http.MethodPost, "/decline", urlRequest{string(u)}, nil)
}

// Publishers implements Owner.
func (c *Client) Publishers(ctx context.Context) ([]grade.Assessment, error) {
	return get[[]grade.Assessment](ctx, c, "/publishers")
}

// subscribeStep is how many feeds go into one request: their URLs fit into maxControlBytes at their longest.
const subscribeStep = 100

// Subscribe implements Owner.
func (c *Client) Subscribe(ctx context.Context, s node.Subscribe) error {
	for part := range slices.Chunk(s.Feeds, subscribeStep) {
		s.Feeds = part
		if err := c.do(ctx, "POST", "/subscribe", newSubscribe(s), nil); err != nil {
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
		if err := c.do(ctx, "POST", "/arrange", part, nil); err != nil {
			return err
		}
	}
	return nil
}

// FollowList implements Owner, for ListStep feeds at most.
func (c *Client) FollowList(ctx context.Context, s node.Subscribe,
	list []reading.Arrangement) ([]NoFolder, error) {
	return post[[]NoFolder](ctx, c, "/follow", listRequest{newSubscribe(s), list})
}

// Refresh implements Owner.
func (c *Client) Refresh(ctx context.Context, feeds []feed.URL) ([]Refreshed, error) {
	return post[[]Refreshed](ctx, c, "/refresh", feeds)
}

// Unsubscribe implements Owner.
func (c *Client) Unsubscribe(ctx context.Context, u feed.URL) error {
	return c.do(ctx, "POST", "/unsubscribe", urlRequest{string(u)}, nil)
}

// Search implements Owner.
func (c *Client) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	var entries []jsonl.Entry
	header, err := c.ask(ctx, "POST", "/search", newSearch(f), &entries)
	if err != nil {
		return nil, err
	}
	records := make([]archive.Record, len(entries))
	for i := range entries {
		records[i] = entries[i].Record()
	}
	if header.Get(cutHeader) != "" {
		return records, archive.ErrCut
	}
	return records, nil
}

// post asks what has parameters.
func post[T any](ctx context.Context, c *Client, path string, in any) (out T, err error) {
	err = c.do(ctx, "POST", path, in, &out)
	return out, err
}

// get asks what has none.
func get[T any](ctx context.Context, c *Client, path string) (out T, err error) {
	err = c.do(ctx, "GET", path, nil, &out)
	return out, err
}

// do sends in as JSON, if there is any, and decodes the answer into out, if one is wanted. A refusal of the node
// comes back as an error with the node's words; the error wraps errors.ErrUnsupported where the node is of a version
// that does not know the path or what is in the request.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	_, err := c.ask(ctx, method, path, in, out)
	return err
}

// ask does the same and returns the header of the answer.
func (c *Client) ask(ctx context.Context, method, path string, in, out any) (http.Header, error) {
	resp, err := c.open(ctx, method, path, in)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if out == nil {
		return resp.Header, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return nil, fmt.Errorf("read the node's answer: %w", err)
	}
	if late, ok := out.(interface{ problem() error }); ok {
		return resp.Header, late.problem()
	}
	return resp.Header, nil
}

// open sends in as JSON, if there is any, and returns the answer, for the caller to read and close its body.
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

// FollowAddress implements Owner.
func (c *Client) FollowAddress(ctx context.Context, w FollowAddress) (FollowedAddress, error) {
	a, err := post[followAnswer](ctx, c, "/settle", followRequest{newSubscribe(w.Subscribe), w.Wait, w.Keep, w.Anyway})
	return a.FollowedAddress, err
}

// SetRetention implements Owner.
func (c *Client) SetRetention(ctx context.Context, b RetentionChange) error {
	return c.do(ctx, "POST", "/bound", b, nil)
}

// Import implements Maintenance.
func (c *Client) Import(ctx context.Context, lines []jsonl.Line) (int, error) {
	a, err := post[importAnswer](ctx, c, "/import", lines)
	return a.Added, err
}

// Vacuum implements Maintenance.
func (c *Client) Vacuum(ctx context.Context) error {
	return c.do(ctx, "POST", "/vacuum", nil, new(refusal))
}

// AddPassword implements Maintenance.
func (c *Client) AddPassword(ctx context.Context, p PasswordRequest) (string, error) {
	a, err := post[passwordAnswer](ctx, c, "/password/add", p)
	return a.Secret, err
}

// RemovePassword implements Maintenance.
func (c *Client) RemovePassword(ctx context.Context, name string) error {
	return c.do(ctx, "POST", "/password/remove", nameRequest{name}, nil)
}

// AddPerson implements Maintenance.
func (c *Client) AddPerson(ctx context.Context, name string) error {
	return c.do(ctx, "POST", "/person/add", nameRequest{name}, nil)
}

// RemovePerson implements Maintenance.
func (c *Client) RemovePerson(ctx context.Context, name string) error {
	return c.do(ctx, "POST", "/person/remove", nameRequest{name}, nil)
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

// Pull implements Owner.
func (c *Client) Pull(ctx context.Context, list []Remote) (PullReport, error) {
	request := pullRequest{Entries: make([]Remote, len(list))}
	for i, r := range list {
		request.Entries[i] = Remote{ID: r.ID, Digest: r.Digest, Feed: r.Feed, Holders: r.Holders}
	}
	a, err := post[pullAnswer](ctx, c, "/pull", request)
	return a.PullReport, err
}

// SiteFeeds implements Owner.
func (c *Client) SiteFeeds(ctx context.Context, name string) ([]feed.URL, error) {
	a, err := post[siteAnswer](ctx, c, "/site", siteRequest{name})
	return a.Feeds, err
}

// Join implements Owner.
func (c *Client) Join(ctx context.Context, j JoinRequest) (protocol.NodeID, error) {
	a, err := post[joinAnswer](ctx, c, "/join", j)
	return a.Peer, err
}

// NameSource implements Owner.
func (c *Client) NameSource(ctx context.Context, name string) (node.SourceStatus, error) {
	a, err := post[sourceAnswer](ctx, c, "/source", nameRequest{name})
	return a.Source, err
}

// ForgetSource implements Owner.
func (c *Client) ForgetSource(ctx context.Context, name string) error {
	return c.do(ctx, "POST", "/source/remove", nameRequest{name}, nil)
}

// UseDHT implements Owner.
func (c *Client) UseDHT(ctx context.Context, on bool) error {
	return c.do(ctx, "POST", "/dht", dhtRequest{on}, nil)
}

// FetchArchive implements Owner.
func (c *Client) FetchArchive(ctx context.Context, u, page feed.URL) (ArchiveDocument, error) {
	a, err := post[archiveAnswer](ctx, c, "/page", archiveRequest{string(u), string(page)})
	return a.ArchiveDocument, err
}

// AddFilter implements Maintenance.
func (c *Client) AddFilter(ctx context.Context, r FilterRequest) (FilterReport, error) {
	return post[FilterReport](ctx, c, "/filter/add", r)
}

// StandFilter implements Maintenance.
func (c *Client) StandFilter(ctx context.Context, s FilterStanding) error {
	return c.do(ctx, "POST", "/filter/standing", s, nil)
}

// RemoveFilter implements Maintenance.
func (c *Client) RemoveFilter(ctx context.Context, r FilterRemoval) (reading.Rule, error) {
	a, err := post[removedFilter](ctx, c, "/filter/remove", r)
	return a.Rule, err
}
