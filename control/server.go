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
// so the socket belongs to its user alone.
//
//	GET  /status, /neighbors, /feeds, /feeds/{number}, /publishers
//	POST /subscribe     a subscribeRequest
//	POST /settle        a followRequest, answered, when it is known, with a followAnswer
//	POST /polls         a list of URLs, answered with a pollsLine each time that more of them were polled
//	POST /refresh       a list of URLs, answered with a list of Refreshed
//	POST /unsubscribe   an unsubscribeRequest
//	POST /bound         a RetentionChange
//	POST /arrange       a list of reading.Arrangement
//	POST /follow        a listRequest, answered with a list of NoFolder
//	POST /search        a searchRequest, answered with a list of jsonl.Entry
//	POST /import        a list of jsonl.Line, answered with an importAnswer
//	POST /password/add     a PasswordRequest, answered with a passwordAnswer
//	POST /password/remove  a nameRequest
//	POST /person/add       a nameRequest
//	POST /person/remove    a nameRequest
//	POST /filter/add       a FilterRequest, answered with a FilterReport
//	POST /filter/standing  a FilterStanding
//	POST /filter/remove    a FilterRemoval, answered with a removedFilter
//	POST /receiver/add     a ReceiverRequest
//	POST /receiver/remove  a ReceiverName
//	POST /receiver/try     a ReceiverName, answered, when it has answered, with a refusal
//	POST /vacuum        answered, when it has ended, with a refusal, without an error if it succeeded
//	POST /query         a queryRequest, answered with a queryLine each as soon as it is there
//	POST /site          a siteRequest, answered, when the site has answered, with a siteAnswer
//	POST /join          a JoinRequest, answered, when it has ended, with a joinAnswer
//	POST /source        a nameRequest, answered, when it was asked, with a sourceAnswer
//	POST /source/remove a nameRequest
//	POST /dht           a dhtRequest
//	POST /pull          a pullRequest, answered, when it has ended, with a pullAnswer
//	POST /page          an archiveRequest, answered, when it has ended, with an archiveAnswer
//
// The answer to a failure is a refusal: 400 where the request was wrong, 503 where time ran out, 500
// for the rest.
func NewHandler(o Owner) http.Handler {
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
	mux.HandleFunc("POST /unsubscribe", change(func(ctx context.Context, s unsubscribeRequest) error {
		u, err := feed.ParseURL(s.URL)
		if err != nil {
			return BadRequest{err}
		}
		return o.Unsubscribe(ctx, u)
	}))
	mux.HandleFunc("GET /recommend", answer(o.Recommend))
	mux.HandleFunc("POST /decline", change(func(ctx context.Context, s unsubscribeRequest) error {
		u, err := feed.ParseURL(s.URL)
		if err != nil {
			return BadRequest{err}
		}
		return o.Decline(ctx, u)
	}))
	mux.HandleFunc("POST /bound", change(o.SetRetention))
	mux.HandleFunc("POST /arrange", change(o.Arrange))
	mux.HandleFunc("POST /follow", request(maxControlBytes, func(ctx context.Context, r listRequest) (any, error) {
		s, err := r.subscribe()
		if err != nil {
			return nil, err
		}
		return o.FollowList(ctx, s, r.Arranged)
	}))
	mux.HandleFunc("POST /search", serveSearch(o))
	mux.HandleFunc("POST /import", request(maxImportBody, func(ctx context.Context, lines []jsonl.Line) (any, error) {
		for i := range lines {
			if err := lines[i].Check(); err != nil {
				return nil, BadRequest{fmt.Errorf("entry %d: %w", i+1, err)}
			}
		}
		added, err := o.Import(ctx, lines)
		return importAnswer{added}, err
	}))
	mux.HandleFunc("POST /password/add", request(maxControlBytes,
		func(ctx context.Context, p PasswordRequest) (any, error) {
			secret, err := o.AddPassword(ctx, p)
			return passwordAnswer{secret}, err
		}))
	mux.HandleFunc("POST /password/remove",
		change(func(ctx context.Context, r nameRequest) error { return o.RemovePassword(ctx, r.Name) }))
	mux.HandleFunc("POST /person/add",
		change(func(ctx context.Context, r nameRequest) error { return o.AddPerson(ctx, r.Name) }))
	mux.HandleFunc("POST /person/remove",
		change(func(ctx context.Context, r nameRequest) error { return o.RemovePerson(ctx, r.Name) }))
	mux.HandleFunc("POST /filter/add", request(maxControlBytes,
		func(ctx context.Context, f FilterRequest) (any, error) { return o.AddFilter(ctx, f) }))
	mux.HandleFunc("POST /filter/standing", change(o.StandFilter))
	mux.HandleFunc("POST /filter/remove", request(maxControlBytes,
		func(ctx context.Context, f FilterRemoval) (any, error) {
			rule, err := o.RemoveFilter(ctx, f)
			return removedFilter{rule}, err
		}))
	handleReceivers(mux, o)
	mux.HandleFunc("POST /vacuum", func(w http.ResponseWriter, r *http.Request) {
		later(w, func() any { return newRefusal(o.Vacuum(r.Context())) })
	})
	mux.HandleFunc("POST /query", serveQuery(o))
	mux.HandleFunc("POST /pull", patiently(func(ctx context.Context, r pullRequest) (func() any, error) {
		return func() any {
			got, err := o.Pull(ctx, r.Entries)
			return pullAnswer{got, newRefusal(err)}
		}, nil
	}))
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
	mux.HandleFunc("POST /source/remove",
		change(func(ctx context.Context, r nameRequest) error { return o.ForgetSource(ctx, r.Name) }))
	mux.HandleFunc("POST /dht", change(func(ctx context.Context, r dhtRequest) error { return o.UseDHT(ctx, r.On) }))
	mux.HandleFunc("POST /page", patiently(func(ctx context.Context, r archiveRequest) (func() any, error) {
		u, page, err := r.document()
		return func() any {
			got, err := o.FetchArchive(ctx, u, page)
			return archiveAnswer{got, newRefusal(err)}
		}, err
	}))
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
	if err := errors.Join(c.SetWriteDeadline(time.Time{}), c.Flush()); err != nil {
		writeError(w, err)
		return
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
