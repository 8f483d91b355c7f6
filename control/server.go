package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
)

// NewHandler serves an Owner as JSON over HTTP. A user who may open the socket is the owner: there is no other check,
// so the socket belongs to its user alone. The answer to a failure is a refusal: 400 where the request was wrong, 503
// where time ran out, 500 for the rest. What takes long is answered by 200 at once, and its body says how it ended.
func NewHandler(o Owner) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", answer(o.Status))
	handleFeeds(mux, o)
	handleArchive(mux, o)
	handlePeople(mux, o)
	handleReceivers(mux, o)
	handleNetwork(mux, o)
	return mux
}

// handleFeeds serves what there is to say of feeds.
func handleFeeds(mux *http.ServeMux, o Owner) {
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
	mux.HandleFunc("GET /recommend", answer(o.Recommend))
	mux.HandleFunc("POST /decline", ofFeed(o.Decline))
	mux.HandleFunc("POST /subscribe", change(func(ctx context.Context, r subscribeRequest) error {
		s, err := r.subscribe()
		if err != nil {
			return err
		}
		return o.Subscribe(ctx, s)
	}))
	mux.HandleFunc("POST /settle", patiently(func(ctx context.Context, r followRequest) (func() any, error) {
		s, err := r.subscribe()
		return func() any {
			got, err := o.FollowAddress(ctx, FollowAddress{s, r.Wait, r.Keep, r.Anyway})
			return followAnswer{got, newRefusal(err)}
		}, err
	}))
	mux.HandleFunc("POST /polls", servePolls(o))
	mux.HandleFunc("POST /refresh", request(maxControlBytes, func(ctx context.Context, list []feed.URL) (any, error) {
		for _, u := range list {
			if _, err := feed.ParseURL(string(u)); err != nil {
				return nil, BadRequest{err}
			}
		}
		return o.Refresh(ctx, list)
	}))
	mux.HandleFunc("POST /unsubscribe", ofFeed(o.Unsubscribe))
	mux.HandleFunc("POST /bound", change(o.SetRetention))
	mux.HandleFunc("POST /arrange", change(o.Arrange))
	mux.HandleFunc("POST /follow", request(maxControlBytes, func(ctx context.Context, r listRequest) (any, error) {
		s, err := r.subscribe()
		if err != nil {
			return nil, err
		}
		return o.FollowList(ctx, s, r.Arranged)
	}))
}

// handleArchive serves what there is to ask of the archive, and to do with it.
func handleArchive(mux *http.ServeMux, o Owner) {
	mux.HandleFunc("POST /search", serveSearch(o))
	mux.HandleFunc("POST /query", serveQuery(o))
	mux.HandleFunc("POST /pull", patiently(func(ctx context.Context, r pullRequest) (func() any, error) {
		return func() any {
			got, err := o.Pull(ctx, r.Entries)
			return pullAnswer{got, newRefusal(err)}
		}, nil
	}))
	mux.HandleFunc("POST /import", request(maxImportBody, func(ctx context.Context, lines []jsonl.Line) (any, error) {
		for i := range lines {
			if err := lines[i].Check(); err != nil {
				return nil, BadRequest{fmt.Errorf("entry %d: %w", i+1, err)}
			}
		}
		added, err := o.Import(ctx, lines)
		return importAnswer{added}, err
	}))
	mux.HandleFunc("POST /page", patiently(func(ctx context.Context, r archiveRequest) (func() any, error) {
		u, page, err := r.document()
		return func() any {
			got, err := o.FetchArchive(ctx, u, page)
			return archiveAnswer{got, newRefusal(err)}
		}, err
	}))
	mux.HandleFunc("POST /vacuum", func(w http.ResponseWriter, r *http.Request) {
		later(w, func() any { return newRefusal(o.Vacuum(r.Context())) })
	})
}

// handlePeople serves who reads at the node, and by what words.
func handlePeople(mux *http.ServeMux, o Owner) {
	mux.HandleFunc("POST /password/add", request(maxControlBytes,
		func(ctx context.Context, p PasswordRequest) (any, error) {
			secret, err := o.AddPassword(ctx, p)
			return passwordAnswer{secret}, err
		}))
	mux.HandleFunc("POST /password/remove", named(o.RemovePassword))
	mux.HandleFunc("POST /person/add", named(o.AddPerson))
	mux.HandleFunc("POST /person/remove", named(o.RemovePerson))
	mux.HandleFunc("POST /filter/add", request(maxControlBytes,
		func(ctx context.Context, f FilterRequest) (any, error) { return o.AddFilter(ctx, f) }))
	mux.HandleFunc("POST /filter/standing", change(o.StandFilter))
	mux.HandleFunc("POST /filter/remove", request(maxControlBytes,
		func(ctx context.Context, f FilterRemoval) (any, error) {
			rule, err := o.RemoveFilter(ctx, f)
			return removedFilter{rule}, err
		}))
}

