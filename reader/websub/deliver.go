package websub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedex/archive"
	"feedex/internal/when"
)

const (
	// deliverTime is how long a callback may take to take a delivery.
	deliverTime = 30 * time.Second
	// firstRetry doubles with every failure in a row, up to lastRetry; after maxFailures the subscriber counts as dead.
	// All retries together take eleven hours.
	firstRetry, lastRetry, maxFailures = time.Minute, time.Hour, 16
	// MaxDelivery is the largest document that is delivered, in bytes: Feeds is to leave out what does not fit. All
	// deliveries that are under way at a time hold maxWorking of them.
	MaxDelivery = 4 << 20
)

var (
	errGone     = errors.New("the subscriber is gone")
	errTooLarge = errors.New("the document is too large to be delivered")
	errNoTopic  = errors.New("the feed is not there any more")
)

// deliver delivers what is new of the topic, if there is anything, and notes how that went.
func (h *Hub) deliver(ctx context.Context, x *activeSubscription) {
	h.mu.Lock()
	s := x.HubSubscription
	h.mu.Unlock()
	etag, err := h.push(ctx, &s)
	now := time.Now()
	switch {
	case ctx.Err() != nil:
	case err == nil && etag == s.ETag && s.Failures == 0: // nothing was new
	case err == nil:
		s.ETag, s.Failures, s.Next = etag, 0, time.Time{}
	case errors.Is(err, errGone), errors.Is(err, errNoTopic), s.Failures+1 >= maxFailures:
		h.Log.Info("subscription ended", "callback", hostOf(s.Callback), "err", err)
		h.dropIf(ctx, x)
	default:
		s.Next = now.Add(when.Doubled(firstRetry, lastRetry, s.Failures))
		s.Failures++
		h.Log.Debug("delivery failed", "callback", hostOf(s.Callback), "err", err)
	}
	h.keeping.Lock()
	defer h.keeping.Unlock()
	h.mu.Lock()
	current := h.subs[keyOf(&s)] == x
	changed := current && x.HubSubscription != s
	if current {
		x.HubSubscription = s
	}
	x.busy = false
	h.mu.Unlock()
	if changed {
		if err := h.Store.Keep(ctx, s); err != nil && ctx.Err() == nil {
			h.Log.Error("subscription not stored", "err", err) // after a restart something is delivered again
		}
	}
}

// push sends the callback what is new since the version that it has, and returns the version that it has then.
func (h *Hub) push(ctx context.Context, s *archive.HubSubscription) (etag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	doc := h.document(ctx, http.MethodGet, s.Topic, s.ETag)
	switch {
	case doc.code == http.StatusNotModified:
		return s.ETag, nil
	case doc.code == http.StatusNotFound:
		return "", errNoTopic
	case doc.over: // it would be the next time: the subscriber is pushed what comes after it
		h.Log.Warn("what is new is not pushed", "callback", hostOf(s.Callback), "err", errTooLarge)
		return doc.header.Get("ETag"), nil
	case doc.code != http.StatusOK && doc.code != http.StatusIMUsed: // §7: "the hub MAY reduce the payload to a diff"
		return "", fmt.Errorf("the feed is answered with %d", doc.code)
	}
	r, err := requestTo(ctx, s, http.MethodPost, s.Callback, bytes.NewReader(doc.body.Bytes()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", doc.header.Get("Content-Type"))
	r.Header["Link"] = doc.header["Link"] // rel=self and rel=hub
	if s.Secret != "" {
		mac := hmac.New(sha256.New, []byte(s.Secret))
		mac.Write(doc.body.Bytes())
		r.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	resp, err := h.client.Do(r)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusGone:
		return "", errGone
	case resp.StatusCode/100 != 2:
		return "", fmt.Errorf("it answers %d", resp.StatusCode)
	}
	return doc.header.Get("ETag"), nil
}

// version is the entity tag of a topic, "" if there is none.
func (h *Hub) version(ctx context.Context, topic string) string {
	doc := h.document(ctx, http.MethodHead, topic, "")
	if doc.code != http.StatusOK || !strings.Contains(strings.Join(doc.header["Link"], ","), `rel="hub"`) {
		return ""
	}
	return doc.header.Get("ETag")
}

// document is the answer of the reader address to a request for a topic by a subscriber that has that version.
func (h *Hub) document(ctx context.Context, method, topic, etag string) *responseBuffer {
	doc := &responseBuffer{header: make(http.Header)}
	u, err := url.Parse(topic)
	if err != nil {
		doc.code = http.StatusNotFound
		return doc
	}
	r := (&http.Request{
		Method: method, URL: u, Host: u.Host, Header: make(http.Header), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1,
		RequestURI: strings.TrimPrefix(topic, u.Scheme+"://"+u.Host), Body: http.NoBody,
	}).WithContext(ctx)
	r.Header.Set("X-Forwarded-Proto", u.Scheme) // the subscriber may know it by a web server with TLS
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
		r.Header.Set("A-IM", "feed")
	}
	func() {
		defer func() { // the reader address breaks an answer off so
			if e := recover(); e != nil {
				if e != http.ErrAbortHandler {
					panic(e)
				}
				doc.code = http.StatusInternalServerError
			}
		}()
		h.Feeds.ServeHTTP(doc, r)
	}()
	doc.code = cmp.Or(doc.code, http.StatusOK)
	return doc
}

// A responseBuffer is a ResponseWriter in memory.
type responseBuffer struct {
	header http.Header
	code   int
	body   bytes.Buffer
	over   bool // it is larger than MaxDelivery
}

// Header implements http.ResponseWriter.
func (a *responseBuffer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *responseBuffer) WriteHeader(code int) {
	a.code = cmp.Or(a.code, code)
}

// Write implements http.ResponseWriter.
func (a *responseBuffer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len()+len(p) > MaxDelivery {
		a.over = true
		return 0, errTooLarge
	}
	return a.body.Write(p)
}
