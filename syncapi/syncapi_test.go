package syncapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/reading"
	"feedex/syncapi"
)

// Errors in a request are told to the reader, and our own errors to the owner alone.
func TestRefused(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, c := range []struct {
		err    error
		want   syncapi.Refusal
		wait   string
		logged bool
	}{
		{syncapi.Refuse(http.StatusNotFound, "no %s", "such thing"),
			syncapi.Refusal{Code: 404, Why: "no such thing"}, "", false},
		{fmt.Errorf("look up: %w", reading.Slowed{Wait: 1500 * time.Millisecond}), syncapi.Refusal{Code: 429,
			Why: "too many wrong passwords came from your address; try again in 2 seconds"}, "2", false},
		{fmt.Errorf("%w: it is empty", reading.ErrName),
			syncapi.Refusal{Code: 422, Why: reading.ErrName.Error() + ": it is empty"}, "", false},
		{fmt.Errorf("%w: write /home/ada/feedex.db: %w", reading.ErrRests, archive.ErrFull),
			syncapi.Refusal{Code: 503, Why: reading.ErrRests.Error() + ": " + archive.ErrFull.Error()}, "", false},
		{fmt.Errorf("%w: write /home/ada/feedex.db", reading.ErrRests),
			syncapi.Refusal{Code: 503, Why: reading.ErrRests.Error()}, "", false},
		{context.Canceled, syncapi.Refusal{Code: 500, Why: "The node could not do it. Its log says why."}, "", false},
		{disk, syncapi.Refusal{Code: 500, Why: "The node could not do it. Its log says why."}, "", true},
	} {
		var log bytes.Buffer
		w := httptest.NewRecorder()
		got := syncapi.Refused(w, c.err, 422, slog.New(slog.NewTextHandler(&log, nil)), "failed")
		if got != c.want || w.Header().Get("Retry-After") != c.wait ||
			strings.Contains(log.String(), disk.Error()) != c.logged || (log.Len() > 0) != c.logged {
			t.Errorf("%v: %+v, %v, logged %q", c.err, got, w.Header(), &log)
		}
	}
}

// A form in parts comes as its fields, anything else as the text that it is, and neither beyond the limit.
func TestRead(t *testing.T) {
	const of, parts = "multipart/form-data; boundary=b",
		"--b\r\nContent-Disposition: form-data; name=\"i\"\r\n\r\n1\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"i\"\r\n\r\n2\r\n--b--\r\n"
	for _, c := range []struct {
		kind, body string
		form, text string
	}{
		{of, parts, "i=1&i=2", ""},
		{"application/x-www-form-urlencoded", "i=1", "", "i=1"},
		{"", "i=1\n", "", "i=1\n"},
	} {
		read := func(limit int) (string, string, error) {
			r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			form, text, err := syncapi.Read(httptest.NewRecorder(), r, int64(limit))
			return form.Encode(), string(text), err
		}
		if form, text, err := read(len(c.body)); form != c.form || text != c.text || err != nil {
			t.Errorf("%s: %q, %q, %v", c.kind, form, text, err)
		}
		var tooLong *http.MaxBytesError
		if _, _, err := read(len(c.body) / 2); !errors.As(err, &tooLong) {
			t.Errorf("%s beyond the limit: %v", c.kind, err)
		}
	}
}

// Values that are written wrong are left out of a form, and too much is none.
func TestFields(t *testing.T) {
	for text, want := range map[string]string{"": "", "a=1&b;&c=%zz&a=2": "a=1&a=2"} {
		if got, err := syncapi.Fields(text); got.Encode() != want || err != nil {
			t.Errorf("%q: %q, %v", text, got.Encode(), err)
		}
	}
	for _, text := range []string{"%zz", strings.Repeat("a&", 10_000)} {
		if got, err := syncapi.Fields(text); len(got) > 0 || err == nil {
			t.Errorf("%.10q: %d fields, %v", text, len(got), err)
		}
	}
}
