package websub

import (
	"context"
	crand "crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// verifyTime is how long a callback may take to agree.
const verifyTime = 10 * time.Second

// verify asks the callback whether it wants what was asked for in its name (§5.3), and has it so.
func (h *Hub) verify(ctx context.Context, q verification) {
	if err := h.consent(ctx, q); err != nil {
		h.Log.Info("subscription not verified", "callback", hostOf(q.Callback), "err", err)
		return
	}
	h.keeping.Lock()
	defer h.keeping.Unlock()
	if q.leave {
		h.drop(ctx, keyOf(&q.HubSubscription))
		return
	}
	q.Expires = time.Now().Add(q.lease)
	if h.full(keyOf(&q.HubSubscription)) {
		h.Log.Warn("too many subscriptions", "callback", hostOf(q.Callback))
		return
	}
	if err := h.Store.Keep(ctx, q.HubSubscription); err != nil {
		h.Log.Error("subscription not stored", "err", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// An entry that arrived since it was asked for is due. A delivery that is under way for the same subscriber ends as
	// it may.
	h.subs[keyOf(&q.HubSubscription)] = &activeSubscription{HubSubscription: q.HubSubscription, stale: true}
}

// consent is nil if the callback echoes a challenge.
func (h *Hub) consent(ctx context.Context, q verification) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	var chance [16]byte
	crand.Read(chance[:])
	challenge := hex.EncodeToString(chance[:])
	params := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {q.Topic}, "hub.challenge": {challenge}}
	if q.leave {
		params.Set("hub.mode", "unsubscribe")
	} else {
		params.Set("hub.lease_seconds", strconv.FormatInt(int64(q.lease/time.Second), 10))
	}
	// §5.1: a query that the callback has already is preserved.
	separator := "?"
	if strings.Contains(q.Callback, "?") {
		separator = "&"
	}
	r, err := requestTo(ctx, &q.HubSubscription, http.MethodGet, q.Callback+separator+params.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := h.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %d", resp.StatusCode)
	}
	echo, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(challenge)+1)))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(echo, []byte(challenge)) == 0 {
		return errors.New("it does not echo the challenge")
	}
	return nil
}

// hostOf is the part of a callback for a log: the rest may be a secret.
func hostOf(callback string) string {
	u, err := url.Parse(callback)
	if err != nil {
		return ""
	}
	return u.Host
}
