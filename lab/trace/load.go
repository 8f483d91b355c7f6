package trace

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrRow is wrapped by the errors of Load that name a row of a file.
var ErrRow = errors.New("malformed row")

// span is the longest span of a Set that Load makes: five weeks, so that every weekday counts alike.
const span = 35 * day

const day = 24 * 60 * 60 // seconds

// latest is the last second of the year 9999.
const latest int64 = 253402300799

// usualWindow is the window where none was observed at all: 10 or 15 are the commonest (Paper §2).
const usualWindow = 15

// largestWindow is how many entries a document holds at most: a hundred times the largest that was seen.
const largestWindow = 100_000

// Load reads a folder of CSV files with a heading each: feeds.csv, one row a feed, and the files
// entries-*.csv or entries-*.csv.gz, one row an entry, sorted by time within a feed. Times are Unix
// seconds.
//
//	feeds.csv    feed_id           the feed's name in these files
//	             kind              what sort of publisher it is
//	             url               of the document; may be empty
//	             window_entries    the entries that the document lists, empty if unknown
//	             window_basis      "observed…" where that was counted
//	             start_unix        since when
//	             end_unix          until when it was recorded
//	             entries           how many rows the entry files have of it
//	             in_common_window  1 for a feed of the set, 0 for one left out
//	entries-*    feed_id, unix_time
//
// The span of the set is the last five weeks of whole days, UTC, in which all its feeds were recorded,
// or fewer if there are not as many. A window that is unknown is drawn from those observed in feeds of
// the same kind, or of any kind if there is none: of them all, in ascending order, the one at the 32-bit
// FNV-1a hash of the feed_id modulo their number.
//
// A row that cannot be right is an ErrRow; its error names file and line and what is wrong.
func Load(dir string) (*Set, error) {
	l := loader{rows: make(map[string]*csvRow)}
	feeds := filepath.Join(dir, "feeds.csv")
	if err := readFile(feeds, l.feed, feedColumns()); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; want a folder with feeds.csv and entries-*.csv", err)
	} else if err != nil {
		return nil, err
	}
	var files []string
	for _, pattern := range []string{"entries-*.csv", "entries-*.csv.gz"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("find entries in %s: %w", dir, err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("find entries in %s: no file entries-*.csv or entries-*.csv.gz", dir)
	}
	slices.Sort(files)
	for _, file := range files {
		if err := readFile(file, l.entry, entryColumns()); err != nil {
			return nil, err
		}
	}
	return l.set(feeds)
}

// feedColumns are the columns of feeds.csv that feed takes.
func feedColumns() []string {
	return []string{"feed_id", "kind", "url", "window_entries", "window_basis", "start_unix", "end_unix", "entries",
		"in_common_window"}
}

// entryColumns are the columns of the entries that entry takes.
func entryColumns() []string { return []string{"feed_id", "unix_time"} }

// A csvRow is a row of feeds.csv.
type csvRow struct {
	line                 int
	id, kind, url        string
	window               int // 0 if unknown
	observed, common     bool
	start, end, declared int64
	times                []int64
}

// A loader gathers what the files say.
type loader struct {
	order []*csvRow
	rows  map[string]*csvRow
}

// readFile takes the rows of a file.
func readFile(file string, take func(line int, values []string) error, columns []string) error {
	f, err := os.Open(file)
	if err != nil {
		return err // it names the file
	}
	defer f.Close()
	if !strings.HasSuffix(file, ".gz") {
		return readRows(file, f, take, columns)
	}
	text, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", file, err)
	}
	return readRows(file, text, take, columns)
}

// readRows calls take for each row of a file with the values of the columns, and passes over others.
func readRows(file string, text io.Reader, take func(line int, values []string) error, columns []string) error {
	r := csv.NewReader(text)
	r.ReuseRecord = true
	heading, err := r.Read()
	if err == io.EOF {
		return fmt.Errorf("read %s:1: %w: the file is empty, want a heading", file, ErrRow)
	} else if err != nil {
		return unread(file, 0, err)
	}
	heading[0] = strings.TrimPrefix(heading[0], "\ufeff") // spreadsheets begin so
	at := make([]int, len(columns))
	for i, c := range columns {
		if at[i] = slices.Index(heading, c); at[i] < 0 {
			return fmt.Errorf("read %s:1: %w: no column %s", file, ErrRow, c)
		}
	}
	values := make([]string, len(columns))
	line := 1
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if bad := new(csv.ParseError); errors.As(err, &bad) && errors.Is(err, csv.ErrFieldCount) {
			bad.Err = fmt.Errorf("%w: %d, want %d as in the heading", csv.ErrFieldCount, len(record), r.FieldsPerRecord)
		}
		if err != nil {
			return unread(file, line, err)
		}
		for i, a := range at {
			values[i] = record[a]
		}
		line, _ = r.FieldPos(0)
		if err := take(line, values); err != nil {
			return fmt.Errorf("read %s:%d: %w: %w", file, line, ErrRow, err)
		}
	}
}

