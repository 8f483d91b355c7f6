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
	u, err := url.Parse(r.Address)
	if err != nil {
		return fmt.Errorf("%w: %w", reading.ErrReceiver, withoutAddress(err))
	}
	root := *u
	root.Path = path.Dir(u.Path)
	body, err := plainJSON(ntfyBody{
		Topic: path.Base(u.Path), Title: b.title(), Message: shortened(b.text(), maxNtfyText), Click: b.link(),
	})
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if r.Secret != "" {
		header.Set("Authorization", "Bearer "+r.Secret)
	}
	return t.post(ctx, r, root.String(), body, header)
}
