package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// errOrder is for an index of which the order is broken; following it might never end.
var errOrder = fmt.Errorf("%w (entries out of order)", ErrDamaged)

// A feedRow is a feed with what is counted of it.
type feedRow struct {
	archive.FeedStats
	id   int64
	kept bool // to ourselves
}

// contentsPage is how many entries FeedStats counts in one statement.
const contentsPage = 10_000

// isHeld is whether the archive holds anything of feed f, or is to: not where the feed was only asked for.
const isHeld = `(f.subscribed OR f.keep_bytes <> 0 OR f.keep_age <> 0 OR f.keep_count <> 0
	OR EXISTS (SELECT 1 FROM entries INDEXED BY entries_by_feed WHERE feed = f.id))`

// FeedStats implements archive.Contents. It goes through some half a million entries in a second.
func (r *Reader) FeedStats(ctx context.Context) ([]archive.FeedStats, error) {
	feeds, err := r.feedRows(ctx)
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	for before := int64(math.MaxInt64); ; {
		next, err := r.countPage(ctx, feeds, before)
		if err != nil {
			return nil, r.failed(ctx, "read", err)
		}
		if next == before {
			break
		}
		before = next
	}
	list := make([]archive.FeedStats, 0, len(feeds))
	for _, f := range feeds {
		list = append(list, f.FeedStats)
	}
	slices.SortFunc(list, func(a, b archive.FeedStats) int { return strings.Compare(string(a.URL), string(b.URL)) })
	return list, nil
}

func (r *Reader) feedRows(ctx context.Context) (map[int64]*feedRow, error) {
	feeds := make(map[int64]*feedRow)
	for f, err := range found(ctx, r.db, by(func(f *feedRow) []any {
		return []any{&f.id, &f.URL, &f.Title, &f.Format, &f.Subscribed, &f.kept,
			&f.KeepBytes, &f.KeepAge, &f.KeepCount, &f.Apart}
	}), `SELECT id, url, title, format, subscribed, `+isConfidential+`, `+
		`keep_bytes, keep_age, keep_count, apart FROM feeds f WHERE `+isHeld) {
		if err != nil {
			return nil, err
		}
		f.URL, _ = apartOf(f.URL)
		feeds[f.id] = &f
	}
	return feeds, nil
}

// countPage counts the newest entries before a seq, and returns the lowest of theirs; before at the end.
func (r *Reader) countPage(ctx context.Context, feeds map[int64]*feedRow, before int64) (lowest int64, err error) {
	lowest = before
	for e, err := range found(ctx, r.db, by(func(e *countedEntry) []any {
		return []any{&e.seq, &e.feed, seconds(&e.at), &e.confirmed, &e.hidden, &e.bytes}
	}), `SELECT e.seq, e.feed, e.time, `+isConfirmed+`, e.seq IN (SELECT seq FROM hidden), e.size
		FROM entries e WHERE e.seq < ? ORDER BY e.seq DESC LIMIT ?`, before, contentsPage) {
		if err != nil {
			return 0, err
		}
		if e.seq >= lowest {
			return 0, errOrder
		}
		lowest = e.seq
		if f := feeds[e.feed]; f != nil { // else it came while we counted
			f.count(&e)
		}
	}
	return lowest, nil
}

// A countedEntry is an entry as far as it is counted.
type countedEntry struct {
	seq, feed, bytes  int64
	at                time.Time
	confirmed, hidden bool
}

func (f *feedRow) count(e *countedEntry) {
	f.Entries++
	f.Bytes += e.bytes
	if !e.confirmed {
		f.Unconfirmed++
	}
	if e.seq < 0 {
		f.Filled++
	}
	if e.hidden || f.kept {
		f.Hidden++
	}
	if f.Oldest.IsZero() || e.at.Before(f.Oldest) {
		f.Oldest = e.at
	}
	if e.at.After(f.Newest) {
		f.Newest = e.at
	}
}

