package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// Search implements archive.Searcher. It takes no longer than searchTime.
func (r *Reader) Search(ctx context.Context, f feed.Filter) (found []archive.Record, err error) {
	err = r.searching(ctx, f, func(s *search) error {
		found, err = s.run(r.rankTime)
		return err
	})
	if err != nil && !errors.Is(err, archive.ErrCut) {
		return nil, err
	}
	return found, err
}

// searching has f search one state of the archive.
func (r *Reader) searching(ctx context.Context, filter feed.Filter, f func(*search) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, archive.ErrSlow)
	defer cancel()
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return r.failed(ctx, "search", err)
	}
	defer tx.Rollback() // nothing to keep; ends the snapshot
	err = f(&search{ctx: ctx, tx: tx, maxTerms: r.maxTerms, filter: filter, Matcher: archive.NewMatcher(filter)})
	if errors.Is(err, archive.ErrCut) {
		return wrap("search", r.path, err)
	}
	return r.failed(ctx, "search", err)
}

// searchTime is how long any search may take.
const searchTime = 10 * time.Second

// A search is one search at work, in one transaction and so on one state of the archive.
//
// It never lets SQLite step through many rows between two that it returns, because the driver heeds
// the context only until the first row is there: seqs are collected into one row, and records are
// then loaded by them.
type search struct {
	ctx      context.Context
	tx       *sql.Tx
	maxTerms int                 // that may still stand for prefixes
	stems    map[string][]string // what terms found
	// addresses are those of all feeds, once they have been read.
	addresses []addressWords
	filter    feed.Filter
	*archive.Matcher

	feedID int64  // of filter.Feed
	apart  int64  // the same of what others know of it apart, 0 for none
	where  string // conditions on entries e, each with AND before it
	args   []any  // for where
}

func (s *search) run(rankTime time.Duration) ([]archive.Record, error) {
	if known, err := s.conditions(); err != nil || !known {
		return nil, err
	}
	if s.filter.Relevance {
		return s.ranked(rankTime)
	}
	seqs, err := s.newest(s.Limit())
	if err != nil {
		return nil, err
	}
	found, err := s.load(seqs)
	if s.Dated() {
		archive.SortDated(found)
	}
	return found, err
}

// newest returns the seqs of the newest entries that answer the filter, at most limit of them.
func (s *search) newest(limit int) ([]int64, error) {
	switch {
	case len(s.filter.IDs) > 0:
		return s.scan(`entries e INDEXED BY entries_by_seq`, limit)
	case s.Wordless():
		return s.walk(limit)
	}
	return s.words(limit)
}

// conditions writes down what the filter asks for other than words. It reports whether the feed, if
// the filter names one, is known at all.
func (s *search) conditions() (known bool, err error) {
	f := &s.filter
	and := func(condition string, args ...any) {
		s.where += " AND " + condition
		s.args = append(s.args, args...)
	}
	if f.Feed != "" {
		err := scan(s.tx.QueryRowContext(s.ctx, `SELECT id, url FROM feeds WHERE url = coalesce(
			(SELECT nullif(became, '') FROM feeds WHERE url = ?1 AND NOT subscribed AND NOT ?2), ?1)`,
			string(f.Feed), f.Shareable), &s.feedID, &f.Feed)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		s.Matcher = archive.NewMatcher(*f)
		if f.Shareable {
			if s.apart, err = one(s.ctx, s.tx, single[int64], `SELECT id FROM feeds WHERE url = ?`,
				string(f.Feed+apartMark)); err != nil {
				return false, err
			}
		}
		if s.apart != 0 {
			and(`e.feed IN (?, ?)`, s.feedID, s.apart)
		} else {
			and(`e.feed = ?`, s.feedID)
		}
	}
	if !f.Since.IsZero() {
		and(`e.time >= ?`, ceilSeconds(f.Since))
	}
	if !f.Until.IsZero() {
		and(`e.time < ?`, ceilSeconds(f.Until))
	}
	if f.Shareable {
		and(`e.feed NOT IN (SELECT id FROM feeds f WHERE ` + isConfidential + `)`)
		and(`e.seq NOT IN (SELECT seq FROM hidden)`)
	} else {
		and(isOwners)
	}
	if f.NoSecrets {
		and(`e.feed NOT IN (SELECT id FROM feeds WHERE secret)`)
	}
	if len(f.IDs) > 0 {
		ids := f.IDs
		if f.Shareable {
			for _, id := range f.IDs {
				ids = append(ids[:len(ids):len(ids)], turned(id))
			}
		}
		and(`e.seq IN (SELECT seq FROM entries WHERE id IN (SELECT unhex(value) FROM json_each(?)))`, jsonIDs(ids))
	}
	return true, nil
}

