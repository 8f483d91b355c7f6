package syncapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"feedex/opml"
	"feedex/reading"
)

// Import follows the feeds of a list in OPML. The error is a Refusal where it is none.
func Import(ctx context.Context, l reading.Library, document []byte) error {
	list, err := opml.Read(document)
	switch {
	case errors.Is(err, opml.ErrFormat), errors.Is(err, opml.ErrSize):
		return Refuse(http.StatusBadRequest, "%v", err)
	case err != nil:
		return err
	}
	return l.Import(ctx, list.Feeds)
}

// Export answers with the feeds that are followed, in OPML under the given media type.
func Export(ctx context.Context, l reading.Library, w http.ResponseWriter, kind string) error {
	feeds, err := l.Subscriptions(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := opml.Write(&b, reading.ListOf(feeds), time.Time{}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b.Bytes()) // a reader that went away wants no answer
	return nil
}