// Stats implements archive.Contents.
func (r *Reader) Stats(ctx context.Context) (st archive.Stats, err error) {
	const query = `
		SELECT (SELECT count(*) FROM entries INDEXED BY entries_by_seq), (SELECT count(*) FROM feeds f WHERE NOT apart AND ` + isHeld + `),
			(SELECT count(*) FROM entries INDEXED BY entries_by_seq WHERE seq > state.indexed) + (SELECT count(*) FROM stale),
			(SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size),
			(SELECT auto_vacuum = 2 FROM pragma_auto_vacuum)
		FROM state`
	if err := scan(r.db.QueryRowContext(ctx, query), &st.Entries, &st.Feeds, &st.Unindexed, &st.Free,
		&st.InSteps); err != nil {
		return archive.Stats{}, r.failed(ctx, "read", err)
	}
	for _, name := range []string{r.path, logOf(r.path)} {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			st.Bytes += info.Size()
		case !errors.Is(err, os.ErrNotExist):
			return archive.Stats{}, fmt.Errorf("read %s: %w", r.path, err)
		}
	}
	return st, nil
}

// CountEntries implements archive.Contents.
func (r *Reader) CountEntries(ctx context.Context, number int64, max int) (int, error) {
	return first(ctx, r, single[int], `
		SELECT count(*) FROM (SELECT 1 FROM entries INDEXED BY entries_by_feed WHERE feed = ? LIMIT ?)`, number, max)
}

// exportEntries is how many entries Export reads at one time, unless pageBytes are reached before.
const exportEntries = 1000

// Export implements archive.Contents.
func (r *Reader) Export(ctx context.Context, u feed.URL) iter.Seq2[archive.Exported, error] {
	from, args := `entries e JOIN feeds f ON f.id = e.feed WHERE NOT f.apart`, []any(nil)
	if u != "" {
		from, args = `feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id WHERE f.url = ?`,
			[]any{string(u)}
	}
	return sweep[archive.Exported]{
		reader: r, verb: "read", args: args, entries: exportEntries,
		query: `SELECT ` + recordColumns + `, ` + isConfidential + ` OR e.seq IN (SELECT seq FROM hidden) FROM ` + from,
		read: func(row rowScanner) (x archive.Exported, err error) {
			x.Record, err = scanRecord(row, &x.Hidden)
			return x, err
		},
		record: func(x *archive.Exported) *archive.Record { return &x.Record },
	}.all(ctx)
}

// A sweep is how entries are read that are too many for one statement, or for the memory, newest arrival first.
type sweep[T any] struct {
	reader *Reader
	verb   string // what it is for, in errors
	// query selects recordColumns, and what else read wants, by a WHERE clause that ends it.
	query   string
	args    []any
	entries int // at a time, unless pageBytes are reached before
	read    func(rowScanner) (T, error)
	record  func(*T) *archive.Record
}

// all yields every entry that the query finds. It holds few of them in memory at one time and no snapshot of the
// archive, so that slow consumers cost nothing; entries that arrive meanwhile are not among them. An error is the last
// thing it yields.
func (w sweep[T]) all(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for before := int64(math.MaxInt64); ; {
			page, err := w.page(ctx, before)
			if err != nil {
				var none T
				yield(none, w.reader.failed(ctx, w.verb, err))
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			before = w.record(&page[len(page)-1]).Seq
		}
	}
}

