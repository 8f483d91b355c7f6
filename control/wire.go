package control

import (
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/neighbors"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/reading"
)

// maxControlBytes bounds the body of a control request other than an import.
const maxControlBytes = 1 << 20

// A subscribeRequest is the body of subscribe.
type subscribeRequest struct {
	URLs     []string `json:"urls"`
	Weight   int      `json:"weight,omitempty"`   // 0 leaves it as it is
	Discreet *bool    `json:"discreet,omitempty"` // nil leaves it as it is
	// Policy is by which the feed is polled, as polling.Settings reads it, "" for the node's own; nil leaves it as it
	// is.
	Policy  *string          `json:"policy,omitempty"`
	Private *bool            `json:"private,omitempty"` // nil leaves it as it is
	Sharing *archive.Sharing `json:"sharing,omitempty"` // nil leaves it as it is
	// Unread is how much of what there is already is unread, as archive.ParseBacklog reads it; "" says nothing.
	Unread string `json:"unread,omitempty"`
}

// newSubscribe is the request for a wish.
func newSubscribe(s node.Subscribe) subscribeRequest {
	urls := make([]string, len(s.Feeds))
	for i, u := range s.Feeds {
		urls[i] = string(u)
	}
	r := subscribeRequest{URLs: urls, Weight: s.Weight, Discreet: s.Discreet, Policy: s.Policy, Private: s.Private,
		Sharing: s.Sharing}
	if s.Backlog != archive.UsualBacklog {
		r.Unread = s.Backlog.String()
	}
	return r
}

// subscribe is the wish that the request is for. The error is a BadRequest.
func (s *subscribeRequest) subscribe() (node.Subscribe, error) {
	feeds := make([]feed.URL, len(s.URLs))
	for i, raw := range s.URLs {
		u, err := feed.ParseURL(raw)
		if err != nil {
			return node.Subscribe{}, BadRequest{err}
		}
		feeds[i] = u
	}
	if s.Weight < 0 || s.Weight > neighbors.MaxWeight {
		return node.Subscribe{}, BadRequest{fmt.Errorf("weight is %d, want 1 to %d", s.Weight, neighbors.MaxWeight)}
	}
	if s.Policy != nil && *s.Policy != "" {
		if _, err := (polling.Settings{}).Policy(*s.Policy); err != nil {
			return node.Subscribe{}, BadRequest{err}
		}
	}
	wish := node.Subscribe{Feeds: feeds, Weight: s.Weight, Discreet: s.Discreet, Policy: s.Policy, Private: s.Private,
		Sharing: s.Sharing}
	if s.Unread != "" {
		var err error
		if wish.Backlog, err = archive.ParseBacklog(s.Unread); err != nil {
			return node.Subscribe{}, BadRequest{fmt.Errorf("unread is %w", err)}
		}
	}
	return wish, nil
}

// A listRequest is the body of follow.
type listRequest struct {
	subscribeRequest
	Arranged []reading.Arrangement `json:"arranged"`
}

// An urlRequest is the body of what is about a feed alone.
type urlRequest struct {
	URL string `json:"url"`
}

// cutHeader is set in an answer to a search that has archive.ErrCut.
const cutHeader = "Feedex-Cut"

// A refusal is the body of every answer that is not a success, and part of others, where it may have no error.
type refusal struct {
	Error string `json:"error,omitempty"`
}

// problem is the error that the node told of, also at the end of what it began to do.
func (r refusal) problem() error {
	if r.Error == "" {
		return nil
	}
	return errors.New(r.Error)
}

// newRefusal tells of an error; nil is none.
func newRefusal(err error) refusal {
	if err == nil {
		return refusal{}
	}
	return refusal{err.Error()}
}

// A followRequest is the body of such a request.
type followRequest struct {
	subscribeRequest
	Wait   time.Duration `json:"wait_ns,omitempty"`
	Keep   bool          `json:"keep,omitempty"`
	Anyway bool          `json:"anyway,omitempty"`
}

// A followAnswer is the answer to it.
type followAnswer struct {
	FollowedAddress
	refusal
}

// A pollsLine is one line of the answer to /polls.
type pollsLine struct {
	Waiting int `json:"waiting"`
	refusal
}

// A searchRequest is a feed.Filter in JSON.
type searchRequest struct {
	Feed      feed.URL  `json:"feed,omitempty"`
	Words     []string  `json:"words,omitempty"`
	Title     []string  `json:"title,omitempty"`
	Match     string    `json:"match,omitempty"` // as feed.ParseMatch reads it
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	IDs       []string  `json:"ids,omitempty"`
	Limit     int       `json:"limit,omitempty"`
	Relevance bool      `json:"relevance,omitempty"`
	Dated     bool      `json:"dated,omitempty"`
	Shareable bool      `json:"shareable,omitempty"`
	NoSecrets bool      `json:"no_secrets,omitempty"`
}

func newSearch(f feed.Filter) searchRequest {
	s := searchRequest{
		Feed: f.Feed, Words: f.Words, Title: f.Title, Since: f.Since, Until: f.Until,
		Match: f.Match.String(), Limit: f.Limit, Relevance: f.Relevance, Dated: f.Dated, Shareable: f.Shareable,
		NoSecrets: f.NoSecrets,
	}
	for _, id := range f.IDs {
		s.IDs = append(s.IDs, id.String())
	}
	return s
}

