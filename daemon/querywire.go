package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"feedex/archive/jsonl"
	"feedex/protocol"
)

// A queryRequest is a Query in JSON.
type queryRequest struct {
	searchRequest
	Network *bool `json:"network,omitempty"`
	Hops    int   `json:"hops,omitempty"`
	Wait    int64 `json:"wait,omitempty"` // milliseconds
}

// query is the Query that is meant. It fails where that makes no sense.
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
	Error    string        `json:"error,omitempty"`
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
		w.Header().Set("Content-Type", "application/x-ndjson")
		lines, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
		err = o.Query(r.Context(), q, func(p QueryPart) error {
			line := queryLine{Found: p.Found, End: p.End}
			if p.Here != nil {
				line.Here, line.More, line.Unranked = jsonl.Entries(p.Here.Records), p.Here.More, p.Here.Cut
			}
			if err := lines.Encode(line); err != nil {
				return err
			}
			return flush()
		})
		if err != nil {
			_ = lines.Encode(queryLine{Error: err.Error()}) // a client that went away is no concern of ours
		}
	}
}

// Query implements Owner.
func (c *Client) Query(ctx context.Context, q QueryRequest, each func(QueryPart) error) error {
	resp, err := c.open(ctx, "POST", "/query", queryRequest{
		searchRequest: newSearch(q.Filter), Network: q.Network, Hops: q.Hops, Wait: q.Wait.Milliseconds(),
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for lines := json.NewDecoder(resp.Body); ; {
		var line queryLine
		if err := lines.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // the end says that it is the end
			}
			return fmt.Errorf("read the node's answer: %w", err)
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
		p := line.part()
		if err := each(p); err != nil || p.End != nil {
			return err
		}
	}
}
