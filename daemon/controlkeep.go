package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"feedex/archive/jsonl"
)

// MaxImportBytes is how many bytes of lines, as an export has them, fit into one Import of a Client; one line
// of whatever length fits always.
const MaxImportBytes = 4 << 20

// maxImportBody bounds the body of such a request.
const maxImportBody = 2 * (MaxImportBytes + jsonl.MaxLineBytes)

// An importAnswer is the answer to an import.
type importAnswer struct {
	Added int `json:"added"`
}

// serveImport takes in lines of an export.
func serveImport(k Maintenance) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var lines []jsonl.Line
		if !readBody(w, r, &lines, maxImportBody) {
			return
		}
		for i := range lines {
			if err := lines[i].Check(); err != nil {
				writeRefusal(w, http.StatusBadRequest, fmt.Errorf("entry %d: %w", i+1, err))
				return
			}
		}
		added, err := k.Import(r.Context(), lines)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, importAnswer{added})
	}
}

// serveVacuum answers at once, so that the client knows that it works, and says at the end how it ended.
func serveVacuum(k Maintenance) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		w.Header().Set("Content-Type", "application/json")
		if err := errors.Join(c.SetWriteDeadline(time.Time{}), c.Flush()); err != nil {
			writeError(w, err)
			return
		}
		var end refusal
		if err := k.Vacuum(r.Context()); err != nil {
			end.Error = err.Error()
		}
		_ = json.NewEncoder(w).Encode(end)
	}
}

// Import implements Maintenance.
func (c *Client) Import(ctx context.Context, lines []jsonl.Line) (added int, err error) {
	var a importAnswer
	err = c.do(ctx, "POST", "/import", lines, &a)
	return a.Added, err
}

// Vacuum implements Maintenance.
func (c *Client) Vacuum(ctx context.Context) error {
	var end refusal
	if err := c.do(ctx, "POST", "/vacuum", nil, &end); err != nil {
		return err
	}
	if end.Error != "" {
		return errors.New(end.Error)
	}
	return nil
}
