package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"feedex/archive"
)

// maxProblems is how many problems of one kind Verify tells one by one.
const maxProblems = 20

// verifyEntries is how many entries Verify reads at one time, unless pageBytes are reached before.
const verifyEntries = 500

// Verify checks everything that can be checked: the structure of the file, of its tables and of the full-text index;
// that id and digest of every entry are those of its content; and that the index holds as many words of every entry
// as that has, and nothing else; and that items and entries agree. It tells report what is wrong, and progress, after each step, how many entries it
// has read. It holds a snapshot of the archive only while it looks at the file's structure. An error
// says that it could not go on; damage may be the reason.
func (r *Reader) Verify(ctx context.Context, progress func(entries int64), report func(problem string)) error {
	err := r.verify(ctx, progress, report)
	return r.failed(ctx, "verify", err)
}

func (r *Reader) verify(ctx context.Context, progress func(entries int64), report func(problem string)) error {
	if err := r.verifyStructure(ctx, report); err != nil {
		return err
	}
	var done int64
	for before := int64(math.MaxInt64); ; {
		page, err := r.verifyPage(ctx, before)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			if err := r.verifyItems(ctx, report); err != nil {
				return err
			}
			return r.verifyStrays(ctx, report)
		}
		for i := range page {
			page[i].verify(report)
		}
		done += int64(len(page))
		progress(done)
		before = page[len(page)-1].Seq
	}
}

// verifyStructure has SQLite look through the file, page by page and index by index, and through the full-text
// index.
func (r *Reader) verifyStructure(ctx context.Context, report func(problem string)) error {
	for _, pragma := range []string{
		fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxProblems),
		`SELECT "table" || ' ' || rowid || ' refers to what is not there' FROM pragma_foreign_key_check LIMIT ` + fmt.Sprint(maxProblems),
	} {
		rows, err := r.db.QueryContext(ctx, pragma)
		if err == nil {
			err = each(rows, func(rows *sql.Rows) error {
				var problem string
				err := scan(rows, &problem)
				for line := range strings.Lines(problem) {
					if line = strings.TrimSpace(line); err == nil && line != "ok" && line != "" {
						report(line)
					}
				}
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An indexedRecord is an entry, and how many words of it the full-text index holds.
type indexedRecord struct {
	archive.Record
	due   bool   // to be in the index
	sizes []byte // the words of each column there, NULL where it is not
}

// verifyPage reads the newest entries before a seq; none at the end.
func (r *Reader) verifyPage(ctx context.Context, before int64) (page []indexedRecord, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := r.db.QueryContext(ctx, `
		SELECT `+recordColumns+`, e.seq <= (SELECT indexed FROM state) AND e.seq NOT IN (SELECT seq FROM stale),
			(SELECT sz FROM words_docsize WHERE id = e.seq)
		FROM entries e JOIN feeds f ON f.id = e.feed WHERE e.seq < ? ORDER BY e.seq DESC LIMIT ?`, before, verifyEntries)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for size := 0; size < pageBytes && rows.Next(); {
		var x indexedRecord
		if x.Record, err = scanRecord(rows, &x.due, &x.sizes); err != nil {
			return nil, err
		}
		if x.Seq >= before {
			return nil, errOrder
		}
		before = x.Seq
		page = append(page, x)
		size += len(x.Entry.Summary) + len(x.Entry.Content)
	}
	return page, rows.Err()
}

func (x *indexedRecord) verify(report func(problem string)) {
	if id := x.Entry.EntryID(); id != x.ID {
		report(fmt.Sprintf("entry %d: its id is %s, its content has %s", x.Seq, x.ID, id))
	}
	if digest := x.Entry.Digest(); digest != x.Digest {
		report(fmt.Sprintf("entry %d: its digest is %s, its content has %s", x.Seq, x.Digest, digest))
	}
	if !x.due {
		return
	}
	title, rest := archive.Fold(&x.Entry)
	want := []int{1, len(strings.Fields(title)), len(strings.Fields(rest))} // the feed's number is a word
	if got := columnSizes(x.sizes); !slices.Equal(got, want) {
		report(fmt.Sprintf("entry %d: the full-text index holds %d words of feed, title and rest, the entry %d", x.Seq, got, want))
	}
}

// columnSizes reads how many words the index holds of each column: SQLite's variable-length integers
// (https://sqlite.org/fileformat2.html#varint), of which those above 56 bits do not occur.
func columnSizes(b []byte) (sizes []int) {
	size := 0
	for _, c := range b {
		size = size<<7 | int(c&0x7f)
		if c < 0x80 {
			sizes = append(sizes, size)
			size = 0
		}
	}
	return sizes
}

// verifyStrays looks for words in the index of which there is no entry.
func (r *Reader) verifyStrays(ctx context.Context, report func(problem string)) error {
	var n int64
	err := scan(r.db.QueryRowContext(ctx, `SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT seq FROM entries)`), &n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil && n > 0 {
		report(fmt.Sprintf("the full-text index holds %d entries that are not there", n))
	}
	return err
}
