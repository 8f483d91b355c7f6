package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An OfSeed is what an experiment that was run for several seeds came to with one of them.
type OfSeed struct {
	Seed   uint64 `json:"seed"`
	Hash   string `json:"hash"`
	Result any    `json:"result"`
}

// OverSeeds is one Report of those of an experiment for each of its seeds, or for as many as had begun when somebody
// interrupted. It has the tables and figures of the first, and then, over all seeds that came to their end, the tables
// in which they differ. Its Result is an OfSeed of each.
func OverSeeds(reports []*Report, seeds int) *Report {
	first := reports[0]
	r := &Report{Title: first.Title, Seed: first.Seed, Traces: first.Traces, Hash: HashOf(""), Partial: first.Partial,
		Setting: first.Setting, Tables: first.Tables, Figures: first.Figures, Plots: first.Plots}
	var results []OfSeed
	var whole []*Report
	traces := ""
	for _, one := range reports {
		r.Took(cmp.Or(one.hashes, one.Hash), one.Steps)
		traces += one.Traces
		results = append(results, OfSeed{one.Seed, one.Hash, one.Result})
		for _, line := range one.Aside {
			r.Aside = append(r.Aside, fmt.Sprintf("seed %d: %s", one.Seed, line))
		}
		if one.Partial == "" {
			whole = append(whole, one)
		}
	}
	r.Result = results
	if strings.ReplaceAll(traces, first.Traces, "") != "" { // traces that are made of the seed
		r.Traces = HashOf(traces)
	}
	if last := reports[len(reports)-1]; len(whole) < seeds {
		r.Partial = fmt.Sprintf("%d of %d seeds came to their end", len(whole), seeds)
		if last.Partial != "" {
			r.Partial += fmt.Sprintf("; seed %d: %s", last.Seed, last.Partial)
		}
	}
	if len(whole) > 1 {
		r.Setting = append(slices.Clip(r.Setting), fmt.Sprintf("Tables over %d seeds, from %d on, have the "+
			"mean of what each seed has and, where seeds differ, the least and the most in brackets, also where "+
			"percentiles are spoken of. The others, and figures, are of seed %d.", len(whole), first.Seed, first.Seed))
		r.Tables = append(slices.Clip(r.Tables), summedUp(whole)...)
	}
	return r
}

// summary is what is summed up over seeds.
func (r *Report) summary() []Table {
	if r.Summary != nil {
		return r.Summary
	}
	return r.Tables
}

// summedUp are the tables in which Reports differ.
func summedUp(reports []*Report) (list []Table) {
	same := newUnion[Table]()
	for _, r := range reports {
		tables := r.summary()
		var titles []string
		for _, t := range tables {
			titles = append(titles, strings.Map(noDigit, t.Title))
		}
		same.add(titles, tables)
	}
	all := reports[0].Summary != nil // it was chosen for what it shows
	for _, tables := range same.values {
		differ := func(t Table) bool {
			return !slices.EqualFunc(t.Rows, tables[0].Rows, slices.Equal) || !slices.Equal(t.Notes, tables[0].Notes)
		}
		if len(tables) < len(reports) || !all && !slices.ContainsFunc(tables, differ) {
			continue
		}
		t := overSeeds(tables, all)
		t.Title = strings.TrimSuffix(fmt.Sprintf("Over %d seeds: %s", len(reports), t.Title), ": ")
		list = append(list, t)
	}
	return list
}

// noDigit drops digits: titles may have figures in them.
func noDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// A union gathers what several lists have by a name: the first, the second and so on of one name each by itself.
type union[T any] struct {
	names  []string
	values [][]T
	place  map[[2]string]int
}

func newUnion[T any]() *union[T] { return &union[T]{place: make(map[[2]string]int)} }

func (u *union[T]) add(names []string, values []T) {
	met := make(map[string]int)
	for i, name := range names {
		key := [2]string{name, strconv.Itoa(met[name])}
		met[name]++
		at, known := u.place[key]
		if !known {
			at = len(u.names)
			u.place[key] = at
			u.names, u.values = append(u.names, name), append(u.values, nil)
		}
		u.values[at] = append(u.values[at], values[i])
	}
}

// alike says whether texts are the same.
func alike(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return text != texts[0] })
}