// page reads the newest entries before a seq; none at the end.
func (w sweep[T]) page(ctx context.Context, before int64) (page []T, err error) {
	args := append(w.args[:len(w.args):len(w.args)], before, w.entries)
	size := 0
	for x, err := range found(ctx, w.reader.db, w.read, w.query+` AND e.seq < ? ORDER BY e.seq DESC LIMIT ?`, args...) {
		if err != nil {
			return nil, err
		}
		r := w.record(&x)
		if r.Seq >= before {
			return nil, errOrder
		}
		before = r.Seq
		page = append(page, x)
		if size += len(r.Entry.Summary) + len(r.Entry.Content); size >= pageBytes {
			break
		}
	}
	return page, nil
}

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
				(SELECT sz FROM words_docsize WHERE id = e.seq), (SELECT sz FROM headings_docsize WHERE id = e.seq)
			FROM entries e JOIN feeds f ON f.id = e.feed WHERE 1`,
		read: func(row rowScanner) (x indexedRecord, err error) {
			x.Record, err = scanRecord(row, &x.due, &x.sizes, &x.heading)
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
	var problems []string // told at the end: report may take time
	var failed error
	for problem, err := range found(ctx, r.db, single[string], query) {
		problems, failed = append(problems, problem), err
	}
	failed = ended(ctx, failed)
	for line := range strings.Lines(strings.Join(problems, "\n")) {
		if line = strings.TrimSpace(line); line != "ok" && line != "" {
			report(line)
		}
	}
	return failed
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
	due     bool   // to be in the index
	sizes   []byte // the words of each column there, NULL where it is not
	heading []byte // the same of the index of titles
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
	want := []int{1, len(strings.Fields(title)), len(strings.Fields(rest)), // the feed's number is a word
		len(strings.Fields(headingOf(title)))}
	if got := columnSizes(append(x.sizes, x.heading...)); !slices.Equal(got, want) {
		report(fmt.Sprintf("entry %d: the full-text indexes hold %d words of feed, title and rest, and of titles "+
			"alone, the entry %d", x.Seq, got, want))
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

// verifyStrays looks for words in the indexes of which there is no entry.
func (r *Reader) verifyStrays(ctx context.Context, report func(problem string)) error {
	for _, index := range indexes {
		n, err := r.verifyCount(ctx, `SELECT count(*) FROM `+index+`_docsize WHERE id NOT IN (SELECT seq FROM entries)`)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if n > 0 {
			report(fmt.Sprintf("the full-text index %s holds %d entries that are not there", index, n))
		}
	}
	return nil
}

// verifyItems looks for items that are not what their entries say, for entries of followed feeds without one, and for
// entries that were purged.
func (r *Reader) verifyItems(ctx context.Context, report func(problem string)) error {
	for _, check := range []struct{ query, problem string }{
		{`SELECT count(*) FROM items WHERE seq NOT IN (SELECT seq FROM entries)`, "%d items have no entry"},
		{`SELECT count(*) FROM items i JOIN entries e ON e.seq = i.seq WHERE e.feed <> i.feed`,
			"%d items are of another feed than their entries"},
		{`SELECT count(*) FROM entries WHERE feed IN (SELECT id FROM feeds WHERE subscribed) AND seq NOT IN (SELECT ` +
			`seq FROM items)`,
			"%d entries of feeds that are followed have no item"},
		{`SELECT count(*) FROM marks WHERE NOT read AND NOT listed`, "%d items are unread and not listed"},
		{`SELECT count(*) FROM marks m LEFT JOIN items i ON i.id = m.item 
			WHERE i.feed IS NOT m.feed OR i.arrived IS NOT m.arrived`,
			"%d marks are not of the item that they name"},
		{`SELECT count(*) FROM (SELECT person, feed, count(*) AS items FROM marks WHERE NOT read GROUP BY person, feed) m
			FULL JOIN unread u USING (person, feed) WHERE coalesce(m.items, 0) <> coalesce(u.items, 0)`,
			"%d counts of what is unread are wrong"},
		{`SELECT count(*) FROM purged JOIN entries USING (id)`, "%d entries are there that were purged"},
	} {
		n, err := r.verifyCount(ctx, check.query)
		if err != nil {
			return err
		}
		if n > 0 {
			report(fmt.Sprintf(check.problem, n))
		}
	}
	return nil
}