// unread says why a row was not read, which follows the row at that line.
func unread(file string, line int, err error) error {
	bad := new(csv.ParseError)
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("read %s:%d: %w: %w", file, bad.Line, ErrRow, bad.Err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("read %s, after line %d: the file is cut short: %w", file, line, err)
	}
	return fmt.Errorf("read %s, after line %d: %w", file, line, err)
}

// feed takes a row of feeds.csv.
func (l *loader) feed(line int, v []string) error {
	r := &csvRow{line: line, id: v[0], kind: v[1], url: v[2], observed: strings.HasPrefix(v[4], "observed"),
		common: v[8] == "1"}
	switch {
	case r.id == "":
		return errors.New("feed_id is empty")
	case r.kind == "":
		return errors.New("kind is empty")
	case l.rows[r.id] != nil:
		return fmt.Errorf("feed_id %q is that of line %d too", r.id, l.rows[r.id].line)
	case v[8] != "0" && v[8] != "1":
		return fmt.Errorf("in_common_window is %q, want 0 or 1", v[8])
	}
	if v[3] != "" {
		n, err := strconv.Atoi(v[3])
		if err != nil || n < 1 || n > largestWindow {
			return fmt.Errorf("window_entries is %q, want a number from 1 to %d, or nothing", v[3], largestWindow)
		}
		r.window = n
	}
	for _, n := range []struct {
		name, text string
		to         *int64
	}{{"start_unix", v[5], &r.start}, {"end_unix", v[6], &r.end}, {"entries", v[7], &r.declared}} {
		var err error
		if *n.to, err = strconv.ParseInt(n.text, 10, 64); err != nil || *n.to < 0 || *n.to > latest {
			return fmt.Errorf("%s is %q, want a whole number up to %d", n.name, n.text, latest)
		}
	}
	if r.end < r.start {
		return fmt.Errorf("end_unix %d is before start_unix %d", r.end, r.start)
	}
	l.rows[r.id] = r
	l.order = append(l.order, r)
	return nil
}

// entry takes a row of the entries.
func (l *loader) entry(_ int, v []string) error {
	r := l.rows[v[0]]
	if r == nil {
		return fmt.Errorf("feed_id %q is not in feeds.csv", v[0])
	}
	t, err := strconv.ParseInt(v[1], 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("unix_time is %q, want whole seconds", v[1])
	case t < r.start || t > r.end:
		return fmt.Errorf("unix_time %d is outside the time in which %s was recorded, %d to %d", t, r.id,
			r.start, r.end)
	case len(r.times) > 0 && t < r.times[len(r.times)-1]:
		return fmt.Errorf("unix_time %d is before the row above, of the same feed, %d", t, r.times[len(r.times)-1])
	}
	r.times = append(r.times, t)
	return nil
}

// set makes the set of the feeds that belong to it.
func (l *loader) set(file string) (*Set, error) {
	var common []*csvRow
	var from, to int64
	for _, r := range l.order {
		if int64(len(r.times)) != r.declared {
			return nil, fmt.Errorf("read %s:%d: %w: entries is %d, but there are %d rows of %s", file, r.line, ErrRow,
				r.declared, len(r.times), r.id)
		}
		if !r.common {
			continue
		}
		if first, last := (r.start+day-1)/day*day, r.end/day*day; len(common) == 0 {
			from, to = first, last
		} else {
			from, to = max(from, first), min(to, last)
		}
		common = append(common, r)
	}
	from = max(from, to-span)
	switch {
	case len(common) == 0:
		return nil, fmt.Errorf("read %s: no feed with in_common_window = 1", file)
	case from >= to:
		return nil, fmt.Errorf("read %s: the feeds with in_common_window = 1 share no whole day, UTC, in which they "+
			"were recorded", file)
	}
	s := &Set{From: time.Unix(from, 0).UTC(), To: time.Unix(to, 0).UTC()}
	names := l.names(common)
	for i, r := range common {
		window := cmp.Or(r.window, l.drawWindow(r))
		first, _ := slices.BinarySearch(r.times, from)
		end, _ := slices.BinarySearch(r.times, to)
		s.Feeds = append(s.Feeds, Timeline{Name: names[i], Kind: r.kind, Window: window,
			Times: slices.Clone(r.times[max(0, first-window):end])})
	}
	return s, nil
}

// drawWindow draws a window for a feed whose own is not known.
func (l *loader) drawWindow(r *csvRow) int {
	var same, all []int
	for _, o := range l.order {
		if o.observed && o.window > 0 {
			if all = append(all, o.window); o.kind == r.kind {
				same = append(same, o.window)
			}
		}
	}
	from := same
	if len(from) == 0 {
		from = all
	}
	if len(from) == 0 {
		return usualWindow
	}
	slices.Sort(from)
	h := fnv.New32a()
	_, _ = io.WriteString(h, r.id) // a hash takes everything
	return from[h.Sum32()%uint32(len(from))]
}