// overSeeds is a table of the same one of several seeds. Rows are those of one first cell, of which some seeds may have
// none, and columns those of one heading. Notes without figures are left out, unless notes is set.
func overSeeds(tables []Table, notes bool) Table {
	sum := Table{Title: tables[0].Title, Columns: tables[0].Columns[:1:1], Texts: tables[0].Texts}
	var titles []string
	var labels [][]string
	for _, t := range tables {
		titles = append(titles, t.Title)
		labels = append(labels, firstCells(t))
	}
	if title, ok := overTexts(titles); ok {
		sum.Title = title
	}
	if one, ok := overLists(labels); ok { // first cells are figures too
		labels = slices.Repeat([][]string{one}, len(tables))
	}
	rows := newUnion[map[string][]string]() // the cells of a row by heading
	heads := newUnion[int]()
	for i, t := range tables {
		heads.add(t.Columns[1:], make([]int, len(t.Columns)-1))
		var cells []map[string][]string
		for _, row := range t.Rows {
			by := make(map[string][]string)
			for j, cell := range row[1:] {
				by[t.Columns[1+j]] = append(by[t.Columns[1+j]], cell)
			}
			cells = append(cells, by)
		}
		rows.add(labels[i], cells)
	}
	for i, label := range rows.names {
		if n := len(rows.values[i]); n < len(tables) {
			label += fmt.Sprintf(" (%d of %d)", n, len(tables))
		}
		sum.Rows = append(sum.Rows, []string{label})
	}
	met := make(map[string]int)
	for _, head := range heads.names {
		nth := met[head]
		met[head]++
		var column []string
		differ := false
		for _, same := range rows.values {
			var cells []string
			for _, by := range same {
				if nth < len(by[head]) {
					cells = append(cells, by[head][nth])
				}
			}
			differ = differ || !alike(cells)
			column = append(column, overCells(cells))
		}
		if head == "hash" || sum.Texts && !differ {
			continue
		}
		sum.Columns = append(sum.Columns, head)
		for i := range sum.Rows {
			sum.Rows[i] = append(sum.Rows[i], column[i])
		}
	}
	for i, note := range tables[0].Notes {
		var same []string
		for _, t := range tables {
			if len(t.Notes) == len(tables[0].Notes) {
				same = append(same, t.Notes[i])
			}
		}
		text, ok := overTexts(same)
		if alike(same) {
			text, ok = note, notes
		}
		if ok && len(same) == len(tables) {
			sum.Notes = append(sum.Notes, text)
		}
	}
	return sum
}

func firstCells(t Table) (list []string) {
	for _, row := range t.Rows {
		list = append(list, row[0])
	}
	return list
}

// overLists sums lists of texts up that are equally long, and differ in nothing but their figures.
func overLists(lists [][]string) (sum []string, ok bool) {
	for i := range lists[0] {
		var texts []string
		for _, list := range lists {
			if len(list) != len(lists[0]) {
				return nil, false
			}
			texts = append(texts, list[i])
		}
		text, ok := overTexts(texts)
		if !ok {
			return nil, false
		}
		if alike(texts) {
			text = texts[0] // with the blanks that it begins with
		}
		sum = append(sum, text)
	}
	return sum, true
}

// overCells sums cells up by their figures or, where their words differ, by how often each is there.
func overCells(cells []string) string {
	if text, ok := overTexts(cells); ok {
		return text
	}
	times := newUnion[string]()
	for _, cell := range cells {
		times.add([]string{cell}, []string{cell})
	}
	var list []string
	for i, cell := range times.names {
		if n := len(times.values[i]); n > 1 {
			cell += fmt.Sprintf(" (%d)", n)
		}
		list = append(list, cell)
	}
	return strings.Join(list, ", ")
}

var (
	// quantity is a word with one number in it: what stands before, the number, its unit, and what ends a sentence.
	quantity = regexp.MustCompile(`^([^\d-]*)(-?\d+(?:\.\d+)?)([^\d,;:.)]*)([,;:.)]*)$`)
	// percentiles stand behind a mean.
	percentiles = regexp.MustCompile(`^\(-?[\d.]+--?[\d.]+\)$`)
)

// overTexts sums texts up that differ in nothing but their figures, and of which some may end early.
func overTexts(texts []string) (sum string, ok bool) {
	words := newUnion[string]()
	for _, text := range texts {
		list := slices.DeleteFunc(strings.Fields(text), percentiles.MatchString)
		words.add(make([]string, len(list)), list)
	}
	var all []string
	for _, same := range words.values {
		word, ok := overWords(same)
		if !ok {
			return "", false
		}
		all = append(all, word)
	}
	return strings.Join(all, " "), true
}

// overWords is the mean of the figures that a word of each text is, with the least and the most.
func overWords(words []string) (sum string, ok bool) {
	words = slices.DeleteFunc(words, func(w string) bool { return w == Unknown })
	if len(words) == 0 {
		return Unknown, true
	}
	if alike(words) {
		return words[0], true
	}
	var head, unit, end, least, most string
	var values []float64
	decimals := 0
	for i, word := range words {
		m := quantity.FindStringSubmatch(word)
		if m == nil || i > 0 && (m[1] != head || m[3] != unit || m[4] != end) {
			return "", false
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return "", false
		}
		head, unit, end = m[1], m[3], m[4]
		if i == 0 || v < slices.Min(values) {
			least = m[2]
		}
		if i == 0 || v > slices.Max(values) {
			most = m[2]
		}
		values = append(values, v)
		_, fraction, _ := strings.Cut(m[2], ".")
		decimals = max(decimals, len(fraction))
	}
	mean := Mean(values)
	if decimals == 0 && mean < 100 {
		decimals = 1 // of a few things a part counts
	}
	form := "%s%.*f%s (%s-%s)%s"
	if strings.HasSuffix(head, "(") {
		form = "%s%.*f%s, %s-%s%s"
	}
	return fmt.Sprintf(form, head, decimals, mean, unit, least, most, end), true
}
