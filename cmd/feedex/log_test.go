package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// What others wrote does not act on a terminal that shows the log, and is still there in JSON.
func TestLogsAreTidy(t *testing.T) {
	const hostile = "a\x1b[2J\u009b2J\u202eb\n\u2067c\x7f"
	for _, as := range []string{"text", "json"} {
		var out strings.Builder
		log := newLogger(&out, slog.LevelInfo, as)
		log.Info("said", "feed", hostile, "err", errors.New(hostile), "list", []string{hostile})
		if strings.ContainsAny(strings.TrimSuffix(out.String(), "\n"), "\x1b\u009b\u202e\n\u2067\x7f") {
			t.Errorf("%s: %q", as, out.String())
		}
		if as != "json" {
			continue
		}
		var said struct {
			Feed, Err string
			List      []string
		}
		if err := json.Unmarshal([]byte(out.String()), &said); err != nil || said.Feed != hostile ||
			said.Err != hostile || len(said.List) != 1 || said.List[0] != hostile {
			t.Errorf("%v: %+v of %q", err, said, out.String())
		}
	}
}