// ceilSeconds is the first whole second that is not before t. For times in whole seconds, "before t"
// and "before ceilSeconds(t)" are the same.
func ceilSeconds(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// fewOfTime is up to how many entries of a time are sorted by their arrival. Where there are more, a walk in the order
// of arrival soon meets some.
const fewOfTime = 2000

// walk answers a filter without words by going through the entries, newest first: by their arrival or their time, as is
// asked for, or by their time where they are few of it.
func (s *search) walk(limit int) ([]int64, error) {
	byTime := `entries e INDEXED BY entries_by_time`
	if s.feedID != 0 {
		byTime = `entries e INDEXED BY entries_of_feed`
	}
	if s.Dated() {
		return s.seqs(`SELECT e.seq FROM `+byTime+` WHERE 1`+s.where+` ORDER BY e.time DESC, e.seq DESC`, s.args, limit)
	}
	if !s.filter.Since.IsZero() || !s.filter.Until.IsZero() {
		ofTime, err := s.seqs(`SELECT e.seq FROM `+byTime+` WHERE 1`+s.where, s.args, fewOfTime)
		if err != nil {
			return nil, err
		} else if len(ofTime) < fewOfTime {
			return ofTime[:min(limit, len(ofTime))], nil
		}
	}
	return s.seqs(`SELECT e.seq FROM `+s.byArrival()+` WHERE 1`+s.where+` ORDER BY e.seq DESC`, s.args, limit)
}

// byArrival are the entries in the order of their arrival, those of the feed alone if the filter names one.
func (s *search) byArrival() string {
	if s.feedID != 0 {
		return `entries e INDEXED BY entries_by_feed`
	}
	return `entries e INDEXED BY entries_by_seq`
}

// words answers a filter with words: the newest entries, which are not indexed yet, are read one by
// one, and so are those that were replaced since they were indexed; the rest comes from the index.
func (s *search) words(limit int) ([]int64, error) {
	found, err := s.scan(`state CROSS JOIN entries e INDEXED BY entries_by_seq ON e.seq > state.indexed`, limit)
	if err != nil || len(found) == limit {
		return found, err
	}
	more := limit - len(found)
	query, err := s.match()
	if err != nil {
		return nil, err
	}
	var indexed []int64
	titles, inTitles := s.headings()
	switch {
	case inTitles:
		indexed, err = s.indexed(`headings`, titles, math.MaxInt64, more)
	case query.but && query.loose: // those that it finds are too many to leave out
		indexed, err = s.scan(`state CROSS JOIN entries e INDEXED BY entries_by_seq ON e.seq <= state.indexed
			AND e.seq NOT IN (SELECT seq FROM stale)`, more)
	case query.but:
		indexed, err = s.indexedBut(query.text, more)
	case query.loose:
		indexed, err = s.verified(query.text, more)
	default:
		indexed, err = s.indexed(`words`, query.text, math.MaxInt64, more)
	}
	if err != nil {
		return nil, err
	}
	floor := int64(math.MinInt64) // what is behind it is not wanted any more
	if len(indexed) == more {
		floor = indexed[more-1]
	}
	rest, err := s.scan(`stale CROSS JOIN entries e INDEXED BY entries_by_seq ON e.seq = stale.seq AND stale.seq > `+
		strconv.FormatInt(floor, 10), more)
	if err != nil {
		return nil, err
	}
	rest = append(rest, indexed...)
	slices.SortFunc(rest, func(a, b int64) int { return cmp.Compare(b, a) })
	return append(found, rest[:min(more, len(rest))]...), nil
}

// indexed asks an index for the newest seqs before one that answer the filter.
func (s *search) indexed(index, match string, before int64, limit int) ([]int64, error) {
	query, args := `SELECT w.rowid AS seq FROM `+index+` w WHERE w.`+index+` MATCH ?`, []any{match}
	if s.where != "" {
		query = `SELECT w.rowid AS seq FROM ` + index + ` w CROSS JOIN entries e INDEXED BY entries_by_seq ON e.seq = w.rowid
			WHERE w.` + index + ` MATCH ?` + s.where
		args = append(args, s.args...)
	}
	if !s.filter.Until.IsZero() {
		// Most entries after that time are also behind in the order of arrival: let the index not
		// come up with each of them in vain.
		newest, err := s.seqs(`SELECT e.seq FROM `+s.byArrival()+` WHERE 1`+s.where+` ORDER BY e.seq DESC`, s.args, 1)
		if err != nil || len(newest) == 0 {
			return nil, err
		}
		before = min(before, newest[0]+1)
	}
	if before < math.MaxInt64 {
		query += ` AND w.rowid < ?`
		args = append(args, before)
	}
	return s.seqs(query+` AND w.rowid NOT IN (SELECT seq FROM stale) ORDER BY w.rowid DESC`, args, limit)
}

// indexedBut walks through the entries that are indexed and leaves out those that the index finds.
func (s *search) indexedBut(match string, limit int) (found []int64, err error) {
	before, page := int64(math.MaxInt64), scanPage
	for len(found) < limit {
		seqs, err := s.seqs(`
			SELECT e.seq FROM state CROSS JOIN entries e INDEXED BY entries_by_seq
				ON e.seq <= state.indexed AND e.seq < ? AND e.seq NOT IN (SELECT seq FROM stale)`+s.where+`
			ORDER BY e.seq DESC`, append([]any{before}, s.args...), page)
		if err != nil || len(seqs) == 0 {
			return found, err
		}
		if seqs[0] >= before {
			return nil, errOrder
		}
		before = seqs[len(seqs)-1]
		out, err := s.seqs(`SELECT words.rowid AS seq FROM words WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?
			ORDER BY words.rowid DESC`, []any{match, before, seqs[0]}, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		for _, seq := range seqs {
			if _, is := slices.BinarySearchFunc(out, seq, func(a, b int64) int { return cmp.Compare(b, a) }); !is {
				found = append(found, seq)
			}
		}
		page = min(4*page, 1<<16)
	}
	return found[:limit], nil
}

// scanPage is how many entries a scan reads at one time.
const scanPage = 256

// scan reads the entries that a FROM clause gives and the conditions leave, newest first, and returns
// the seqs of the first limit of them that match.
func (s *search) scan(from string, limit int) ([]int64, error) {
	return s.paged(limit, func(before int64) ([]int64, error) {
		return s.seqs(`SELECT e.seq FROM `+from+` WHERE e.seq < ?`+s.where+` ORDER BY e.seq DESC`,
			append([]any{before}, s.args...), scanPage)
	})
}

// paged goes through seqs, newest first, by pages that are asked for by what they are before, and returns the first
// limit of them that match.
func (s *search) paged(limit int, page func(before int64) ([]int64, error)) (found []int64, err error) {
	for before := int64(math.MaxInt64); ; {
		seqs, err := page(before)
		if err != nil || len(seqs) == 0 {
			return found, err
		}
		if seqs[0] >= before {
			return nil, errOrder
		}
		before = seqs[len(seqs)-1]
		if found, err = s.matching(found, seqs, limit); err != nil || len(found) == limit {
			return found, err
		}
	}
}

// matching adds to found, up to limit, those of the seqs that match.
func (s *search) matching(found, seqs []int64, limit int) ([]int64, error) {
	err := s.each(seqs, func(r archive.Record) bool {
		if s.Match(&r) {
			found = append(found, r.Seq)
		}
		return len(found) < limit
	})
	return found, err
}

// seqs returns the first limit seqs that a query gives.
func (s *search) seqs(query string, args []any, limit int) ([]int64, error) {
	return one(s.ctx, s.tx, inOne[int64],
		`SELECT json_group_array(seq ORDER BY seq DESC) FROM (`+query+` LIMIT ?)`, append(slices.Clip(args), limit)...)
}

// load returns the records with these seqs, newest first.
func (s *search) load(seqs []int64) (records []archive.Record, err error) {
	err = s.each(seqs, func(r archive.Record) bool {
		records = append(records, r)
		return true
	})
	return records, err
}

// each calls yield with the records that have these seqs, newest first, until it returns false.
func (s *search) each(seqs []int64, yield func(archive.Record) bool) error {
	read := func(row rowScanner) (archive.Record, error) {
		var known bool
		r, err := scanRecord(row, &known)
		if s.filter.Shareable {
			r.Confirmed = known
		}
		return r, err
	}
	for r, err := range found(s.ctx, s.tx, read, `
		SELECT `+recordColumns+`, `+isKnownConfirmed+` FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq IN (SELECT value FROM json_each(?)) ORDER BY e.seq DESC`, jsonNumbers(seqs)) {
		if err != nil {
			return err
		}
		if !yield(r) {
			break
		}
	}
	return nil
}

// ranked returns the best of the candidates (archive.RankCandidates). Ranking them ends after a while, or after three
// quarters of what the context leaves: the answer still has to be read. Entries that were not ranked until then stand
// behind the rest, and the error is archive.ErrCut.
//
// The index could rank by itself (bm25), but only everything that matches at once: seconds for a common word.
func (s *search) ranked(within time.Duration) ([]archive.Record, error) {
	seqs, err := s.candidates()
	if err != nil {
		return nil, err
	}
	if end, ok := s.ctx.Deadline(); ok {
		within = min(within, time.Until(end)/4*3)
	}
	scores, cut := s.scores(seqs, within)
	if cut != nil && !errors.Is(cut, archive.ErrCut) {
		return nil, cut
	}
	candidates := make([]archive.Candidate, len(seqs))
	for i, seq := range seqs {
		score, ranked := scores[seq]
		if !ranked {
			score = -1
		}
		candidates[i] = archive.Candidate{Seq: seq, Score: score}
	}
	best := archive.Best(candidates, s.Limit())
	place := make(map[int64]int, len(best))
	seqs = seqs[:0]
	for i, c := range best {
		place[c.Seq] = i
		seqs = append(seqs, c.Seq)
	}
	records, err := s.load(seqs)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b archive.Record) int { return cmp.Compare(place[a.Seq], place[b.Seq]) })
	return records, cut
}

