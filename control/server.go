package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
)

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
