package sqlite

import (
	"context"
	"time"

	"feedex/reading"
	"feedex/safehtml"
)

// Heard implements reading.Messages.
func (s *Store) Heard(at reading.Receiver, c reading.Command) {
	if s.write(`UPDATE receivers SET heard = ? WHERE id = ? AND word = ?`, c.Message, at.ID,
		maybeBytesOf(at.Word[:])) == 0 || c.Answer == "" {
		return
	}
	s.write(`DELETE FROM commands WHERE receiver = ? AND sent < ?`, at.ID, c.Sent.Add(-reading.MessageAge).Unix())
	s.write(`INSERT INTO commands (receiver, message, sent, answer) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		at.ID, c.Message, c.Sent.Unix(), c.Answer)
}

// Answered implements reading.Messages.
func (s *Store) Answered(at reading.Receiver, message string) {
	s.write(`UPDATE commands SET answer = '' WHERE receiver = ? AND message = ?`, at.ID, message)
}

// Deaf implements reading.Messages.
func (s *Store) Deaf(at reading.Receiver, problem string) {
	s.write(`UPDATE receivers SET deaf = ? WHERE id = ? AND word = ?`, safehtml.Label(problem), at.ID,
		maybeBytesOf(at.Word[:]))
}

// Mute implements reading.Messages.
func (s *Store) Mute(p reading.PersonID, until time.Time) {
	s.write(`UPDATE receivers SET muted = ? WHERE person = ?`, seconds(&until), p)
}

// WasHeard implements reading.ReceiverList.
func (r *Reader) WasHeard(ctx context.Context, id reading.ReceiverID, message string) (bool, error) {
	return first(ctx, r, single[bool], `SELECT EXISTS (SELECT 1 FROM commands WHERE receiver = ? AND message = ?)`,
		id, message)
}

// Unanswered implements reading.ReceiverList.
func (r *Reader) Unanswered(ctx context.Context, id reading.ReceiverID) ([]reading.Command, error) {
	return all(ctx, r, by(func(c *reading.Command) []any {
		return []any{&c.Message, seconds(&c.Sent), &c.Answer}
	}), `SELECT message, sent, answer FROM commands WHERE receiver = ? AND answer <> '' ORDER BY id`, id)
}
