package trace

import (
	"bytes"
	_ "embed" // for the documents that were seen
	"fmt"
	"math"
	"path/filepath"
	"strconv"
)

// Documents is how many entries the documents of one feed list, counted in those of several days, and how often the
// feed publishes.
type Documents struct {
	Name               string  // of the feed in the Set of the same folder, "" where it is not in it
	Kind               string  // as Timeline has it
	Least, Usual, Most int     // entries
	PerDay             float64 // entries that it publishes a day, over all the time in which it was recorded
}

// documentColumns are the columns of documents.csv, into which EmbeddedDocuments is compiled.
func documentColumns() []string { return []string{"name", "kind", "least", "usual", "most", "per_day"} }

// documents has the rows of the files that Load reads of which somebody counted entries; with the recorded set it is
// made anew.
//
//go:embed documents.csv
var documents []byte

// EmbeddedDocuments are those of the feeds of which entries were counted: 51 of the set that comes with the program,
// and 113 news feeds and blogs that were recorded in another month.
func EmbeddedDocuments() (all []Documents, err error) {
	take := func(_ int, v []string) (err error) {
		d := Documents{Name: v[0], Kind: v[1]}
		if err = d.count(v[2:]...); err == nil {
			d.PerDay, err = strconv.ParseFloat(v[5], 64)
		}
		all = append(all, d)
		return err
	}
	err = readRows("documents.csv", bytes.NewReader(documents), take, documentColumns())
	return all, err
}

// LoadDocuments reads the feeds.csv of a folder as Load does, with two columns more: window_min and window_max, the
// fewest and the most entries that were counted in a document. It leaves out the feeds of which nobody counted them,
// and those of which only the most is known. A row that cannot be right is an ErrRow.
func LoadDocuments(dir string) ([]Documents, error) {
	var common, seen []*csvRow
	var all []Documents
	l := loader{rows: make(map[string]*csvRow)}
	columns := append(feedColumns(), "window_min", "window_max")
	take := func(line int, v []string) error {
		if err := l.feed(line, v); err != nil {
			return err
		}
		r := l.order[len(l.order)-1]
		if r.common {
			common = append(common, r)
		}
		if !r.observed || v[len(v)-2] == "" || v[3] == "" {
			return nil
		}
		d := Documents{Kind: r.kind}
		if days := float64(r.end-r.start) / day; days > 0 {
			d.PerDay = math.Round(1000*float64(r.declared)/days) / 1000
		}
		err := d.count(v[len(v)-2], v[3], v[len(v)-1])
		all, seen = append(all, d), append(seen, r)
		return err
	}
	if err := readFile(filepath.Join(dir, "feeds.csv"), take, columns); err != nil {
		return nil, err
	}
	names := make(map[*csvRow]string)
	for i, name := range l.names(common) {
		names[common[i]] = name
	}
	for i, r := range seen {
		all[i].Name = names[r]
	}
	return all, nil
}

// count reads the fewest, the usual and the most entries of a feed's documents.
func (d *Documents) count(texts ...string) (err error) {
	for i, to := range []*int{&d.Least, &d.Usual, &d.Most} {
		if *to, err = strconv.Atoi(texts[i]); err != nil {
			return fmt.Errorf("a document has %q entries, want a whole number", texts[i])
		}
	}
	if d.Least < 0 || d.Usual < max(1, d.Least) || d.Most < d.Usual || d.Most > largestWindow {
		return fmt.Errorf("documents of %d to %d entries, usually %d; want the last between the others, and %d at most",
			d.Least, d.Most, d.Usual, largestWindow)
	}
	return nil
}
