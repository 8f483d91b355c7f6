package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/grade"
	"feedex/neighbors"
	"feedex/node"
	"feedex/polling"
	"feedex/reading"
)

// An Owner is what the owner of a running node may ask of it. The daemon answers by itself; a Client
// asks it from another process, over the control socket.
type Owner interface {
	Status(ctx context.Context) (Report, error)
	Neighbors(ctx context.Context) ([]node.NeighborStatus, error)
	Feeds(ctx context.Context) ([]node.FeedStatus, error)
	// Numbered is the feed that the reader address has as /feeds/<number>, "" for none.
	Numbered(ctx context.Context, number int64) (feed.URL, error)
	// Publishers grades the node by its latest requests, as each host that it asks for feeds would.
	Publishers(ctx context.Context) ([]grade.Host, error)
	// Subscribe follows feeds, or follows them in another way; repeating it changes nothing.
	Subscribe(ctx context.Context, s node.Subscribe) error
	// FollowAddress follows what is at one address: the feed there, or the one that the web page there names, and where
	// that names several or none it says so. It returns once that is known, or when it has waited long enough.
	FollowAddress(ctx context.Context, w FollowAddress) (FollowedAddress, error)
	// Unsubscribe follows a feed no more and keeps its entries. It is no error if nobody followed it.
	Unsubscribe(ctx context.Context, u feed.URL) error
	// SetRetention changes what is kept of feeds.
	SetRetention(ctx context.Context, b RetentionChange) error
	// Arrange titles and files feeds. Those that nobody knows do not matter. It changes nothing where the error wraps
	// reading.ErrName or reading.ErrFolders.
	Arrange(ctx context.Context, list []reading.Arrangement) error
	// Search finds entries in the node's archive, newest arrival first.
	Search(ctx context.Context, f feed.Filter) ([]archive.Record, error)
	Maintenance
	// Query finds entries in the node's archive and, where it is asked to, in those of others. It calls each
	// with what comes of it as it comes, and ends early with an error of each.
	Query(ctx context.Context, q QueryRequest, each func(QueryPart) error) error
	// Pull downloads entries that a Query found from their holders, at most node.MaxWishes. Where it returns an
	// error nobody was asked.
	Pull(ctx context.Context, list []Remote) (PullReport, error)
	// FetchArchive asks the publisher of feed u for one document of it, for its own where page is "", and stores as
	// entries of the past what was not there.
	FetchArchive(ctx context.Context, u, page feed.URL) (ArchiveDocument, error)
}

// A Report is a node's status as its owner sees it: the node's own, and its host's.
type Report struct {
	node.Status
	Version string        `json:"version"`
	Uptime  time.Duration `json:"uptime"` // since the process serves, in nanoseconds
	Data    string        `json:"data"`   // the data directory
	Listen  string        `json:"listen"` // where other nodes reach it, "host:port"
	Reader  string        `json:"reader"` // where feed readers reach it, "host:port"
	// ReaderHosts are the names under which they do so besides.
	ReaderHosts []string      `json:"reader_hosts,omitempty"`
	Archive     ArchiveReport `json:"archive"` // what it holds
	// Retention is what it may hold.
	Retention RetentionReport `json:"retention"`
	Storage   string          `json:"storage"` // why entries cannot be stored at present, "" while they can
}

// An ArchiveReport counts what an archive holds.
type ArchiveReport struct {
	Entries   int64 `json:"entries"`
	Feeds     int64 `json:"feeds"`     // of which an entry or a setting is kept, subscribed or not
	Bytes     int64 `json:"bytes"`     // on disk
	Free      int64 `json:"free"`      // of these that hold nothing, and what comes will take first
	InSteps   bool  `json:"in_steps"`  // these are given back to the disk while the node works
	Unindexed int64 `json:"unindexed"` // entries that the full-text index lacks; searches find them, but take longer
}

