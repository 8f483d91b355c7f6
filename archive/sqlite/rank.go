package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"feedex/archive"
)

// ranked returns the best of the candidates (archive.RankCandidates). Ranking them ends after a while, or after
// three quarters of what the context leaves: the answer still has to be read. What was not ranked until then
// stands behind the rest, and the error is archive.ErrCut.
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
	ranking := *s
	ranking.ctx = ctx
	scores := make(map[int64]int, len(seqs))
	err := ranking.each(seqs, func(r archive.Record) bool {
		scores[r.Seq] = s.Score(&r.Entry)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil && s.ctx.Err() == nil {
		return scores, archive.ErrCut
	}
	return scores, err
}
