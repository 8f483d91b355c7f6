package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
// as that has, and nothing else; and that items and entries agree. It tells report what is wrong, and progress, after
// each entry, how many it has read. It holds a snapshot of the archive only while it looks at the file's structure. An
// error says that it could not go on; damage may be the reason.
func (r *Reader) Verify(ctx context.Context, progress func(entries int64), report func(problem string)) error {
	const verb = "verify"
	if err := r.verifyStructure(ctx, report); err != nil {
		return r.failed(ctx, verb, err)
	}
	entries := sweep[indexedRecord]{
		reader: r, verb: verb, entries: verifyEntries,
		query: `SELECT ` + recordColumns +
			`, e.seq <= (SELECT indexed FROM state) AND e.seq NOT IN (SELECT seq FROM stale),
				(SELECT sz FROM words_docsize WHERE id = e.seq)
			FROM entries e JOIN feeds f ON f.id = e.feed WHERE 1`,
		scan: func(rows *sql.Rows) (x indexedRecord, err error) {
			x.Record, err = scanRecord(rows, &x.due, &x.sizes)
			return x, err
		},
		record: func(x *indexedRecord) *archive.Record { return &x.Record },
	}
	var done int64
	for x, err := range entries.all(ctx) {
		if err != nil {
			return err
		}
		x.verify(report)
		done++
		progress(done)
	}
	if err := r.verifyItems(ctx, report); err != nil {
		return r.failed(ctx, verb, err)
	}
	if err := r.verifyStrays(ctx, report); err != nil {
		return r.failed(ctx, verb, err)
	}
	return nil
}

// verifyStructure has SQLite look through the file, page by page and index by index, and through the full-text
// index.
func (r *Reader) verifyStructure(ctx context.Context, report func(problem string)) error {
	for _, pragma := range []string{
		fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxProblems),
		`SELECT "table" || ' ' || rowid || ' refers to what is not there' FROM pragma_foreign_key_check LIMIT ` +
			fmt.Sprint(maxProblems),
	} {
		if err := r.verifyBy(ctx, pragma, report); err != nil {
			return err
		}
	}
	return nil
}

// verifyBy reports the problems that a statement finds that looks through everything.
func (r *Reader) verifyBy(ctx context.Context, query string, report func(problem string)) error {
	ctx, cancel := throughout(ctx, r.path, r.patience)
	defer cancel()
	var problems strings.Builder // told at the end: report may take time
	rows, err := r.db.QueryContext(ctx, query)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var problem string
			err := scan(rows, &problem)
			fmt.Fprintln(&problems, problem)
			return err
		})
	}
	err = ended(ctx, err)
	for line := range strings.Lines(problems.String()) {
		if line = strings.TrimSpace(line); line != "ok" && line != "" {
			report(line)
		}
	}
	return err
}

// verifyCount is how many rows a statement counts that looks through everything.
func (r *Reader) verifyCount(ctx context.Context, query string) (n int64, err error) {
	ctx, cancel := throughout(ctx, r.path, r.patience)
	defer cancel()
	err = scan(r.db.QueryRowContext(ctx, query), &n)
	return n, ended(ctx, err)
}

// An indexedRecord is an entry, and how many words of it the full-text index holds.
type indexedRecord struct {
	archive.Record
	due   bool   // to be in the index
	sizes []byte // the words of each column there, NULL where it is not
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
		report(fmt.Sprintf("entry %d: the full-text index holds %d words of feed, title and rest, the entry %d",
			x.Seq, got, want))
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
	n, err := r.verifyCount(ctx, `SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT seq FROM entries)`)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil && n > 0 {
		report(fmt.Sprintf("the full-text index holds %d entries that are not there", n))
	}
	return err
}