// handleNetwork serves how the node finds others.
func handleNetwork(mux *http.ServeMux, o Owner) {
	mux.HandleFunc("GET /neighbors", answer(o.Neighbors))
	mux.HandleFunc("POST /site", patiently(func(ctx context.Context, r siteRequest) (func() any, error) {
		return func() any {
			feeds, err := o.SiteFeeds(ctx, r.Name)
			return siteAnswer{feeds, newRefusal(err)}
		}, nil
	}))
	mux.HandleFunc("POST /join", patiently(func(ctx context.Context, j JoinRequest) (func() any, error) {
		return func() any {
			peer, err := o.Join(ctx, j)
			return joinAnswer{peer, newRefusal(err)}
		}, nil
	}))
	mux.HandleFunc("POST /source", patiently(func(ctx context.Context, r nameRequest) (func() any, error) {
		_, _, err := ReadSource(r.Name)
		return func() any {
			s, err := o.NameSource(ctx, r.Name)
			return sourceAnswer{s, newRefusal(err)}
		}, err
	}))
	mux.HandleFunc("POST /source/remove", named(o.ForgetSource))
	mux.HandleFunc("POST /dht", change(func(ctx context.Context, r dhtRequest) error { return o.UseDHT(ctx, r.On) }))
}

// named serves a change of what has a name.
func named(do func(ctx context.Context, name string) error) http.HandlerFunc {
	return change(func(ctx context.Context, r nameRequest) error { return do(ctx, r.Name) })
}

// ofFeed serves a change about a feed.
func ofFeed(do func(ctx context.Context, u feed.URL) error) http.HandlerFunc {
	return change(func(ctx context.Context, r urlRequest) error {
		u, err := feed.ParseURL(r.URL)
		if err != nil {
			return BadRequest{err}
		}
		return do(ctx, u)
	})
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

// request serves a request, the body of which has at most so many bytes. There is nothing to answer where do returns
// nil.
func request[T any](limit int64, do func(context.Context, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request T
		if !readBody(w, r, &request, limit) {
			return
		}
		switch v, err := do(r.Context(), request); {
		case err != nil:
			writeError(w, err)
		case v == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			writeJSON(w, http.StatusOK, v)
		}
	}
}

// change serves a change of what the node does.
func change[T any](do func(context.Context, T) error) http.HandlerFunc {
	return request(maxControlBytes, func(ctx context.Context, r T) (any, error) { return nil, do(ctx, r) })
}

// patiently serves what takes its time. do says what is wrong with the request, or what is to be done.
func patiently[T any](do func(context.Context, T) (work func() any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request T
		if !readBody(w, r, &request, maxControlBytes) {
			return
		}
		work, err := do(r.Context(), request)
		if err != nil {
			writeError(w, err)
			return
		}
		later(w, work)
	}
}

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
	if errors.As(err, new(BadRequest)) {
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

// later answers at once, so that the client knows that work is done, and says at its end what came of it.
func later(w http.ResponseWriter, work func() any) {
	c := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/json")
	if errors.Join(c.SetWriteDeadline(time.Time{}), c.Flush()) != nil {
		return // the client went away
	}
	_ = json.NewEncoder(w).Encode(work()) // a client that went away is no concern of ours
}

// serveSearch answers also with what was found before a search was cut.
func serveSearch(o Owner) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
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
	}
}

// serveQuery answers with a queryLine for each part, as soon as it is there.
func serveQuery(o Owner) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request queryRequest
		if !readBody(w, r, &request, maxControlBytes) {
			return
		}
		q, err := request.query()
		if err != nil {
			writeRefusal(w, http.StatusBadRequest, err)
			return
		}
		writeLines(w, func(write func(any) error) error {
			return o.Query(r.Context(), q, func(p QueryPart) error {
				line := queryLine{Found: p.Found, End: p.End}
				if p.Here != nil {
					line.Here, line.More, line.Unranked = jsonl.Entries(p.Here.Records), p.Here.More, p.Here.Cut
				}
				return write(line)
			})
		})
	}
}

// servePolls answers with how many feeds wait for their first poll, as long as any does.
func servePolls(o Owner) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var list []feed.URL
		if !readBody(w, r, &list, maxImportBody) {
			return
		}
		writeLines(w, func(write func(any) error) error {
			each := func(waiting int) error { return write(pollsLine{Waiting: waiting}) }
			return o.FirstPolls(r.Context(), list, each)
		})
	}
}

// writeLines answers with what work writes, each at once as a line of its own, and with the error of work, if there is
// one, as a refusal.
func writeLines(w http.ResponseWriter, work func(write func(line any) error) error) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
	err := work(func(line any) error {
		if err := lines.Encode(line); err != nil {
			return err
		}
		return flush()
	})
	if err != nil {
		_ = lines.Encode(newRefusal(err)) // a client that went away is no concern of ours
	}
}
