package control

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// goneWriter is the way to a client that went away.
type goneWriter struct {
	*httptest.ResponseRecorder
	headers int
}

func (w *goneWriter) WriteHeader(int)                  { w.headers++ }
func (w *goneWriter) SetWriteDeadline(time.Time) error { return nil }
func (w *goneWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	return errors.New("broken pipe")
}
func (w *goneWriter) Write(text []byte) (n int, _ error) { return 0, errors.New("broken pipe") }

// A client that went away is told nothing: net/http logs a header that is written twice.
func TestAClientThatWentAwayIsToldNothing(t *testing.T) {
	w := &goneWriter{ResponseRecorder: httptest.NewRecorder()}
	later(w, func() (any, error) {
		t.Error("its work was begun")
		return nil, nil
	})
	if w.headers != 1 {
		t.Errorf("%d headers were written", w.headers)
	}
}
