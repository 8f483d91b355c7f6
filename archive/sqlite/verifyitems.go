package sqlite

import (
	"context"
	"fmt"
)

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
		{`SELECT count(*) FROM items WHERE NOT read AND NOT listed`, "%d items are unread and not listed"},
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
