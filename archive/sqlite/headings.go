package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"feedex/archive"
	"feedex/feed"
)

// The words of titles have an index of their own, headings, which holds the same entries as words. It does not know the
// order of words, nor those of one letter, as most are where a script has no blanks: it would take twice the room.

// headed reports whether headings holds the word, if a title does.
func headed(word string) bool {
	return utf8.RuneCountInString(word) > 1 && !strings.Contains(word, " ")
}

// headingOf is what headings holds of a title that is folded.
func headingOf(title string) string {
	words := strings.Fields(title)
	heading := words[:0]
	for _, w := range words {
		if headed(w) {
			heading = append(heading, w)
		}
	}
	return strings.Join(heading, " ")
}

// headings is the question to headings, if that knows all that is asked for.
func (s *search) headings() (match string, ok bool) {
	if s.feedID != 0 || len(s.Words()) > 0 || s.Expr() != nil {
		return "", false
	}
	var words []string
	for _, p := range s.Title() {
		if p.Prefix || !headed(p.Text) {
			return "", false
		}
		words = append(words, `"`+p.Text+`"`)
	}
	return strings.Join(words, ` AND `), len(words) > 0
}

// addHeadings brings into headings what is in words.
func addHeadings(ctx context.Context, conn *sql.Conn) error {
	type titled struct {
		Seq   int64
		Title string
	}
	for after := int64(math.MinInt64); ; {
		page, err := list(ctx, conn, by(func(e *titled) []any { return []any{&e.Seq, &e.Title} }), `
			SELECT seq, title FROM entries WHERE seq > ? AND seq <= (SELECT indexed FROM state)
				AND seq NOT IN (SELECT seq FROM stale) ORDER BY seq LIMIT 1000`, after)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Seq
		for i := range page {
			title, _ := archive.Fold(&feed.Entry{Title: page[i].Title})
			page[i].Title = headingOf(title)
		}
		text, err := json.Marshal(page)
		if err != nil {
			return err
		}
		if _, err = conn.ExecContext(ctx, `INSERT INTO headings (rowid, title)
			SELECT value ->> 'Seq', value ->> 'Title' FROM json_each(?)`, string(text)); err != nil {
			return err
		}
	}
}
