package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"feedex/feed"
)

// An ownerCall is what may be asked of an Owner, as a Client asks it and a node serves it: In is the body of the
// request, and Out that of the answer, both in JSON.
type ownerCall[In, Out any] struct {
	at    string          // the HTTP method and the path
	limit int64           // how many bytes the request has at most; 0 is maxControlBytes
	late  bool            // it takes its time, and is answered by 200 at once: the body says how it ended
	check func(*In) error // says what is wrong with the parameters before it is begun; nil where nothing can be
	do    func(o Owner, ctx context.Context, in In) (Out, error)
}

// none is the In or Out of a call that has no parameters or no answer.
type none struct{}

// question is a call without parameters.
func question[Out any](path string, do func(Owner, context.Context) (Out, error)) ownerCall[none, Out] {
	return ownerCall[none, Out]{at: "GET " + path,
		do: func(o Owner, ctx context.Context, _ none) (Out, error) { return do(o, ctx) }}
}

// request is a call with parameters and an answer.
func request[In, Out any](path string, do func(Owner, context.Context, In) (Out, error)) ownerCall[In, Out] {
	return ownerCall[In, Out]{at: "POST " + path, do: do}
}

// patient is such a call that takes its time.
func patient[In, Out any](path string, do func(Owner, context.Context, In) (Out, error)) ownerCall[In, Out] {
	return ownerCall[In, Out]{at: "POST " + path, late: true, do: do}
}

// bulky is a call with parameters of many bytes.
func bulky[In, Out any](path string, do func(Owner, context.Context, In) (Out, error)) ownerCall[In, Out] {
	return ownerCall[In, Out]{at: "POST " + path, limit: maxImportBody, do: do}
}

// checked is the call with a check of its parameters.
func (a ownerCall[In, Out]) checked(check func(*In) error) ownerCall[In, Out] {
	a.check = check
	return a
}

// change is a call without an answer.
func change[In any](path string, do func(Owner, context.Context, In) error) ownerCall[In, none] {
	return request(path, func(o Owner, ctx context.Context, in In) (none, error) { return none{}, do(o, ctx, in) })
}

// named is a change of what has a name.
func named(path string, do func(Owner, context.Context, string) error) ownerCall[nameRequest, none] {
	return change(path, func(o Owner, ctx context.Context, r nameRequest) error { return do(o, ctx, r.Name) })
}

// ofFeed is a change about a feed.
func ofFeed(path string, do func(Owner, context.Context, feed.URL) error) ownerCall[urlRequest, none] {
	return change(path, func(o Owner, ctx context.Context, r urlRequest) error { return do(o, ctx, r.URL) }).checked(
		func(r *urlRequest) error { return checkURL(&r.URL) })
}

// serve has the call answered by an Owner.
func (a ownerCall[In, Out]) serve(mux *http.ServeMux, o Owner) {
	mux.HandleFunc(a.at, func(w http.ResponseWriter, r *http.Request) {
		var in In
		if !bare(in) && !readBody(w, r, &in, cmp.Or(a.limit, maxControlBytes)) {
			return
		}
		if a.check != nil {
			if err := a.check(&in); err != nil {
				writeError(w, err)
				return
			}
		}
		if a.late {
			later(w, func() (any, error) { return a.do(o, r.Context(), in) })
			return
		}
		switch out, err := a.do(o, r.Context(), in); {
		case err != nil:
			writeError(w, err)
		case bare(out):
			w.WriteHeader(http.StatusNoContent)
		default:
			writeJSON(w, http.StatusOK, out)
		}
	})
}

// bare reports whether that is none.
func bare(v any) bool {
	_, is := v.(none)
	return is
}

// later answers at once, so that the client knows that work is done, and says at its end what came of it.
func later(w http.ResponseWriter, work func() (any, error)) {
	c := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/json")
	if errors.Join(c.SetWriteDeadline(time.Time{}), c.Flush()) != nil {
		return // the client went away
	}
	out, err := work()
	if err != nil {
		out = newRefusal(err)
	}
	_ = json.NewEncoder(w).Encode(out) // a client that went away is no concern of ours
}

// ask makes the call. A refusal of the node comes back as an error with the node's words.
func (a ownerCall[In, Out]) ask(ctx context.Context, c *Client, in In) (out Out, err error) {
	method, path, _ := strings.Cut(a.at, " ")
	var body any
	if !bare(in) {
		body = in
	}
	resp, err := c.open(ctx, method, path, body)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if bare(out) && !a.late { // there is nothing to read
		return out, nil
	}
	var answer json.RawMessage
	var failed refusal
	err = json.NewDecoder(resp.Body).Decode(&answer)
	if err == nil && a.late {
		err = json.Unmarshal(answer, &failed)
	}
	if err == nil && failed.Error == "" {
		err = json.Unmarshal(answer, &out)
	}
	if err != nil {
		return out, fmt.Errorf("read the node's answer: %w", err)
	}
	return out, failed.problem()
}

// tell makes a call without an answer.
func (a ownerCall[In, Out]) tell(ctx context.Context, c *Client, in In) error {
	_, err := a.ask(ctx, c, in)
	return err
}