// filter is the inverse of newSearch. It fails on a malformed id or match.
func (s *searchRequest) filter() (feed.Filter, error) {
	f := feed.Filter{
		Feed: s.Feed, Words: s.Words, Title: s.Title, Since: s.Since, Until: s.Until,
		Limit: s.Limit, Relevance: s.Relevance, Dated: s.Dated, Shareable: s.Shareable,
		NoSecrets: s.NoSecrets,
	}
	if s.Match != "" {
		m, err := feed.ParseMatch(s.Match)
		if err != nil {
			return feed.Filter{}, err
		}
		f.Match = m
	}
	for _, text := range s.IDs {
		id, err := feed.ParseEntryID(text)
		if err != nil {
			return feed.Filter{}, err
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}

// A nameRequest is the body of a request about a password, a person, or a tracker or neighbor.
type nameRequest struct {
	Name string `json:"name"`
}

// A passwordAnswer is the answer to the making of one.
type passwordAnswer struct {
	Secret string `json:"secret"`
}

// maxImportBytes is how many bytes of lines, as an export has them, fit into one Import of a Client; one line
// of whatever length fits always.
const maxImportBytes = 4 << 20

// maxImportBody bounds the body of such a request.
const maxImportBody = 2 * (maxImportBytes + jsonl.MaxLineBytes)

// An importAnswer is the answer to an import.
type importAnswer struct {
	Added int `json:"added"`
}

// A queryRequest is a QueryRequest in JSON.
type queryRequest struct {
	searchRequest
	Network *bool `json:"network,omitempty"`
	Hops    int   `json:"hops,omitempty"`
	Wait    int64 `json:"wait,omitempty"` // milliseconds
}

// query is the QueryRequest that is meant. It fails where that makes no sense.
func (r *queryRequest) query() (QueryRequest, error) {
	f, err := r.filter()
	if err != nil {
		return QueryRequest{}, err
	}
	if r.Hops < 0 || r.Hops > protocol.MaxQueryHops {
		return QueryRequest{}, fmt.Errorf("hops is %d, want 1 to %d", r.Hops, protocol.MaxQueryHops)
	}
	if most := protocol.MaxWait.Milliseconds(); r.Wait < 0 || r.Wait > most {
		return QueryRequest{}, fmt.Errorf("wait is %d ms, want 1 to %d", r.Wait, most)
	}
	return QueryRequest{Filter: f, Network: r.Network, Hops: r.Hops,
		Wait: time.Duration(r.Wait) * time.Millisecond}, nil
}

// A queryLine is one line of the answer to /query: a QueryPart in JSON, or why there will be no more of them.
type queryLine struct {
	Here     []jsonl.Entry `json:"here,omitempty"`
	More     bool          `json:"more,omitempty"`
	Unranked bool          `json:"unranked,omitempty"`
	Found    []Remote      `json:"found,omitempty"`
	End      *QueryEnd     `json:"end,omitempty"`
	refusal
}

// part is the QueryPart that the line stands for.
func (l *queryLine) part() QueryPart {
	switch {
	case l.End != nil:
		return QueryPart{End: l.End}
	case l.Found != nil:
		return QueryPart{Found: l.Found}
	}
	here := &Local{More: l.More, Cut: l.Unranked}
	for i := range l.Here {
		here.Records = append(here.Records, l.Here[i].Record())
	}
	return QueryPart{Here: here}
}

// A pullRequest asks for entries; of each Remote id, digest, feed and holders matter.
type pullRequest struct {
	Entries []Remote `json:"entries"`
}

// A pullAnswer is the answer to it.
type pullAnswer struct {
	PullReport
	refusal
}

// A siteRequest asks for the feeds that the nodes of a site share, and a siteAnswer is the answer to it.
type (
	siteRequest struct {
		Name string `json:"name"`
	}
	siteAnswer struct {
		Feeds []feed.URL `json:"feeds"`
		refusal
	}
)

// A joinAnswer is the answer to a JoinRequest.
type joinAnswer struct {
	Peer protocol.NodeID `json:"peer,omitzero"`
	refusal
}

// A sourceAnswer is the answer to the naming of a tracker or a neighbor.
type sourceAnswer struct {
	Source node.SourceStatus `json:"source"`
	refusal
}

// A dhtRequest is the owner's answer to whether the node may meet others by the DHT.
type dhtRequest struct {
	On bool `json:"on"`
}

// An archiveRequest names a document of a feed: the feed's own where Document is empty.
type archiveRequest struct {
	Feed     string `json:"feed"`
	Document string `json:"page,omitempty"`
}

// document are the feed and its document that are meant. The error is a BadRequest.
func (r *archiveRequest) document() (u, page feed.URL, err error) {
	if u, err = feed.ParseURL(r.Feed); err != nil {
		return "", "", BadRequest{err}
	}
	if r.Document != "" {
		if page, err = feed.ParseURL(r.Document); err != nil {
			return "", "", BadRequest{fmt.Errorf("page: %w", err)}
		}
	}
	return u, page, nil
}

// An archiveAnswer is the answer to it.
type archiveAnswer struct {
	ArchiveDocument
	refusal
}
