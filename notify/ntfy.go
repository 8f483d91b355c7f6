package notify

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"

	"feedex/reading"
)

// ntfyBody is a message as ntfy takes it in JSON, at the root of a server.
type ntfyBody struct {
	Topic   string `json:"topic"`
	Title   string `json:"title"`
	Message string `json:"message"`
	Click   string `json:"click,omitempty"`
}

// maxNtfyText is how many bytes of text are sent: ntfy makes an attachment of more than 4096, and takes 8192 bytes of
// JSON, in which quotes take two.
const maxNtfyText = 2500

// postNtfy sends a message to a topic, which is the last part of the address.
func (t *Teller) postNtfy(ctx context.Context, r *reading.Receiver, b *bulletin) error {
	return t.publishNtfy(ctx, r, ntfyBody{
		Title: b.title(), Message: shortened(b.text(), maxNtfyText), Click: b.link(),
	})
}

// publishNtfy sends a message, whose topic it names.
func (t *Teller) publishNtfy(ctx context.Context, r *reading.Receiver, m ntfyBody) error {
	u, err := url.Parse(r.Address)
	if err != nil {
		return fmt.Errorf("%w: %w", reading.ErrReceiver, withoutAddress(err))
	}
	root := *u
	root.Path = path.Dir(u.Path)
	m.Topic = path.Base(u.Path)
	body, err := plainJSON(m)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	header := ntfyHeader(r)
	header.Set("Content-Type", "application/json")
	return t.post(ctx, r, root.String(), body, header)
}

// ntfyHeader says who asks.
func ntfyHeader(r *reading.Receiver) http.Header {
	header := make(http.Header)
	if r.Secret != "" {
		header.Set("Authorization", "Bearer "+r.Secret)
	}
	return header
}