// candidates are the seqs of the entries to rank, newest first.
func (s *search) candidates() ([]int64, error) {
	seqs, err := s.newest(archive.RankCandidates)
	if err != nil || len(seqs) < archive.RankCandidates {
		return seqs, err // all that match
	}
	titles, ok := archive.InTitles(s.filter)
	if !ok {
		return seqs, nil
	}
	inTitles := *s
	inTitles.filter, inTitles.Matcher = titles, archive.NewMatcher(titles)
	more, err := inTitles.newest(archive.RankCandidates)
	if err != nil {
		return nil, err
	}
	seqs = append(seqs, more...)
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Compare(b, a) })
	return slices.Compact(seqs), nil
}

// scores reads and ranks entries, for no longer than that. The error is archive.ErrCut where it had to end.
func (s *search) scores(seqs []int64, within time.Duration) (map[int64]int, error) {
	ctx, cancel := context.WithTimeout(s.ctx, within)
	defer cancel()
	scores := make(map[int64]int, len(seqs))
	var err error
	for c, e := range found(ctx, s.tx, scanFolded, `
		SELECT e.seq, e.title, e.authors, e.categories, e.summary, e.content FROM entries e
		WHERE e.seq IN (SELECT value FROM json_each(?)) ORDER BY e.seq DESC`, jsonNumbers(seqs)) {
		if err = cmp.Or(e, ctx.Err()); err != nil {
			break
		}
		scores[c.Seq] = s.Score(&c.Entry)
	}
	if ctx.Err() != nil && s.ctx.Err() == nil {
		return scores, archive.ErrCut
	}
	return scores, err
}

// scanFolded reads of an entry what archive.Fold makes its words of, and nothing else.
func scanFolded(row rowScanner) (r archive.Record, err error) {
	e := &r.Entry
	err = scan(row, &r.Seq, &e.Title, jsonList(&e.Authors), jsonList(&e.Categories), &e.Summary,
		&e.Content)
	return r, err
}
