package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/protocol"
)

// exported is an export of n entries; every tenth line is none.
func exported(t *testing.T, n int) []byte {
	t.Helper()
	var text []byte
	for i := range n {
		if i%10 == 9 {
			text = append(text, "not JSON\n"...)
			continue
		}
		r := archive.NewRecord(feed.Entry{Feed: exampleFeed, ID: fmt.Sprint(i), Title: "A title"},
			time.Unix(int64(i), 0), protocol.NodeID{})
		line := jsonl.NewLine(&r, false)
		var err error
		if text, err = line.Append(text); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func TestAnExportIsTakenInPartByPart(t *testing.T) {
	text := exported(t, 10_000)
	full, broken := errors.New("disk is full"), errors.New("line is cut")
	for name, tt := range map[string]struct {
		in      io.Reader
		fail    error // of the second part
		lines   int
		want    error
		atLeast int // parts
	}{
		"whole":     {bytes.NewReader(text), nil, 9000, nil, 3},
		"nothing":   {strings.NewReader(""), nil, 0, nil, 0},
		"bad lines": {strings.NewReader(strings.Repeat("\nx", 10)), nil, 0, nil, 1},
		"cut short": {io.MultiReader(bytes.NewReader(text[:len(text)/2]), iotest.ErrReader(broken)), nil,
			4500, broken, 2},
		"no room": {bytes.NewReader(text), full, 2 * ImportLines, full, 2},
	} {
		lines, bad, parts, last := 0, 0, 0, -1
		var read int64
		err := ReadImport(t.Context(), tt.in, func(part ImportPart) error {
			parts++
			for _, l := range part.Lines {
				var i int
				if _, err := fmt.Sscan(l.GUID, &i); err != nil || i <= last {
					t.Errorf("%s: %q after %d", name, l.GUID, last)
				}
				last = i
			}
			lines, bad = lines+len(part.Lines), bad+len(part.Bad)
			if part.Read < read || len(part.Lines) > ImportLines {
				t.Errorf("%s: %d lines, %d bytes after %d", name, len(part.Lines), part.Read, read)
			}
			read = part.Read
			if parts == 2 {
				return tt.fail
			}
			return nil
		})
		if !errors.Is(err, tt.want) || max(lines-tt.lines, tt.lines-lines) > 10 || parts < tt.atLeast {
			t.Errorf("%s: %d lines in %d parts, %v; want %d, %v", name, lines, parts, err, tt.lines, tt.want)
		}
		if name == "whole" && (bad != 1000 || read != int64(len(text))) {
			t.Errorf("%d bad lines, %d bytes", bad, read)
		}
	}
}

// An import ends when what it is for fails, or its context ends, also while the rest of it does not come.
func TestAnImportWaitsForNothingInVain(t *testing.T) {
	text := exported(t, 2*ImportLines)
	enough := errors.New("enough")
	for name, end := range map[string]func(cancel context.CancelCauseFunc) error{
		"failed":      func(context.CancelCauseFunc) error { return enough },
		"interrupted": func(cancel context.CancelCauseFunc) error { cancel(enough); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r, w := io.Pipe()
			defer r.Close()
			go w.Write(text)
			err := ReadImport(ctx, r, func(ImportPart) error { return end(cancel) })
			if !errors.Is(err, enough) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
