package control

import (
	"errors"
	"fmt"
	"time"

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

// checkWish says what is wrong with a wish to follow feeds, and has their URLs in the form that they have everywhere.
// The error is a BadRequest.
func checkWish(s *node.Subscribe) error {
	if err := checkURLs(s.Feeds); err != nil {
		return err
	}
	if s.Weight < 0 || s.Weight > neighbors.MaxWeight {
		return BadRequest{fmt.Errorf("weight is %d, want 1 to %d", s.Weight, neighbors.MaxWeight)}
	}
	if s.Policy != nil && *s.Policy != "" {
		if _, err := (polling.Settings{}).Policy(*s.Policy); err != nil {
			return BadRequest{err}
		}
	}
	return nil
}

// checkURLs does so with URLs of feeds, and checkURL with one.
func checkURLs(list []feed.URL) error {
	for i := range list {
		if err := checkURL(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkURL(u *feed.URL) (err error) {
	if *u, err = feed.ParseURL(string(*u)); err != nil {
		return BadRequest{err}
	}
	return nil
}

// checkLines says what is wrong with lines of an export. The error is a BadRequest.
func checkLines(list *[]jsonl.Line) error {
	for i := range *list {
		if err := (*list)[i].Check(); err != nil {
			return BadRequest{fmt.Errorf("entry %d: %w", i+1, err)}
		}
	}
	return nil
}

// A listRequest is the body of follow.
type listRequest struct {
	node.Subscribe
	Arranged []reading.Arrangement `json:"arranged"`
}

// An urlRequest is the body of what is about a feed alone.
type urlRequest struct {
	URL feed.URL `json:"url"`
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

// A pollsLine is one line of the answer to /polls.
type pollsLine struct {
	Waiting int `json:"waiting"`
	refusal
}

// A searchRequest is a feed.Filter in JSON.
type searchRequest struct {
	feed.Filter
	IDs []string `json:"ids,omitempty"`
}

func newSearch(f feed.Filter) searchRequest {
	s := searchRequest{Filter: f}
	for _, id := range f.IDs {
		s.IDs = append(s.IDs, id.String())
	}
	return s
}

// filter is the inverse of newSearch. It fails on a malformed id.
func (s *searchRequest) filter() (feed.Filter, error) {
	f := s.Filter
	for _, text := range s.IDs {
		id, err := feed.ParseEntryID(text)
		if err != nil {
			return feed.Filter{}, err
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}

// A nameRequest is the body of a request about a password, a person, a site, or a tracker or neighbor.
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

// A siteAnswer is the answer to the question which feeds the nodes of a site share.
type siteAnswer struct {
	Feeds []feed.URL `json:"feeds"`
}

// A joinAnswer is the answer to a JoinRequest.
type joinAnswer struct {
	Peer protocol.NodeID `json:"peer,omitzero"`
}

// A sourceAnswer is the answer to the naming of a tracker or a neighbor.
type sourceAnswer struct {
	Source node.SourceStatus `json:"source"`
}

// A dhtRequest is the owner's answer to whether the node may meet others by the DHT.
type dhtRequest struct {
	On bool `json:"on"`
}

// An archiveRequest names a document of a feed: the feed's own where Document is empty.
type archiveRequest struct {
	Feed     feed.URL `json:"feed"`
	Document feed.URL `json:"page,omitempty"`
}

// check says what is wrong with it. The error is a BadRequest.
func (r *archiveRequest) check() error {
	if err := checkURL(&r.Feed); err != nil || r.Document == "" {
		return err
	}
	if err := checkURL(&r.Document); err != nil {
		return BadRequest{fmt.Errorf("page: %w", err)}
	}
	return nil
}
