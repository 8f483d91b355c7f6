package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"feedex/feed"
	"feedex/node"
)

// A Want is something that belongs to a feed and is none: a picture, or a page.
type Want struct {
	URL feed.URL
	// For is the feed: what its owner may read at private hosts holds for what belongs to it. Its user name and
	// password do not go with the request.
	For feed.URL
	// Accept says which media types are wanted, as the header has them.
	Accept string
	// MaxBytes is the largest, after inflation. Default maxBytes.
	MaxBytes int64
	// SameSite refuses redirects to another host.
	SameSite bool
	// Unlogged leaves the request out of the answer's Requests, and so out of the owner's log.
	Unlogged bool
}

// A Resource is what came of a Want.
type Resource struct {
	URL  feed.URL // where it was in the end
	Type string   // Content-Type, as its server has it, who may be wrong
	Body []byte
	// Answer is what the node is told of the answer, as of a poll's: its Err is why there is no Body, as with Fetch.
	Answer node.Fetched
}

// Get gets what belongs to a feed. It is bounded and guarded as Fetch is, and takes turns with it at each host.
func (c *Client) Get(ctx context.Context, w Want) (got Resource) {
	if w.MaxBytes == 0 {
		w.MaxBytes = maxBytes
	}
	out := &got.Answer
	out.Feed = w.URL
	u, err := url.Parse(string(w.URL))
	if err != nil || u.Host == "" {
		out.Err = fmt.Errorf("get %q: %w", w.URL, feed.ErrURL)
		return got
	}
	origin, err := url.Parse(string(w.For))
	if err != nil {
		out.Err = fmt.Errorf("get %q for %q: %w", w.URL, w.For, feed.ErrURL)
		return got
	}
	origin.User, u.User, u.RawQuery = nil, nil, escaped(u.RawQuery)
	v := visit{client: c, want: &w, fetch: node.Fetch{Feed: w.URL, SameHost: w.SameSite}, origin: origin,
		patience: patience{left: timeout}, out: out, got: &got}
	out.Err = v.follow(ctx, u)
	for i := range out.Requests {
		out.Requests[i].Feed = "" // it is no poll
	}
	if w.Unlogged {
		out.Requests = nil
	}
	return got
}

// resource reads the body of an answer from u that is no feed.
func (v *visit) resource(ctx context.Context, resp *http.Response, u *url.URL) error {
	body, release, err := v.readBody(ctx, resp, v.want.MaxBytes)
	defer release()
	if err != nil {
		return err
	}
	v.got.URL, v.got.Body, v.got.Type = feed.URL(u.String()), body, resp.Header.Get("Content-Type")
	return nil
}
