package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedex/notify/webpush"
	"feedex/reading"
)

// pushBody is what the page's service worker is handed.
type pushBody struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Link  string `json:"link,omitempty"`  // the publisher's page of the one entry
	Entry string `json:"entry,omitempty"` // the ID of the one entry
	ID    string `json:"id"`
}

// push sends a message by Web Push (RFC 8030). It waits at the push service for as long as it may be news.
func (t *Teller) push(ctx context.Context, r *reading.Receiver, b *bulletin) error {
	to, err := webpush.ParseSubscription([]byte(r.Address))
	if err != nil {
		return err
	}
	text, err := json.Marshal(b.push())
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	body, err := webpush.Seal(to, text)
	if err != nil {
		return err
	}
	authorization, err := t.Sender.Authorization(to.Endpoint, time.Now())
	if err != nil {
		return err
	}
	return t.post(ctx, r, to.Endpoint, body, http.Header{
		"Authorization": {authorization}, "Content-Encoding": {"aes128gcm"},
		"Content-Type": {"application/octet-stream"}, "Ttl": {strconv.Itoa(int(reading.MessageAge / time.Second))},
	})
}

// push is the bulletin as a page takes it, so short that it fits whatever its letters take in JSON: six bytes of one at
// most.
func (b *bulletin) push() pushBody {
	p := pushBody{Title: shortened(b.title(), 200), Text: shortened(b.text(), 200), ID: b.id}
	if len(b.messages)+b.more == 1 {
		p.Entry = b.messages[0].Entry.String()
		if link := b.link(); len(link) <= 200 {
			p.Link = link
		}
	}
	return p
}

// shortened is a text of at most so many bytes.
func shortened(s string, bytes int) string {
	const dots = "…"
	if len(s) <= bytes {
		return s
	}
	return strings.ToValidUTF8(s[:bytes-len(dots)], "") + dots
}
