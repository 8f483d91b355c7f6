package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedex/reading"
)

// webhookBody is what a webhook is sent, in JSON. Later versions may add members.
type webhookBody struct {
	Title   string         `json:"title"` // for people, one line
	Text    string         `json:"text"`  // for people, lines; with links, for bridges pass on nothing else
	Body    string         `json:"body"`  // the same: some bridges take the one, some the other
	Entries []webhookEntry `json:"entries"`
	More    int            `json:"more"` // so many there are beside them
}

type webhookEntry struct {
	ID        string    `json:"id"` // the same in each message that tells of it
	Filter    string    `json:"filter"`
	Feed      string    `json:"feed"`
	Title     string    `json:"title"`
	Link      string    `json:"link,omitempty"`
	Published time.Time `json:"published"`
	Arrived   time.Time `json:"arrived"`
	// Unconfirmed is true of what one neighbor alone vouches for yet.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// postWebhook sends JSON, signed as Standard Webhooks (version 1.0.0) has it where there is a secret.
func (t *Teller) postWebhook(ctx context.Context, r *reading.Receiver, b *bulletin) error {
	text := b.lines(true)
	doc := webhookBody{Title: b.title(), Text: text, Body: text, Entries: []webhookEntry{}, More: b.more}
	for i := range b.messages {
		m := &b.messages[i]
		doc.Entries = append(doc.Entries, webhookEntry{
			ID: m.Entry.String(), Filter: m.Filter, Feed: m.Feed, Title: m.Title, Link: m.Link,
			Published: m.Time.UTC(), Arrived: m.Arrived.UTC(), Unconfirmed: m.Unconfirmed,
		})
	}
	body, err := plainJSON(doc)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	header := http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {b.id}, "Webhook-Timestamp": {at}}
	if r.Secret != "" {
		key, _ := webhookKey(r.Secret) // one that was kept before such were refused signs as it did
		header.Set("Webhook-Signature", webhookSignature(key, b.id, at, body))
	}
	return t.post(ctx, r, r.Address, body, header)
}

// plainJSON is a value in JSON that is for no page: each sign of markup would take six bytes there.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// webhookKey is what a secret signs with. One that begins with "whsec_" is base64 behind that, and every other is as it
// is. The error wraps reading.ErrReceiver where there is no base64 there; it signs as it is then, too.
func webhookKey(secret string) ([]byte, error) {
	coded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || len(key) == 0 {
		return []byte(secret), fmt.Errorf("%w: what follows whsec_ in the secret is no base64; copy all of it, as its "+
			"receiver shows it", reading.ErrReceiver)
	}
	return key, nil
}

// webhookSignature signs a body.
func webhookSignature(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
