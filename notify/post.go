package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedex/internal/httptime"
	"feedex/reading"
	"feedex/safehtml"
)

// A declined is the error of a receiver that answered and did not take a message.
type declined struct {
	status string
	said   string        // the begin of its text, as a label
	after  time.Duration // as long as it wants to be left alone, 0 where it does not say
	gone   bool          // it wants nothing any more
	leads  bool          // it leads elsewhere, where nothing is sent
	unfit  bool          // it does not take what was sent
	fails  bool          // it is at fault itself, by what was sent or else
}

func (e declined) Error() string {
	text := "it answers " + e.status
	if e.said != "" {
		text += ": " + e.said
	}
	if e.leads {
		text += "; redirects are not followed: add it anew with the address that it leads to"
	}
	return text
}

// maxSaid is how much of a declined is read, in bytes.
const maxSaid = 512

// post sends a body to a receiver. The error is a declined where it answered and did not take it.
func (t *Teller) post(ctx context.Context, r *reading.Receiver, address string, body []byte,
	header http.Header) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", reading.ErrReceiver, withoutAddress(err))
	}
	resp, err := t.ask(r, q, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxSaid)) // so that the connection is used again
	return nil
}

// ask makes a request of a receiver. The error is a declined where it answered by another status than 2xx.
func (t *Teller) ask(r *reading.Receiver, q *http.Request, header http.Header) (*http.Response, error) {
	q.Header = header
	q.Header.Set("User-Agent", "feedex")
	client := &t.public
	if r.Local {
		client = &t.local
	}
	resp, err := client.Do(q)
	if err != nil {
		return nil, withoutAddress(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	read, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid)) // what cannot be read is not told
	said := string(read)
	if strings.Contains(resp.Header.Get("Content-Type"), "html") { // in others a "<" is one
		said = t.safe.Opening(said, maxSaid)
	}
	unfit := []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}
	return nil, declined{
		status: resp.Status, said: safehtml.Label(said), after: httptime.RetryAfter(resp.Header, time.Now()),
		unfit: slices.Contains(unfit, resp.StatusCode),
		gone: resp.StatusCode == http.StatusGone ||
			r.Kind == reading.WebPush && resp.StatusCode == http.StatusNotFound,
		leads: resp.StatusCode/100 == 3,
		fails: resp.StatusCode == http.StatusInternalServerError,
	}
}

// withoutAddress is an error without the address that it names: who knows it may send there, too.
func withoutAddress(err error) error {
	if at := (*url.Error)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}
