package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
)

// An Owner is what the owner of a running node may ask of it. The daemon answers by itself; a Client
// asks it from another process, over the control socket.
type Owner interface {
	Status(ctx context.Context) (Report, error)
	Neighbors(ctx context.Context) ([]node.NeighborStatus, error)
	Feeds(ctx context.Context) ([]node.FeedStatus, error)
	// Subscribe follows a feed; repeating it changes nothing.
	Subscribe(ctx context.Context, u feed.URL) error
	// Unsubscribe follows a feed no more and keeps its entries. It is no error if nobody followed it.
	Unsubscribe(ctx context.Context, u feed.URL) error
	// Search finds entries in the node's archive, newest arrival first.
	Search(ctx context.Context, f feed.Filter) ([]archive.Record, error)
}

// A Report is a node's status as its owner sees it: the node's own, and its host's.
type Report struct {
	node.Status
	Version string        `json:"version"`
	Uptime  time.Duration `json:"uptime"`  // since the process serves, in nanoseconds
	Data    string        `json:"data"`    // the data directory
	Listen  string        `json:"listen"`  // where other nodes reach it, "host:port"
	Reader  string        `json:"reader"`  // where feed readers reach it, "host:port"
	Archive ArchiveReport `json:"archive"` // what it holds
	Storage string        `json:"storage"` // why entries cannot be stored at present, "" while they can
}

// An ArchiveReport counts what an archive holds.
type ArchiveReport struct {
	Entries   int64 `json:"entries"`
	Feeds     int64 `json:"feeds"`     // of which an entry or a setting is kept, subscribed or not
	Bytes     int64 `json:"bytes"`     // on disk
	Unindexed int64 `json:"unindexed"` // entries that the full-text index lacks; searches find them, but take longer
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
		return "", fmt.Errorf("control socket %s: path is %d bytes, the limit is %d: choose a data directory with a shorter path",
			path, len(path), maxSocketPath)
	}
	return path, nil
}

// maxControlBytes bounds the body of a control request.
const maxControlBytes = 1 << 20

// A subscribeRequest is the body of subscribe and unsubscribe.
type subscribeRequest struct {
	URL string `json:"url"`
}

// A refusal is the body of every answer that is not a success.
type refusal struct {
	Error string `json:"error"`
}

// newControl serves an Owner as JSON over HTTP. Whoever may open the socket is the owner: there is
// no other check, so the socket belongs to its user alone.
//
//	GET  /status, /neighbors, /feeds
//	POST /subscribe, /unsubscribe   a subscribeRequest
//	POST /search                    a searchRequest, answered with a list of Entry
//
// The answer to a failure is a refusal: 400 where the request was wrong, 503 where time ran out, 500
// for the rest.
func newControl(o Owner) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", answer(o.Status))
	mux.HandleFunc("GET /neighbors", answer(o.Neighbors))
	mux.HandleFunc("GET /feeds", answer(o.Feeds))
	mux.HandleFunc("POST /subscribe", change(o.Subscribe))
	mux.HandleFunc("POST /unsubscribe", change(o.Unsubscribe))
	mux.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var s searchRequest
		if !readBody(w, r, &s) {
			return
		}
		f, err := s.filter()
		if err != nil {
			writeRefusal(w, http.StatusBadRequest, err)
			return
		}
		records, err := o.Search(r.Context(), f)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, Entries(records))
	})
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

// change serves a change of the subscription to one feed.
func change(do func(context.Context, feed.URL) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var s subscribeRequest
		if !readBody(w, r, &s) {
			return
		}
		u, err := feed.ParseURL(s.URL)
		if err != nil {
			writeRefusal(w, http.StatusBadRequest, err)
			return
		}
		if err := do(r.Context(), u); err != nil {
			writeError(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// readBody decodes the request's body into v. It answers the request and returns false if it cannot.
func readBody(w http.ResponseWriter, r *http.Request, v any) bool {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxControlBytes))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		writeRefusal(w, http.StatusBadRequest, fmt.Errorf("read request: %w", err))
		return false
	}
	return true
}

func writeError(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
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
