package daemon

import (
	"context"
	"slices"
	"time"

	"feedex/reading"
)

// Label implements reading.Editor.
func (l *library) Label(ctx context.Context, ids []reading.ItemID, raw string, has bool) error {
	name, err := reading.LabelName(raw)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, markStep) {
		if err := l.write(ctx, func(p reading.Pen) error { return p.Label(time.Now(), part, name, has) }); err != nil {
			return err
		}
	}
	return nil
}

// RenameLabel implements reading.Editor.
func (l *library) RenameLabel(ctx context.Context, id reading.LabelID, raw string) error {
	name, err := reading.LabelName(raw)
	if err != nil {
		return err
	}
	return l.write(ctx, func(p reading.Pen) error { return p.RenameLabel(id, name) })
}

// RemoveLabel implements reading.Editor.
func (l *library) RemoveLabel(ctx context.Context, id reading.LabelID) error {
	return inSteps(ctx, l.write, func(p reading.Pen) bool { return p.RemoveLabel(time.Now(), id, markStep) })
}