// A RetentionReport says what an archive may hold, and what was purged so that it does not hold more. What has no limit
// is 0.
type RetentionReport struct {
	Bytes   int64         `json:"bytes"`   // on disk, without what is free
	Age     time.Duration `json:"age"`     // in nanoseconds
	Count   int64         `json:"count"`   // entries
	Relayed int64         `json:"relayed"` // bytes of what neighbors brought of feeds that were never followed
	Feeds   int           `json:"feeds"`   // that have limits of their own
	Last    archive.Purge `json:"last"`    // what was purged last
}

// socketName is the control socket's name in the data directory.
const socketName = "feedex.sock"

// maxSocketPath is the longest path of a Unix socket, in bytes, that every system takes: macOS
// reserves 104 with the final zero, Linux and Windows 108.
const maxSocketPath = 103

// SocketPath is where the control socket of the node on a data directory lies. It fails where the
// path would be longer than systems take.
func SocketPath(data string) (string, error) {
	path := filepath.Join(data, socketName)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("control socket %s: path is %d bytes, the limit is %d: choose a data directory with a "+
			"shorter path",
			path, len(path), maxSocketPath)
	}
	return path, nil
}

// maxControlBytes bounds the body of a control request other than an import.
const maxControlBytes = 1 << 20

// A subscribeRequest is the body of subscribe.
type subscribeRequest struct {
	URLs     []string `json:"urls"`
	Weight   int      `json:"weight,omitempty"`   // 0 leaves it as it is
	Discreet *bool    `json:"discreet,omitempty"` // nil leaves it as it is
	// Policy is by which the feed is polled, as polling.Settings reads it, "" for the node's own; nil leaves it as it
	// is.
	Policy  *string `json:"policy,omitempty"`
	Private *bool   `json:"private,omitempty"` // nil leaves it as it is
}

// newSubscribe is the request for a wish.
func newSubscribe(s node.Subscribe) subscribeRequest {
	urls := make([]string, len(s.Feeds))
	for i, u := range s.Feeds {
		urls[i] = string(u)
	}
	return subscribeRequest{urls, s.Weight, s.Discreet, s.Policy, s.Private}
}

// subscribe is the wish that the request is for. The error is a badRequest.
func (s *subscribeRequest) subscribe() (node.Subscribe, error) {
	feeds := make([]feed.URL, len(s.URLs))
	for i, raw := range s.URLs {
		u, err := feed.ParseURL(raw)
		if err != nil {
			return node.Subscribe{}, badRequest{err}
		}
		feeds[i] = u
	}
	if s.Weight < 0 || s.Weight > neighbors.MaxWeight {
		return node.Subscribe{}, badRequest{fmt.Errorf("weight is %d, want 1 to %d", s.Weight, neighbors.MaxWeight)}
	}
	if s.Policy != nil && *s.Policy != "" {
		if _, err := (polling.Settings{}).Policy(*s.Policy); err != nil {
			return node.Subscribe{}, badRequest{err}
		}
	}
	return node.Subscribe{Feeds: feeds, Weight: s.Weight, Discreet: s.Discreet, Policy: s.Policy,
		Private: s.Private}, nil
}

// An unsubscribeRequest is the body of unsubscribe.
type unsubscribeRequest struct {
	URL string `json:"url"`
}

// cutHeader is set in an answer to a search that has archive.ErrCut.
const cutHeader = "Feedex-Cut"

// A refusal is the body of every answer that is not a success.
type refusal struct {
	Error string `json:"error"`
}

