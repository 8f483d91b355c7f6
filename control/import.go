package control

import (
	"context"
	"errors"
	"io"

	"feedex/archive/jsonl"
)

// ImportLines is how many lines of an export are imported at a time, unless maxImportBytes are reached before. The more
// there are, the fewer pages of the archive are written again with each transaction.
const ImportLines = 3000

// An ImportPart is a part of an export as it was read.
type ImportPart struct {
	Lines []jsonl.Line
	Bad   []jsonl.BadLine // lines that hold no entry
	Read  int64           // bytes of the export, up to here
}

// ReadImport reads an export to its end and calls each with one part after the other. While each is at work the next
// part is read and checked, which takes as long. It ends early with an error of each, of ctx, or of reading: what was
// read before that has been passed on. r may be read from for as long as it waits.
func ReadImport(ctx context.Context, r io.Reader, each func(ImportPart) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := make(chan ImportPart)
	done := make(chan error, 1)
	go func() {
		defer close(parts)
		done <- readParts(ctx, jsonl.NewReader(r), parts)
	}()
	for {
		select {
		case part, more := <-parts:
			if !more {
				return <-done
			}
			if err := each(part); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readParts reads lines to their end, and what was read also where there is an error.
func readParts(ctx context.Context, lines *jsonl.Reader, parts chan<- ImportPart) error {
	var part ImportPart
	var begun int64
	for {
		l, err := lines.Next()
		bad := new(jsonl.BadLine)
		switch {
		case err == nil:
			part.Lines = append(part.Lines, l)
		case errors.As(err, bad):
			part.Bad = append(part.Bad, *bad)
			err = nil
		}
		part.Read = lines.Bytes()
		if err == nil && len(part.Lines) < ImportLines && len(part.Bad) < ImportLines &&
			part.Read-begun < maxImportBytes {
			continue
		}
		if len(part.Lines)+len(part.Bad) > 0 {
			select {
			case parts <- part:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		part, begun = ImportPart{}, part.Read
	}
}
