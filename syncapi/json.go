package syncapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net/http"
)

// JSON is a value as a line of JSON that is never part of a page of HTML.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return b.Bytes(), err
}

// Reply answers with a value in JSON, under the given media type.
func Reply(w http.ResponseWriter, code int, kind string, value any) error {
	text, err := JSON(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(code)
	_, _ = w.Write(text) // a reader that went away wants no answer
	return nil
}

// List writes head, what each of the items is shown as, separated by commas, and tail. One item is held in memory at
// one time. Nothing is written before the first of them is there: an error until then can still be told, and begun is
// false. After that the reader has part of the list, and must not take it for the whole. It is no error that w takes no
// more: a reader that has gone away misses nothing.
func List[T any](w io.Writer, head string, items iter.Seq2[T, error], show func(*T) any,
	tail string) (begun bool, err error) {
	between := head
	for item, err := range items {
		var text []byte
		if err == nil {
			text, err = JSON(show(&item))
		}
		if err != nil {
			return begun, err
		}
		begun = true
		if _, err := w.Write(append([]byte(between), text...)); err != nil {
			return begun, nil
		}
		between = ","
	}
	if !begun {
		tail = head + tail
	}
	_, _ = io.WriteString(w, tail)
	return true, nil
}

// Whole is the error that a reader is told of a list that List has not begun, nil where it wrote all of it. One that
// ended midway has the connection broken off, so that no reader takes the part for the whole.
func Whole(ctx context.Context, log *slog.Logger, begun bool, err error) error {
	if err == nil || !begun {
		return err
	}
	if ctx.Err() == nil {
		log.Error("list of items broken off", "err", err)
	}
	panic(http.ErrAbortHandler)
}