// newControl serves an Owner as JSON over HTTP. A user who may open the socket is the owner: there is no other check,
// so the socket belongs to its user alone.
//
//	GET  /status, /neighbors, /feeds, /publishers
//	POST /subscribe     a subscribeRequest
//	POST /settle        a followRequest, answered, when it is known, with a followAnswer
//	POST /unsubscribe   an unsubscribeRequest
//	POST /bound         a RetentionChange
//	POST /arrange       a list of reading.Arrangement
//	POST /search        a searchRequest, answered with a list of jsonl.Entry
//	POST /import        a list of jsonl.Line, answered with an importAnswer
//	POST /password/add     a passwordRequest, answered with a passwordAnswer
//	POST /password/remove  a passwordRequest
//	POST /vacuum        answered, when it has ended, with a refusal, of which the error is "" if it succeeded
//	POST /query         a queryRequest, answered with a queryLine each as soon as it is there
//	POST /pull          a pullRequest, answered, when it has ended, with a pullAnswer
//	POST /page          an archiveRequest, answered, when it has ended, with an archiveAnswer
//
// The answer to a failure is a refusal: 400 where the request was wrong, 503 where time ran out, 500
// for the rest.
func newControl(o Owner) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", answer(o.Status))
	mux.HandleFunc("GET /neighbors", answer(o.Neighbors))
	mux.HandleFunc("GET /feeds", answer(o.Feeds))
	mux.HandleFunc("GET /feeds/{number}", func(w http.ResponseWriter, r *http.Request) {
		number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64)
		u, err := o.Numbered(r.Context(), number)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, u)
	})
	mux.HandleFunc("GET /publishers", answer(o.Publishers))
	mux.HandleFunc("POST /subscribe", change(func(ctx context.Context, r subscribeRequest) error {
		s, err := r.subscribe()
		if err != nil {
			return err
		}
		return o.Subscribe(ctx, s)
	}))
	mux.HandleFunc("POST /settle", serveFollowAddress(o))
	mux.HandleFunc("POST /unsubscribe", change(func(ctx context.Context, s unsubscribeRequest) error {
		u, err := feed.ParseURL(s.URL)
		if err != nil {
			return badRequest{err}
		}
		return o.Unsubscribe(ctx, u)
	}))
	mux.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var s searchRequest
		if !readBody(w, r, &s, maxControlBytes) {
			return
		}
		f, err := s.filter()
		if err != nil {
			writeRefusal(w, http.StatusBadRequest, err)
			return
		}
		records, err := o.Search(r.Context(), f)
		if errors.Is(err, archive.ErrCut) {
			w.Header().Set(cutHeader, "time")
		} else if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, jsonl.Entries(records))
	})
	mux.HandleFunc("POST /bound", change(o.SetRetention))
	mux.HandleFunc("POST /arrange", change(o.Arrange))
	mux.HandleFunc("POST /import", serveImport(o))
	mux.HandleFunc("POST /password/add", servePasswordAdd(o))
	mux.HandleFunc("POST /password/remove",
		change(func(ctx context.Context, p passwordRequest) error { return o.RemovePassword(ctx, p.Name) }))
	mux.HandleFunc("POST /vacuum", serveVacuum(o))
	mux.HandleFunc("POST /query", serveQuery(o))
	mux.HandleFunc("POST /pull", servePull(o))
	mux.HandleFunc("POST /page", serveArchive(o))
	return mux
}

// answer serves a question that has no parameters.
func answer[T any](ask func(context.Context) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := ask(r.Context())
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, v)
	}
}

// change serves a change of what the node does.
func change[T any](do func(context.Context, T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request T
		if !readBody(w, r, &request, maxControlBytes) {
			return
		}
		if err := do(r.Context(), request); err != nil {
			writeError(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// A badRequest is an error of the client.
type badRequest struct{ error }

// Unwrap is what is wrong.
func (e badRequest) Unwrap() error { return e.error }

// readBody decodes the request's body into v. It answers the request and returns false if it cannot.
func readBody(w http.ResponseWriter, r *http.Request, v any, limit int64) bool {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		writeRefusal(w, http.StatusBadRequest, fmt.Errorf("read request: %w", err))
		return false
	}
	return true
}

func writeError(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	if errors.As(err, new(badRequest)) {
		code = http.StatusBadRequest
	} else if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		code = http.StatusServiceUnavailable
	}
	writeRefusal(w, code, err)
}

func writeRefusal(w http.ResponseWriter, code int, err error) {
	writeJSON(w, code, refusal{err.Error()})
}

// writeJSON sends v. A client that went away meanwhile is no concern of ours.
func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}
